"""The states that a scheduler may have seen, other than the recorded one.

- It had decided about other pods earlier or later than the record shows, unless its
  queue fixes the order.
- It had not seen the last changes: of each kind it sees all up to one change.
- The recorder saw a change late. If versions show that the change came after the
  effect of the decision, the scheduler cannot have seen it.
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
    """A decision that may have been made at another moment than recorded.

    Attributes:
        outcome: The decision.
        entries: The changes of its pod that follow from it, in order.
    """

    outcome: Outcome
    entries: tuple[Entry, ...]


@attrs.frozen(eq=False)
class Lag:
    """Changes that the scheduler had seen earlier or later than recorded.

    Attributes:
        unseen: Changes that it had not seen yet, the latest first.
        early: Changes that it had seen already, in their order.
    """

    unseen: tuple[Numbered, ...] = ()
    early: tuple[Numbered, ...] = ()

    @property
    def width(self) -> int:
        """The number of changes."""
        return len(self.unseen) + len(self.early)

    def entries(self) -> Iterator[Entry]:
        """Return the changes that lead to this state."""
        for _, entry in self.unseen:
            yield undo(entry)
        for _, entry in self.early:
            yield entry

    def with_another(self, other: "Lag") -> "Lag":
        """Combine this lag with another one."""
        return Lag(
            unseen=_merged(self.unseen, other.unseen, latest_first=True),
            early=_merged(self.early, other.early),
        )


def undo(entry: Entry) -> Entry:
    """Return the change that undoes a change."""
    return attrs.evolve(entry, old=entry.new, new=entry.old)


class Doubts:
    """How the state of a decision may differ from the recorded one.

    Args:
        outcome: The decision, whose entry is the current one.
        moments: The changes around it.
        shown: The decisions of the record, by the number of the entry that shows them.
        assumed: The decisions that were made but are not visible yet, by the pod's uid.
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
        before = (change for change in moments.before() if self._came_since(change))
        self._past = [change for change in before if self._is_free(change[1])]
        after = moments.after()
        self._coming = [change for change in after if self._is_free(change[1])]
        # The change that shows the decision: the scheduler cannot have seen a later
        # one.
        self._evidence = after[0][1].version

    def made(self) -> list[Moved]:
        """Return the decisions about other pods so far, the last one first."""
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
            moved
            for moved in self._assumed.values()
            if moved.outcome.scheduler == self._outcome.scheduler
        ]
        return sorted(made, key=_RANK, reverse=True)

    def coming(self) -> list[Moved]:
        """Return the later decisions about other existing pods, in order."""
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
            # Before its pod came, or failed last, it cannot have been made.
            if other.since < self._outcome.decided
        ]
        return sorted(coming, key=_RANK)

    def lags(self) -> Iterator[Lag]:
        """Yield the lags of other changes that are possible, the nearest first."""
        lags = self._lags(self._past, _unseen, lambda _entry: True)
        lags += self._lags(self._coming, _early, self._came_before)
        yield from sorted(lags, key=attrgetter("width"))
        # Each kind has a watch of its own, so two of them may lag at once.
        yield from (lag.with_another(other) for lag, other in combinations(lags, 2))

    def _came_since(self, change: Numbered) -> bool:
        """Whether a change came after the pod, or after its last attempt.

        Watches of other kinds may be ahead of the watch of pods, so that effects of a
        decision are seen before its pod. Then versions decide.
        """
        number, entry = change
        order = compare_versions(entry.version, self._outcome.since_version)
        return number > self._outcome.since or (order is not None and order > 0)

    def _is_free(self, entry: Entry) -> bool:
        """Whether the scheduler may have seen either version, and may depend on it."""
        pods = [obj for obj in (entry.old, entry.new) if isinstance(obj, Pod)]
        if any(
            pod.uid == self._outcome.uid or pod.uid in self._assumed for pod in pods
        ):
            return False
        # A pod without a node, not even a nominated one, takes no room.
        return not pods or any(
            pod.node_name or pod.status.nominated_node_name for pod in pods
        )

    def _decisions(self, changes: Sequence[Numbered]) -> Iterator[tuple[int, Outcome]]:
        """Return the decisions of the same scheduler that changes show."""
        for number, _ in changes:
            other = self._shown.get(number)
            if other is not None and other.scheduler == self._outcome.scheduler:
                yield number, other

    def _came_before(self, entry: Entry) -> bool:
        """Whether a change that was seen later certainly came before the decision."""
        order = compare_versions(entry.version, self._evidence)
        return order is not None and order < 0

    def _lags(
        self,
        changes: Sequence[Numbered],
        lag_of: Callable[[Numbered], Lag],
        may_be: Callable[[Entry], bool],
    ) -> list[Lag]:
        """Return per kind the first of these changes, the first two, and so on."""
        lags_by_key: defaultdict[str, list[Lag]] = defaultdict(list)
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
                # A watch keeps the order: it cannot have shown later changes either.
                ended.add(kind)
                continue
            move = lag_of(change)
            before = lags_by_key[kind]
            before.append(before[-1].with_another(move) if before else move)
        return [lag for lags in lags_by_key.values() for lag in lags]


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
    # A change that both have counts once.
    return tuple(sorted(dict((*sequence, *other)).items(), reverse=latest_first))
