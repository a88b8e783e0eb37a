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
from quaymaster._core.state.node_table import NodeTable

__all__ = ["PlacementSearch", "Placer"]


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
        attempting: Attempting,
        /,
    ) -> GroupResult:
        """Return where the pods would go; see `GroupPlacer.place`."""


class PlacementSearch:
    """Places groups on the best of several placements; implements `Placer`.

    Args:
        placer: Places a group on given nodes.
        nodes: The columns of all nodes.
        profile: The profile, whose plugins generate and rank placements.
        random: Breaks ties, unless the profile breaks them by name.
        measured: Measures the search, if there are metrics.

    Attributes:
        trials: The placements of the last call, in the order in which they were tried.
    """

    def __init__(
        self,
        placer: GroupPlacer,
        nodes: NodeTable,
        profile: Profile,
        random: Random,
        measured: PlacementTimer | None = None,
    ) -> None:
        self._measured = measured
        self._profile_name = profile.config.scheduler_name
        self._placer = placer
        self._nodes = nodes
        self._generate = PlacementGenerateStation(profile, nodes)
        self._score = PlacementScoreStation(profile, nodes)
        self._by_name = profile.config.tie_breaker == BY_NAME
        self._random = random
        self.trials: Sequence[PlacementTrial] = ()

    def place(
        self,
        state: CycleState,
        info: PodGroupInfo,
        queued: Sequence[QueuedPod],
        scheduled: int,
        attempting: Attempting,
    ) -> GroupResult:
        """Try each placement, and return the result of the best; see `Placer`."""
        measured = self._measured
        with nullcontext() if measured is None else measured.sampled():
            placements = self._generate.run(state, info)
        self.trials = trials = []
        if isinstance(placements, Status):
            return GroupResult(placements, [])
        if measured is not None:
            measured.generated(self._profile_name, len(placements))
        for placement in placements:
            if measured is not None:
                measured.evaluating()
            own = CycleState(group=state)
            placer = self._placer_on(placement)
            result = placer.attempt(own, info, queued, scheduled, attempting)
            if measured is not None:
                is_feasible = result.status is None
                measured.evaluated(self._profile_name, is_feasible=is_feasible)
            trials.append(PlacementTrial(placement, own, result))
            if result.status is not None and not result.status.is_rejected:
                return result
        fitting = [trial for trial in trials if trial.result.status is None]
        if not fitting:
            return _rejected(trials)
        best = fitting[0] if len(fitting) == 1 else self._best(state, info, fitting)
        if isinstance(best, Status):
            return GroupResult(best, [])
        best.result.require_node()
        return best.result

    def _placer_on(self, placement: PodGroupPlacement) -> GroupPlacer:
        nodes = self._nodes
        # Upstream looks at the number, too: with all nodes nothing is restricted.
        if nodes.count(placement.rows) == len(nodes):
            return self._placer
        return self._placer.within(nodes.row_numbers(placement.rows))

    def _best(
        self, state: CycleState, info: PodGroupInfo, trials: Sequence[PlacementTrial]
    ) -> PlacementTrial | Status:
        """Return the trial with the highest total."""
        candidates = [
            (
                trial.state,
                PodGroupAssignments(trial.placement, trial.result.proposed()),
            )
            for trial in trials
        ]
        measured = self._measured
        with nullcontext() if measured is None else measured.sampled():
            totals = self._score.totals(state, info, candidates)
        if isinstance(totals, Status):
            return totals
        highest = totals.max()
        best = [
            trial
            for trial, total in zip(trials, totals, strict=True)
            if total == highest
        ]
        if self._by_name:
            return min(best, key=lambda trial: trial.placement.name)
        return best[0] if len(best) == 1 else self._random.choice(best)


def _rejected(trials: Sequence[PlacementTrial]) -> GroupResult:
    """Return the result of the first trial, with the status of all of them."""
    first = trials[0].result.copied()
    assert first.status is not None, "no trial has succeeded"
    text = first_text(first.status)
    first.status = unschedulable(
        f"0/{len(trials)} placements are available, first placement status: {text}"
    )
    return first
