"""Place pods where their volumes exist or can be provisioned, and bind them.

A bound claim restricts the pod to the nodes that can reach its volume. A claim that
waits for its first consumer gets an existing volume, or one is provisioned for the
pod's node. Reserve assumes the chosen objects, and PreBind writes them. PreBind then
waits until the cluster has bound the claims.

Mirrors ``VolumeBinding`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/volumebinding/volume_binding.go`` and ``binder.go``).
"""

from collections.abc import Hashable, Sequence
from typing import Final

import attrs
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
    PreBindPreFlightResult,
    PreBindWait,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.cluster import ApiError, Verb, Write
from quaymaster.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from quaymaster.volumes import (
    TranslationError,
    volumes_fragment,
    volumes_of,
)
from quaymaster_volume_binding.args import VolumeBindingArgs
from quaymaster_volume_binding.assume_cache import OutOfSyncError
from quaymaster_volume_binding.binding import (
    BindingError,
    Reservation,
    WrittenBindings,
)
from quaymaster_volume_binding.facts import explain_unbound, explain_volumes
from quaymaster_volume_binding.finder import Finder
from quaymaster_volume_binding.hints import (
    after_capacity_changed,
    after_claim_changed,
    after_class_changed,
    after_csi_driver_changed,
    after_csi_node_changed,
)
from quaymaster_volume_binding.judging import judge
from quaymaster_volume_binding.lookup import Lookup
from quaymaster_volume_binding.plans import VolumePlan
from quaymaster_volume_binding.pod_claims import (
    ClaimError,
    PodClaims,
    are_all_bound,
    claims_of,
)
from quaymaster_volume_binding.scoring import CapacityScorer

__all__ = ["VolumeBinding"]

_UNBOUND_IMMEDIATE: Final = Status.unresolvable(
    "pod has unbound immediate PersistentVolumeClaims"
)
_TIMED_OUT: Final = Status.from_error("binding volumes: context deadline exceeded")
_ADD_OR_UPDATE: Final = Change.ADD | Change.UPDATE
_EVENTS: Final = (
    EventsOf(StorageClass)(_ADD_OR_UPDATE, after_class_changed),
    EventsOf(PersistentVolumeClaim)(_ADD_OR_UPDATE, after_claim_changed),
    EventsOf(PersistentVolume)(_ADD_OR_UPDATE),
    on_node(Change.ADD | Change.UPDATE_NODE_LABEL),
    EventsOf(CSINode)(_ADD_OR_UPDATE, after_csi_node_changed),
    EventsOf(CSIDriver)(Change.UPDATE, after_csi_driver_changed),
    EventsOf(CSIStorageCapacity)(_ADD_OR_UPDATE, after_capacity_changed),
)


_NO_ROWS: Final[BoolArray] = np.zeros(0, dtype=np.bool_)


@attrs.define(eq=False)
class _Volumes:
    """The plans and the reservation for a pod's volumes during an attempt.

    Attributes:
        finder: Makes the plans, or None if the pod has no claims.
        plans: Node -> its plan, for nodes that were evaluated one by one.
        passed: The rows that passed in a batch. A plan is only made for the chosen
            node, in the same attempt, and so from the same objects.
        reservation: The assumed objects for the chosen node.
        all_bound: Whether nothing is left to do for the chosen node.
    """

    finder: Finder | None = None
    plans: dict[str, VolumePlan] = attrs.field(factory=dict)
    passed: BoolArray = attrs.field(factory=lambda: _NO_ROWS)
    reservation: Reservation | None = None
    all_bound: bool = False


_VOLUMES = StateKey[_Volumes](
    "VolumeBinding",
    missing="not found",
)
# Shared by all pods without claims, which are most pods: before and after Reserve.
_NO_CLAIMS: Final = _Volumes()
_NOTHING_LEFT: Final = _Volumes(all_bound=True)


