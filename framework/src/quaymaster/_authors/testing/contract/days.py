"""Days in which pods arrive, are rejected, and are woken as time passes."""

from bisect import insort
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, NoReturn, TypeAlias, cast

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, Time
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.clock import VIRTUAL_START, Timer, VirtualClock

__all__ = ["Attempt", "TimeRule", "ask_days"]

Attempt: TypeAlias = Callable[[Bench, Pod], Mapping[str, str]]
"""Tries a pod, and returns what is closed to it -> the hook that closes it."""

_HOUR: Final = 3600.0
_ARRIVALS: Final = (
    0.0,
    67.3,
    4.2 * _HOUR + 0.4,
    11.7 * _HOUR,
    28.6 * _HOUR,
    60.55 * _HOUR,
)
"""When pods arrive, in seconds: at night, by day, within a second, and days later."""

_DAYS: Final = 3
"""So long, the moments are an hour apart: a plugin may also look at the time itself."""

_MORE_DAYS: Final = 8
_DOUBLINGS: Final = 26
"""The moments after 1, 2, 4... seconds, up to a year."""

_GRACE: Final = 900.0
"""The seconds until a pod must be woken: a plugin may look at the time now and then."""

_MOST_STEPS: Final = 3000
"""With a timer of a second, the days would take long."""

_MOST_COMPARED: Final = 100
"""After so many steps, verdicts are no longer compared whenever a timer is due."""

_MOST_AT_ONCE: Final = 20
_COPIES: Final = 2
_FAR: Final = 10 * 365 * 24 * _HOUR
_LAST: Final = 253_402_300_799.0
"""The last second that a date can have."""

_BACKGROUND: Final = (
    "wakes pod '{}' by a background timer alone: a simulation ends when only such "
    "timers are left, and leaves its pods behind, so set it without background=True"
)


@attrs.frozen(kw_only=True)
class TimeRule:
    """The rule that a plugin wakes pods when the time opens what was closed to them.

    Attributes:
        attempt: Tries a pod.
        backoff_seconds: How long after an attempt the next one begins at the earliest.
        advice: What the author has to do, and why.
    """

    attempt: Attempt
    backoff_seconds: float
    advice: str


def ask_days(subject: Subject, cluster: SmallCluster, rule: TimeRule) -> None:
    """Let days pass, with pods and nodes in both orders.

    A plugin may set a timer for its first rejection, and for no other.

    Raises:
        Finding: A pod is not woken although something is open to it.
    """
    if not _depends_on_time(subject, cluster, rule.attempt):
        return
    instances = _NewInstances(subject, cluster, rule.attempt)
    for step in (1, -1):
        nodes, pending = cluster.nodes[::step], cluster.pending[::step]
        reordered = attrs.evolve(cluster, nodes=nodes, pending=pending)
        _Days(subject, reordered, rule, instances).pass_by()


def _depends_on_time(subject: Subject, cluster: SmallCluster, attempt: Attempt) -> bool:
    """Return whether anything opens to a pod with the time alone."""
    clock = _WatchedClock(VIRTUAL_START)
    pending = tuple(_created(pod, VIRTUAL_START) for pod in cluster.pending)
    cluster = attrs.evolve(cluster, pending=pending)
    bench = _bench(subject, cluster, clock)
    reads = clock.reads
    for pod in cluster.pending:
        attempt(bench, pod)
    if clock.reads == reads and clock.next_due() is None:
        return False
    before: list[Collection[str]] = []
    for moment in _moments():
        bench = _bench(subject, cluster, VirtualClock(moment))
        closed = [attempt(bench, pod) for pod in cluster.pending]
        if any(set(old) - set(new) for old, new in zip(before, closed, strict=False)):
            return True
        before = [*closed]
    return False


def _moments() -> list[float]:
    """Return when verdicts are compared: on the hour, or in its second half."""
    hours = [hour + 0.55 * (hour % 2) for hour in range(1, 24 * _DAYS)]
    hours += range(24 * _DAYS, 24 * _MORE_DAYS, 6)
    doublings = [float(2**power) for power in range(_DOUBLINGS)]
    steps = {*doublings, *(hour * _HOUR for hour in hours)}
    return sorted(VIRTUAL_START + step for step in steps)


class _WatchedClock(VirtualClock):
    """A clock that counts how it is used.

    Attributes:
        reads: How often the time was read.
        timers: How many timers were set.
    """

    def __init__(self, start: float) -> None:
        super().__init__(start)
        self.reads = self.timers = 0

    def now(self) -> float:
        self.reads += 1
        return super().now()

    def call_at(
        self, due: float, callback: Callable[[], None], *, background: bool = False
    ) -> Timer:
        self.timers += 1
        return super().call_at(due, callback, background=background)


