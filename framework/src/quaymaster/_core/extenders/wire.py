"""The JSON that is exchanged with extenders.

Mirrors k8s.io/kube-scheduler v0.36, ``extender/v1/types.go``. Its types have no JSON
names, so fields are written as in Go (``NodeNames``), and read whatever their case.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import msgspec

from quaymaster._api.objects import Node
from quaymaster._base.errors import ObjectError, QuaymasterError
from quaymaster._core.extenders.node_texts import NodeTexts

__all__ = [
    "NULL",
    "FilterAnswer",
    "Tree",
    "WireError",
    "binding_request",
    "decoded",
    "fields_of",
    "list_of",
    "nodes_request",
    "raw_fields_of",
    "raw_list_of",
    "read_binding_answer",
    "read_filter_answer",
    "read_scores",
    "text_of",
    "within_depth",
]

Tree: TypeAlias = Mapping[str, Any]

JsonText: TypeAlias = bytes | memoryview | msgspec.Raw

_INT64 = 2**63
NULL: Final = msgspec.Raw(b"null")
"""The value of a field that is missing."""

# Values stay undecoded: a list of thousands of nodes is compared with the texts of
# earlier answers first, and mostly never decoded (see `NodeTexts`).
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw] | None)
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw] | None)


class WireError(QuaymasterError):
    """A message that breaks the protocol."""


@contextmanager
def within_depth(where: str) -> Iterator[None]:
    """Raise a WireError if the JSON that the block reads is nested too deeply."""
    try:
        yield
    except RecursionError as error:
        raise WireError(f"{where}: nested too deeply") from error


class FilterAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An extender's answer about nodes (``ExtenderFilterResult``).

    Attributes:
        passed: The names of the nodes that passed.
        nodes: These nodes if the extender sent them back in full; None for names only.
        failed: Node name -> the reason of a rejection that preemption may resolve.
        unresolvable: Node name -> the reason of a rejection that it cannot resolve.
        error: The error of the extender, or empty.
    """

    passed: Sequence[str] = ()
    nodes: Sequence[Node] | None = None
    failed: Mapping[str, str] = {}
    unresolvable: Mapping[str, str] = {}
    error: str = ""


def nodes_request(
    pod: msgspec.Raw,
    *,
    nodes: Sequence[msgspec.Raw] | None = None,
    names: Sequence[str] | None = None,
) -> bytes:
    """Write the request of filter and prioritize (``ExtenderArgs``)."""
    return msgspec.json.encode(
        {
            "Pod": pod,
            "Nodes": None if nodes is None else {"metadata": {}, "items": nodes},
            "NodeNames": names,
        }
    )


def binding_request(*, name: str, namespace: str, uid: str, node_name: str) -> bytes:
    """Write the request of bind (``ExtenderBindingArgs``)."""
    return msgspec.json.encode(
        {"PodName": name, "PodNamespace": namespace, "PodUID": uid, "Node": node_name}
    )


def read_filter_answer(body: bytes, *, by_name: bool, texts: NodeTexts) -> FilterAnswer:
    """Read the answer of filter.

    Args:
        body: The answer.
        by_name: Whether the request had names, so that the answer may have names.
        texts: The nodes of earlier answers.

    Raises:
        WireError: The text is not such an answer.
    """
    tree = raw_fields_of(body, "the answer")
    # An extender that caches nodes may still answer with whole nodes, but one that does
    # not must not answer with names: ``Filter`` reads NodeNames only if
    # nodeCacheCapable is set.
    names = _value(tree, "nodenames") if by_name else None
    nodes: Sequence[Node] | None = None
    if names is not None:
        passed = [text_of(name, "NodeNames[]") for name in list_of(names, "NodeNames")]
    else:
        # Without both fields, no node has passed. Upstream does not distinguish this
        # from an empty list.
        nodes = _nodes(tree.get("nodes", NULL), texts)
        passed = [node.metadata.name for node in nodes]
    return FilterAnswer(
        passed=passed,
        nodes=nodes,
        failed=_texts(_value(tree, "failednodes"), "FailedNodes"),
        unresolvable=_texts(
            _value(tree, "failedandunresolvablenodes"), "FailedAndUnresolvableNodes"
        ),
        error=text_of(_value(tree, "error"), "Error"),
    )


def read_scores(body: bytes) -> Sequence[tuple[str, int]]:
    """Read the answer of prioritize: names of nodes with their scores.

    Raises:
        WireError: The text is not such an answer.
    """
    return [_score(item) for item in list_of(decoded(body), "the answer")]


def read_binding_answer(body: bytes) -> str:
    """Read the answer of bind: why it failed, or empty.

    Raises:
        WireError: The text is not such an answer.
    """
    tree = fields_of(decoded(body), "the answer")
    return text_of(tree.get("error"), "Error")


def fields_of(value: object, where: str) -> Tree:
    """Return an object's fields by their names in lower case; null has none."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _unexpected(where, "an object", value)
    return {key.lower(): item for key, item in value.items()}


def raw_fields_of(text: JsonText, where: str) -> Mapping[str, msgspec.Raw]:
    """Return the fields of an object in JSON text, with the values undecoded.

    Raises:
        WireError: The value is not an object.
    """
    try:
        fields = _FIELDS.decode(text)
    except msgspec.ValidationError as error:
        raise _unexpected(where, "an object", decoded(text)) from error
    except msgspec.DecodeError as error:
        raise WireError(f"expected JSON: {error}") from error
    return {key.lower(): value for key, value in (fields or {}).items()}


def raw_list_of(text: JsonText, where: str) -> Sequence[msgspec.Raw]:
    """Return the items of a list in JSON text, undecoded; null has none.

    Raises:
        WireError: The value is not a list.
    """
    try:
        return _ITEMS.decode(text) or ()
    except msgspec.ValidationError as error:
        raise _unexpected(where, "a list", decoded(text)) from error


def list_of(value: object, where: str) -> Sequence[object]:
    """Return a list; null becomes an empty one."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _unexpected(where, "a list", value)
    return value


def text_of(value: object, where: str) -> str:
    """Return a text; null becomes an empty one."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _unexpected(where, "a string", value)
    return value


def decoded(body: JsonText) -> object:
    """Parse JSON.

    Raises:
        WireError: The text is not JSON.
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


def _value(tree: Mapping[str, msgspec.Raw], key: str) -> object:
    return decoded(tree.get(key, NULL))


def _nodes(text: msgspec.Raw, texts: NodeTexts) -> Sequence[Node]:
    where = "Nodes.items"
    items = raw_list_of(raw_fields_of(text, "Nodes").get("items", NULL), where)
    try:
        nodes = [entry.node for entry in texts.read(items)]
    except (ObjectError, msgspec.DecodeError) as error:
        raise WireError(f"{where}[]: {error}") from error
    if not all(node.metadata.name for node in nodes):
        raise WireError(f"{where}[].metadata.name: expected a name, got none")
    return nodes


def _score(item: object) -> tuple[str, int]:
    tree = fields_of(item, "[]")
    score = tree.get("score", 0)
    # In Go, a score with a decimal point is an error of the whole answer and not
    # rounded.
    if not isinstance(score, int) or isinstance(score, bool):
        raise _unexpected("Score", "an integer", score)
    if not -_INT64 <= score < _INT64:
        raise WireError(f"Score: expected 64 bits, got {score}")
    return text_of(tree.get("host"), "Host"), score


def _unexpected(where: str, expected: str, value: object) -> WireError:
    return WireError(f"{where}: expected {expected}, got {type(value).__name__}")
