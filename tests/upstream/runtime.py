"""Plays what a profile makes of the answers of several plugins."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from quaymaster import CycleState, Node, NodeInfo, Pod, Snapshot, Status
from quaymaster.objects import ObjectMeta
from quaymaster.scheduler import PluginRegistry
from tests.kit.cycles import make_algorithm, make_nominator, make_services, profile_of
from tests.kit.internals.binding import BindingStations
from tests.kit.internals.cycle import Algorithm, Attempt, Diagnosis, PluginScores
from tests.kit.internals.engine import EngineHandle
from tests.kit.internals.runtime import build_profile
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    object_from,
    status_tree,
)
from tests.upstream.plugin_answers import plugins_of, weights_of

__all__ = ["play"]

_INTERFACES: Final = (
    "the record lacks which interfaces the Go types of the test's plugins have"
)
_SKIPPED: Final[Mapping[str, frozenset[str]]] = {
    "TestFilterPlugins/SuccessAndSkipFilters": frozenset({"TestPlugin2"}),
    "TestRunPreFilterExtensionAddPod/one_AddPod()_is_skipped": frozenset({"skipped"}),
    "TestRunPreFilterExtensionRemovePod/one_RemovePod()_is_skipped": frozenset(
        {"skipped"}
    ),
    "TestRunRawScorePlugins/all_plugins_skipped": frozenset({"score-plugin-1"}),
    "TestRunRawScorePlugins/skipped_plugin_is": frozenset(
        {"score-with-normalize-plugin-1"}
    ),
    "TestRunScorePlugins/all_plugins_are_skipped": frozenset({"score-plugin-1"}),
    "TestRunScorePlugins/one_success_plugin,_one_skip": frozenset(
        {"score-with-normalize-plugin-1"}
    ),
    "TestRunScorePlugins/skipped_prescore_plugin_number": frozenset(
        {"score-plugin-1", "score-plugin-unknown"}
    ),
}
"""Start of a test's name -> the plugins that its cycle state skips: the record has no
fields of states (framework/runtime/framework_test.go)."""

_SUCCESS: Final = {"code": "Success"}
"""What the plugins of upstream's tests return, and is passed on by these hooks."""

