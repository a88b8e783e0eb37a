"""New volumes for claims, as an external provisioner of a CSI driver creates them.

The node affinity of a new volume selects the nodes that can reach it. Its labels are
the driver's own, if the selected node has a CSINode that lists them; else those of the
class's ``allowedTopologies``; else the zone of the selected node.
"""

from collections.abc import Mapping
from typing import Final

from quaymaster._api.objects import (
    CSINode,
    CSIPersistentVolumeSource,
    Node,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    VolumeNodeAffinity,
)
from quaymaster._kits.volumes.claims import reference_to
from quaymaster._kits.volumes.csi import csi_driver_of
from quaymaster._kits.volumes.names import BOUND_BY_CONTROLLER, PROVISIONED_BY
from quaymaster._kits.volumes.pool import storage_of
from quaymaster._kits.volumes.topologies import allows_topology

__all__ = ["make_volume", "topology_for"]

_ZONE: Final = "topology.kubernetes.io/zone"


def make_volume(
    claim: PersistentVolumeClaim,
    storage_class: StorageClass,
    topology: Mapping[str, str],
) -> PersistentVolume:
    """Return a new volume of a claim, bound to it from its side.

    Args:
        claim: The claim.
        storage_class: Its class.
        topology: The labels that a node must have to reach it.
    """
    name, spec = f"pvc-{claim.uid}", claim.spec
    provisioner = storage_class.provisioner
    driver = csi_driver_of(provisioner) or provisioner
    return PersistentVolume(
        metadata=ObjectMeta(
            name=name,
            annotations={PROVISIONED_BY: provisioner, BOUND_BY_CONTROLLER: "yes"},
        ),
        spec=PersistentVolumeSpec(
            capacity={"storage": storage_of(spec.resources)},
            access_modes=spec.access_modes,
            claim_ref=reference_to(claim),
            persistent_volume_reclaim_policy=storage_class.reclaim_policy or "Delete",
            storage_class_name=storage_class.name,
            volume_mode=spec.volume_mode,
            volume_attributes_class_name=spec.volume_attributes_class_name,
            node_affinity=_affinity(topology),
            csi=CSIPersistentVolumeSource(driver=driver, volume_handle=name),
        ),
        status=PersistentVolumeStatus(phase="Bound"),
    )


def topology_for(
    storage_class: StorageClass, node: Node | None, csi_node: CSINode | None
) -> Mapping[str, str]:
    """Return the labels that a new volume's nodes must have.

    Args:
        storage_class: The claim's class.
        node: The selected node; None if the claim is bound immediately.
        csi_node: The CSINode of the node, or None.
    """
    if node is None:
        return {
            expression.key: expression.values[0]
            for term in storage_class.allowed_topologies[:1]
            for expression in term.match_label_expressions
            if expression.values
        }
    keys = _driver_keys(storage_class, csi_node) or _allowed_keys(storage_class, node)
    return {key: node.labels[key] for key in keys or (_ZONE,) if key in node.labels}


def _driver_keys(
    storage_class: StorageClass, csi_node: CSINode | None
) -> tuple[str, ...]:
    provisioner = storage_class.provisioner
    name = csi_driver_of(provisioner) or provisioner
    for driver in () if csi_node is None else csi_node.spec.drivers:
        if driver.name == name:
            return driver.topology_keys
    return ()


def _allowed_keys(storage_class: StorageClass, node: Node) -> tuple[str, ...]:
    for term in storage_class.allowed_topologies:
        if allows_topology((term,), node.labels):
            return tuple(expression.key for expression in term.match_label_expressions)
    return ()


def _affinity(topology: Mapping[str, str]) -> VolumeNodeAffinity | None:
    if not topology:
        return None
    term = NodeSelectorTerm(
        match_expressions=tuple(
            NodeSelectorRequirement(key=key, operator="In", values=(value,))
            for key, value in topology.items()
        )
    )
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(term,)))
