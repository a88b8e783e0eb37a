"""Keys of labels, taints and annotations that Kubernetes and KEDA define.

Mirrors the documentation of Kubernetes, "Well-Known Labels, Annotations and Taints".
The domains are listed, since users can choose keys such as ``acme.kubernetes.io/x``.
"""

from typing import Final

__all__ = ["READ_ANNOTATIONS", "is_own_finalizer", "is_own_key"]

_DOMAINS: Final = frozenset(
    [
        "apps.kubernetes.io",
        "autoscaling.keda.sh",
        "batch.kubernetes.io",
        "beta.kubernetes.io",
        "controller.kubernetes.io",
        "deployment.kubernetes.io",
        "deviceclass.resource.kubernetes.io",
        "failure-domain.beta.kubernetes.io",
        "node.cloudprovider.kubernetes.io",
        "node.kubernetes.io",
        "pod-security.kubernetes.io",
        "pv.kubernetes.io",
        "resource.kubernetes.io",
        "scheduling.k8s.io",
        "service.kubernetes.io",
        "simulation.quaymaster.io",
        "statefulset.kubernetes.io",
        "storage.alpha.kubernetes.io",
        "storageclass.beta.kubernetes.io",
        "storageclass.kubernetes.io",
        "topology.kubernetes.io",
        "volume.beta.kubernetes.io",
        "volume.kubernetes.io",
    ]
)
"""Domains whose keys and values Kubernetes defines.

``node-restriction.kubernetes.io`` and ``node-role.kubernetes.io`` are not here: users
choose the rest of these keys, and their values.
"""

_KEYS: Final = frozenset(
    [
        "kubernetes.io/arch",
        "kubernetes.io/config.mirror",
        "kubernetes.io/config.source",
        "kubernetes.io/os",
        "scaledjob.keda.sh/generation",
    ]
)
"""Keys of a domain that users also use for keys of their own."""

_KEYS_OF_NAMES: Final = frozenset(
    [
        "apps.kubernetes.io/pod-name",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/cronjob-name",
        "batch.kubernetes.io/job-name",
        "kubernetes.io/config.mirror",
        "resource.kubernetes.io/pod-claim-name",
        "statefulset.kubernetes.io/pod-name",
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/selected-node",
    ]
)
"""Keys of Kubernetes whose values are names or uids of objects."""

_FINALIZERS: Final = frozenset(
    [
        "batch.kubernetes.io/job-tracking",
        "external-provisioner.volume.kubernetes.io/finalizer",
        "foregroundDeletion",
        "kubernetes",
        "kubernetes.io/pv-controller",
        "kubernetes.io/pv-protection",
        "kubernetes.io/pvc-protection",
        "orphan",
        "resource.kubernetes.io/delete-protection",
        "scheduling.k8s.io/podgroup-protection",
    ]
)

READ_ANNOTATIONS: Final = frozenset(
    [
        "autoscaling.keda.sh/force-activation",
        "autoscaling.keda.sh/paused",
        "autoscaling.keda.sh/paused-replicas",
        "autoscaling.keda.sh/paused-scale-in",
        "autoscaling.keda.sh/paused-scale-out",
        "batch.kubernetes.io/job-completion-index",
        "batch.kubernetes.io/job-index-failure-count",
        "batch.kubernetes.io/job-index-ignored-failure-count",
        "controller.kubernetes.io/pod-deletion-cost",
        "deployment.kubernetes.io/desired-replicas",
        "deployment.kubernetes.io/max-replicas",
        "deployment.kubernetes.io/revision",
        "kubernetes.io/config.mirror",
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "pv.kubernetes.io/provisioned-by",
        "resource.kubernetes.io/extended-resource-claim",
        "resource.kubernetes.io/pod-claim-name",
        "scaledjob.keda.sh/generation",
        "simulation.quaymaster.io/devices",
        "simulation.quaymaster.io/price-per-hour",
        "simulation.quaymaster.io/run-seconds",
        "simulation.quaymaster.io/startup-seconds",
        "simulation.quaymaster.io/termination-seconds",
        "storage.alpha.kubernetes.io/migrated-plugins",
        "storageclass.beta.kubernetes.io/is-default-class",
        "storageclass.kubernetes.io/is-default-class",
        "volume.beta.kubernetes.io/storage-class",
        "volume.kubernetes.io/selected-node",
        "volume.kubernetes.io/storage-provisioner",
    ]
)
"""The annotations that scheduling, admission and controllers read."""


def is_own_key(key: str) -> bool:
    """Return whether Kubernetes defines a key, and users do not choose its values."""
    if key in _KEYS_OF_NAMES:
        return False
    domain, slash, _ = key.partition("/")
    return key in _KEYS or (bool(slash) and domain in _DOMAINS)


def is_own_finalizer(name: str) -> bool:
    """Return whether a finalizer is one of Kubernetes."""
    return name in _FINALIZERS
