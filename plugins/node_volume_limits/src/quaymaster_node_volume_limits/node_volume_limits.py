"""Keep a pod off nodes that can take no more volumes of a CSI driver.

Counted are the volumes of the pods on the node, and those that VolumeAttachments say
are attached to it; one that several of them use counts once. A claim without a volume
counts for the driver of its class.

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
    """The volumes that a pod needs attached, looked up once per attempt."""

    def __init__(self, handle: Handle, pod: Pod) -> None:
        self._informers = handle.informers
        self._pod = pod
        self._wanted: dict[bool, set[Attachable] | Status] = {}

    def wanted(self, *, has_csi_node: bool) -> set[Attachable] | Status:
        """Return what the new pod needs attached, or what is wrong with its volumes."""
        known = self._wanted.get(has_csi_node)
        if known is None:
            known = self._wanted[has_csi_node] = self._find(has_csi_node)
        return known

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
        count: How many volumes there are besides those of the pods on it.
    """
    for pod in node.pods.values():
        for volume in volumes_of(pod):
            claim = volume.persistent_volume_claim
            if claim is None or not claim.claim_name:
                return False  # it may make no sense, which must be told
            count += 1
    return count <= min(limits.values())


class _Verdicts:
    """Collects rejections of nodes, and errors, of which the first row's counts."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._codes: Int64Array | None = None
        self._answers: list[Status] = []
        self.errors: dict[int, Status] = {}

    def add(self, rejected: BoolArray | None, status: Status) -> None:
        """Give a status to the rejected nodes; None rejects none."""
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
        wanted = lookups.wanted(has_csi_node=csi_node is not None)
        if isinstance(wanted, Status):
            return wanted
        missing = self._missing(wanted, csi_node)
        if missing is not None:
            return missing
        limits = volume_limits(csi_node) if wanted else {}
        if not limits:
            return None
        self._attachments.sync()
        attached = self._attachments.of(node.name)
        if _is_far_from(limits, node, len(wanted) + len(attached)):
            return None
        try:
            in_use = self._in_use(node)
        except VolumeError as error:
            return Status.from_error(error)
        # A wanted volume that is attached, but used by no pod here, counts on both
        # sides, as upstream.
        added = Counter(one.driver for one in wanted - in_use)
        there = in_use | attached
        count = Counter(one.driver for one in there)
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
            wanted = lookups.wanted(has_csi_node=has_csi_node)
            if isinstance(wanted, Status):
                verdicts.add(there, wanted)
                continue
            if has_csi_node and wanted:
                verdicts.add(self._rows.exceeded(wanted, nodes, rows), _TOO_MANY)
            # After that, since a driver that is missing is told before full nodes.
            lacking: BoolArray = np.zeros(len(there), dtype=np.bool_)
            for driver in reversed(self._awaited(wanted)):
                absent = there & ~self._rows.has_driver(driver, rows)
                verdicts.add(absent if absent.any() else None, _missing(driver))
                lacking |= absent
            if has_csi_node and wanted:
                problem = self._rows.first_problem(nodes, rows, lacking)
                if problem is not None:
                    verdicts.errors[problem[0]] = Status.from_error(problem[1])
        return verdicts.result()

    @hookimpl
    def filter_pod_use(self) -> PodUse:
        # Volumes in use count where something limits them.
        is_limited = self._rows.has_limits(self._handle.snapshot.nodes)
        return PodUse.PODS if is_limited else PodUse.NONE

    def _missing(
        self, wanted: Collection[Attachable], csi_node: CSINode | None
    ) -> Status | None:
        """Return that a driver is missing which must be there, the first by name."""
        there = {one.name for one in csi_node.spec.drivers} if csi_node else set()
        for driver in self._awaited(wanted):
            if driver not in there:
                return _missing(driver)
        return None

    def _awaited(self, wanted: Collection[Attachable]) -> Sequence[str]:
        """The drivers whose volumes are for nodes alone that list them, by name."""
        if not self._wants_drivers:
            return ()
        return [
            name
            for name in sorted({one.driver for one in wanted})
            if (driver := self._informers.get(CSIDriver, name)) is not None
            and driver.spec.prevent_pod_scheduling_if_missing
        ]

    def _in_use(self, node: NodeInfo) -> set[Attachable]:
        """Return what the pods on a node have attached to it."""
        found: set[Attachable] = set()
        for pod in node.pods.values():
            found |= volumes_to_attach(
                self._informers, pod, has_csi_node=True, is_new=False
            )
        return found
