"""Sort keys that can be relied on, whatever the plugin gives."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

from quaymaster.queueing import QueuedPodInfo, SortKey

__all__ = ["reliable"]

_log = logging.getLogger(__name__)

_LAST: Final[SortKey] = (True, None)

_PLAIN: Final[Mapping[type, str]] = {
    bool: "number",
    int: "number",
    float: "number",
    str: "text",
}
"""Types whose values compare with all others of the same word."""


def reliable(
    name: str, sort_key: Callable[[QueuedPodInfo], Any]
) -> Callable[[QueuedPodInfo], SortKey]:
    """Let pods come last whose key fails, or does not compare with other pods' keys.

    A heap that meets two keys which do not compare would lose its order, and its pods.
    Keys that are tuples of numbers and texts compare if the first pod's key had the
    same at the same places; others are guarded at each comparison.

    Args:
        name: The profile's scheduler name, for the log.
        sort_key: The profile's ``queue_sort``.
    """
    first: list[tuple[Any, object]] = []
    # What the first pod's key is made of, if that is a tuple of numbers and texts.
    types: list[type] = []

    def key_of(queued: QueuedPodInfo) -> SortKey:
        try:
            key = sort_key(queued)
            if types and type(key) is tuple and [*map(type, key)] == types:
                return False, *key
            shape = _shape(key)
            if not first:
                bool(key < key)
                first.append((key, shape))
                if type(key) is tuple and shape is not None:
                    types.extend(map(type, key))
            elif shape != first[0][1]:
                raise TypeError(f"the key {key!r} is not like that of the first pod")
            elif shape is None:
                bool(key < first[0][0])
                bool(first[0][0] < key)
        except Exception:
            pod = queued.pod.key
            _log.exception("queue_sort of profile %r failed for pod %s", name, pod)
            return _LAST
        if shape is None:
            return False, _Guarded(key)
        # Not a tuple in a tuple: heaps compare keys more often than anything else.
        return (False, *key) if type(key) is tuple else (False, key)

    return key_of


def _shape(key: object) -> object:
    """What the key is made of; None if that says nothing about how it compares."""
    if type(key) is not tuple:
        return _PLAIN.get(type(key))
    parts = [_PLAIN.get(type(part)) for part in key]
    return None if None in parts else parts


class _Guarded:
    """A key of some other kind: it is as good as equal where it does not compare."""

    __slots__ = ("_key",)

    def __init__(self, key: Any) -> None:  # noqa: ANN401 - whatever a plugin gives
        self._key = key

    def __lt__(self, other: "_Guarded") -> bool:
        try:
            return bool(self._key < other._key)
        except Exception:
            _log.exception("the keys of queue_sort do not compare")
            return False

    def __eq__(self, other: object) -> bool:
        try:
            return isinstance(other, _Guarded) and bool(self._key == other._key)
        except Exception:
            return True

    __hash__ = None  # type: ignore[assignment]  # nothing looks keys up
