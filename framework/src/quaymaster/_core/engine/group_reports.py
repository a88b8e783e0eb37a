"""The report of one cycle of a group, for callers that explain it."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import TypeAlias

import msgspec
import numpy as np
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import PodGroupAssignments, PodGroupInfo
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.decisions import Decision
from quaymaster._core.cycle.explain import explain
from quaymaster._core.cycle.explanation import NodeRejection, PluginScore
from quaymaster._core.engine.framework import Framework
from quaymaster._core.groups.placement_stations import PlacementScoreStation
from quaymaster._core.groups.results import (
    GroupResult,
    MemberResult,
    PlacementTrial,
)
from quaymaster._core.state.cache import AssumeError, Cache
from quaymaster._core.state.node_table import NodeTable

__all__ = ["GroupObserver", "GroupReport", "member_facts", "trial_scores"]


class GroupReport(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """One cycle of a group, before its pods are bound or requeued.

    Attributes:
        info: The group, with the pods that the cycle tried.
        scheduled: The pods of the group that had a node before.
        framework: The profile; None if the group was refused before any pod was tried.
        state: The cycle state of the group.
        nodes: The columns of all nodes.
        cache: Assumes pods and forgets them; left as it was.
        trials: The placements, in the order in which they were tried.
        result: The result, after PodGroupPostFilter.
    """

    info: PodGroupInfo
    scheduled: tuple[Pod, ...]
    framework: Framework | None
    state: CycleState
    nodes: NodeTable
    cache: Cache
    trials: Sequence[PlacementTrial]
    result: GroupResult

    @property
    def decisive(self) -> PlacementTrial | None:
        """The placement whose result the group has: the chosen one, or the first.

        None if no placement was tried.
        """
        for trial in self.trials:
            # Identity: the result of the cycle is that of the chosen placement.
            if trial.result is self.result:
                return trial
        return self.trials[0] if self.trials else None


GroupObserver: TypeAlias = Callable[[GroupReport], None]
"""Called with each cycle, on the scheduler's thread; must change nothing."""


def trial_scores(
    report: GroupReport, trials: Sequence[PlacementTrial]
) -> Sequence[dict[str, PluginScore]]:
    """Return the scores of placements by plugin; empty if a plugin fails.

    Args:
        report: The cycle that is still going on.
        trials: Placements on which the group fits; one of them is scored as well.
    """
    if report.framework is None or not trials:
        return [{} for _ in trials]
    station = PlacementScoreStation(report.framework.profile, report.nodes)
    candidates = [
        (trial.state, PodGroupAssignments(trial.placement, trial.result.proposed()))
        for trial in trials
    ]
    scores = station.scores(report.state, report.info, candidates)
    if isinstance(scores, Status):
        return [{} for _ in trials]
    return [
        {
            each.plugin: PluginScore(
                raw=int(np.asarray(each.raw)[index]),
                normalized=int(np.asarray(each.normalized)[index]),
                weighted=int(np.asarray(each.weighted)[index]),
            )
            for each in scores
        }
        for index in range(len(trials))
    ]


def member_facts(
    report: GroupReport, trial: PlacementTrial, member: MemberResult
) -> Sequence[NodeRejection]:
    """Return why nodes were rejected for a pod, with the facts of plugins.

    The pods that got a node before it are assumed again meanwhile, but not reserved.

    Args:
        report: The cycle that is still going on.
        trial: The placement.
        member: A pod that got no node there.
    """
    framework = report.framework
    if framework is None:
        return ()
    rows = report.nodes.row_numbers(trial.placement.rows)
    algorithm = framework.plain.without_post_filter()
    if len(rows) < len(report.nodes):
        algorithm = algorithm.within(rows)
    with ExitStack() as reverts:
        for other in trial.result.members:
            # Identity: each pod has one result.
            if other is member:
                break
            if isinstance(other.outcome, Decision):
                node = other.outcome.node.name
                pod = replace(other.queued.pod, node_name=node)
                try:
                    report.cache.assume(pod)
                except AssumeError:
                    return ()
                reverts.callback(report.cache.forget, pod)
        pod, name = member.queued.pod, framework.profile.name
        return explain(algorithm, pod, name).rejections
