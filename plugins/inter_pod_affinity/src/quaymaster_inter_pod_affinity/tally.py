"""Counts of pods by topology pair: a topology key and a value."""

from collections.abc import Iterable

from quaymaster import Int64Array
from quaymaster.counting import DomainCounts

__all__ = ["Tally"]


class Tally:
    """Counts the pods around each value of some topology keys.

    The counts belong to the snapshot, the changes of `imagine` to the tally.
    """

    __slots__ = ("_counts", "_imagined")

    def __init__(self) -> None:
        self._counts: dict[str, list[DomainCounts]] = {}
        self._imagined: dict[str, dict[str, int]] = {}

    def clone(self) -> "Tally":
        """Return a copy to which hypothetical pods can be added."""
        other = Tally()
        other._counts = self._counts
        other._imagined = {
            key: dict(changes) for key, changes in self._imagined.items()
        }
        return other

    def add(self, counts: DomainCounts) -> None:
        """Add the counts of one more group of pods."""
        self._counts.setdefault(counts.domains.key, []).append(counts)

    def imagine(self, key: str, value: str | None, change: int) -> None:
        """Add (1) or remove (-1) a pod on a node with a value, or without the label."""
        if value is not None:
            changes = self._imagined.setdefault(key, {})
            changes[value] = changes.get(value, 0) + change

    @property
    def groups(self) -> Iterable[DomainCounts]:
        """The counts that were added, without hypothetical pods."""
        return (counts for groups in self._counts.values() for counts in groups)

    @property
    def keys(self) -> Iterable[str]:
        """The topology keys."""
        return dict.fromkeys((*self._counts, *self._imagined))

    @property
    def is_empty(self) -> bool:
        """Whether there are no pods around any value."""
        if not self._imagined:
            for group in self._counts.values():
                for counts in group:
                    if counts.total:
                        return False
            return True
        return not any(
            sum(counts.total for counts in self._counts.get(key, ()))
            + sum(self._imagined.get(key, {}).values())
            for key in self.keys
        )

    def at(self, key: str, value: str) -> int:
        """Return the number of pods around a value."""
        count = self._imagined.get(key, {}).get(value, 0)
        for counts in self._counts.get(key, ()):
            count += counts.at(counts.domains.number(value))
        return count

    def array(self, key: str) -> Int64Array | None:
        """Return the counts by domain of a key, shape ``(slots,)``; None if all are 0.

        The last element, for nodes without the label, has no meaning. Never modify
        the array.
        """
        total: Int64Array | None = None
        for counts in self._counts.get(key, ()):
            if counts.total:
                array = counts.array()
                total = array if total is None else total + array
        if total is None:
            return None
        changes = self._imagined.get(key)
        if changes:
            number = self._counts[key][0].domains.number
            total = total.copy()
            for value, change in changes.items():
                total[number(value)] += change
        return total
