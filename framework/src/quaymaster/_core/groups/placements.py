"""The algorithm that tries a group on several placements, and takes the best of them.

Mirrors ``podGroupSchedulingPlacementAlgorithm`` and ``findBestPlacement`` (Kubernetes
v1.37, ``pkg/scheduler/schedule_one_podgroup.go``).
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from random import Random
from typing import Protocol

from quaymaster._core.config.model import BY_NAME
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.groups.placement_stations import (
    Candidate,
    PlacementGenerateStation,
    PlacementScoreStation,
)
from quaymaster._core.groups.placing import Attempting, GroupPlacer
from quaymaster._core.groups.results import (
    GroupResult,
    PlacementTrial,
    first_text,
    unschedulable,
)
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.runtime.profile import Profile
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["PlacementChoice", "PlacementSearch", "Placer", "no_placement_fits"]


class PlacementTimer(Protocol):
    """Measures the search for a placement."""

    def sampled(self) -> AbstractContextManager[None]:
        """Return the context in which hooks of placements are measured."""

    def generated(self, profile: str, count: int) -> None:
        """Note how many placements were generated."""

    def evaluating(self) -> None:
        """Note that a group is tried on a placement."""

    def evaluated(self, profile: str, *, is_feasible: bool) -> None:
        """Note whether the group fits on the placement."""


class Placer(Protocol):
    """Finds nodes for a group."""

    def place(
        self,
        state: CycleState,
        info: PodGroupInfo,
        queued: Sequence[QueuedPod],
        scheduled: int,
        attempting: Attempting | None,
        /,
    ) -> GroupResult:
        """Return where the pods would go; see `GroupPlacer.place`."""


class PlacementChoice:
    """Generates the placements of groups, and takes the best of those that fit.

    Args:
        nodes: The columns of all nodes.
        profile: The profile, whose plugins generate and rank placements.
        random: Breaks ties, unless the profile breaks them by name.
        measured: Measures the hooks, if there are metrics.

    Attributes:
        measured: See above.
        profile_name: The name of the profile.
    """

    def __init__(
        self,
        nodes: NodeTable,
        profile: Profile,
        random: Random,
        measured: PlacementTimer | None = None,
    ) -> None:
        self.measured = measured
        self.profile_name = profile.config.scheduler_name
        self._generate = PlacementGenerateStation(profile, nodes)
        self._score = PlacementScoreStation(profile, nodes)
        self._by_name = profile.config.tie_breaker == BY_NAME
        self._random = random

    def placements(
        self, state: CycleState, info: PodGroupInfo, rows: Rows
    ) -> Sequence[PodGroupPlacement] | Status:
        """See `PlacementGenerateStation.run`."""
        with self._sampled():
            return self._generate.run(state, info, rows)

    def best(
        self, state: CycleState, info: PodGroupInfo, candidates: Sequence[Candidate]
    ) -> int | Status:
        """Return the index of the placement with the highest total, or an Error.

        Args:
            state: The cycle state of the group.
            info: The group.
            candidates: The placements on which it fits; a single one has no score.
        """
        # Scores are not computed for a single placement, as in
        # ``findBestPodGroupPlacement``; a plugin that fails there does not fail the
        # group.
        if len(candidates) == 1:
            return 0
        with self._sampled():
            totals = self._score.totals(state, info, candidates)
        if isinstance(totals, Status):
            return totals
        best: list[int] = (totals == totals.max()).nonzero()[0].tolist()
        if self._by_name:
            return min(best, key=lambda index: candidates[index][1].placement.name)
        # The generator is not used for a single best placement: each call changes all
        # later random choices of a simulation.
        return best[0] if len(best) == 1 else self._random.choice(best)

    def _sampled(self) -> AbstractContextManager[None]:
        measured = self.measured
        return nullcontext() if measured is None else measured.sampled()


class PlacementSearch:
    """Places groups on the best of several placements; implements `Placer`.

    Args:
        placer: Places a group on given nodes.
        nodes: The columns of all nodes.
        choice: Generates placements, and takes the best.

    Attributes:
        trials: The placements of the last call, in the order in which they were tried.
    """

    def __init__(
        self, placer: GroupPlacer, nodes: NodeTable, choice: PlacementChoice
    ) -> None:
        self._placer = placer
        self._nodes = nodes
        self._choice = choice
        self.trials: Sequence[PlacementTrial] = ()

    def place(
        self,
        state: CycleState,
        info: PodGroupInfo,
        queued: Sequence[QueuedPod],
        scheduled: int,
        attempting: Attempting | None,
    ) -> GroupResult:
        """Try each placement, and return the result of the best; see `Placer`."""
        rows = self._nodes.rows
        result = self.place_within(rows, state, info, queued, scheduled, attempting)
        result.require_node()
        return result

    def place_within(
        self,
        rows: Rows,
        state: CycleState,
        info: PodGroupInfo,
        queued: Sequence[QueuedPod],
        scheduled: int,
        attempting: Attempting | None,
    ) -> GroupResult:
        """Do the same on some nodes; a group may succeed without a node.

        Args:
            rows: The nodes that the group may use.
            state: See `Placer`.
            info: See `Placer`.
            queued: See `Placer`.
            scheduled: See `Placer`.
            attempting: See `Placer`.
        """
        measured = self._choice.measured
        placements = self._choice.placements(state, info, rows)
        self.trials = trials = []
        if isinstance(placements, Status):
            return GroupResult(placements, [])
        if measured is not None:
            measured.generated(self._choice.profile_name, len(placements))
        for placement in placements:
            if measured is not None:
                measured.evaluating()
            # One for each placement: what a plugin writes about one must not be read on
            # the next.
            own = CycleState(group=state)
            placer = self._placer_on(placement)
            result = placer.attempt(own, info, queued, scheduled, attempting)
            if measured is not None:
                is_feasible = result.status is None
                measured.evaluated(self._choice.profile_name, is_feasible=is_feasible)
            trials.append(PlacementTrial(placement, own, result))
            # An error ends the search, even if an earlier placement fits. The
            # placements before it are not used.
            if result.status is not None and not result.status.is_rejected:
                return result
        fitting = [trial for trial in trials if trial.result.status is None]
        if not fitting:
            # The pods of the first placement are reported. Their FitErrors name the
            # plugins whose events requeue them. A copy, because `trials` shows the
            # result of that placement as it was.
            first = trials[0].result.copied()
            first.status = no_placement_fits(len(trials), first.status)
            return first
        candidates = [
            (
                trial.state,
                PodGroupAssignments(trial.placement, trial.result.proposed()),
            )
            for trial in fitting
        ]
        best = self._choice.best(state, info, candidates)
        if isinstance(best, Status):
            return GroupResult(best, [])
        return fitting[best].result

    def _placer_on(self, placement: PodGroupPlacement) -> GroupPlacer:
        nodes = self._nodes
        # Upstream looks at the number, too: with all nodes nothing is restricted.
        if nodes.count(placement.rows) == len(nodes):
            return self._placer
        return self._placer.within(nodes.row_numbers(placement.rows))


def no_placement_fits(count: int, first: Status | None) -> Status:
    """Return the status of a group that fits on none of its placements.

    Args:
        count: The number of placements.
        first: The status of the group on the first of them.
    """
    assert first is not None, "no trial has succeeded"
    return unschedulable(
        f"0/{count} placements are available, first placement status: "
        f"{first_text(first)}"
    )
