"""The default algorithm for a group: places its pods one by one.

Each pod is placed as if it were alone, then assumed on its node and reserved, so that
the next ones see it. In the end everything is reverted, the last pod first. Mirrors
``runRootSchedulingAlgorithm``, ``podGroupSchedulingDefaultAlgorithm`` and
``assumeAndReserveWithRevert`` (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``). Upstream assumes the pods in a copy of the
cache. Here they are assumed in the cache, which is the snapshot: nothing else runs in
between.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from typing import Final, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._base.errors import VerificationError
from quaymaster._base.raised import describe_exception
from quaymaster._core.binding.stations import BindingStations
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import PlacementProgress, PodGroupInfo
from quaymaster._core.contract.results import NominatingInfo, NominatingMode
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm, PickNode
from quaymaster._core.cycle.decisions import CLEAR_NOMINATION, Decision, FitError
from quaymaster._core.groups.in_flight import reference_to
from quaymaster._core.groups.results import (
    GroupResult,
    MemberResult,
    Outcome,
    unschedulable,
    wrapped_error,
)
from quaymaster._core.groups.stations import PlacementFeasibleStation
from quaymaster._core.queue.nominator import Nominator
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.state.arrays import RowArray
from quaymaster._core.state.cache import AssumeError, Cache

__all__ = ["Attempting", "GroupPlacer"]

_OTHER: Final = "failed to schedule other pod from a pod group"
_SUBTREE: Final = "failed to assume the subtree"
_FEASIBILITY: Final = "failed to evaluate placement feasibility"

_log = logging.getLogger(__name__)


class Attempting(Protocol):
    """Reports the attempts for the pods of groups."""

    def begin(self, queued: QueuedPod, /) -> None:
        """Report that a pod is going to be tried."""

    def end(self) -> None:
        """Report that the pod was tried; not called if an exception ends the cycle."""


class _Assumed(msgspec.Struct, frozen=True, eq=False):
    """A pod that is assumed, and reserved, during an attempt.

    Attributes:
        member: The result of the pod.
        pod: The pod, with its node.
        is_reserved: Whether Reserve plugins were called.
    """

    member: MemberResult
    pod: Pod
    is_reserved: bool


# Lists and not contexts: as contexts, the attempt and the revert of each pod made the
# cycle of a gang a fifth slower.
_Reverts: TypeAlias = list[_Assumed]
"""The pods to revert, in the order in which they were assumed."""


class GroupPlacer:
    """Places the pods of groups of one profile, and reverts it.

    Args:
        cache: Assumes pods and forgets them.
        nominator: The nominations of pods.
        algorithm: Finds the node of a pod; it runs no PostFilter plugins.
        stations: Reserve and Unreserve of the profile.
        feasible: PlacementFeasible of the profile.
        pick_node: Breaks ties.
    """

    def __init__(
        self,
        *,
        cache: Cache,
        nominator: Nominator,
        algorithm: Algorithm,
        stations: BindingStations,
        feasible: PlacementFeasibleStation,
        pick_node: PickNode,
    ) -> None:
        self._cache = cache
        self._nominator = nominator
        self._algorithm = algorithm
        self._stations = stations
        self._feasible = feasible
        self._pick_node = pick_node

    def place(
        self,
        state: CycleState,
        info: PodGroupInfo,
        queued: Sequence[QueuedPod],
        scheduled: int,
        attempting: Attempting | None,
    ) -> GroupResult:
        """Return where the pods would go; nothing stays assumed or reserved.

        A group that could be scheduled, but of which no pod got a node, does not fit.

        Args:
            state: The cycle state of the group.
            info: The group, with the pods to place.
            queued: The records of these pods, in the order in which they are tried.
            scheduled: The number of pods of the group that have a node.
            attempting: Reports the attempts, or None.
        """
        result = self.attempt(state, info, queued, scheduled, attempting)
        result.require_node()
        return result

    def attempt(
        self,
        state: CycleState,
        info: PodGroupInfo,
        queued: Sequence[QueuedPod],
        scheduled: int,
        attempting: Attempting | None,
    ) -> GroupResult:
        """Do the same for one placement of several; it may succeed without a node.

        Args:
            state: The cycle state of the placement.
            info: See `place`.
            queued: See `place`.
            scheduled: See `place`.
            attempting: See `place`.
        """
        result = GroupResult(None, [])
        reverts: _Reverts = []
        try:
            result.status = self._place(
                state,
                info,
                scheduled,
                self._tried(state, reverts, queued, result, attempting),
            )
        finally:
            self._revert(reverts)
        return result

    def assume_again(
        self, reverts: ExitStack, members: Iterable[MemberResult]
    ) -> Status | None:
        """Assume and reserve pods where an attempt has placed them.

        Args:
            reverts: Gets the reverts.
            members: The results of the attempt; those without a node are skipped.

        Returns:
            None, or why a pod could not be assumed; then nothing stays assumed.
        """
        assumed: _Reverts = []
        reverts.callback(self._revert, assumed)
        for member in members:
            if isinstance(member.outcome, Decision):
                status = self._assume(assumed, member, member.outcome.node.name)
                if status is not None:
                    self._revert(assumed)
                    return wrapped_error(_SUBTREE, status)
        return None

    def within(self, placement: RowArray) -> "GroupPlacer":
        """Return the same, restricted to the nodes of a placement.

        Args:
            placement: The rows of the nodes, ascending.
        """
        # Not by `copy.copy`, which takes ten times as long.
        other = GroupPlacer.__new__(GroupPlacer)
        other.__dict__.update(self.__dict__)
        other._algorithm = self._algorithm.within(placement)
        return other

    def _place(
        self,
        state: CycleState,
        info: PodGroupInfo,
        scheduled: int,
        members: Iterable[MemberResult],
    ) -> Status | None:
        """Try pods until the group cannot fit; return the status of the group."""
        progress = PlacementProgress(scheduled, len(info.pods))
        # Before any pod is tried: a gang that lacks members is rejected without a
        # single Filter call.
        status = self._feasible.run(state, info, progress)
        if status is not None and status.is_rejected:
            return unschedulable(*status.reasons)
        if status is not None and status.is_error:
            return wrapped_error(_FEASIBILITY, status)
        for member in members:
            # Read once: `member.error` is only needed for the few pods without a node.
            has_node = member.has_node
            if not has_node and (error := member.error) is not None:
                return wrapped_error(_OTHER, error)
            progress = PlacementProgress(
                progress.scheduled + has_node, progress.remaining - 1
            )
            status = self._feasible.run(state, info, progress)
            if status is not None and status.is_error:
                return wrapped_error(_FEASIBILITY, status)
            # Unlike the rejection before the first pod, this one is not wrapped in "pod
            # group is unschedulable": ``podGroupSchedulingDefaultAlgorithm`` sets that
            # error only at its beginning and after a Wait. So the message shows the
            # plugin's reason alone.
            if status is not None and status.is_rejected:
                return status
        if status is not None:
            return unschedulable(*status.reasons)
        return None

    def _tried(
        self,
        state: CycleState,
        reverts: _Reverts,
        queued: Iterable[QueuedPod],
        result: GroupResult,
        attempting: Attempting | None,
    ) -> Iterator[MemberResult]:
        """Try one pod after the other, as long as the caller asks for more."""
        # The state of the group, also while one of several placements is tried.
        group_state = state.group or state
        for record in queued:
            if attempting is not None:
                attempting.begin(record)
            # A generator, so that `_place` decides after each pod whether to go on;
            # `result` has the pods that were tried even if an exception ends the loop.
            member = self._try(CycleState(group=group_state), reverts, record)
            if attempting is not None:
                attempting.end()
            result.members.append(member)
            yield member

    def _try(
        self, state: CycleState, reverts: _Reverts, queued: QueuedPod
    ) -> MemberResult:
        """Find the node of a pod, assume it there and reserve."""
        member = MemberResult(queued, state)
        outcome = member.outcome = self._decide(member.state, queued.pod)
        if isinstance(outcome, Decision):
            status = self._assume(reverts, member, outcome.node.name)
            # As in ``podGroupPodSchedulingAlgorithm``: a failure at Reserve clears the
            # nomination of the pod, whereas a pod that no node fits keeps it.
            if status is not None:
                member.outcome, member.nominating = status, CLEAR_NOMINATION
        elif member.error is not None or _has_no_nodes(outcome):
            member.nominating = CLEAR_NOMINATION
        return member

    def _decide(self, state: CycleState, pod: Pod) -> Outcome:
        """Run the algorithm; an exception in it is the error of this pod."""
        try:
            return self._algorithm.schedule(state, pod, self._pick_node)
        except VerificationError:
            raise
        except Exception as error:
            text = "the attempt to schedule pod %s broke"
            _log.exception(text, pod.key, extra={"pod": pod.key})
            return Status.from_error(describe_exception(error))

    def _assume(
        self, reverts: _Reverts, member: MemberResult, node_name: str
    ) -> Status | None:
        """Assume a pod on its node and reserve, or revert at once and return why."""
        pod = replace(member.queued.pod, node_name=node_name)
        state, stations = member.state, self._stations
        try:
            self._cache.assume(pod)
        except AssumeError as error:
            return Status.from_error(str(error))
        is_reserved = stations.reserves(state) and not stations.is_idle(state)
        reverts.append(_Assumed(member, pod, is_reserved))
        # The pod is on its node now. Its nomination would count it there a second time.
        self._nominator.delete(pod)
        if is_reserved:
            status = stations.reserve(state, pod, node_name)
            if status is not None:
                self._revert_one(reverts.pop())
                return status
        if state.annotations:
            self._cache.annotate(pod, state.annotations)
        return None

    def _revert(self, reverts: _Reverts) -> None:
        """Revert pods, the last one first; all of them, whatever is raised."""
        try:
            while reverts:
                self._revert_one(reverts.pop())
        finally:
            # A revert has raised an exception. The others must still happen, or the
            # cache keeps pods that are not on any node.
            if reverts:
                self._revert(reverts)

    def _revert_one(self, assumed: _Assumed) -> None:
        """Unreserve and forget a pod, and restore the nomination of its status."""
        if assumed.is_reserved:
            state, pod = assumed.member.state, assumed.pod
            for error in self._stations.unreserve(state, pod, pod.node_name):
                _log.error("%s", error.message)
        self._cache.forget(assumed.pod)
        pod = assumed.member.queued.pod
        node_name = pod.status.nominated_node_name
        if node_name:
            nominating = NominatingInfo(node_name, NominatingMode.OVERRIDE)
            # `_assume` has removed the nomination. As upstream, only a reference comes
            # back, because the pod itself is not in the queue while its group is tried.
            self._nominator.add(reference_to(pod), nominating)


def _has_no_nodes(outcome: Outcome) -> bool:
    return isinstance(outcome, FitError) and outcome.no_nodes