def _created(pod: Pod, moment: float) -> Pod:
    metadata = replace(pod.metadata, creation_timestamp=Time(moment))
    return replace(pod, metadata=metadata)


def _bench(subject: Subject, cluster: SmallCluster, clock: VirtualClock) -> Bench:
    services = subject.make_services(subject.empty_cluster)
    return Bench(subject, cluster, services=attrs.evolve(services, clock=clock))


class _NewInstances:
    """The verdicts of instances that begin at some moment: they have missed no timer.

    Args:
        subject: The plugin.
        cluster: The cluster, whose waiting pods do not count.
        attempt: Tries a pod.
    """

    def __init__(
        self, subject: Subject, cluster: SmallCluster, attempt: Attempt
    ) -> None:
        self._subject = subject
        self._cluster = cluster
        self._attempt = attempt
        self._benches: dict[float, Bench] = {}
        self._closed: dict[tuple[float, str], Mapping[str, str]] = {}

    def closed(
        self, moment: float, pod: Pod, arrived: Iterable[Pod]
    ) -> Mapping[str, str]:
        """Return what is closed to a pod at a moment."""
        if (moment, pod.key) not in self._closed:
            if moment not in self._benches:
                cluster = attrs.evolve(self._cluster, pending=tuple(arrived))
                clock = VirtualClock(moment)
                self._benches[moment] = _bench(self._subject, cluster, clock)
            closed = self._attempt(self._benches[moment], pod)
            self._closed[moment, pod.key] = closed
        return self._closed[moment, pod.key]


@attrs.define
class _Held:
    """A pod to which something is closed.

    Attributes:
        pod: The pod.
        closed: What was closed to it at the last attempt -> the hook that closed it.
        tried_at: When that was.
        open_since: Since when a new instance would open some of it, or None.
        retry_at: When the next attempt begins because it was woken, or None.
    """

    pod: Pod
    closed: Mapping[str, str]
    tried_at: float
    open_since: float | None = None
    retry_at: float | None = None


