"""Makes recorded calls to a plugin."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import numpy as np

from quaymaster._api.objects import ApiObject, Node, ObjectMeta, Pod
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._authors.testing.recorded import answers
from quaymaster._authors.testing.recorded.case import (
    CallNotPlayedError,
    Json,
    RecordedCase,
)
from quaymaster._authors.testing.recorded.groups import (
    assignments_of,
    group_info,
    groups_in,
    placement_of,
    progress_of,
    raw_scores,
)
from quaymaster._authors.testing.recorded.hints import registrations_for, wakes
from quaymaster._authors.testing.recorded.infos import RecordedNodes
from quaymaster._authors.testing.recorded.objects import object_from, typed_object
from quaymaster._authors.testing.recorded.states import RecordedStates
from quaymaster._authors.testing.recorded.statuses import RecordedStatuses
from quaymaster._core.contract.pod_groups import PodGroupPlacement
from quaymaster._core.contract.results import PostFilterResult, PreBindWait
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.attempt import Attempt
from quaymaster._core.runtime.guards import unguarded

__all__ = ["RecordedPlayer"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class RecordedPlayer(PluginHarness):
    """A plugin on the cluster of a recorded case.

    Args:
        plugin: The plugin's class.
        case: The case.
        beside: More plugins of the profile, which take part in preemption.

    Raises:
        CallNotPlayedError: The case depends on a gate that cannot be simulated.
    """

    def __init__(
        self, plugin: type, case: RecordedCase, *, beside: Sequence[type] = ()
    ) -> None:
        tree = case.tree
        kubernetes = case.kubernetes()
        self._recorded_pods = [object_from(pod, Pod) for pod in tree.get("pods", ())]
        self._recorded_nodes = RecordedNodes(tree, kubernetes)
        self._recorded_states = RecordedStates()
        self._has_others = bool(beside)
        listed = self._recorded_nodes.listed()
        takes_args = getattr(plugin, "Args", None) is not None
        super().__init__(
            plugin,
            args=tree.get("args") if takes_args else None,
            nodes=[info.node for info in listed],
            pods=[pod for info in listed for pod in info.pods.values()],
            objects=[*_objects_of(tree), *groups_in(tree)],
            beside=beside,
            kubernetes=kubernetes,
        )

    def _stored(self, obj: ObjT) -> ObjT:
        # Unit tests of Kubernetes have pods without a namespace.
        return obj

    def _fill_cluster(self, objects: Sequence[ApiObject]) -> None:
        self.cluster.load_unchecked([*self._recorded_pods, *objects])

    def play(self, call: Json) -> Json:
        """Make one call, and return the plugin's answer as records have it.

        Raises:
            CallNotPlayedError: The call has no counterpart here.
        """
        name = call["call"]
        play = _PLAYS.get(name)
        if play is None:
            text = f"{name} is not an extension point"
            raise CallNotPlayedError(_NOT_PLAYED.get(name, text))
        if "cluster" in call:
            raise CallNotPlayedError("the cluster changes between calls")
        self.state = self._recorded_states.state_of(call)
        return play(self, call)

    def _pod_of(self, call: Json, key: str = "pod") -> Pod:
        index = call.get(key)
        if index is None:
            raise CallNotPlayedError("a call without a pod")
        return self._recorded_pods[index]

    def _hook(self, point: str, hook: str, *args: object) -> Any:  # noqa: ANN401 - as in `_ask`
        if not self._has(point) or hook not in self._call(point).hooks:
            raise CallNotPlayedError(f"{self._name} has no hook {hook}")
        return self._ask(self._call(point), hook, *args)

    def _pre_filter(self, call: Json) -> Json:
        pod, nodes = self._pod_of(call), self.snapshot.nodes
        result = self._hook("preFilter", "pre_filter", self.state, pod, nodes)
        return answers.pre_filter_answer(result)

    def _filter(self, call: Json) -> Json:
        info = self._recorded_nodes.info(call["node"])
        pod = self._pod_of(call)
        return answers.status_answer(
            self._hook("filter", "filter", self.state, pod, info)
        )

    def _pre_score(self, call: Json) -> Json:
        nodes = self.snapshot.nodes
        names = [self._recorded_nodes.info(index).name for index in call["nodes"]]
        rows = nodes.rows_of(names)
        pod = self._pod_of(call)
        return answers.status_answer(
            self._hook("preScore", "pre_score", self.state, pod, nodes, rows)
        )

    def _score(self, call: Json) -> Json:
        info = self._recorded_nodes.info(call["node"])
        score = self._hook("score", "score", self.state, self._pod_of(call), info)
        if isinstance(score, Status):
            return answers.status_answer(score)
        return {"score": int(score), **answers.status_answer(None)}

    def _normalize_score(self, call: Json) -> Json:
        names = [name for name, _ in call["scores"]]
        raw = np.array([score for _, score in call["scores"]], dtype=np.int64)
        nodes, pod = self.snapshot.nodes, self._pod_of(call)
        rows = nodes.rows_of(names)
        result = self._hook(
            "score", "normalize_score", self.state, pod, raw, nodes, rows
        )
        if isinstance(result, Status):
            return answers.status_answer(result)
        scores = (raw if result is None else result).tolist()
        pairs = [[name, score] for name, score in zip(names, scores, strict=True)]
        return {**answers.status_answer(None), "scores": pairs}

    def _add_pod(self, call: Json) -> Json:
        return self._pod_change(call, "add_pod")

    def _remove_pod(self, call: Json) -> Json:
        return self._pod_change(call, "remove_pod")

    def _pod_change(self, call: Json, hook: str) -> Json:
        info = self._recorded_nodes.info(call["node"])
        pod, other = self._pod_of(call), self._pod_of(call, "other")
        return answers.status_answer(
            self._hook("preFilter", hook, self.state, pod, other, info)
        )

    def _pre_enqueue(self, call: Json) -> Json:
        return answers.status_answer(
            self._hook("preEnqueue", "pre_enqueue", self._pod_of(call))
        )

    def _less(self, call: Json) -> Json:
        first, second = (
            self.sort_key(
                make_queued_pod(
                    self._pod_of(queued), timestamp=queued.get("timestamp", 0.0)
                )
            )
            for queued in call["in"]
        )
        if first == second and "timestamp" not in call["in"][0]:
            raise CallNotPlayedError("the record lacks when the pods were queued")
        return {"results": [first < second]}

    def _post_filter(self, call: Json) -> Json:
        pod_tree, statuses = call["in"]
        pod = self._pod_of(pod_tree)
        if self._has_others:
            # Filters of other plugins take part, and read what they wrote before.
            self._informers.put(pod)
            attempt = Attempt.begin(self.state, pod, self.snapshot.nodes)
            self._framework.plain.find_feasible(attempt)
        recorded = RecordedStatuses(statuses, self.snapshot.nodes)
        result = self._hook("postFilter", "post_filter", self.state, pod, recorded)
        if not isinstance(result, PostFilterResult):
            result = PostFilterResult(result)
        return answers.post_filter_answer(result)

    def _placement_generate(self, call: Json) -> Json:
        group, parent = call["in"]
        nodes = self.snapshot.nodes
        result = self._hook(
            "placementGenerate",
            "placement_generate",
            self.state,
            group_info(group, self._recorded_pods),
            nodes,
            placement_of(parent, nodes),
        )
        if isinstance(result, Status):
            return answers.results_answer(None, result)
        return answers.placements_answer(result, nodes)

    def _placement_feasible(self, call: Json) -> Json:
        group, progress = call["in"]
        info = group_info(group, self._recorded_pods)
        for plugin, function in self._framework.profile.placement_feasible:
            if plugin == self._name:
                answer: Status | None = unguarded(function)(
                    self.state, info, progress_of(progress)
                )
                return answers.status_answer(answer)
        raise CallNotPlayedError(f"{self._name} has no hook placement_feasible")

    def _placement_score(self, call: Json) -> Json:
        group, assignments = call["in"]
        nodes = self.snapshot.nodes
        score = self._hook(
            "placementScore",
            "placement_score",
            self.state,
            group_info(group, self._recorded_pods),
            nodes,
            assignments_of(assignments, nodes, self._recorded_pods),
        )
        if isinstance(score, Status):
            return answers.status_answer(score)
        return {"score": int(score), **answers.status_answer(None)}

    def _normalize_placements(self, call: Json) -> Json:
        group, trees = call["in"]
        raw = raw_scores(trees)
        info = group_info(group, self._recorded_pods)
        placements = [PodGroupPlacement("", slice(0, 0)) for _ in trees]
        result = self._hook(
            "placementScore",
            "normalize_placement_score",
            self.state,
            info,
            placements,
            raw,
        )
        status = result if isinstance(result, Status) else None
        scores = raw if result is None or isinstance(result, Status) else result
        listed = [{"Score": score} for score in scores.tolist()]
        return {**answers.status_answer(status), "scores": listed}

    def _reserve(self, call: Json) -> Json:
        return answers.status_answer(
            self.reserve(self._pod_of(call), call["node_name"])
        )

    def _unreserve(self, call: Json) -> Json:
        self.unreserve(self._pod_of(call), call["node_name"])
        return {}

    def _permit(self, call: Json) -> Json:
        return answers.permit_answer(self.permit(self._pod_of(call), call["node_name"]))

    def _pre_flight(self, call: Json) -> Json:
        return answers.pre_flight_answer(
            self.pre_bind_pre_flight(self._pod_of(call), call["node_name"])
        )

    def _pre_bind(self, call: Json) -> Json:
        result = self.pre_bind(self._pod_of(call), call["node_name"])
        if isinstance(result, PreBindWait):
            result = self._outcome_of(result)
        return answers.status_answer(result)

    def _outcome_of(self, wait: PreBindWait) -> Status | None:
        """Return how a wait ends in a cluster in which nothing else happens."""
        outcome = wait.check()
        if outcome is True:
            return None
        return wait.timed_out if outcome is False else outcome

    def _bind(self, call: Json) -> Json:
        node = Node(metadata=ObjectMeta(name=call["node_name"]))
        self.cluster.load_unchecked([node])
        return answers.status_answer(self.bind(self._pod_of(call), call["node_name"]))

    def _post_bind(self, call: Json) -> Json:
        self.post_bind(self._pod_of(call), call["node_name"])
        return {}

    def _events(self, _call: Json) -> Json:
        return {"events": [answers.event_tree(event) for event in self.events()]}

    def _hint(self, call: Json) -> Json:
        pod = self._pod_of(call)
        old, new = (self._changed(call[side]) for side in ("old", "new"))
        registered = registrations_for(self.events(), call, old, new)
        try:
            queues = any(wakes(with_hint, pod, old, new) for with_hint in registered)
        except Exception:  # a hint that fails requeues the pod
            queues = True
        return {"hint": "Queue" if queues else "Skip"}

    def _changed(self, tree: object) -> ApiObject | None:
        if tree is None:
            return None
        if not isinstance(tree, Mapping):
            raise CallNotPlayedError("an argument of a wrong type")
        return self._pod_of(dict(tree)) if "pod" in tree else typed_object(tree)


def _objects_of(tree: Mapping[str, Any]) -> Sequence[ApiObject]:
    return [
        typed_object({kind: fields})
        for kind, listed in tree.get("objects", {}).items()
        if kind not in (Node.kind, Pod.kind)
        for fields in listed
    ]


_NOT_PLAYED: Final[Mapping[str, str]] = {
    "PodGroupPostFilter": "the record lacks the algorithm, which the hook runs again",
    "SignPod": "signatures of pods have another form in Go (SignFragment)",
}
"""Upstream's name of a hook -> why it is not played."""