class VolumeBinding:
    """Rejects nodes that cannot use the pod's volumes, and binds its claims.

    Args:
        args: The time limit for volumes, and the score function.
        handle: The framework.
    """

    Args = VolumeBindingArgs
    scope = Scope.NODE
    blocks = False
    skips_binding = True
    pod_use = PodUse.NONE
    reads = (
        CSIDriver,
        CSINode,
        CSIStorageCapacity,
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
    )
    writes = (
        Write(Verb.UPDATE, PersistentVolume),
        Write(Verb.UPDATE, PersistentVolumeClaim),
    )

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        self._timeout_seconds = args.bind_timeout_seconds
        self._handle = handle
        self._lookup = Lookup(handle.informers)
        # Completed arguments have a shape if the feature gate is on.
        self._scorer = None if args.shape is None else CapacityScorer(args.shape)

    def plan(self, state: CycleState, node_name: str) -> VolumePlan | None:
        """Return the plan for the pod's volumes on a node that passed."""
        volumes = state.get(_VOLUMES)
        return None if volumes is None else self._plan(volumes, node_name)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return _EVENTS

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable | None:
        return volumes_fragment(pod)

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        if not volumes_of(pod):
            state[_VOLUMES] = _NO_CLAIMS
            return Status.skip()
        try:
            claims = claims_of(self._lookup, pod)
        except ClaimError as error:
            return Status.unresolvable(str(error))
        if not claims:
            state[_VOLUMES] = _NO_CLAIMS
            return Status.skip()
        try:
            sorted_claims = PodClaims.sort(self._lookup, claims)
        except ValueError as error:
            return Status.from_error(error)
        if sorted_claims.has_immediate:
            return _UNBOUND_IMMEDIATE
        state[_VOLUMES] = _Volumes(Finder(self._lookup, sorted_claims))
        return None

    @hookimpl
    def explain_pre_filter(self, pod: Pod) -> Sequence[str]:
        try:
            claims = claims_of(self._lookup, pod)
        except ClaimError:
            return ()  # the message names the claim
        return list(explain_unbound(claims, self._lookup))

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        volumes = state[_VOLUMES]
        if volumes.finder is None:
            return None
        try:
            plan = volumes.finder.find(node.name, node.labels)
        except TranslationError as error:
            return Status.from_error(error)
        if isinstance(plan, VolumePlan):
            volumes.plans[node.name] = plan
            return None
        return Status.unresolvable(*plan)

    @hookimpl
    def filter_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | Status | None:
        volumes = state[_VOLUMES]
        if volumes.finder is None:
            return None
        if len(volumes.passed) < nodes.capacity:
            volumes.passed = np.zeros(nodes.capacity, dtype=np.bool_)
        try:
            verdicts = judge(volumes.finder, nodes, rows)
        except TranslationError as error:
            return Status.from_error(error)
        if verdicts is None:
            volumes.passed[rows] = True
        else:
            # Only flags for many nodes: of thousands that pass, one is chosen, and
            # `_plan` makes the plan for it then.
            volumes.passed[rows] |= verdicts.codes == 0
        return verdicts

    @hookimpl
    def explain_filter(self, state: CycleState, node: NodeInfo) -> Sequence[str]:
        finder = state[_VOLUMES].finder
        if finder is None:
            return ()
        try:
            return explain_volumes(finder, self._handle.informers, node)
        except TranslationError as error:
            return [str(error)]

    @hookimpl
    def pre_score(self) -> Status | None:
        return Status.skip() if self._scorer is None else None

    @hookimpl
    def score(self, state: CycleState, node: NodeInfo) -> int:
        scorer = self._scorer
        if scorer is None:
            return 0
        volumes = state[_VOLUMES]
        finder = volumes.finder
        if finder is None or not finder.has_waiting:
            return 0
        plan = self._plan(volumes, node.name)
        return 0 if plan is None else scorer.score(finder.claims, plan, node.labels)

    @hookimpl
    def score_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> Int64Array:
        scorer = self._scorer
        finder = None if scorer is None else state[_VOLUMES].finder
        if scorer is None or finder is None or not finder.has_waiting:
            return np.zeros(nodes.count(rows), dtype=np.int64)
        totals = scorer.score_rows(finder.claims, nodes, rows)
        if totals is not None:
            return totals
        scores = [self.score(state, node) for node in nodes.infos_at(rows)]
        return np.array(scores, dtype=np.int64)

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        volumes = state[_VOLUMES]
        if volumes.finder is None:
            state[_VOLUMES] = _NOTHING_LEFT
            return None
        try:
            plan = self._plan(volumes, node_name)
            # Looked up a second time: an earlier pod with the same claim may have bound
            # it since Filter.
            volumes.all_bound = plan is None or are_all_bound(self._lookup, pod)
            if plan is not None and not volumes.all_bound:
                volumes.reservation = Reservation.assume(self._lookup, plan, node_name)
        except (TranslationError, OutOfSyncError) as error:
            return Status.from_error(error)
        return None

    @hookimpl
    def unreserve(self, state: CycleState) -> None:
        volumes = state.get(_VOLUMES)
        if volumes is not None and volumes.reservation is not None:
            volumes.reservation.revert(self._lookup)

    @hookimpl
    def pre_bind_pre_flight(
        self, state: CycleState, node_name: str
    ) -> PreBindPreFlightResult | Status:
        volumes = state[_VOLUMES]
        if volumes.all_bound:
            return Status.skip()
        if volumes.reservation is None:
            return _no_plan(node_name)
        return PreBindPreFlightResult(allow_parallel=True)

    @hookimpl
    def pre_bind(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PreBindWait | Status | None:
        volumes = state[_VOLUMES]
        if volumes.all_bound:
            return None
        if volumes.reservation is None:
            return _no_plan(node_name)
        try:
            written = volumes.reservation.write(self._handle)
        except ApiError as error:
            return Status.from_error(error)
        return PreBindWait(
            check=lambda: self._is_done(written, pod),
            timeout_seconds=self._timeout_seconds,
            timed_out=_TIMED_OUT,
        )

    def _plan(self, volumes: _Volumes, node_name: str) -> VolumePlan | None:
        """Return the plan for a node, or None if it did not pass."""
        plan = volumes.plans.get(node_name)
        node = self._handle.snapshot.get(node_name)
        if plan is not None or node is None or volumes.finder is None:
            return plan
        if node.row >= len(volumes.passed) or not volumes.passed[node.row]:
            return None
        choice = volumes.finder.find(node_name, node.labels)
        return choice if isinstance(choice, VolumePlan) else None

    def _is_done(self, written: WrittenBindings, pod: Pod) -> bool | Status:
        try:
            return written.are_complete(self._handle, self._lookup, pod)
        except BindingError as error:
            return Status.from_error(f"binding volumes: {error}")


def _no_plan(node_name: str) -> Status:
    return Status.from_error(f'no pod volume found for node "{node_name}"')
