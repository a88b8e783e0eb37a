"""A check: a gate that opens with the time wakes the pods that it holds back."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.declarations import opens_gates_itself

__all__ = ["TIMED_GATES"]

_HOUR: Final = 3600
_ARRIVALS: Final = (0.0, 4.2 * _HOUR + 0.4, 11 * _HOUR, 31 * _HOUR)
"""When pods arrive, in seconds: at night, by day, within a second, and a day later."""

_END: Final = 74 * _HOUR
_GRACE: Final = 900
"""The seconds until a pod must be woken: a gate may be looked at now and then."""

_MOST_MOMENTS: Final = 200
"""With a timer of a second, the days would take long."""

_MOST_AT_ONCE: Final = 20
_COPIES: Final = 2
_BACKGROUND: Final = (
    "opens by a background timer alone: a simulation ends when only such timers are "
    "left, and leaves its pods behind, so set it without background=True"
)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    # In both orders: a plugin may set a timer for the first pod that it holds back.
    for pending in (cluster.pending, cluster.pending[::-1]):
        _Days(subject, attrs.evolve(cluster, pending=pending)).pass_by()
        if len(pending) < 2:
            return


@attrs.define
class _Held:
    """A pod that is held back.

    Attributes:
        pod: The pod.
        open_since: Since when a new instance would let it pass, or None.
    """

    pod: Pod
    open_since: float | None = None


class _Days:
    """Some days in which pods arrive, are held back, and are woken.

    As in a cluster, pre_enqueue runs when a pod arrives and when it is woken, and not
    in between: if it sets the timers, it must set one for each pod.
    """

    def __init__(self, subject: Subject, cluster: SmallCluster) -> None:
        self._subject = subject
        self._cluster = attrs.evolve(cluster, pending=())
        self._bench = Bench(subject, self._cluster)
        start = self._now()
        self._arrivals = {start + after: at for at, after in enumerate(_ARRIVALS)}
        hours = (start + after for after in range(_HOUR, _END, _HOUR))
        self._coming = deque(sorted({*self._arrivals, *hours}))
        copies = _COPIES * len(_ARRIVALS)
        self._copies = [copies_of(pod, copies) for pod in cluster.pending]
        self._arrived: list[Pod] = []
        self._held: dict[str, _Held] = {}
        subject.wakes.clear()

    def pass_by(self) -> None:
        """Let the days pass."""
        repeated, last = 0, -1.0
        for moment in self._moments():
            repeated = repeated + 1 if moment == last else 0
            if repeated > _MOST_AT_ONCE:
                pod = next(iter(self._held.values())).pod
                text = (
                    "wakes its pods again and again at the same time, and holds them "
                    "back: its timer is due before the gate opens"
                )
                fail("pre_enqueue", text, pod)
            last = moment
            clock = self._bench.services.clock
            keeps_going = clock.has_foreground_timers
            self._bench.advance(moment - self._now())
            for pod in self._ask_woken():
                if not keeps_going:
                    fail("pre_enqueue", _BACKGROUND, pod)
            if moment in self._arrivals:
                self._arrive(self._arrivals[moment])
            self._compare()

    def _moments(self) -> Iterator[float]:
        """Yield when something happens: a timer, an arrival, or an hour is over."""
        for _ in range(_MOST_MOMENTS):
            due = self._bench.services.clock.next_due()
            if self._held and due is not None and due < self._coming[0]:
                yield max(due, self._now())
                continue
            yield self._coming.popleft()
            if not self._coming:
                return

    def _now(self) -> float:
        return self._bench.services.clock.now()

    def _arrive(self, number: int) -> None:
        first = number * _COPIES
        for copies in self._copies:
            for copy in copies[first : first + _COPIES]:
                metadata = replace(copy.metadata, creation_timestamp=self._now())
                pod = replace(copy, metadata=metadata)
                self._arrived.append(pod)
                self._bench.add(pod)
                if self._bench.ask("pre_enqueue", pod) is not None:
                    self._held[pod.key] = _Held(pod)

    def _ask_woken(self) -> Sequence[Pod]:
        """Ask the gate for the pods that were woken; return those that it passes."""
        wakes = {*self._subject.wakes}
        self._subject.wakes.clear()
        woken = [
            held.pod
            for key, held in self._held.items()
            if self._subject.name in wakes or key in wakes
        ]
        passed = [pod for pod in woken if self._bench.ask("pre_enqueue", pod) is None]
        for pod in passed:
            del self._held[pod.key]
        return passed

    def _compare(self) -> None:
        """Compare with a new instance, which has no timers that it missed."""
        if not self._held:
            return
        services = self._subject.make_services(self._subject.empty_cluster)
        services = attrs.evolve(services, clock=VirtualClock(self._now()))
        cluster = attrs.evolve(self._cluster, pending=tuple(self._arrived))
        renewed = Bench(self._subject, cluster, services=services)
        for held in self._held.values():
            if renewed.ask("pre_enqueue", held.pod) is not None:
                held.open_since = None
            elif held.open_since is None:
                held.open_since = self._now()
            elif self._now() - held.open_since > _GRACE:
                self._report(held)
        self._subject.wakes.clear()

    def _report(self, held: _Held) -> None:
        # A new instance may forget what it has let pass before; the old one may not.
        if self._bench.ask("pre_enqueue", held.pod) is not None:
            held.open_since = None
            return
        created = held.pod.metadata.creation_timestamp
        assert created is not None
        assert held.open_since is not None
        text = (
            f"rejects pod '{held.pod.key}' when it arrives, accepts it "
            f"{held.open_since - created:,.0f} s later, with an unchanged cluster, and "
            "does not wake it; yet its class declares opens_gates_itself, so nothing "
            "asks again: for each pod that it holds back, set a timer that calls "
            "Handle.changed or Handle.activate when its gate opens"
        )
        fail("pre_enqueue", text, held.pod)


TIMED_GATES: Final = Check(
    name="timed gates",
    promise="with opens_gates_itself, a gate that opens with the time wakes its pods",
    ask=_ask,
    hooks=frozenset({"pre_enqueue"}),
    only_for=opens_gates_itself,
)
