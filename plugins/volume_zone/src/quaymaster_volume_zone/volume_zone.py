"""Keep a pod in the zones of its volumes.

The labels of the bound volumes of the pod's claims count, not their node affinity. A
node without any label for zones or regions accepts every volume.

Mirrors ``VolumeZone`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/volumezone/volume_zone.go``).
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

import numpy as np

from quaymaster import (
    BoolArray,
    Change,
    ClusterEventWithHint,
    CycleState,
    EventsOf,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.objects import PersistentVolume, PersistentVolumeClaim, StorageClass
from quaymaster.volumes import (
    claim_key,
    class_of_claim,
    is_delayed,
    volumes_fragment,
    volumes_of,
)
from quaymaster_volume_zone.facts import explain_zones
from quaymaster_volume_zone.topology import (
    TOPOLOGY_LABELS,
    VolumeTopology,
    topologies_of,
)

__all__ = ["VolumeZone"]

_TOPOLOGIES = StateKey[Sequence[VolumeTopology]]("PreFilterVolumeZone")

_CONFLICT: Final = Status.unresolvable("node(s) had no available volume zone")
_NO_CLAIM_NAME: Final = Status.unresolvable("PersistentVolumeClaim had no name")
_NO_VOLUME_NAME: Final = Status.unresolvable("PersistentVolume had no name")
_NO_CLASS_NAME: Final = Status.unresolvable(
    "PersistentVolumeClaim had no pv name and storageClass name"
)


class VolumeZone:
    """Rejects nodes outside the zones and regions of bound volumes."""

    scope = Scope.NODE
    pod_use = PodUse.NONE
    reads = (PersistentVolume, PersistentVolumeClaim, StorageClass)

    def __init__(self, _args: None, handle: Handle) -> None:
        self._informers = handle.informers

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            EventsOf(StorageClass)(Change.ADD, _after_class_added),
            on_node(Change.ADD | Change.UPDATE_NODE_LABEL),
            EventsOf(PersistentVolumeClaim)(
                Change.ADD | Change.UPDATE, _after_claim_changed
            ),
            EventsOf(PersistentVolume)(
                Change.ADD | Change.UPDATE, _after_volume_changed
            ),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        return volumes_fragment(pod)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        if not volumes_of(pod):
            return Status.skip()
        topologies = self._topologies(pod)
        if isinstance(topologies, Status):
            return topologies
        if not topologies:
            return Status.skip()
        state[_TOPOLOGIES] = topologies
        return None

    @hookimpl
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        topologies = self._prepared(state, pod)
        if isinstance(topologies, Status):
            return topologies
        labels = node.labels
        # A cluster without zones: volumes with labels of a zone are usable there on
        # each node.
        if not any(key in labels for key in TOPOLOGY_LABELS):
            return None
        allowed = all(topology.allows(labels) for topology in topologies)
        return None if allowed else _CONFLICT

    @hookimpl
    def filter_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | Status:
        topologies = self._prepared(state, pod)
        if isinstance(topologies, Status):
            return topologies
        labelled: BoolArray = np.zeros(nodes.count(rows), dtype=np.bool_)
        for key in TOPOLOGY_LABELS:
            labelled |= nodes.label(key).codes[rows] >= 0
        rejected: BoolArray = np.zeros(nodes.count(rows), dtype=np.bool_)
        for topology in topologies:
            rejected |= ~_allowed(topology, nodes, rows)
        return NodeVerdicts.reject_where(labelled & rejected, _CONFLICT)

    @hookimpl
    def explain_filter(self, pod: Pod, node: NodeInfo) -> Sequence[str]:
        return explain_zones(self._bound(pod), node)

    def _bound(
        self, pod: Pod
    ) -> Iterator[tuple[PersistentVolumeClaim, PersistentVolume]]:
        """Yield the bound claims of a pod, with their volumes."""
        for name in _claim_names(pod):
            claim = self._informers.get(PersistentVolumeClaim, claim_key(pod, name))
            if claim is not None and claim.spec.volume_name:
                volume = self._informers.get(PersistentVolume, claim.spec.volume_name)
                if volume is not None:
                    yield claim, volume

    def _prepared(
        self, state: CycleState, pod: Pod
    ) -> Sequence[VolumeTopology] | Status:
        prepared = state.get(_TOPOLOGIES)
        return self._topologies(pod) if prepared is None else prepared

    def _topologies(self, pod: Pod) -> Sequence[VolumeTopology] | Status:
        """Return the requirements of the pod's volumes, or why no node can be used."""
        topologies: list[VolumeTopology] = []
        for name in _claim_names(pod):
            if not name:
                return _NO_CLAIM_NAME
            key = claim_key(pod, name)
            claim = self._informers.get(PersistentVolumeClaim, key)
            if claim is None:
                return _not_found("persistentvolumeclaim", name)
            if not claim.spec.volume_name:
                problem = self._why_unbound(claim)
                if problem is not None:
                    return problem
                continue
            volume = self._informers.get(PersistentVolume, claim.spec.volume_name)
            if volume is None:
                return _not_found("persistentvolume", claim.spec.volume_name)
            topologies += topologies_of(volume)
        return topologies

    def _why_unbound(self, claim: PersistentVolumeClaim) -> Status | None:
        """Return the error of a claim without a volume, or None if it may wait."""
        name = class_of_claim(claim)
        if not name:
            return _NO_CLASS_NAME
        storage_class = self._informers.get(StorageClass, name)
        if storage_class is None:
            return _not_found("storageclass.storage.k8s.io", name)
        try:
            return None if is_delayed(claim, storage_class) else _NO_VOLUME_NAME
        except ValueError as error:
            return Status.unresolvable(str(error))


def _allowed(topology: VolumeTopology, nodes: NodeTable, rows: Rows) -> BoolArray:
    column, values = nodes.label(topology.key), topology.values
    allowed = column.is_in(values, rows)
    if topology.successor == topology.key:
        return allowed
    has_none = column.codes[rows] < 0
    successor = nodes.label(topology.successor).is_in(values, rows)
    passing: BoolArray = allowed | (has_none & successor)
    return passing


def _not_found(kind: str, name: str) -> Status:
    return Status.unresolvable(f'{kind} "{name}" not found')


def _claim_names(pod: Pod) -> Sequence[str]:
    return [
        volume.persistent_volume_claim.claim_name
        for volume in volumes_of(pod)
        if volume.persistent_volume_claim is not None
    ]


def _hint(is_helpful: bool) -> QueueingHint:
    return QueueingHint.QUEUE if is_helpful else QueueingHint.SKIP


def _after_class_added(_pod: Pod, _old: None, new: StorageClass) -> QueueingHint:
    return _hint(new.volume_binding_mode == "WaitForFirstConsumer")


def _after_claim_changed(
    pod: Pod, _old: PersistentVolumeClaim | None, new: PersistentVolumeClaim
) -> QueueingHint:
    return _hint(new.namespace == pod.namespace and new.name in _claim_names(pod))


def _after_volume_changed(
    _pod: Pod, old: PersistentVolume | None, new: PersistentVolume
) -> QueueingHint:
    if old is None:
        return QueueingHint.QUEUE
    return _hint(topologies_of(old) != topologies_of(new))
