"""The volumes of pods: where they can be, and how many a node can attach.

Mirrors ``volumetopology.go`` (``pkg/controllers/provisioning/scheduling``) and
``volumeusage.go`` (``pkg/scheduling``; sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from quaymaster._api.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    Volume,
)
from quaymaster._kits.volumes.csi import csi_driver_of
from quaymaster._studies.autoscaling.errors import AutoscalerError
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.labels import HOSTNAME
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.solve.pod_data import VolumeIds

__all__ = [
    "VolumeError",
    "VolumeUsage",
    "claim_problem",
    "has_claims",
    "volume_alternatives",
    "volumes_of",
]

_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_EBS_DRIVER = "ebs.csi.aws.com"


class VolumeError(AutoscalerError):
    """A volume of a pod is not known."""

    def __init__(self, problem: str) -> None:
        super().__init__("karpenter", problem)


def has_claims(pod: Pod) -> bool:
    """Return whether a pod has volumes behind claims."""
    volumes = pod.spec.volumes
    return bool(volumes) and any(_claim_name(pod, volume) for volume in volumes)


def _claim_name(pod: Pod, volume: Volume) -> str:
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.name}-{volume.name}" if volume.ephemeral is not None else ""


def _claims(state: ClusterState, pod: Pod) -> Iterable[PersistentVolumeClaim | None]:
    """Yield the claims of a pod; None for one that does not exist."""
    for volume in pod.spec.volumes:
        name = _claim_name(pod, volume)
        if name:
            yield state.get(PersistentVolumeClaim, f"{pod.namespace}/{name}")


def volume_alternatives(state: ClusterState, pod: Pod) -> Sequence[Requirements]:
    """Return where the volumes of a pod can be: one of these, if there are any.

    Raises:
        VolumeError: A claim, a volume or a class does not exist.
    """
    alternatives: list[Requirements] = []
    for claim in _claims(state, pod):
        if claim is None:
            raise VolumeError(
                "discovering persistent volume claim, "
                "getting persistent volume claim, not found"
            )
        more = _places(state, claim)
        if not more:
            continue
        alternatives = _combined(alternatives, more) if alternatives else list(more)
    return alternatives


def _places(state: ClusterState, claim: PersistentVolumeClaim) -> list[Requirements]:
    if claim.spec.volume_name:
        volume = state.get(PersistentVolume, claim.spec.volume_name)
        if volume is None:
            raise VolumeError("getting persistent volume, not found")
        return _places_of_volume(volume)
    if claim.spec.storage_class_name:
        storage_class = state.get(StorageClass, claim.spec.storage_class_name)
        if storage_class is None:
            raise VolumeError("getting storage class, not found")
        return _places_of_class(storage_class)
    return []


def _places_of_volume(volume: PersistentVolume) -> list[Requirements]:
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    places = []
    is_local = volume.spec.local is not None or volume.spec.host_path is not None
    for term in required.node_selector_terms if required else ():
        conditions = term.match_expressions
        if is_local:
            # The pod may move, so the machine of a local volume does not count.
            conditions = tuple(c for c in conditions if c.key != HOSTNAME)
        # A term with only a host name stays, as an alternative without conditions.
        # Without it, the other terms would be required.
        if conditions or (is_local and term.match_expressions):
            places.append(Requirements.from_conditions(conditions))
    return places


def _places_of_class(storage_class: StorageClass) -> list[Requirements]:
    return [
        Requirements(
            Requirement.of(expression.key, "In", expression.values)
            for expression in term.match_label_expressions
        )
        for term in storage_class.allowed_topologies
        if term.match_label_expressions
    ]


def _combined(
    alternatives: Sequence[Requirements], more: Sequence[Requirements]
) -> list[Requirements]:
    """Return each of some alternatives with each of others, if they go together.

    If none do, all are kept, so that the pod fits nowhere.
    """
    pairs = [(left, right) for left in alternatives for right in more]
    chosen = [pair for pair in pairs if pair[0].intersects(pair[1])] or pairs
    combined = []
    for left, right in chosen:
        both = left.copy()
        both.add(right)
        combined.append(both)
    return combined


def claim_problem(state: ClusterState, pod: Pod) -> str:
    """Return why the claims of a pod forbid to schedule it, or empty.

    Mirrors ``ValidatePersistentVolumeClaims``.
    """
    for claim in _claims(state, pod):
        if claim is None:
            return "getting persistent volume claim, not found"
        problem = _problem_of(state, claim)
        if problem:
            return problem
    return ""


def _problem_of(state: ClusterState, claim: PersistentVolumeClaim) -> str:
    if claim.metadata.deletion_timestamp is not None:
        return "persistentvolumeclaim is being deleted"
    if claim.status.phase == "Lost":
        return "persistentvolumeclaim bound to non-existent persistentvolume"
    if claim.spec.volume_name:
        return _problem_of_bound(state, claim)
    return _problem_of_unbound(state, claim)


def _problem_of_bound(state: ClusterState, claim: PersistentVolumeClaim) -> str:
    volume = state.get(PersistentVolume, claim.spec.volume_name)
    if volume is None:
        return "failed to validate pvc, persistent volume not found"
    if volume.metadata.deletion_timestamp is not None:
        return "failed to validate pvc, persistentvolume is being deleted"
    if _BIND_COMPLETED not in claim.annotations:
        return "pvc is considered unbound because it does not contain annotation"
    return ""


def _problem_of_unbound(state: ClusterState, claim: PersistentVolumeClaim) -> str:
    if not claim.spec.storage_class_name:
        return "unbound pvc must define a storage class"
    storage_class = state.get(StorageClass, claim.spec.storage_class_name)
    if storage_class is None:
        return "failed to validate pvc, failed to get storage class"
    if storage_class.volume_binding_mode in (None, "Immediate"):
        # The API server writes Immediate if a manifest says nothing.
        return (
            "failed to validate pvc, "
            "pvc with immediate volume binding mode must be bound"
        )
    return ""


def volumes_of(state: ClusterState, pod: Pod) -> VolumeIds:
    """Return the claims of a pod by CSI driver; claims that are gone do not count.

    Raises:
        VolumeError: A bound volume does not exist.
    """
    volumes: dict[str, set[str]] = {}
    for claim in _claims(state, pod):
        if claim is not None:
            driver = _driver_of(state, claim)
            if driver:
                volumes.setdefault(driver, set()).add(claim.key)
    return {driver: frozenset(claims) for driver, claims in volumes.items()}


def _driver_of(state: ClusterState, claim: PersistentVolumeClaim) -> str:
    if claim.spec.volume_name:
        volume = state.get(PersistentVolume, claim.spec.volume_name)
        if volume is None:
            raise VolumeError(f'persistentvolumes "{claim.spec.volume_name}" not found')
        if volume.spec.csi is not None:
            return volume.spec.csi.driver
        return _EBS_DRIVER if volume.spec.aws_elastic_block_store is not None else ""
    if not claim.spec.storage_class_name:
        return ""
    storage_class = state.get(StorageClass, claim.spec.storage_class_name)
    if storage_class is None:
        return ""
    return csi_driver_of(storage_class.provisioner) or storage_class.provisioner


class VolumeUsage:
    """The volumes of a node, and how many of each driver it can attach."""

    __slots__ = ("_limits", "_volumes")

    def __init__(
        self, volumes: Mapping[str, frozenset[str]], limits: Mapping[str, int]
    ) -> None:
        self._volumes = dict(volumes)
        self._limits = limits

    @classmethod
    def of_node(
        cls,
        state: ClusterState,
        node_name: str,
        pods: Iterable[Pod],
        fallback_limits: Mapping[str, int],
    ) -> "VolumeUsage":
        """Return the usage of a node.

        Args:
            state: The cluster.
            node_name: The name of the node.
            pods: Its pods.
            fallback_limits: The limits of its type, for drivers that the node does
                not report.
        """
        limits = dict(fallback_limits)
        csi_node = state.get(CSINode, node_name)
        for driver in csi_node.spec.drivers if csi_node else ():
            count = driver.allocatable.count if driver.allocatable else None
            if count is None:
                limits.pop(driver.name, None)
            else:
                limits[driver.name] = count
        usage = cls({}, limits)
        for pod in pods:
            if has_claims(pod):
                # Upstream counts nothing of a pod whose volume is missing, and tries
                # again. Dumps of clusters often lack the volumes of claims.
                with suppress(VolumeError):
                    usage.add(volumes_of(state, pod))
        return usage

    def add(self, volumes: VolumeIds) -> None:
        """Add the volumes of a pod."""
        for driver, claims in volumes.items():
            self._volumes[driver] = self._volumes.get(driver, frozenset()) | claims

    def union(self, volumes: VolumeIds) -> dict[str, frozenset[str]]:
        """Return the volumes together with those of another pod."""
        union = self._volumes.copy()
        for driver, claims in volumes.items():
            union[driver] = union.get(driver, frozenset()) | claims
        return union

    def problem_with(self, volumes: VolumeIds) -> str:
        """Return why more volumes exceed a limit, or empty."""
        for driver, claims in self.union(volumes).items():
            limit = self._limits.get(driver)
            if limit is not None and len(claims) > limit:
                return (
                    f"checking volume usage, would exceed volume limit "
                    f"(provisioner={driver}, volume-count={len(claims)}, "
                    f"volume-limit={limit})"
                )
        return ""
