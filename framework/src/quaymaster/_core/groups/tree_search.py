"""The algorithm for a tree of groups: places each group inside the nodes of its parent.

Mirrors ``podGroupSchedulingRecursiveAlgorithm``,
``compositePodGroupSchedulingPlacementAlgorithm``,
``compositePodGroupSchedulingDefaultAlgorithm`` and ``assumeSubtreeWithRevert``
(Kubernetes v1.37, ``pkg/scheduler/schedule_one_podgroup.go``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Final, TypeAlias

import msgspec

from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PlacementProgress,
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.groups.placement_stations import Candidate
from quaymaster._core.groups.placements import (
    PlacementChoice,
    PlacementSearch,
    no_placement_fits,
)
from quaymaster._core.groups.placing import Attempting, GroupPlacer
from quaymaster._core.groups.results import (
    GroupResult,
    PlacementTrial,
    unschedulable,
    wrapped_error,
)
from quaymaster._core.groups.stations import PlacementFeasibleStation
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.group_states import GroupStates

__all__ = ["TreeParts", "TreeResults", "TreeSearch", "proposed_in"]

_CHILD: Final = "composite pod group evaluation failed due to child error"

TreeResults: TypeAlias = dict[str, GroupResult]
"""``entity_key`` of a group -> its result, for groups that were tried."""


class _TreeTrial(msgspec.Struct, frozen=True, eq=False):
    """A group of groups on one placement, with the results of all groups below it."""

    placement: PodGroupPlacement
    state: CycleState
    result: GroupResult
    results: TreeResults


class _LeafTrials(msgspec.Struct, frozen=True, eq=False):
    """The placements of a PodGroup inside one placement of the group above."""

    result: GroupResult
    state: CycleState
    trials: Sequence[PlacementTrial]


class TreeParts(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What places the groups of trees for one profile.

    Attributes:
        placer: Places pods on given nodes.
        search: Places a PodGroup on the best of its placements.
        choice: Generates placements, and takes the best.
        feasible: PlacementFeasible of the profile.
        states: All pods of each PodGroup.
    """

    placer: GroupPlacer
    search: PlacementSearch
    choice: PlacementChoice
    feasible: PlacementFeasibleStation
    states: GroupStates


