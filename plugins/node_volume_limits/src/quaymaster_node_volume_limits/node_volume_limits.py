"""Keep a pod off nodes that cannot attach more volumes of a CSI driver.

The volumes of the pods on the node count, and those of its VolumeAttachments. A volume
with several users counts once. A claim without a volume counts for the driver of its
class.

Mirrors ``NodeVolumeLimits`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodevolumelimits/csi.go``).
"""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Final

import numpy as np

from quaymaster import (
    BoolArray,
    Change,
    ClusterEventWithHint,
    CycleState,
    EventsOf,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.objects import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from quaymaster.volumes import volumes_fragment, volumes_of
from quaymaster_node_volume_limits.attachable import (
    Attachable,
    ClaimNotFoundError,
    VolumeError,
    needs_attaching,
    volume_limits,
    volumes_to_attach,
)
from quaymaster_node_volume_limits.attachments import Attachments
from quaymaster_node_volume_limits.facts import (
    UNKNOWN_VOLUME,
    explain_limits,
    explain_missing,
)
from quaymaster_node_volume_limits.hints import (
    after_attachment_deleted,
    after_claim_added,
    after_csi_node_updated,
    after_pod_deleted,
    claim_keys,
    keys_of_added_claim,
)
from quaymaster_node_volume_limits.rows import VolumeRows

__all__ = ["NodeVolumeLimits"]

_TOO_MANY: Final = Status.unschedulable("node(s) exceed max volume count")
_EVENTS: Final = (
    EventsOf(CSINode)(Change.ADD),
    EventsOf(CSINode)(Change.UPDATE, after_csi_node_updated),
    on_pod.assigned(Change.DELETE, after_pod_deleted),
    EventsOf(PersistentVolumeClaim)(Change.ADD, after_claim_added).indexed(
        claim_keys, keys_of_added_claim
    ),
    EventsOf(VolumeAttachment)(Change.DELETE, after_attachment_deleted),
)


class _Lookups:
    """The volumes that a pod needs, looked up once per attempt."""

    def __init__(self, handle: Handle, pod: Pod) -> None:
        self._informers = handle.informers
        self._pod = pod
        self._volumes: dict[bool, set[Attachable] | Status] = {}

    def volumes(self, *, has_csi_node: bool) -> set[Attachable] | Status:
        """Return the volumes that the new pod needs, or the error in them."""
        volumes = self._volumes.get(has_csi_node)
        if volumes is None:
            volumes = self._volumes[has_csi_node] = self._find(has_csi_node)
        return volumes

    def _find(self, has_csi_node: bool) -> set[Attachable] | Status:
        try:
            return volumes_to_attach(
                self._informers, self._pod, has_csi_node=has_csi_node, is_new=True
            )
        except ClaimNotFoundError as error:
            return Status.unresolvable(str(error))
        except VolumeError as error:
            return Status.from_error(error)


def _is_far_from(limits: Mapping[str, int], node: NodeInfo, count: int) -> bool:
    """Return whether no limit is exceeded even if all volumes were of one driver.

    Args:
        limits: The limits of the node.
        node: The node.
        count: The number of volumes in addition to those of the pods on it.
    """
    for pod in node.pods.values():
        for volume in volumes_of(pod):
            claim = volume.persistent_volume_claim
            if claim is None or not claim.claim_name:
                return False  # it may be malformed, which must be reported
            count += 1
    return count <= min(limits.values())


class _Verdicts:
    """Collects rejections of nodes, and errors; the error of the first row counts."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._codes: Int64Array | None = None
        self._answers: list[Status] = []
        self.errors: dict[int, Status] = {}

    def add(self, rejected: BoolArray | None, status: Status) -> None:
        """Return the verdicts, or None if no node is rejected."""
        if rejected is None:
            return
        if status.is_error:
            self.errors[int(rejected.argmax())] = status
            return
        if self._codes is None:
            self._codes = np.zeros(self._count, dtype=np.int64)
        self._answers.append(status)
        self._codes[rejected] = len(self._answers)

    def result(self) -> NodeVerdicts | Status | None:
        if self.errors:
            return self.errors[min(self.errors)]
        if self._codes is None:
            return None
        return NodeVerdicts(self._codes, lambda code: self._answers[code - 1])


_LOOKUPS = StateKey[_Lookups]("NodeVolumeLimits")


def _missing(driver: str) -> Status:
    return Status.unschedulable(f"{driver} CSI driver is not installed on the node")


class NodeVolumeLimits:
    """Rejects nodes where the pod's volumes would exceed a driver's limit."""

    scope = Scope.NODE
    reads = (
        CSIDriver,
        CSINode,
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
        VolumeAttachment,
    )

    def __init__(self, _args: None, handle: Handle) -> None:
        self._handle = handle
        self._informers = informers = handle.informers
        self._attachments = Attachments(informers)
        self._rows = VolumeRows(informers, self._attachments)
        self._wants_drivers = handle.kubernetes.enabled("VolumeLimitScaling")

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return _EVENTS

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        return volumes_fragment(pod)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        if not volumes_of(pod) or not needs_attaching(pod):
            return Status.skip()
        state[_LOOKUPS] = _Lookups(self._handle, pod)
        return None

    @hookimpl
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        if not volumes_of(pod):
            return None
        lookups = state.get(_LOOKUPS) or _Lookups(self._handle, pod)
        csi_node = self._informers.get(CSINode, node.name)
        volumes = lookups.volumes(has_csi_node=csi_node is not None)
        if isinstance(volumes, Status):
            return volumes
        missing = self._missing(volumes, csi_node)
        if missing is not None:
            return missing
        limits = volume_limits(csi_node) if volumes else {}
        if not limits:
            return None
        self._attachments.sync()
        attached = self._attachments.of(node.name)
        # Resolving the volumes of all pods on a node takes several lookups each. Most
        # nodes are far below their limits.
        if _is_far_from(limits, node, len(volumes) + len(attached)):
            return None
        try:
            in_use = self._in_use(node)
        except VolumeError as error:
            return Status.from_error(error)
        # A requested volume that is attached but used by no pod here counts twice,
        # as in upstream.
        added = Counter(volume.driver for volume in volumes - in_use)
        there = in_use | attached
        count = Counter(volume.driver for volume in there)
        for driver, more in added.items():
            if driver in limits and count[driver] + more > limits[driver]:
                return _TOO_MANY
        return None

    @hookimpl
    def filter_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | Status | None:
        if not volumes_of(pod):
            return None
        lookups = state.get(_LOOKUPS) or _Lookups(self._handle, pod)
        self._rows.sync(nodes)
        verdicts = _Verdicts(nodes.count(rows))
        csi_nodes = self._rows.has_csi_node(rows)
        for has_csi_node, there in ((True, csi_nodes), (False, ~csi_nodes)):
            if not there.any():
                continue
            volumes = lookups.volumes(has_csi_node=has_csi_node)
            if isinstance(volumes, Status):
                verdicts.add(there, volumes)
                continue
            if has_csi_node and volumes:
                verdicts.add(self._rows.exceeded(volumes, nodes, rows), _TOO_MANY)
            # Last, because a missing driver is reported before an exceeded limit.
            lacking: BoolArray = np.zeros(len(there), dtype=np.bool_)
            for driver in reversed(self._awaited(volumes)):
                absent = there & ~self._rows.has_driver(driver, rows)
                verdicts.add(absent if absent.any() else None, _missing(driver))
                lacking |= absent
            if has_csi_node and volumes:
                problem = self._rows.first_problem(nodes, rows, lacking)
                if problem is not None:
                    # By position, because a loop over nodes would stop at the first
                    # error.
                    verdicts.errors[problem[0]] = Status.from_error(problem[1])
        return verdicts.result()

    @hookimpl
    def explain_filter(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Sequence[str]:
        lookups = state.get(_LOOKUPS) or _Lookups(self._handle, pod)
        csi_node = self._informers.get(CSINode, node.name)
        volumes = lookups.volumes(has_csi_node=csi_node is not None)
        if isinstance(volumes, Status):
            return UNKNOWN_VOLUME
        drivers = {entry.name for entry in csi_node.spec.drivers} if csi_node else set()
        for driver in self._awaited(volumes):
            if driver not in drivers:
                return explain_missing(driver, csi_node)
        self._attachments.sync()
        try:
            in_use = self._in_use(node)
        except VolumeError:
            return UNKNOWN_VOLUME
        there = in_use | self._attachments.of(node.name)
        return explain_limits(volumes - in_use, there, volume_limits(csi_node))

    @hookimpl
    def filter_pod_use(self) -> PodUse:
        # Volumes in use matter only on nodes with limits.
        is_limited = self._rows.has_limits(self._handle.snapshot.nodes)
        return PodUse.PODS if is_limited else PodUse.NONE

    def _missing(
        self, volumes: Collection[Attachable], csi_node: CSINode | None
    ) -> Status | None:
        """Return a rejection for a missing required driver, the first by name."""
        there = {driver.name for driver in csi_node.spec.drivers} if csi_node else set()
        for driver in self._awaited(volumes):
            if driver not in there:
                return _missing(driver)
        return None

    def _awaited(self, volumes: Collection[Attachable]) -> Sequence[str]:
        """Return the drivers that nodes must list to get their volumes, by name."""
        if not self._wants_drivers:
            return ()
        return [
            name
            for name in sorted({volume.driver for volume in volumes})
            if (driver := self._informers.get(CSIDriver, name)) is not None
            and driver.spec.prevent_pod_scheduling_if_missing
        ]

    def _in_use(self, node: NodeInfo) -> set[Attachable]:
        """Return the volumes of the pods on a node."""
        volumes: set[Attachable] = set()
        for pod in node.pods.values():
            volumes |= volumes_to_attach(
                self._informers, pod, has_csi_node=True, is_new=False
            )
        return volumes
