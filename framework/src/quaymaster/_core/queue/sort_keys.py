"""Makes the sort keys of plugins reliable, so that any two can be compared."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.queueing import QueuedPodInfo, SortKey
from quaymaster._core.contract.status import Status

__all__ = ["SortKeys"]

_log = logging.getLogger(__name__)

_PLAIN: Final[Mapping[type, str]] = {int: "number", float: "number", str: "text"}
"""Type -> word; values of types with the same word can be compared."""

_COMPARISONS: Final = ("__lt__", "__gt__", "__eq__")


class SortKeys:
    """The keys of all pods that share one order.

    Pods whose key fails, or cannot be compared with earlier keys, come last, by
    priority and timestamp. A heap in which a comparison fails would lose its order, and
    so its pods. Numbers compare with numbers and texts with texts, of any class (a
    `Time` is a number). Other parts are compared with the first part at their position,
    and guarded in each comparison.
    """

    __slots__ = ("_are_tuples", "_plain_types", "_samples", "_usual")

    def __init__(self) -> None:
        self._are_tuples: bool | None = None
        # The first part that was seen at each position.
        self._samples: list[Any] = []
        # The types of the parts of tuples that need no guard: of the first such tuple,
        # which most keys match, and of all.
        self._usual: list[type] = []
        self._plain_types: set[tuple[type, ...]] = set()

    def reliable(
        self, name: str, sort_key: Callable[[QueuedPodInfo], Any]
    ) -> Callable[[QueuedPodInfo], SortKey]:
        """Return a profile's ``queue_sort`` with keys that compare with all others.

        Args:
            name: The profile's scheduler name, for the log.
            sort_key: The profile's ``queue_sort``, compiled.
        """
        usual, plain_types = self._usual, self._plain_types

        def key_of(queued: QueuedPodInfo) -> SortKey:
            key = sort_key(queued)
            if type(key) is tuple and usual:
                types = [*map(type, key)]
                if types == usual or tuple(types) in plain_types:
                    # Flat, not a tuple in a tuple: comparing keys is the most frequent
                    # step of a heap.
                    return False, *key
            error = key.error if type(key) is Status else None
            if error is None:
                try:
                    return self._fitted(key)
                except Exception as mismatch:  # of values that the plugin made
                    error = mismatch
            text = "queue_sort of profile %r failed for pod %s: %s"
            _log.error(text, name, queued.pod.key, describe_exception(error))
            # True sorts behind False: pods whose key failed come after all others,
            # among themselves as PrioritySort orders them.
            return True, -queued.pod.priority, queued.timestamp

        return key_of

    def _fitted(self, key: object) -> SortKey:
        """Return a key in the form for heaps.

        Raises:
            Exception: It cannot be compared with earlier keys.
        """
        parts = _parts(key)
        is_tuple = parts is not None
        if parts is None:
            parts = (key,)
        if self._are_tuples not in (None, is_tuple):
            raise TypeError(f"the key {key!r} is not like those of other pods")
        # Every position is compared with one value only. Numbers and texts compare with
        # all values of their kind, and what does not is guarded.
        new = parts[len(self._samples) :]
        for part, sample in zip(parts, [*self._samples, *new], strict=False):
            _compare(part, sample)
        self._are_tuples = is_tuple
        self._samples += new
        self._add_plain_types(parts)
        return False, *[part if _word(part) else _Guarded(part) for part in parts]

    def _add_plain_types(self, parts: Sequence[Any]) -> None:
        """Use keys of these types without guards from now on, if no part needs one."""
        compared = (*parts, *self._samples[: len(parts)])
        if not self._are_tuples or not all(map(_word, compared)):
            return
        types = tuple(map(type, parts))
        self._plain_types.add(types)
        if not self._usual:
            self._usual += types


def _parts(key: object) -> Sequence[Any] | None:
    """Return the parts of a tuple, named or not; None if the key is something else."""
    if not _compares_as(type(key), tuple):
        return None
    assert isinstance(key, tuple)
    return tuple(tuple.__iter__(key))


def _word(part: object) -> str:
    """Return the word of the values that a part compares with; empty if unclear."""
    kind = type(part)  # not `isinstance`: objects can pretend to have another class
    for base, word in _PLAIN.items():
        if _compares_as(kind, base):
            return word
    return ""


def _compares_as(kind: type, base: type) -> bool:
    """Whether a type inherits all comparisons of a base type."""
    # Identity: an inherited method is the same function object.
    return issubclass(kind, base) and all(
        getattr(kind, name) is getattr(base, name) for name in _COMPARISONS
    )


def _compare(part: Any, sample: Any) -> None:  # noqa: ANN401 - whatever a plugin gives
    """Check that two parts can be compared.

    Raises:
        Exception: They cannot.
    """
    word, other = _word(part), _word(sample)
    if not (word and other):
        bool(part < sample)
        bool(sample < part)
        bool(part == sample)
    elif word != other:
        raise TypeError(f"expected a {other}, got {part!r}")


class _Guarded:
    """A part of another kind; it is equal to parts that it cannot be compared with."""

    __slots__ = ("_part",)

    def __init__(self, part: Any) -> None:  # noqa: ANN401 - whatever a plugin gives
        self._part = part

    def __lt__(self, other: object) -> bool:
        try:
            return bool(self._part < _bare(other))
        except Exception:
            _log.exception("the keys of queue_sort do not compare")
            return False

    def __gt__(self, other: object) -> bool:
        """Compare as Python does when the other part is a plain one."""
        try:
            return bool(_bare(other) < self._part)
        except Exception:
            _log.exception("the keys of queue_sort do not compare")
            return False

    def __eq__(self, other: object) -> bool:
        try:
            return bool(self._part == _bare(other))
        except Exception:
            return True

    __hash__ = None  # type: ignore[assignment]  # keys are never hashed


def _bare(other: object) -> Any:  # noqa: ANN401 - whatever a plugin gives
    return other._part if isinstance(other, _Guarded) else other
