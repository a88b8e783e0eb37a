"""The JSON that is exchanged with extenders.

Mirrors k8s.io/kube-scheduler v0.36, ``extender/v1/types.go``. Its types have no JSON
names, so fields are written as in Go (``NodeNames``), and read whatever their case.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import msgspec

from quaymaster.errors import QuaymasterError

__all__ = [
    "FilterAnswer",
    "Tree",
    "WireError",
    "binding_request",
    "decoded",
    "fields_of",
    "list_of",
    "nodes_request",
    "read_binding_answer",
    "read_filter_answer",
    "read_scores",
    "text_of",
]

Tree: TypeAlias = Mapping[str, Any]

_INT64 = 2**63


class WireError(QuaymasterError):
    """A message that is not what the protocol asks for."""


@attrs.frozen(kw_only=True)
class FilterAnswer:
    """What an extender said of nodes (``ExtenderFilterResult``).

    Attributes:
        passed: The names of the nodes that are left.
        failed: Node name -> why it was rejected, for the time being.
        unresolvable: Node name -> why it was rejected, whatever is preempted there.
        error: Why the extender could not answer; empty if it could.
    """

    passed: Sequence[str] = ()
    failed: Mapping[str, str] = {}
    unresolvable: Mapping[str, str] = {}
    error: str = ""


def nodes_request(
    pod: msgspec.Raw,
    *,
    nodes: Sequence[msgspec.Raw] | None = None,
    names: Sequence[str] | None = None,
) -> bytes:
    """What filter and prioritize are asked (``ExtenderArgs``)."""
    return msgspec.json.encode(
        {
            "Pod": pod,
            "Nodes": None if nodes is None else {"metadata": {}, "items": nodes},
            "NodeNames": names,
        }
    )


def binding_request(*, name: str, namespace: str, uid: str, node_name: str) -> bytes:
    """What bind is asked (``ExtenderBindingArgs``)."""
    return msgspec.json.encode(
        {"PodName": name, "PodNamespace": namespace, "PodUID": uid, "Node": node_name}
    )


def read_filter_answer(body: bytes, *, by_name: bool) -> FilterAnswer:
    """Read what filter answered.

    Args:
        body: The answer.
        by_name: Whether the extender was sent names, and may answer with names.

    Raises:
        WireError: It is something else.
    """
    tree = fields_of(decoded(body), "the answer")
    names = tree.get("nodenames") if by_name else None
    if names is not None:
        passed = [text_of(name, "NodeNames[]") for name in list_of(names, "NodeNames")]
    else:
        nodes = fields_of(tree.get("nodes"), "Nodes").get("items")
        passed = [_node_name(node) for node in list_of(nodes, "Nodes.items")]
    return FilterAnswer(
        passed=passed,
        failed=_texts(tree.get("failednodes"), "FailedNodes"),
        unresolvable=_texts(
            tree.get("failedandunresolvablenodes"), "FailedAndUnresolvableNodes"
        ),
        error=text_of(tree.get("error"), "Error"),
    )


def read_scores(body: bytes) -> Sequence[tuple[str, int]]:
    """Read what prioritize answered: names of nodes with their scores.

    Raises:
        WireError: It is something else.
    """
    return [_score(item) for item in list_of(decoded(body), "the answer")]


def read_binding_answer(body: bytes) -> str:
    """Read what bind answered: why it failed, or empty.

    Raises:
        WireError: It is something else.
    """
    tree = fields_of(decoded(body), "the answer")
    return text_of(tree.get("error"), "Error")


def fields_of(value: object, where: str) -> Tree:
    """An object's fields by their names in lower case; null has none."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _unexpected(where, "an object", value)
    return {key.lower(): item for key, item in value.items()}


def list_of(value: object, where: str) -> Sequence[object]:
    """A list; null is an empty one."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _unexpected(where, "a list", value)
    return value


def text_of(value: object, where: str) -> str:
    """A text; null is an empty one."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _unexpected(where, "a string", value)
    return value


def decoded(body: bytes) -> object:
    """Parsed JSON.

    Raises:
        WireError: It is none.
    """
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise WireError(f"expected JSON: {error}") from error


def _texts(value: object, where: str) -> Mapping[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _unexpected(where, "an object", value)
    return {name: text_of(text, f"{where}.{name}") for name, text in value.items()}


def _node_name(node: object) -> str:
    metadata = fields_of(node, "Nodes.items[]").get("metadata")
    return text_of(fields_of(metadata, "metadata").get("name"), "metadata.name")


def _score(item: object) -> tuple[str, int]:
    tree = fields_of(item, "[]")
    score = tree.get("score", 0)
    if not isinstance(score, int) or isinstance(score, bool):
        raise _unexpected("Score", "an integer", score)
    if not -_INT64 <= score < _INT64:
        raise WireError(f"Score: expected 64 bits, got {score}")
    return text_of(tree.get("host"), "Host"), score


def _unexpected(where: str, expected: str, value: object) -> WireError:
    return WireError(f"{where}: expected {expected}, got {type(value).__name__}")
