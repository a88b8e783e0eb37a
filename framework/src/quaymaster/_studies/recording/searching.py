"""Searches for the state on which a recorded scheduler may have decided."""

from collections.abc import Callable, Collection, Sequence
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

# Binding goes on beside deciding, and on a busy machine a hundred decisions are made
# before the first of them is seen: then the order of a hundred is not the recorded one.
# Most are found within the least reach. All that is in reach has to be explained, too:
# so one that is larger than need be may find nothing, and each is twice the last.
_REACHES: Final = (4, 8, 16, 32, 64, 128)  # decisions on either side
_MOST_DECISIONS: Final = 1024


def bound_as(outcome: Outcome, pod: Pod) -> Entry:
    """The change that binds a pod where it was decided to."""
    bound = replace(pod, node_name=outcome.node)
    return Entry(at=outcome.at, kind=Pod, key=pod.key, old=pod, new=bound)


class Search:
    """Looks for another state of the world on which ours decides the same.

    The world is left as it was.

    Args:
        world: The world.
        is_decided_so: Whether ours decides the same about a pod as things stand.
        differing: The ranks of decisions that ours does not make, wherever they stand;
            these need no explanation.

    Attributes:
        tried: On how many states ours has decided about the pod in question.
    """

    def __init__(
        self,
        world: RecordedWorld,
        is_decided_so: Callable[[Outcome], bool],
        differing: Collection[int],
    ) -> None:
        self.tried = 0
        self._world = world
        self._is_decided_so = is_decided_so
        self._differing = differing
        self._left = _MOST_DECISIONS
        self._done: list[Entry] = []

    def width_of(self, outcome: Outcome, pod: Pod, doubts: Doubts) -> int:
        """Find a state on which ours decides the same.

        Args:
            outcome: The decision.
            pod: Its pod.
            doubts: By what the state may differ.

        Returns:
            By how many changes or decisions it differs from the recorded one; 0 if
            there is none.
        """
        for lag in islice(doubts.lags(), _MOST_LAGS):
            for entry in lag.entries():
                self._suppose(entry)
            agrees = self._agrees(outcome)
            self._go_back(0)
            if agrees:
                return lag.width
        entries = (bound_as(outcome, pod),) if outcome.node else ()
        asked, made, coming = Moved(outcome, entries), doubts.made(), doubts.coming()
        if all(precedes(one.outcome, outcome) for one in made) and all(
            precedes(outcome, one.outcome) for one in coming
        ):
            return 0
        for reach in _REACHES:
            width = self._reordered(asked, made[:reach], coming[:reach])
            if width:
                return width
            if max(len(made), len(coming)) <= reach:
                break
        return 0

    def _reordered(
        self, asked: Moved, made: Sequence[Moved], coming: Sequence[Moved]
    ) -> int:
        """Find an order of these decisions in which ours makes all of them.

        What comes may be left for later, and all else has to be in it. Where the queue
        has one pod before another, so has the order.
        """
        for moved in made:
            for entry in reversed(moved.entries):
                self._suppose(undo(entry))
        wanted = [*reversed(made), asked]
        found = self._placed(asked, wanted, [*wanted, *coming], set(), set())
        self._go_back(0)
        if found is None:
            return 0
        return len(found ^ {one.outcome.rank for one in made})

    def _placed(
        self,
        asked: Moved,
        wanted: Sequence[Moved],
        left: Sequence[Moved],
        placed: set[int],
        in_vain: set[frozenset[int]],
    ) -> set[int] | None:
        """Place what is left, after some decisions that have been placed.

        Args:
            asked: The decision in question.
            wanted: The decisions that have to be placed.
            left: The decisions that have not been placed, in the order to try.
            placed: The ranks of those that have been.
            in_vain: Sets of ranks after which there is no way.

        Returns:
            The ranks of the decisions before this one; None if no order fits.
        """
        if all(pod.outcome.rank in placed for pod in wanted):
            return set()
        known = frozenset(placed)
        if known in in_vain:
            return None
        for one in left:
            if any(precedes(other.outcome, one.outcome) for other in left):
                continue
            if not self._may_be_next(one, asked):
                continue
            mark, rank = len(self._done), one.outcome.rank
            for entry in one.entries:
                self._suppose(entry)
            rest = [other for other in left if other.outcome.rank != rank]
            found = self._placed(asked, wanted, rest, placed | {rank}, in_vain)
            self._go_back(mark)
            if found is not None:
                return set(known) if rank == asked.outcome.rank else found
        in_vain.add(known)
        return None

    def _may_be_next(self, moved: Moved, asked: Moved) -> bool:
        if moved.outcome.rank == asked.outcome.rank:
            return self._agrees(moved.outcome)
        if moved.outcome.rank in self._differing:
            return True
        if not self._left:
            return False
        self._left -= 1
        return self._is_decided_so(moved.outcome)

    def _agrees(self, outcome: Outcome) -> bool:
        self.tried += 1
        return self._is_decided_so(outcome)

    def _suppose(self, entry: Entry) -> None:
        self._world.apply(entry)
        self._done.append(entry)

    def _go_back(self, mark: int) -> None:
        """Undo what has been supposed since."""
        while len(self._done) > mark:
            self._world.apply(undo(self._done.pop()))
