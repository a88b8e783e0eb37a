"""One cycle of a group on its profile: the algorithm, then PodGroupPostFilter."""

import logging
from collections.abc import Sequence

from quaymaster._base.errors import VerificationError
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PodGroupInfo,
    PodGroupPlacement,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import PickNode
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.measured_groups import MeasuredGroups
from quaymaster._core.engine.profile_runner import ProfileRunner
from quaymaster._core.groups.placements import PlacementChoice, PlacementSearch, Placer
from quaymaster._core.groups.placing import Attempting, GroupPlacer
from quaymaster._core.groups.results import (
    GroupResult,
    MemberResult,
    PlacementTrial,
    apply_answer,
)
from quaymaster._core.groups.stations import (
    PlacementFeasibleStation,
    PodGroupPostFilterStation,
)
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.state.group_states import GroupState

__all__ = ["GroupPlacing", "make_placer"]

_log = logging.getLogger(__name__)


def make_placer(
    runner: ProfileRunner, framework: Framework, pick_node: PickNode
) -> GroupPlacer:
    """Return what places the pods of groups on all nodes.

    Args:
        runner: The profiles at work on a copy of the cluster.
        framework: The profile of the group.
        pick_node: Breaks ties.
    """
    return GroupPlacer(
        cache=runner.cache,
        nominator=runner.nominator,
        algorithm=framework.algorithm.without_post_filter(),
        stations=framework.binding,
        feasible=PlacementFeasibleStation(framework.profile),
        pick_node=pick_node,
    )


class GroupPlacing:
    """Decides about a group once, without effects except those of PostFilter plugins.

    Args:
        runner: The profiles at work on a copy of the cluster.
        framework: The profile of the group.
        info: The group, with the pods to place.
        records: The records of these pods.
        state: All pods of the group.
        pick_node: Breaks ties.
        measured: Measures the cycle, if there are metrics.

    Attributes:
        state: The cycle state of the group.
        trials: The placements, in the order in which they were tried.
    """

    def __init__(
        self,
        runner: ProfileRunner,
        framework: Framework,
        info: PodGroupInfo,
        records: Sequence[QueuedPod],
        state: GroupState,
        pick_node: PickNode,
        measured: MeasuredGroups | None = None,
    ) -> None:
        profile = framework.profile
        placer = make_placer(runner, framework, pick_node)
        self._placer: Placer = placer
        self._search: PlacementSearch | None = None
        self._nodes = runner.snapshot.nodes
        if runner.config.kubernetes.enabled("TopologyAwareWorkloadScheduling"):
            choice = PlacementChoice(self._nodes, profile, runner.random, measured)
            self._search = PlacementSearch(placer, self._nodes, choice)
            self._placer = self._search
        self._post_filter = PodGroupPostFilterStation(profile)
        self._measured = measured
        self.state = CycleState()
        self.trials: Sequence[PlacementTrial] = ()
        self._info = info
        self._records = records
        self._group_state = state

    def run(self, attempting: Attempting | None) -> GroupResult:
        """Run the algorithm; the result has all pods, also those that were not tried.

        Args:
            attempting: Reports the attempts, or None.
        """
        result = self._placed(self.state, attempting)
        self.trials = self._tried_placements(result)
        result.untried = result.status
        tried = len(result.members)
        result.members += [
            MemberResult(record, CycleState()) for record in self._records[tried:]
        ]
        return result

    def _tried_placements(self, result: GroupResult) -> Sequence[PlacementTrial]:
        if self._search is not None:
            return self._search.trials
        placement = PodGroupPlacement("", self._nodes.rows)
        return [PlacementTrial(placement, self.state, result)]

    def post_filter(self, result: GroupResult) -> None:
        """Run the PodGroupPostFilter plugins for a group that is Unschedulable."""
        answer = self._post_filter.run(
            self.state, self._info, result.attempts(), self._place_again
        )
        if self._measured is not None and self._post_filter.has_plugins:
            self._measured.preempted(answer.status)
        apply_answer(answer, result)

    def _placed(self, state: CycleState, attempting: Attempting | None) -> GroupResult:
        """Run the algorithm; an exception in it fails this cycle only."""
        try:
            return self._placer.place(
                state,
                self._info,
                self._records,
                self._group_state.scheduled_count,
                attempting,
            )
        except VerificationError:
            raise
        except Exception as error:
            key = self._info.key
            _log.exception("the attempt to schedule pod group %s broke", key)
            return GroupResult(Status.from_error(describe_exception(error)), [])

    def _place_again(self) -> Sequence[MemberAttempt] | Status:
        result = self._placed(CycleState(), None)
        if result.status is not None:
            return result.status
        return result.proposed()
