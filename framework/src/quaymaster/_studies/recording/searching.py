"""Searches for a state on which a recorded scheduler may have decided."""

from collections.abc import Callable, Sequence, Set
from itertools import islice
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._studies.recording.ordering import precedes
from quaymaster._studies.recording.state import Entry
from quaymaster._studies.recording.supposing import Doubts, Moved, undo
from quaymaster._studies.recording.survey import Outcome
from quaymaster._studies.recording.world import RecordedWorld

__all__ = ["Search", "bound_as"]

_MOST_LAGS: Final = 64

# Binding runs beside deciding. On a busy machine a hundred decisions are made before
# the first of them is seen, so the order of a hundred may differ from the recorded one.
# The smallest reach finds most orders. All decisions within reach must agree, so a
# reach that is too large may find nothing; each is twice the last.
_REACHES: Final = (4, 8, 16, 32, 64, 128)  # decisions on either side
_MOST_DECISIONS: Final = 1024

# Decisions that differ in any order may come at any place, without being made again. If
# all differ, as with a configuration of one's own, n of them have 2**n sets: 16 pods
# took 28 CPU seconds. So many are all sets of the smallest reach: 4 decisions on either
# side and the one between them.
_MOST_SETS: Final = 2**9


def bound_as(outcome: Outcome, pod: Pod) -> Entry:
    """Return the change that binds a pod to its decided node."""
    bound = replace(pod, node_name=outcome.node)
    return Entry(at=outcome.at, kind=Pod, key=pod.key, old=pod, new=bound)


class Search:
    """Searches other states of the world on which ours decides the same.

    The world is restored afterwards.

    Args:
        world: The world.
        is_decided_so: Returns whether ours decides the same on the current state.
        differing: The ranks of decisions that ours makes differently in any order;
            these need no agreement.

    Attributes:
        tried: On how many states ours has decided about the pod.
    """

    def __init__(
        self,
        world: RecordedWorld,
        is_decided_so: Callable[[Outcome], bool],
        differing: Set[int],
    ) -> None:
        self.tried = 0
        self._world = world
        self._is_decided_so = is_decided_so
        self._differing = differing
        self._left = _MOST_DECISIONS
        self._sets_left = _MOST_SETS
        self._done: list[Entry] = []

    def width_of(self, outcome: Outcome, pod: Pod, doubts: Doubts) -> int:
        """Find a state on which our scheduler decides as the recorded one did.

        Args:
            outcome: The decision.
            pod: Its pod.
            doubts: How the state may differ from the recorded one.

        Returns:
            The number of changes or decisions by which the state differs from the
            recorded one; 0 if it agrees on no state.
        """
        for lag in islice(doubts.lags(), _MOST_LAGS):
            for entry in lag.entries():
                self._suppose(entry)
            agrees = self._agrees(outcome)
            self._go_back(0)
            if agrees:
                return lag.width
        entries = (bound_as(outcome, pod),) if outcome.node else ()
        subject, made, coming = Moved(outcome, entries), doubts.made(), doubts.coming()
        # The queue fixes the whole order, so there is nothing to search.
        if all(precedes(moved.outcome, outcome) for moved in made) and all(
            precedes(outcome, moved.outcome) for moved in coming
        ):
            return 0
        for reach in _REACHES:
            width = self._reordered(subject, made[:reach], coming[:reach])
            if width:
                return width
            if max(len(made), len(coming)) <= reach or not self._sets_left:
                break
        return 0

    def _reordered(
        self, subject: Moved, made: Sequence[Moved], coming: Sequence[Moved]
    ) -> int:
        """Find an order of these decisions in which ours makes all of them.

        Decisions that become visible later may be left out; all others must be
        included. The order respects the order of the queue.
        """
        for moved in made:
            for entry in reversed(moved.entries):
                self._suppose(undo(entry))
        required = [*reversed(made), subject]
        ranks = self._placed(subject, required, [*required, *coming], set(), set())
        self._go_back(0)
        if ranks is None:
            return 0
        return len(ranks ^ {moved.outcome.rank for moved in made})

    def _placed(
        self,
        subject: Moved,
        required: Sequence[Moved],
        left: Sequence[Moved],
        placed: set[int],
        dead_ends: set[frozenset[int]],
    ) -> set[int] | None:
        """Order the remaining decisions, after some that are already placed.

        Args:
            subject: The decision in question.
            required: The decisions that must be placed.
            left: The decisions that are not placed, in the order of trial.
            placed: The ranks of placed decisions.
            dead_ends: Sets of ranks after which no order fits.

        Returns:
            The ranks of the decisions before this one; None if no order fits.
        """
        if all(pod.outcome.rank in placed for pod in required):
            return set()
        before = frozenset(placed)
        if before in dead_ends or not self._sets_left:
            return None
        if not self._differing.isdisjoint(before):
            self._sets_left -= 1
        for moved in left:
            if any(precedes(other.outcome, moved.outcome) for other in left):
                continue
            if not self._may_be_next(moved, subject):
                continue
            mark, rank = len(self._done), moved.outcome.rank
            for entry in moved.entries:
                self._suppose(entry)
            rest = [other for other in left if other.outcome.rank != rank]
            ranks = self._placed(subject, required, rest, placed | {rank}, dead_ends)
            self._go_back(mark)
            if ranks is not None:
                return set(before) if rank == subject.outcome.rank else ranks
        dead_ends.add(before)
        return None

    def _may_be_next(self, moved: Moved, subject: Moved) -> bool:
        if moved.outcome.rank == subject.outcome.rank:
            return self._agrees(moved.outcome)
        # No order has made ours decide so, so the recorded decision may be anywhere.
        if moved.outcome.rank in self._differing:
            return True
        if not self._left:
            return False
        # The number of orders grows as a factorial.
        self._left -= 1
        return self._is_decided_so(moved.outcome)

    def _agrees(self, outcome: Outcome) -> bool:
        self.tried += 1
        return self._is_decided_so(outcome)

    def _suppose(self, entry: Entry) -> None:
        self._world.apply(entry)
        self._done.append(entry)

    def _go_back(self, mark: int) -> None:
        """Undo the assumed changes since a mark."""
        while len(self._done) > mark:
            self._world.apply(undo(self._done.pop()))
