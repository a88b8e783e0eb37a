"""Plays calls of functions by a table, and keeps the objects that they make."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster import Node, Pod
from quaymaster.config import Kubernetes
from tests.kit.internals.testing import (
    CallNotPlayedError,
    Json,
    RecordedCase,
    object_from,
)

__all__ = ["Calls", "Play", "play_calls"]


@attrs.define
class Calls:
    """What the calls of a case share.

    Attributes:
        pods: The pods that calls name by index.
        pod_trees: The same, as recorded.
        kubernetes: The version of the case.
        made: What constructors have returned, by number.
    """

    pods: Sequence[Pod]
    pod_trees: Sequence[Json]
    kubernetes: Kubernetes
    made: dict[int, object] = attrs.field(factory=dict)

    def pod(self, argument: Json | None) -> Pod:
        """Return the pod of an argument ``{"pod": index}``."""
        if argument is None or "pod" not in argument:
            raise CallNotPlayedError("a call without a pod")
        return self.pods[argument["pod"]]

    def pod_tree(self, argument: Json) -> Json:
        """Return the recorded tree of the pod of an argument."""
        return self.pod_trees[argument["pod"]]

    def node(self, argument: Json | None) -> Node:
        """Return the node of an argument ``{"Node": {...}}``."""
        if argument is None or "Node" not in argument:
            raise CallNotPlayedError("a call without a node")
        return object_from(argument["Node"], Node)


_NO_REASONS: Final[Mapping[str, str]] = {}

Play: TypeAlias = Callable[[Calls, Json], Json]
"""Plays one call."""


def play_calls(
    case: RecordedCase,
    plays: Mapping[str, Play],
    reasons: Mapping[str, str] = _NO_REASONS,
) -> Sequence[Json | str]:
    """Play the calls of a case that a table has.

    Args:
        case: The case.
        plays: Call -> what plays it.
        reasons: Call -> why it is not played.

    Raises:
        CallNotPlayedError: The case depends on a gate that cannot be simulated.
    """
    trees = case.tree.get("pods", ())
    pods = [object_from(tree, Pod) for tree in trees]
    calls = Calls(pods, trees, case.kubernetes())
    return [
        reasons.get(call["call"]) or _played(calls, call, plays.get(call["call"]))
        for call in case.calls
    ]


def _played(calls: Calls, call: Json, play: Play | None) -> Json | str:
    if play is None:
        return f"{call['call']} has no counterpart here"
    try:
        return play(calls, call)
    except CallNotPlayedError as error:
        return str(error)
