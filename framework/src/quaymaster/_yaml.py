"""YAML as Kubernetes' tools read it.

Mirrors sigs.k8s.io/yaml v1.6 on go.yaml.in/yaml v2.4: the booleans of YAML 1.1, times
and numbers in base 60 (``12:30``) as strings, every key a string. One difference:
digits that are grouped by underscores (``1_000``) stay a string, too.
"""

import functools
import math
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

import yaml

__all__ = ["YamlError", "documents"]

Scalar: TypeAlias = str | int | float | bool | None

_WORDS: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **{
        word: value
        for value, words in (
            (True, ("y", "yes", "true", "on")),
            (False, ("n", "no", "false", "off")),
        )
        for lower in words
        for word in (lower, lower.capitalize(), lower.upper())
    },
}
_INTEGER: Final = re.compile(
    r"[-+]?(?:0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0|[1-9][0-9]*)", re.ASCII
)
_FLOAT: Final = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII
)
_NO_NUMBER: Final = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_BASES: Final = {"b": 2, "o": 8, "x": 16}

_LONGEST_NUMBER: Final = 100
_PLAIN: Final = "plain"
_PREFIX: Final = "tag:yaml.org,2002:"


class YamlError(ValueError):
    """A text that is no YAML: the message has line and column if they are known."""


def documents(text: bytes, *, unique_keys: bool = False) -> Iterator[object]:
    """Read the documents of a YAML stream one by one; an empty one is None.

    Args:
        text: The stream.
        unique_keys: Whether a key that a mapping has twice is an error.

    Raises:
        YamlError: From some place on, the text is no YAML.
    """
    try:
        loader = _Loader(text)
        try:
            while loader.check_node():
                node = loader.get_node()
                yield None if node is None else _Document(unique_keys).value(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise YamlError(_describe(error)) from error


class _Loader(yaml.CSafeLoader):
    """Leaves it to `_Document` what an unquoted scalar is."""

    def resolve(
        self, kind: type[yaml.Node], _: str | None, implicit: tuple[bool, bool]
    ) -> str:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _PREFIX + "str"
        return _PREFIX + ("seq" if kind is yaml.SequenceNode else "map")


class _Document:
    """Makes the values of one document; that of an anchor is made once."""

    __slots__ = ("_done", "_open", "_unique_keys")

    def __init__(self, unique_keys: bool) -> None:
        self._unique_keys = unique_keys
        self._done: dict[yaml.Node, object] = {}
        self._open: set[yaml.Node] = set()

    def value(self, node: yaml.Node) -> object:
        """The value of a node."""
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if node in self._open:
            raise _error("found a value that contains itself", node)
        if node not in self._done:
            self._open.add(node)
            self._done[node] = self._collection(node)
            self._open.discard(node)
        return self._done[node]

    def _collection(self, node: yaml.Node) -> object:
        if isinstance(node, yaml.SequenceNode) and node.tag == _PREFIX + "seq":
            return [self.value(item) for item in node.value]
        if isinstance(node, yaml.MappingNode) and node.tag == _PREFIX + "map":
            return self._mapping(node)
        raise _error(f"cannot read the tag {node.tag}", node)

    def _mapping(self, node: yaml.MappingNode) -> dict[str, object]:
        merged: dict[str, object] = {}
        own: dict[str, object] = {}
        for key_node, value_node in node.value:
            value = self.value(value_node)
            if key_node.tag == _PLAIN and key_node.value == "<<":
                for source in value if isinstance(value, list) else [value]:
                    if not isinstance(source, dict):
                        raise _error("expected a mapping to merge", value_node)
                    merged = {**source, **merged}
                continue
            key = _key(self.value(key_node), key_node)
            if self._unique_keys and key in own:
                raise _error(f"the key {key!r} is there twice", key_node)
            own[key] = value
        return {**merged, **own}


def _key(value: object, node: yaml.Node) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return format(value, "g")
    raise _error("expected a string as key", node)


def _scalar(node: yaml.ScalarNode) -> Scalar:
    text: str = node.value
    if node.tag == _PLAIN:
        return _plain(text)
    name = node.tag.removeprefix(_PREFIX)
    if name in ("str", "timestamp"):
        return text
    value = _plain(text)
    kind = {bool: "bool", int: "int", float: "float", str: "str"}.get(
        type(value), "null"
    )
    if name == "float" and isinstance(value, int):
        return float(value)
    if kind == name:
        return value
    raise _error(f"cannot read {text!r} with the tag {node.tag}", node)


@functools.lru_cache(maxsize=8192)
def _plain(text: str) -> Scalar:
    """What an unquoted scalar stands for."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        value = _integer(text)
        # What is beyond 64 bits is a float to Go.
        return value if -(2**63) <= value < 2**64 else float(value)
    if _FLOAT.fullmatch(text):
        number = float(text)
        # Not so rare: the beginning of a commit hash such as 3e52541.
        return text if math.isinf(number) else number
    if _NO_NUMBER.fullmatch(text):
        return float(text.replace(".", "", 1))
    return text


def _integer(text: str) -> int:
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-").lower()
    if len(digits) == 1 or digits[0] != "0":
        return sign * int(digits)
    base = _BASES.get(digits[1])
    return sign * (int(digits, 8) if base is None else int(digits[2:], base))


def _error(message: str, node: yaml.Node) -> yaml.YAMLError:
    return yaml.constructor.ConstructorError(None, None, message, node.start_mark)


def _describe(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.reader.ReaderError):
        return f"byte {error.position}: {error.reason}"
    if not isinstance(error, yaml.MarkedYAMLError):
        return str(error)
    message = ", ".join(part for part in (error.context, error.problem) if part)
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return message
    return f"line {mark.line + 1}, column {mark.column + 1}: {message}"
