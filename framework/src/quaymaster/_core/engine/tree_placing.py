"""One cycle of a tree of groups on its profile: the algorithm, then PodGroupPostFilter.

The counterpart of `GroupPlacing` with the feature gate CompositePodGroup.
"""

import logging
from collections.abc import Mapping, Sequence

from quaymaster._base.errors import VerificationError
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import MemberAttempt, PodGroupInfo
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import PickNode
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.group_placing import make_placer
from quaymaster._core.engine.measured_groups import MeasuredGroups
from quaymaster._core.engine.profile_runner import ProfileRunner
from quaymaster._core.groups.placements import PlacementChoice, PlacementSearch
from quaymaster._core.groups.placing import Attempting
from quaymaster._core.groups.results import GroupResult, PlacementTrial
from quaymaster._core.groups.stations import (
    PlacementFeasibleStation,
    PodGroupPostFilterStation,
)
from quaymaster._core.groups.tree_results import apply_to_tree, complete_tree
from quaymaster._core.groups.tree_search import (
    TreeParts,
    TreeResults,
    TreeSearch,
    proposed_in,
)
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.state.group_states import GroupStates

__all__ = ["TreePlacing"]

_log = logging.getLogger(__name__)


class TreePlacing:
    """Decides about a tree once, without effects except those of PostFilter plugins.

    Args:
        runner: The profiles at work on a copy of the cluster.
        framework: The profile of the tree.
        root: The root, with the groups below it and the pods to place.
        queued: ``namespace/name`` of a PodGroup -> the records of its pods.
        states: All pods of each PodGroup.
        pick_node: Breaks ties.
        measured: Measures the cycle, if there are metrics.
    """

    def __init__(
        self,
        runner: ProfileRunner,
        framework: Framework,
        root: PodGroupInfo,
        queued: Mapping[str, Sequence[QueuedPod]],
        states: GroupStates,
        pick_node: PickNode,
        measured: MeasuredGroups | None = None,
    ) -> None:
        profile, nodes = framework.profile, runner.snapshot.nodes
        placer = make_placer(runner, framework, pick_node)
        choice = PlacementChoice(nodes, profile, runner.random, measured)
        self._parts = TreeParts(
            placer=placer,
            search=PlacementSearch(placer, nodes, choice),
            choice=choice,
            feasible=PlacementFeasibleStation(profile),
            states=states,
        )
        self._post_filter = PodGroupPostFilterStation(profile)
        self._nodes = nodes
        self._state = CycleState()
        self._root = root
        self._queued = queued
        self._search: TreeSearch | None = None

    def run(self, attempting: Attempting | None) -> TreeResults:
        """Run the algorithm; each group and each pod has a result.

        Args:
            attempting: Reports the attempts, or None.
        """
        self._search = TreeSearch(self._parts, self._queued, attempting)
        results = self._placed(self._state, self._search)
        complete_tree(self._root, results, self._queued)
        return results

    def post_filter(self, results: TreeResults) -> None:
        """Run the PodGroupPostFilter plugins for a tree that is Unschedulable."""
        attempts = [
            attempt for result in results.values() for attempt in result.attempts()
        ]
        answer = self._post_filter.run(
            self._state, self._root, attempts, self._place_again
        )
        apply_to_tree(answer, results)

    def trials_of(
        self, info: PodGroupInfo, result: GroupResult
    ) -> tuple[CycleState, Sequence[PlacementTrial]]:
        """See `TreeSearch.trials_of`; for the results of `run`."""
        assert self._search is not None, "it has run"
        return self._search.trials_of(info, result)

    def _placed(self, state: CycleState, search: TreeSearch) -> TreeResults:
        """Run the algorithm; an exception in it fails this cycle only."""
        try:
            return search.place(state, self._root, self._nodes.rows)
        except VerificationError:
            raise
        except Exception as error:
            _log.exception("the attempt to schedule %s broke", self._key)
            status = Status.from_error(describe_exception(error))
            return {self._key: GroupResult(status, [])}

    def _place_again(self) -> Sequence[MemberAttempt] | Status:
        again = TreeSearch(self._parts, self._queued)
        results = self._placed(CycleState(), again)
        status = results[self._key].status
        return list(proposed_in(self._root, results)) if status is None else status

    @property
    def _key(self) -> str:
        return self._root.group.entity_key
