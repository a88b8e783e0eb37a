"""Plays calls of tests to the steps of preemption."""

from collections.abc import Sequence
from typing import Any

import attrs

from quaymaster import Pod, Status
from quaymaster.objects import PodDisruptionBudget
from quaymaster.preemption import select_victims
from quaymaster_default_preemption import DefaultPreemption, DefaultPreemptionArgs
from quaymaster_default_preemption.args import max_candidates
from tests.kit.internals.cycle import Attempt
from tests.kit.internals.preemption import why_not_eligible
from tests.kit.internals.testing import (
    Json,
    RecordedCase,
    RecordedPlayer,
    RecordedStatuses,
    object_from,
    status_tree,
)

__all__ = ["PreemptionPlayer"]


class PreemptionPlayer(RecordedPlayer):
    """DefaultPreemption, with its steps that are functions of their own here.

    Args:
        case: The case.
        beside: The filters of the profile.
    """

    def __init__(self, case: RecordedCase, beside: Sequence[type]) -> None:
        super().__init__(DefaultPreemption, case, beside=beside)
        self._case = case
        self._beside = beside
        args = case.tree.get("args", {})
        self._args = DefaultPreemptionArgs(
            min_candidate_nodes_percentage=args.get("minCandidateNodesPercentage", 10),
            min_candidate_nodes_absolute=args.get("minCandidateNodesAbsolute", 100),
        )

    def play(self, call: Json) -> Json:
        """See `RecordedPlayer.play`."""
        name = call["call"]
        if name == "GetOffsetAndNumCandidates":
            # The offset is random.
            return {"results": [None, max_candidates(self._args, call["in"][0])]}
        if name == "PodEligibleToPreemptOthers":
            return self._in_cluster_of(call).eligibility(call)
        if name == "SelectVictimsOnNode":
            return {"results": self._victims(call["in"])}
        return super().play(call)

    def _in_cluster_of(self, call: Json) -> "PreemptionPlayer":
        """Return a player for the cluster that the test has when it makes a call."""
        if "cluster" not in call:
            return self
        case = attrs.evolve(self._case, tree={**self._case.tree, **call["cluster"]})
        return PreemptionPlayer(case, self._beside)

    def eligibility(self, call: Json) -> Json:
        """Play PodEligibleToPreemptOthers."""
        argument, status = call["in"]
        absent = status or {"status": {"code": "Success"}}
        statuses = RecordedStatuses({"absentNodesStatus": absent}, self.snapshot.nodes)
        pod = self._pod_of(argument)
        text = why_not_eligible(self.handle, self.state, pod, statuses)
        return {"results": [not text, text]}

    def _victims(self, call: Sequence[Any]) -> Sequence[Any]:
        """Play SelectVictimsOnNode; the pods of the node are its possible victims."""
        argument, node, _, trees = call
        pod = self._pod_of(argument)
        attempt = Attempt.begin(self.state, pod, self.snapshot.nodes)
        self._framework.plain.find_feasible(attempt)
        info = self._recorded_nodes.info(node["node"])
        budgets = [
            object_from(tree["PodDisruptionBudget"], PodDisruptionBudget)
            for tree in trees or ()
        ]
        candidate = select_victims(self.handle, self.state, pod, info, budgets)
        if isinstance(candidate, Status):
            return [None, 0, status_tree(candidate)]
        victims = [{"pod": self._index(victim)} for victim in candidate.victims]
        return [victims, candidate.violations, None]

    def _index(self, pod: Pod) -> int:
        return [recorded.uid for recorded in self._recorded_pods].index(pod.uid)
