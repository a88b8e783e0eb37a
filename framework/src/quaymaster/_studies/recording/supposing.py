"""What a scheduler may have known when it decided, beside what the record says.

- It had decided about other pods already, or not yet, whose decisions were seen in
  another order. Where its queue fixes the order, there is nothing to choose.
- It had not seen the last changes: of each kind it sees all up to one of them. - A
change was seen late by the recorder. If versions show that it came after what the
  decision led to, the scheduler cannot have known of it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from operator import attrgetter
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._clusters.kubernetes.resource_versions import compare_versions
from quaymaster._studies.recording.moments import Moments, Numbered
from quaymaster._studies.recording.state import Entry
from quaymaster._studies.recording.survey import Outcome

__all__ = ["Doubts", "Lag", "Moved", "undo"]

_Name: TypeAlias = tuple[type[ApiObject], str]
_RANK: Final = attrgetter("outcome.rank")


@attrs.frozen(eq=False)
class Moved:
    """A decision that may have been made at another moment than it seems.

    Attributes:
        outcome: The decision.
        entries: What became of its pod because of it, in order.
    """

    outcome: Outcome
    entries: tuple[Entry, ...]


@attrs.frozen(eq=False)
class Lag:
    """Changes of which the scheduler knew less, or more, than is recorded.

    Attributes:
        unseen: Changes that were not known yet, the latest first.
        early: Changes that the scheduler had seen already, in their order.
    """

    unseen: tuple[Numbered, ...] = ()
    early: tuple[Numbered, ...] = ()

    @property
    def width(self) -> int:
        """How many changes it is about."""
        return len(self.unseen) + len(self.early)

    def entries(self) -> Iterator[Entry]:
        """What has to happen for it to be so."""
        for _, entry in self.unseen:
            yield undo(entry)
        for _, entry in self.early:
            yield entry

    def with_another(self, other: "Lag") -> "Lag":
        """This and another one together."""
        return Lag(
            unseen=_merged(self.unseen, other.unseen, latest_first=True),
            early=_merged(self.early, other.early),
        )


def undo(entry: Entry) -> Entry:
    """The change that takes a change back."""
    return attrs.evolve(entry, old=entry.new, new=entry.old)


class Doubts:
    """By what the state of a decision may differ from the recorded one.

    Args:
        outcome: The decision, whose entry is the present one.
        moments: The changes around it.
        shown: The decisions of the record, by the number of the entry that shows them.
        assumed: The decisions that have been made and not been seen, by the pod's uid.
    """

    def __init__(
        self,
        outcome: Outcome,
        moments: Moments,
        shown: Mapping[int, Outcome],
        assumed: Mapping[str, Moved],
    ) -> None:
        self._outcome = outcome
        self._shown = shown
        self._assumed = assumed
        before = (one for one in moments.before() if self._came_since(one))
        self._past = [one for one in before if self._is_free(one[1])]
        after = moments.after()
        self._coming = [one for one in after if self._is_free(one[1])]
        self._evidence = after[0][1].version

    def made(self) -> list[Moved]:
        """The decisions about other pods that have been made, the last one first."""
        made = [
            Moved(
                other,
                tuple(
                    entry
                    for at, entry in reversed(self._past)
                    if at >= number and _name(entry) == (Pod, other.pod)
                ),
            )
            for number, other in self._decisions(self._past)
        ]
        made += [
            one
            for one in self._assumed.values()
            if one.outcome.scheduler == self._outcome.scheduler
        ]
        return sorted(made, key=_RANK, reverse=True)

    def coming(self) -> list[Moved]:
        """The decisions about other pods that are there and will be seen, in order."""
        coming = [
            Moved(
                other,
                tuple(
                    entry
                    for at, entry in self._coming
                    if at <= number and _name(entry) == (Pod, other.pod)
                ),
            )
            for number, other in self._decisions(self._coming)
            if other.since < self._outcome.decided
        ]
        return sorted(coming, key=_RANK)

    def lags(self) -> Iterator[Lag]:
        """What the scheduler may have seen of other changes, the nearest first."""
        lags = self._lags(self._past, _unseen, lambda _entry: True)
        lags += self._lags(self._coming, _early, self._came_before)
        yield from sorted(lags, key=attrgetter("width"))
        yield from (one.with_another(other) for one, other in combinations(lags, 2))

    def _came_since(self, change: Numbered) -> bool:
        """Whether a change came after the pod, or after its last attempt.

        Watches of other kinds may be ahead of that of pods, so that what a decision led
        to is seen before its pod; then versions decide.
        """
        number, entry = change
        order = compare_versions(entry.version, self._outcome.since_version)
        return number > self._outcome.since or (order is not None and order > 0)

    def _is_free(self, entry: Entry) -> bool:
        """Whether an object may be as it was, or as it will be; and who would care."""
        pods = [obj for obj in (entry.old, entry.new) if isinstance(obj, Pod)]
        if any(
            pod.uid == self._outcome.uid or pod.uid in self._assumed for pod in pods
        ):
            return False
        return not pods or any(
            pod.node_name or pod.status.nominated_node_name for pod in pods
        )

    def _decisions(self, changes: Sequence[Numbered]) -> Iterator[tuple[int, Outcome]]:
        """The decisions of the same scheduler that changes show."""
        for number, _ in changes:
            other = self._shown.get(number)
            if other is not None and other.scheduler == self._outcome.scheduler:
                yield number, other

    def _came_before(self, entry: Entry) -> bool:
        """Whether a change that was seen later surely came before the decision."""
        order = compare_versions(entry.version, self._evidence)
        return order is not None and order < 0

    def _lags(
        self,
        changes: Sequence[Numbered],
        lag_of: Callable[[Numbered], Lag],
        may_be: Callable[[Entry], bool],
    ) -> list[Lag]:
        """Per kind: the first of these changes, the first two, and so on."""
        found: defaultdict[str, list[Lag]] = defaultdict(list)
        own = {number for number, _ in self._decisions(changes)}
        ended: set[str] = set()
        settled: set[_Name] = set()
        for change in changes:
            kind, name = change[1].kind.kind, _name(change[1])
            if change[0] in own:
                settled.add(name)  # its decision shows that the scheduler has seen it
            if name in settled or kind in ended:
                continue
            if not may_be(change[1]):
                ended.add(kind)
                continue
            move = lag_of(change)
            before = found[kind]
            before.append(before[-1].with_another(move) if before else move)
        return [one for of_kind in found.values() for one in of_kind]


def _name(entry: Entry) -> _Name:
    return entry.kind, entry.key


def _unseen(change: Numbered) -> Lag:
    return Lag(unseen=(change,))


def _early(change: Numbered) -> Lag:
    return Lag(early=(change,))


def _merged(
    sequence: Sequence[Numbered],
    other: Sequence[Numbered],
    *,
    latest_first: bool = False,
) -> tuple[Numbered, ...]:
    return tuple(sorted(dict((*sequence, *other)).items(), reverse=latest_first))
