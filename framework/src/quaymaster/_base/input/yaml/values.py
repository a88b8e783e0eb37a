"""Builds values from the events of libyaml, without recursion."""

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

import yaml

from quaymaster._base.input.yaml.aliases import Anchored, Expansion
from quaymaster._base.input.yaml.errors import Mark, error_at
from quaymaster._base.input.yaml.scalars import PREFIX, key_text, plain, tagged

__all__ = ["Duplicate", "Values"]

# Readers of the value recurse, and Python limits that to 1,000 calls.
_DEEPEST: Final = 500
_MERGE: Final = "<<"


class Duplicate(NamedTuple):
    """A key that a mapping has more than once.

    Attributes:
        path: The keys and indices that lead to it.
        line: The line of the repeated key, from 1.
        column: The column of the repeated key, from 1.
    """

    path: tuple[str | int, ...]
    line: int
    column: int


class _List:
    """A sequence that is being read."""

    __slots__ = ("anchor", "begin", "mark", "value")

    def __init__(self, event: "_Start", begin: Expansion) -> None:
        self.value: list[object] = []
        self.anchor = event.anchor
        self.mark = event.start_mark
        self.begin = begin


class _Map:
    """A mapping that is being read.

    Attributes:
        key: The key whose value comes next; None if a key comes next.
        merges: Whether that key is ``<<``.
        merged: The keys that came from other mappings.
    """

    __slots__ = ("anchor", "begin", "key", "mark", "merged", "merges", "value")

    def __init__(self, event: "_Start", begin: Expansion) -> None:
        self.value: dict[str, object] = {}
        self.anchor = event.anchor
        self.mark = event.start_mark
        self.begin = begin
        self.key: str | None = None
        self.merges = False
        self.merged: set[str] = set()


_Open: TypeAlias = _List | _Map
_Start: TypeAlias = yaml.SequenceStartEvent | yaml.MappingStartEvent


class Values:
    """Builds the value of one document; the value of an anchor is built once.

    Attributes:
        duplicates: The repeated keys.
    """

    def __init__(self) -> None:
        self.duplicates: list[Duplicate] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, Anchored | _Open] = {}
        self._so_far = Expansion()

    def build(self, next_event: Callable[[], Any]) -> object:
        """Consume the events of a document until its value is complete.

        Raises:
            YamlError: Kubernetes' tools would reject the document.
            yaml.YAMLError: The text is not YAML.
        """
        while True:
            event = next_event()
            kind = type(event)
            mark = event.start_mark
            if kind is yaml.ScalarEvent:
                value = self._scalar(event)
            elif kind is yaml.AliasEvent:
                value = self._alias(event)
            elif kind is yaml.SequenceStartEvent or kind is yaml.MappingStartEvent:
                self._begin(event)
                continue
            else:
                value, mark = self._end()
            if not self._open:
                return value
            self._add(value, mark, event)

    def _scalar(self, event: yaml.ScalarEvent) -> object:
        text, tag = event.value, event.tag
        self._so_far.add(len(text))
        if tag is None or tag == "!":
            value = plain(text) if event.implicit[0] else text
        else:
            value = tagged(text, tag, event.start_mark)
        if isinstance(value, float) and not math.isfinite(value):
            message = f"found {text}, which JSON has no number for"
            raise error_at(message, event.start_mark)
        if event.anchor is not None:
            self._anchors[event.anchor] = Anchored(value, 1, len(text))
        return value

    def _alias(self, event: yaml.AliasEvent) -> object:
        anchored = self._anchors.get(event.anchor or "")
        if anchored is None:
            raise error_at("found undefined alias", event.start_mark)
        if not isinstance(anchored, Anchored):
            raise error_at("found a value that contains itself", event.start_mark)
        if not self._so_far.repeat(anchored):
            raise error_at("document contains excessive aliasing", event.start_mark)
        return anchored.value

    def _begin(self, event: _Start) -> None:
        if len(self._open) >= _DEEPEST:
            message = f"nested more than {_DEEPEST} levels deep"
            raise error_at(message, event.start_mark)
        is_map = isinstance(event, yaml.MappingStartEvent)
        tag = event.tag
        if tag not in (None, "!", PREFIX + ("map" if is_map else "seq")):
            raise error_at(f"cannot read the tag {tag}", event.start_mark)
        begin = self._so_far.copy()
        self._so_far.add(0)
        opened = _Map(event, begin) if is_map else _List(event, begin)
        self._open.append(opened)
        if event.anchor is not None:
            self._anchors[event.anchor] = opened

    def _end(self) -> tuple[object, Mark | None]:
        done = self._open.pop()
        # Identity: an inner value may have taken over the same anchor.
        if done.anchor is not None and self._anchors[done.anchor] is done:
            self._anchors[done.anchor] = self._so_far.since(done.begin, done.value)
        return done.value, done.mark

    def _add(self, value: object, mark: Mark | None, event: yaml.Event) -> None:
        """Add a value to the innermost open container, or set it as the result."""
        into = self._open[-1]
        if isinstance(into, _List):
            into.value.append(value)
        elif into.merges:
            is_list = isinstance(event, yaml.SequenceEndEvent)
            self._merge(into, value if is_list else [value], mark)
        elif into.key is not None:
            into.value[into.key] = value
            into.key = None
        elif _is_merge(event):
            into.merges = True
        else:
            self._take_key(into, value, mark)

    def _take_key(self, into: _Map, value: object, mark: Mark | None) -> None:
        key = key_text(value)
        if key is None:
            raise error_at("expected a string as key", mark)
        into.key = key
        if key in into.merged:
            into.merged.discard(key)
        elif key in into.value:
            assert mark is not None  # libyaml always gives one
            path = (*self._path(), key)
            self.duplicates.append(Duplicate(path, mark.line + 1, mark.column + 1))

    def _merge(self, into: _Map, sources: object, mark: Mark | None) -> None:
        assert isinstance(sources, list)
        # Of several merged mappings, the first wins.
        for source in reversed(sources):
            if not isinstance(source, dict):
                raise error_at("expected a mapping to merge", mark)
            into.merged.update(source.keys() - into.value.keys())
            into.value.update(source)
        into.merges = False

    def _path(self) -> tuple[str | int, ...]:
        """Return the keys and indices that lead to the innermost open value."""
        return tuple(
            len(outer.value) if isinstance(outer, _List) else outer.key or _MERGE
            for outer in self._open[:-1]
        )


def _is_merge(event: yaml.Event) -> bool:
    """Return whether this is the merge key; in quotes it is an ordinary one."""
    return (
        isinstance(event, yaml.ScalarEvent)
        and event.value == _MERGE
        and event.implicit[0]
    )
