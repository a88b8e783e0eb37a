"""Plays the cache of pods and nodes, with its state after each call."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from quaymaster import Node, NodeInfo, Pod, Snapshot
from tests.kit.internals.state import AssumeError, Cache
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    difference,
    object_from,
)
from tests.upstream.framework import resources_tree

__all__ = ["play"]

_OLDER: Final = "upstream reports an error where the newest event is used here"


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Play a case of the package cache.

    Raises:
        CallNotPlayedError: The case depends on a gate that cannot be simulated.
    """
    case.kubernetes()
    player = _Player(case)
    return [player.play(number) for number in range(len(case.calls))]


class _Player:
    """A cache, which begins each call in the recorded state."""

    def __init__(self, case: RecordedCase) -> None:
        self._case = case
        self._pods = [object_from(tree, Pod) for tree in case.tree.get("pods", ())]
        self._recorded: Json = {}
        self._snapshot = Snapshot()
        self._cache = Cache(self._snapshot)

    def play(self, number: int) -> Json | str:
        call = self._case.calls[number]
        receiver, _, name = call["call"].partition(".")
        try:
            if receiver != "cacheImpl" or name not in _PLAYS:
                reason = _NOT_PLAYED.get(name) or _NOT_PLAYED_TYPES.get(receiver)
                raise CallNotPlayedError(reason or _GROUPS)
            self._begin(call.get("before") or self._recorded)
            self._recorded = self._case.answers[number].get("after", {})
            results = _PLAYS[name](self, call["in"])
        except CallNotPlayedError as error:
            return str(error)
        view = self._view()
        self._recorded = self._recorded or view
        return {"results": results, "after": view}

    def _begin(self, state: Json) -> None:
        """Replace the cache if ours is in another state, which a test has made."""
        if not difference({"state": state}, {"state": self._view()}):
            return
        self._snapshot = Snapshot()
        self._cache = Cache(self._snapshot)
        for tree in state.get("nodes", {}).values():
            if "node" in tree:
                self._cache.add_node(object_from(tree["node"], Node))
            for pod in (object_from(pod, Pod) for pod in tree["pods"]):
                is_assumed = pod.uid in state["assumed"]
                change = self._cache.assume if is_assumed else self._cache.add_pod
                change(pod)

    def _view(self) -> Json:
        return {
            "assumed": sorted(
                pod.uid for pod in self._cache if self._cache.is_assumed(pod.uid)
            ),
            "pods": {pod.uid: pod.node_name for pod in self._cache},
            "nodes": {info.name: _node_tree(info) for info in self._snapshot},
        }

    # Calls --------------------------------------------------------------------------

    def add_node(self, call: Sequence[Json]) -> Sequence[Any]:
        self._cache.add_node(object_from(call[1]["Node"], Node))
        return []

    def update_node(self, call: Sequence[Json]) -> Sequence[Any]:
        self._cache.add_node(object_from(call[2]["Node"], Node))
        return []

    def remove_node(self, call: Sequence[Json]) -> Sequence[Any]:
        node = object_from(call[1]["Node"], Node)
        if self._snapshot.get(node.name) is None:
            raise CallNotPlayedError(_OLDER)
        self._cache.remove_node(node)
        return [None]

    def add_pod(self, call: Sequence[Json]) -> Sequence[Any]:
        pod = self._pods[call[1]["pod"]]
        if self._cache.get(pod.uid) and not self._cache.is_assumed(pod.uid):
            raise CallNotPlayedError(_OLDER)
        self._cache.add_pod(pod)
        return [None]

    def update_pod(self, call: Sequence[Json]) -> Sequence[Any]:
        old, new = (self._pods[argument["pod"]] for argument in call[1:3])
        if self._cache.get(old.uid) is None:
            raise CallNotPlayedError(_OLDER)
        self._cache.update_pod(old, new)
        return [None]

    def remove_pod(self, call: Sequence[Json]) -> Sequence[Any]:
        pod = self._pods[call[1]["pod"]]
        if self._cache.get(pod.uid) is None:
            raise CallNotPlayedError(_OLDER)
        self._cache.remove_pod(pod)
        return [None]

    def assume(self, call: Sequence[Json]) -> Sequence[Any]:
        try:
            self._cache.assume(self._pods[call[1]["pod"]])
        except AssumeError as error:
            # Ours adds the node.
            return [{"error": str(error).partition(" (it is on")[0]}]
        return [None]

    def forget(self, call: Sequence[Json]) -> Sequence[Any]:
        pod = self._pods[call[1]["pod"]]
        if not self._cache.forget(pod):
            text = "is not assumed, so it cannot be removed or forgotten"
            return [{"error": f"pod {pod.uid}({pod.key.removeprefix('/')}) {text}"}]
        return [None]

    def is_assumed(self, call: Sequence[Json]) -> Sequence[Any]:
        return [self._cache.is_assumed(self._pods[call[0]["pod"]].uid), None]

    def get(self, call: Sequence[Json]) -> Sequence[Any]:
        pod = self._pods[call[0]["pod"]]
        cached = self._cache.get(pod.uid)
        if cached is None:
            text = "does not exist in scheduler cache"
            return [
                None,
                {"error": f"pod {pod.uid}({pod.key.removeprefix('/')}) {text}"},
            ]
        return [{}, None]


def _node_tree(info: NodeInfo) -> Json:
    return {
        "allocatable": resources_tree(info.allocatable),
        "requested": resources_tree(info.requested),
        "pods": [{"metadata": {"name": pod.name}} for pod in info.pods.values()],
    }


_GROUPS: Final = "a group of pods: the gate GenericWorkload"
_MUTATIONS: Final = "pod groups change a copy of the snapshot: the gate GenericWorkload"
_NOT_PLAYED_TYPES: Final[Mapping[str, str]] = {
    "Snapshot": _MUTATIONS,
    "cache": _MUTATIONS,
    "nodeTree": "upstream's tree of zones is not a type here (node_tree.go)",
}
_NOT_PLAYED: Final[Mapping[str, str]] = {
    "UpdateSnapshot": "the snapshot follows each change here (snapshot.go)",
}
"""Call -> why it has no counterpart."""

_PLAYS: Final[Mapping[str, Callable[[_Player, Sequence[Any]], Sequence[Any]]]] = {
    "AddNode": _Player.add_node,
    "AddPod": _Player.add_pod,
    "AssumePod": _Player.assume,
    "ForgetPod": _Player.forget,
    "GetPod": _Player.get,
    "IsAssumedPod": _Player.is_assumed,
    "RemoveAssumedPod": _Player.forget,
    "RemoveNode": _Player.remove_node,
    "RemovePod": _Player.remove_pod,
    "UpdateNode": _Player.update_node,
    "UpdatePod": _Player.update_pod,
}
