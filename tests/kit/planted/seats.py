"""A plugin that shares a ledger between profiles, and mistakes in it."""

from collections.abc import Sequence
from typing import ClassVar

import attrs

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Handle,
    Pod,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.config import integer
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "SEAT_MISTAKES", "LimitedSeats", "Seats"]

SEATS, MOST = "example.com/seats", 2


def _seats(pod: Pod) -> int:
    return int(pod.labels.get(SEATS, "0"))


class Ledger:
    """The pods with seats."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}

    def taken_by_others(self, uid: str) -> int:
        """Count the seats of all pods but one."""
        return sum(self.taken.values()) - self.taken.get(uid, 0)


class Seats(Plugin):
    """Correct: all pods together get at most two seats."""

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.ledger = handle.shared(Ledger, Ledger)
        self.taken = self.ledger.taken
        handle.informers.on_change(Pod, self.follow)

    def owner(self, pod: Pod) -> str:
        """Return the key of a pod in the ledger."""
        return pod.uid

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        """Read a change of a pod."""
        if old is not None and (new is None or new.uid != old.uid):
            self.taken.pop(self.owner(old), None)
        if new is not None and new.node_name:
            self.taken[self.owner(new)] = 0 if new.is_finished else _seats(new)

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        need = _seats(pod)
        others = self.ledger.taken_by_others(self.owner(pod))
        if not need or others + need <= MOST:
            return None
        return Status.unresolvable("all seats are taken")

    @hookimpl
    def reserve(self, pod: Pod) -> None:
        self.taken[self.owner(pod)] = _seats(pod)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid != pod.uid or not stored.node_name:
            self.taken.pop(self.owner(pod), None)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod(Change.DELETE | Change.UPDATE_POD_LABEL)]


@attrs.frozen(kw_only=True)
class SeatArgs:
    """How many seats there are."""

    most: int = attrs.field(default=1, validator=integer(1))


class LimitedLedger(Ledger):
    """A ledger with a limit, which may be that of another profile."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most


class LimitedSeats(Seats):
    """Correct: each profile has its own limit."""

    Args: ClassVar[type] = SeatArgs

    def __init__(self, args: SeatArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.most = args.most

    def limit(self) -> int:
        """Return how many seats there are."""
        return self.most

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        need = _seats(pod)
        if not need or self.ledger.taken_by_others(pod.uid) + need <= self.limit():
            return None
        return Status.unresolvable("all seats are taken")


class KeepsTheFirstLimit(LimitedSeats):
    def __init__(self, args: SeatArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        shared = handle.shared(LimitedLedger, lambda: LimitedLedger(args.most))
        self.most = shared.most


class KeepsTheFirstInstance(LimitedSeats):
    def __init__(self, args: SeatArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        self.first = handle.shared(KeepsTheFirstInstance, lambda: self)

    def limit(self) -> int:
        return self.first.most


class ForgetsBoundPods(Seats):
    def follow(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and new is None:
            super().follow(old, new)


class KeepsDeletedPods(Seats):
    def follow(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None:
            super().follow(None, new)


class KeepsSeatsOfPodsInTheQueue(Seats):
    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        if self.handle.informers.get(Pod, pod.key) is None:
            self.taken.pop(pod.uid, None)


class KeepsFinishedPods(Seats):
    def follow(self, old: Pod | None, new: Pod | None) -> None:
        super().follow(old, new)
        if new is not None and new.node_name:
            self.taken[new.uid] = _seats(new)


class ForgetsPodsWhoseAnswerWasLost(Seats):
    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self.taken.pop(pod.uid, None)


class CountsFirstLabels(Seats):
    def follow(self, old: Pod | None, new: Pod | None) -> None:
        if new is None or new.uid not in self.taken:
            super().follow(old, new)


class SharesNothing(Seats):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.ledger = Ledger()
        self.taken = self.ledger.taken


class KeepsSeatsByName(Seats):
    def owner(self, pod: Pod) -> str:
        return pod.key


class LeavesSeatsOfReplacedPods(Seats):
    """Frees seats for its own pod only, and reads no deletions of waiting pods."""

    def follow(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None or (old is not None and old.node_name):
            super().follow(old, new)

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        stored = self.handle.informers.get(Pod, pod.key)
        if stored is None or stored.uid == pod.uid:
            super().unreserve(pod)


OWN = clusters(pods=pods({"labels": {SEATS: "1"}}, {"labels": {SEATS: "2"}}))
SEAT_MISTAKES: Sequence[Mistake] = (
    Mistake(KeepsTheFirstLimit, ["shared state"], OWN),
    Mistake(KeepsTheFirstInstance, ["shared state"], OWN),
    Mistake(ForgetsBoundPods, ["restarts"], OWN),
    Mistake(KeepsDeletedPods, ["staleness"], OWN),
    Mistake(KeepsSeatsOfPodsInTheQueue, ["unreserve"], OWN),
    Mistake(KeepsFinishedPods, ["pod endings"], OWN),
    Mistake(ForgetsPodsWhoseAnswerWasLost, ["pod endings"], OWN),
    Mistake(CountsFirstLabels, ["pod endings"], OWN),
    Mistake(SharesNothing, ["pod endings"], OWN),
    Mistake(KeepsSeatsByName, ["pod endings"], OWN),
    Mistake(LeavesSeatsOfReplacedPods, ["pod endings"], OWN),
)