_PLAYS: Final[Mapping[str, Callable[[RecordedPlayer, Json], Json]]] = {
    "PreEnqueue": RecordedPlayer._pre_enqueue,
    "Less": RecordedPlayer._less,
    "PreFilter": RecordedPlayer._pre_filter,
    "AddPod": RecordedPlayer._add_pod,
    "RemovePod": RecordedPlayer._remove_pod,
    "Filter": RecordedPlayer._filter,
    "PreScore": RecordedPlayer._pre_score,
    "Score": RecordedPlayer._score,
    "NormalizeScore": RecordedPlayer._normalize_score,
    "PostFilter": RecordedPlayer._post_filter,
    "GeneratePlacements": RecordedPlayer._placement_generate,
    "PlacementFeasible": RecordedPlayer._placement_feasible,
    "ScorePlacement": RecordedPlayer._placement_score,
    "NormalizePlacementScore": RecordedPlayer._normalize_placements,
    "Reserve": RecordedPlayer._reserve,
    "Unreserve": RecordedPlayer._unreserve,
    "Permit": RecordedPlayer._permit,
    "PreBindPreFlight": RecordedPlayer._pre_flight,
    "PreBind": RecordedPlayer._pre_bind,
    "Bind": RecordedPlayer._bind,
    "PostBind": RecordedPlayer._post_bind,
    "Hint": RecordedPlayer._hint,
    "EventsToRegister": RecordedPlayer._events,
}
"""Upstream's name of a hook -> how it is played."""
