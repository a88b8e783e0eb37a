"""The default algorithm for a group: places its pods one by one.

Each pod is placed as if it were alone, then assumed on its node and reserved, so that
the next ones see it. In the end everything is reverted, the last pod first. Mirrors
``runRootSchedulingAlgorithm``, ``podGroupSchedulingDefaultAlgorithm`` and
``assumeAndReserveWithRevert`` (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``). Upstream assumes the pods in a copy of the
cache. Here they are assumed in the cache, which is the snapshot: nothing else runs in
between.
"""

import copy
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Final, TypeAlias

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

Attempting: TypeAlias = Callable[[QueuedPod], AbstractContextManager[None]]
"""Makes the context in which a pod of a group is tried."""

_OTHER: Final = "failed to schedule other pod from a pod group"
_SUBTREE: Final = "failed to assume the subtree"
_FEASIBILITY: Final = "failed to evaluate placement feasibility"

_log = logging.getLogger(__name__)


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
        attempting: Attempting,
    ) -> GroupResult:
        """Return where the pods would go; nothing stays assumed or reserved.

        A group that could be scheduled, but of which no pod got a node, does not fit.

        Args:
            state: The cycle state of the group.
            info: The group, with the pods to place.
            queued: The records of these pods, in the order in which they are tried.
            scheduled: The number of pods of the group that have a node.
            attempting: Makes the context in which a pod is tried.
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
        attempting: Attempting,
    ) -> GroupResult:
        """Do the same for one placement of several; it may succeed without a node.

        Args:
            state: The cycle state of the placement.
            info: See `place`.
            queued: See `place`.
            scheduled: See `place`.
            attempting: See `place`.
        """
        # Reverts run in reverse order, all of them, whatever is raised.
        with ExitStack() as reverts:
            result = GroupResult(None, [])
            result.status = self._place(
                state,
                info,
                scheduled,
                self._tried(state, reverts, queued, result, attempting),
            )
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
        with ExitStack() as undo:
            for member in members:
                if isinstance(member.outcome, Decision):
                    status = self._assume(undo, member, member.outcome.node.name)
                    if status is not None:
                        return wrapped_error(_SUBTREE, status)
            reverts.push(undo.pop_all())
        return None

    def within(self, placement: RowArray) -> "GroupPlacer":
        """Return the same, restricted to the nodes of a placement.

        Args:
            placement: The rows of the nodes, ascending.
        """
        other = copy.copy(self)
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
        status = self._feasible.run(state, info, progress)
        if status is not None and status.is_rejected:
            return unschedulable(*status.reasons)
        if status is not None and status.is_error:
            return wrapped_error(_FEASIBILITY, status)
        for member in members:
            if (error := member.error) is not None:
                return wrapped_error(_OTHER, error)
            progress = PlacementProgress(
                progress.scheduled + member.has_node, progress.remaining - 1
            )
            status = self._feasible.run(state, info, progress)
            if status is not None and status.is_error:
                return wrapped_error(_FEASIBILITY, status)
            if status is not None and status.is_rejected:
                return status
        if status is not None:
            return unschedulable(*status.reasons)
        return None

    def _tried(
        self,
        state: CycleState,
        reverts: ExitStack,
        queued: Iterable[QueuedPod],
        result: GroupResult,
        attempting: Attempting,
    ) -> Iterator[MemberResult]:
        """Try one pod after the other, as long as the caller asks for more."""
        for record in queued:
            with attempting(record):
                # The state of the group, also while one of several placements is tried.
                own = CycleState(group=state.group or state)
                member = self._try(own, reverts, record)
            result.members.append(member)
            yield member

    def _try(
        self, state: CycleState, reverts: ExitStack, queued: QueuedPod
    ) -> MemberResult:
        """Find the node of a pod, assume it there and reserve."""
        member = MemberResult(queued, state)
        outcome = member.outcome = self._decide(member.state, queued.pod)
        if isinstance(outcome, Decision):
            status = self._assume(reverts, member, outcome.node.name)
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
        self, reverts: ExitStack, member: MemberResult, node_name: str
    ) -> Status | None:
        """Assume a pod on its node and reserve, or revert at once and return why."""
        pod = replace(member.queued.pod, node_name=node_name)
        state, stations = member.state, self._stations
        with ExitStack() as undo:
            try:
                self._cache.assume(pod)
            except AssumeError as error:
                return Status.from_error(str(error))
            undo.callback(self._forget, member.queued.pod, pod)
            self._nominator.delete(pod)
            if not stations.is_idle(state):
                undo.callback(self._unreserve, state, pod, node_name)
                status = stations.reserve(state, pod, node_name)
                if status is not None:
                    return status
            if state.annotations:
                self._cache.annotate(pod, state.annotations)
            reverts.push(undo.pop_all())
        return None

    def _unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        for error in self._stations.unreserve(state, pod, node_name):
            _log.error("%s", error.message)

    def _forget(self, pod: Pod, assumed: Pod) -> None:
        """Forget an assumed pod, and restore the nomination of its status."""
        self._cache.forget(assumed)
        node_name = pod.status.nominated_node_name
        if node_name:
            nominating = NominatingInfo(node_name, NominatingMode.OVERRIDE)
            self._nominator.add(reference_to(pod), nominating)


def _has_no_nodes(outcome: Outcome) -> bool:
    return isinstance(outcome, FitError) and outcome.no_nodes