class TreeSearch:
    """Places the groups of one tree.

    Args:
        parts: What places groups.
        queued: ``namespace/name`` of a PodGroup -> the records of its pods, in the
            order in which they are tried.
        attempting: Reports the attempts, or None.
    """

    def __init__(
        self,
        parts: TreeParts,
        queued: Mapping[str, Sequence[QueuedPod]],
        attempting: Attempting | None = None,
    ) -> None:
        self._parts = parts
        self._queued = queued
        self._attempting = attempting
        self._trials: dict[str, list[_LeafTrials]] = {}

    def place(self, state: CycleState, root: PodGroupInfo, rows: Rows) -> TreeResults:
        """Return where all pods would go; nothing stays assumed or reserved.

        A tree that could be scheduled, but of which no pod got a node, does not fit.

        Args:
            state: The cycle state of the root.
            root: The root, with the groups below it.
            rows: All nodes.
        """
        results: TreeResults = {}
        with ExitStack() as reverts:
            result = self._place(state, root, rows, results, reverts)
        if result.status is None and not _has_placed_any(root, results):
            result.status = unschedulable()
        return results

    def _place(
        self,
        state: CycleState,
        info: PodGroupInfo,
        rows: Rows,
        results: TreeResults,
        reverts: ExitStack,
    ) -> GroupResult:
        """Place a group and those below it inside some nodes, and assume the pods.

        Args:
            state: The cycle state of the group.
            info: The group.
            rows: The nodes.
            results: Gets the results.
            reverts: Gets the reverts.
        """
        if info.is_composite:
            result = self._place_children(state, info, rows, results, reverts)
        else:
            result = self._place_leaf(state, info, rows, reverts)
        results[info.group.entity_key] = result
        return result

    def _place_leaf(
        self, state: CycleState, info: PodGroupInfo, rows: Rows, reverts: ExitStack
    ) -> GroupResult:
        parts = self._parts
        group_state = parts.states.get(info.key)
        scheduled = 0 if group_state is None else group_state.scheduled_count
        queued = self._queued.get(info.key, ())
        result = parts.search.place_within(
            rows, state, info, queued, scheduled, self._attempting
        )
        trials = _LeafTrials(result, state, parts.search.trials)
        self._trials.setdefault(info.key, []).append(trials)
        return self._assumed(result, [result], reverts)

    def trials_of(
        self, info: PodGroupInfo, result: GroupResult
    ) -> tuple[CycleState, Sequence[PlacementTrial]]:
        """Return the cycle state and the placements that led to a result.

        Args:
            info: A PodGroup.
            result: Its result in the end.
        """
        every = self._trials.get(info.key, ())
        for trials in every:
            # Identity: a group has a result for each placement of the group above.
            if trials.result is result:
                return trials.state, trials.trials
        return (every[-1].state, every[-1].trials) if every else (CycleState(), ())

    def _place_children(
        self,
        state: CycleState,
        info: PodGroupInfo,
        rows: Rows,
        results: TreeResults,
        reverts: ExitStack,
    ) -> GroupResult:
        """Try each placement of a group of groups, and take the best."""
        choice = self._parts.choice
        placements = choice.placements(state, info, rows)
        if isinstance(placements, Status):
            return GroupResult(placements, [])
        trials: list[_TreeTrial] = []
        for placement in placements:
            trial = self._try(state, info, placement)
            status = trial.result.status
            if status is not None and not status.is_rejected:
                return trial.result
            trials.append(trial)
        fitting = [trial for trial in trials if trial.result.status is None]
        if not fitting:
            first = trials[0]
            first.result.status = no_placement_fits(len(trials), first.result.status)
            # With the results of the children: their FitErrors name the plugins that
            # rejected pods. Without them, no event would requeue the pods of the tree.
            results.update(first.results)
            return first.result
        best = choice.best(state, info, [_candidate(info, trial) for trial in fitting])
        if isinstance(best, Status):
            return GroupResult(best, [])
        taken = fitting[best]
        leaves = _successful_leaves(info, taken.results)
        result = self._assumed(taken.result, leaves, reverts)
        if result.status is None:
            # Results of placements that were not taken stay local to their trial, as in
            # ``compositePodGroupSchedulingPlacementAlgorithm``.
            results.update(taken.results)
        return result

    def _assumed(
        self, result: GroupResult, leaves: Iterable[GroupResult], reverts: ExitStack
    ) -> GroupResult:
        """Assume the pods of a success again, so that the next groups see them."""
        if result.status is not None:
            return result
        members = (member for leaf in leaves for member in leaf.members)
        error = self._parts.placer.assume_again(reverts, members)
        return result if error is None else GroupResult(error, [])

    def _try(
        self, group_state: CycleState, info: PodGroupInfo, placement: PodGroupPlacement
    ) -> _TreeTrial:
        """Place the children on one placement, and revert it."""
        state = CycleState(group=group_state)
        results: TreeResults = {}
        with ExitStack() as reverts:
            status = self._try_children(state, info, placement, results, reverts)
        result = results[info.group.entity_key] = GroupResult(status, [])
        return _TreeTrial(placement, state, result, results)

    def _try_children(
        self,
        state: CycleState,
        info: PodGroupInfo,
        placement: PodGroupPlacement,
        results: TreeResults,
        reverts: ExitStack,
    ) -> Status | None:
        """Place children until the group cannot fit; return the status of the group."""
        feasible = self._parts.feasible
        scheduled, remaining = 0, len(info.children)
        status = feasible.run(state, info, PlacementProgress(scheduled, remaining))
        if status is not None and not status.is_wait:
            return status
        for child in info.children:
            # The children share one stack of reverts and see each other's pods on the
            # nodes. So an earlier child takes room from a later one.
            result = self._place(CycleState(), child, placement.rows, results, reverts)
            if result.status is not None and not result.status.is_rejected:
                return wrapped_error(_CHILD, result.status)
            remaining -= 1
            # For a group of groups, the progress counts children and not pods.
            scheduled += result.status is None
            status = feasible.run(state, info, PlacementProgress(scheduled, remaining))
            if status is not None and not status.is_wait:
                return status
        return None if status is None else unschedulable(*status.reasons)


def proposed_in(info: PodGroupInfo, results: TreeResults) -> Iterator[MemberAttempt]:
    """Yield the attempts of all pods that got a node, also in groups that do not fit.

    Upstream nominates these pods, too, when preemption makes room for the tree.

    Args:
        info: The root.
        results: The results.
    """
    result = results.get(info.group.entity_key)
    if result is not None:
        yield from result.proposed()
    for child in info.children:
        yield from proposed_in(child, results)


def _has_placed_any(info: PodGroupInfo, results: TreeResults) -> bool:
    leaves = _successful_leaves(info, results)
    return any(member.has_node for leaf in leaves for member in leaf.members)


def _candidate(info: PodGroupInfo, trial: _TreeTrial) -> Candidate:
    leaves = _successful_leaves(info, trial.results)
    proposed = [attempt for leaf in leaves for attempt in leaf.proposed()]
    return trial.state, PodGroupAssignments(trial.placement, proposed)


def _successful_leaves(
    info: PodGroupInfo, results: TreeResults
) -> Iterator[GroupResult]:
    """Yield the results of PodGroups with pods that fit together with all above."""
    result = results.get(info.group.entity_key)
    if result is None or result.status is not None:
        return
    for child in info.children:
        yield from _successful_leaves(child, results)
    if result.members:
        yield result