_GROUPS: Final = "a group of pods: the gate GenericWorkload"


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case of the package runtime.

    Raises:
        CallNotPlayedError: The case depends on a gate that cannot be simulated.
    """
    case.kubernetes()
    player = _Player(case)
    return [player.play(call) for call in case.calls]


class _Player:
    """The plugins of a test, with the answers that it injects."""

    def __init__(self, case: RecordedCase) -> None:
        self._pods = [object_from(tree, Pod) for tree in case.tree.get("pods", ())]
        trees = case.tree.get("nodes", ())
        self._nodes = [object_from(tree.get("node") or {}, Node) for tree in trees]
        self._states: dict[int, CycleState] = {}
        test = case.tree["test"]
        skipped = (names for start, names in _SKIPPED.items() if test.startswith(start))
        self._skipped = next(skipped, frozenset())
        self._plugins: Json = {}

    def play(self, call: Json) -> Json | str:
        self._plugins = call.get("before", {}).get("plugins", self._plugins)
        name = call["call"].partition(".")[2]
        try:
            if name not in _PLAYS:
                raise CallNotPlayedError(_NOT_PLAYED.get(name, _GROUPS))
            return {"results": _PLAYS[name](self, call["in"])}
        except CallNotPlayedError as error:
            return str(error)

    # Parts --------------------------------------------------------------------------

    def _state(self, argument: Json) -> CycleState:
        number = argument["state"]
        if number not in self._states:
            state = self._states[number] = CycleState()
            state.skip_filter_plugins = state.skip_score_plugins = self._skipped
        return self._states[number]

    def _pod(self, argument: Json | None) -> Pod:
        """Return a pod; the plugins of these tests do not look at it."""
        return Pod() if argument is None else self._pods[argument["pod"]]

    def _info(self, argument: Json | None) -> NodeInfo:
        node = Node(metadata=ObjectMeta(name="node"))
        return NodeInfo(node if argument is None else self._nodes[argument["node"]])

    def _snapshot(self, argument: Json | None) -> Snapshot:
        snapshot = Snapshot()
        for index in (argument or {}).get("nodes", ()):
            snapshot.add_node(self._nodes[index])
        return snapshot

    def _algorithm(self, snapshot: Snapshot) -> Algorithm:
        weights = weights_of(self._plugins)
        return make_algorithm(
            snapshot, *plugins_of(self._plugins), weights=weights, remembers=False
        )

    def _stations(self) -> BindingStations:
        plugins = {plugin.__name__: plugin for plugin in plugins_of(self._plugins)}
        registry = PluginRegistry.of(plugins)
        handle = EngineHandle("test", make_services(Snapshot(), make_nominator()))
        profile = profile_of(registry, plugins)
        return BindingStations(build_profile(profile, registry, handle.for_plugin))

    def _attempt(self, state: Json, pod: Json | None, snapshot: Snapshot) -> Attempt:
        return Attempt.begin(self._state(state), self._pod(pod), snapshot.nodes)

    # Calls --------------------------------------------------------------------------

    def pre_filter(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod = call
        snapshot = self._snapshot(None)
        station = self._algorithm(snapshot).pre_filter
        outcome = station.run(self._attempt(state, pod, snapshot))
        names = outcome.node_names
        result = None if names is None else {"prefilter": sorted(names)}
        plugins = sorted(outcome.restricting_plugins)
        return [result, _tree(outcome.status), plugins]

    def imagine(self, call: Sequence[Any], hook: str) -> Sequence[Any]:
        _, state, pod, other, node = call
        station = self._algorithm(self._snapshot(None)).pre_filter
        function = station.add_pod if hook == "add_pod" else station.remove_pod
        pods = (self._pod(pod), self._pod(other))
        return [_tree(function(self._state(state), *pods, self._info(node)))]

    def filter(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, node = call
        station = self._algorithm(self._snapshot(None)).filter
        objects = (self._pod(pod), self._info(node))
        return [_tree(station.run(self._state(state), *objects))]

    def post_filter(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, _ = call
        snapshot = self._snapshot(None)
        station = self._algorithm(snapshot).post_filter
        diagnosis = Diagnosis(snapshot.nodes)
        result = station.run(self._state(state), self._pod(pod), diagnosis, [])
        return [None, _tree(result.status) or _SUCCESS]

    def pre_score(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, nodes = call
        snapshot = self._snapshot(nodes)
        station = self._algorithm(snapshot).score
        attempt = self._attempt(state, pod, snapshot)
        return [_tree(station.prepare(attempt, snapshot.nodes.rows))]

    def score(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, nodes = call
        snapshot = self._snapshot(nodes)
        attempt = self._attempt(state, pod, snapshot)
        scores = self._algorithm(snapshot).score.by_plugin(attempt, snapshot.nodes.rows)
        if isinstance(scores, Status):
            return [None, _tree(scores)]
        names = snapshot.nodes.names_at(snapshot.nodes.rows)
        trees = [_node_tree(name, row, scores) for row, name in enumerate(names)]
        return [trees, None]

    def raw_score(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, node = call
        trees, status = self.score((None, state, pod, {"nodes": [node["node"]]}))
        return [trees and trees[0]["RawScores"], status]

    def reserve(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, node = call
        status = self._stations().reserve(self._state(state), self._pod(pod), node)
        return [_tree(status)]

    def permit(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, node = call
        answer = self._stations().permit(self._state(state), self._pod(pod), node)
        if isinstance(answer, Status):
            return [None, _tree(answer)]
        waits = {plugin: f"{seconds:g}s" for plugin, seconds in answer.items()}
        return [waits, {"code": "Wait"} if waits else None]

    def pre_flight(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, node = call
        status = self._stations().pre_flight(self._state(state), self._pod(pod), node)
        return [_tree(status)]

    def pre_bind(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, node = call
        status = self._stations().pre_bind(self._state(state), self._pod(pod), node)
        assert status is None or isinstance(status, Status), "no plugin waits"
        return [_tree(status)]

    def bind(self, call: Sequence[Any]) -> Sequence[Any]:
        _, state, pod, node = call
        status = self._stations().bind(self._state(state), self._pod(pod), node)
        plugins = self._plugins["bind"]
        success = _SUCCESS if any("inj" in own["is"] for own in plugins) else None
        return [_tree(status) or success]


def _tree(status: Status | None) -> Json | None:
    """Write a status; a pod that waits or succeeds has no reasons here."""
    return None if status is None else status_tree(status)


def _node_tree(name: str, row: int, scores: Sequence[PluginScores]) -> Json:
    weighted = [_score(own.plugin, own.weighted[row]) for own in scores]
    return {
        "Name": name,
        "RawScores": [_score(own.plugin, own.raw[row]) for own in scores],
        "Scores": weighted,
        "TotalScore": sum(score["Score"] for score in weighted),
    }


def _score(plugin: str, score: np.int64) -> Json:
    return {"Name": plugin, "Score": int(score)}


_NOT_PLAYED: Final[Mapping[str, str]] = {
    "ListPlugins": _INTERFACES,
    "NewFramework": _INTERFACES,
    "RunFilterPluginsWithNominatedPods": "the record lacks the nominated pods",
}

_PLAYS: Final[Mapping[str, Callable[[_Player, Any], Sequence[Any]]]] = {
    "RunBindPlugins": _Player.bind,
    "RunFilterPlugins": _Player.filter,
    "RunPermitPlugins": _Player.permit,
    "RunPostFilterPlugins": _Player.post_filter,
    "RunPreBindPlugins": _Player.pre_bind,
    "RunPreBindPreFlights": _Player.pre_flight,
    "RunPreFilterExtensionAddPod": lambda self, call: self.imagine(call, "add_pod"),
    "RunPreFilterExtensionRemovePod": lambda self, call: self.imagine(
        call, "remove_pod"
    ),
    "RunPreFilterPlugins": _Player.pre_filter,
    "RunPreScorePlugins": _Player.pre_score,
    "RunRawScorePlugins": _Player.raw_score,
    "RunReservePluginsReserve": _Player.reserve,
    "RunScorePlugins": _Player.score,
}
