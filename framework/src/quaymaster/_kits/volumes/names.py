"""The annotations and names that scheduler, binder and provisioners share.

Mirrors ``storage/volume/pv_helpers.go`` (k8s.io/component-helpers v0.36).
"""

from typing import Final

__all__ = [
    "BETA_STORAGE_CLASS",
    "BIND_COMPLETED",
    "BOUND_BY_CONTROLLER",
    "MIGRATED_PLUGINS",
    "NO_PROVISIONER",
    "PROVISIONED_BY",
    "SELECTED_NODE",
    "STORAGE_PROVISIONER",
]

BETA_STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
"""On claims and volumes: their class, before there was a field for it."""

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
"""On claims: binding is done; the value does not matter."""

BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
"""On claims and volumes: the binding was not asked for by a user."""

MIGRATED_PLUGINS: Final = "storage.alpha.kubernetes.io/migrated-plugins"
"""On a CSINode: the in-tree plugins whose volumes CSI drivers handle there."""

NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
"""The provisioner of classes whose volumes are made by hand."""

PROVISIONED_BY: Final = "pv.kubernetes.io/provisioned-by"
"""On volumes: the provisioner that made them for a claim."""

SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
"""On claims: the node for which the scheduler wants a volume made."""

STORAGE_PROVISIONER: Final = "volume.kubernetes.io/storage-provisioner"
"""On claims: the provisioner that is to make a volume."""