class _Days:
    """Some days in which pods arrive, are rejected, and are woken.

    As in a cluster, a pod is tried when it arrives and when it is woken, and not in
    between: the hooks that reject it must set a timer for each pod.
    """

    def __init__(
        self,
        subject: Subject,
        cluster: SmallCluster,
        rule: TimeRule,
        instances: _NewInstances,
    ) -> None:
        self._subject = subject
        self._cluster = cluster
        self._rule = rule
        self._instances = instances
        self._clock = _WatchedClock(VIRTUAL_START)
        without = attrs.evolve(cluster, pending=())
        self._bench = _bench(subject, without, self._clock)
        self._has_own_timers = self._clock.next_due() is not None
        self._arrivals = {
            VIRTUAL_START + after: at for at, after in enumerate(_ARRIVALS)
        }
        self._coming = sorted({*self._arrivals, *_moments()})
        copies = _COPIES * len(_ARRIVALS)
        self._copies = [copies_of(pod, copies) for pod in cluster.pending]
        self._arrived: list[Pod] = []
        self._held: dict[str, _Held] = {}
        subject.wakes.clear()

    def pass_by(self) -> None:
        """Let the days pass."""
        repeated, last = 0, -1.0
        for step in range(_MOST_STEPS):
            if not self._coming:
                return
            due, moment = self._clock.next_due(), self._coming[0]
            is_timer = due is not None and due < moment
            if is_timer:
                moment = max(cast(float, due), self._clock.now())
            else:
                self._coming.pop(0)
            repeated = repeated + 1 if moment == last else 0
            if repeated > _MOST_AT_ONCE:
                self._fail_repeated()
            last = moment
            self._advance_to(moment)
            if self._bench.deliver():
                return  # its own writes may wake pods
            if moment in self._arrivals:
                self._arrive(self._arrivals[moment])
            if not is_timer or step < _MOST_COMPARED:
                self._compare()

    def _advance_to(self, moment: float) -> None:
        """Let time pass, and try the pods that are woken."""
        is_last = not self._clock.has_foreground_timers
        timers = self._clock.timers
        self._bench.advance(moment - self._clock.now())
        # A periodic timer sets the next one, and may well run in the background.
        is_single = not self._has_own_timers and self._clock.timers == timers
        for held in self._woken():
            hook = self._try(held)
            if hook and is_last and is_single:
                fail(hook, _BACKGROUND.format(held.pod.key), held.pod)

    def _woken(self) -> Sequence[_Held]:
        """Return the pods whose next attempt begins now."""
        wakes = {*self._subject.wakes}
        self._subject.wakes.clear()
        now = self._clock.now()
        for key, held in self._held.items():
            is_woken = self._subject.name in wakes or key in wakes
            if is_woken and held.retry_at is None:
                held.retry_at = max(now, held.tried_at + self._rule.backoff_seconds)
                if held.retry_at > now:
                    insort(self._coming, held.retry_at)
        return [
            held
            for held in self._held.values()
            if held.retry_at is not None and held.retry_at <= now
        ]

    def _try(self, held: _Held) -> str:
        """Try a pod again; return the hook that has opened something to it, if any."""
        before = held.closed
        held.closed = self._rule.attempt(self._bench, held.pod)
        held.tried_at = self._clock.now()
        held.open_since = held.retry_at = None
        if not held.closed:
            del self._held[held.pod.key]
        opened = before.keys() - held.closed.keys()
        return before[min(opened)] if opened else ""

    def _arrive(self, number: int) -> None:
        first, now = number * _COPIES, self._clock.now()
        for copies in self._copies:
            for copy in copies[first : first + _COPIES]:
                pod = _created(copy, now)
                self._arrived.append(pod)
                self._bench.add(pod)
                closed = self._rule.attempt(self._bench, pod)
                if closed:
                    self._held[pod.key] = _Held(pod, closed, now)

    def _compare(self) -> None:
        """Compare with new instances."""
        now = self._clock.now()
        for held in [*self._held.values()]:
            closed = self._instances.closed(now, held.pod, self._arrived)
            if held.retry_at is not None or not held.closed.keys() - closed.keys():
                continue
            if held.open_since is None:
                held.open_since = now
                insort(self._coming, now + _GRACE + 1)
            elif now - held.open_since > _GRACE:
                self._report(held)
        self._subject.wakes.clear()

    def _report(self, held: _Held) -> None:
        """Report a pod, if the plugin itself would let it pass by now."""
        before, due = attrs.evolve(held), self._clock.next_due()
        # A new instance may forget what it has let pass before; the old one may not.
        self._try(held)
        opened = before.closed.keys() - held.closed.keys()
        if not opened:
            return
        place = min(opened)
        where = f" on node '{place}'" if place else ""
        since = self._opening(before, place)
        text = (
            f"rejects pod '{held.pod.key}'{where} at {_shown(before.tried_at)}, "
            f"accepts it from {_shown(since)} on with an unchanged cluster, and has "
            f"not woken it by {_shown(self._clock.now())}, when {self._timer(due)}; "
            f"{self._rule.advice}"
        )
        fail(before.closed[place], text, held.pod, self._nodes(place))

    def _nodes(self, name: str) -> Sequence[Node]:
        """Return the node of a name, if any."""
        return [node for node in self._cluster.nodes if node.name == name]

    def _opening(self, held: _Held, place: str) -> float:
        """Return the second in which new instances begin to let a pod pass."""

        def is_closed(moment: float) -> bool:
            closed = self._instances.closed(moment, held.pod, self._arrived)
            return place in closed

        closed_at, open_at = held.tried_at, held.open_since
        if open_at is None or is_closed(open_at):
            open_at = self._clock.now()
        while open_at - closed_at > 1:
            moment = (closed_at + open_at) // 2
            if is_closed(moment):
                closed_at = moment
            else:
                open_at = moment
        return open_at

    def _timer(self, due: float | None) -> str:
        """Describe the next timer of the plugin."""
        if due is None:
            return "it has no timer"
        if due - self._clock.now() > _FAR:
            year = f"its next timer is due in the year {_at(due):%Y}"
            return f"{year} (call_later takes a delay, call_at a time)"
        return f"its next timer is due at {_shown(due)}"

    def _fail_repeated(self) -> NoReturn:
        held = next(iter(self._held.values()))
        text = (
            "wakes its pods again and again at the same time, and holds them back: its "
            "timer is due before the time from which it accepts them"
        )
        fail(min({*held.closed.values()}), text, held.pod)


def _at(moment: float) -> datetime:
    return datetime.fromtimestamp(min(moment, _LAST), UTC)


def _shown(moment: float) -> str:
    return f"{_at(moment):%Y-%m-%d %H:%M:%S}"
