"""Lets a pod wait on Permit again after a wait that has ended early."""

from collections.abc import Set as AbstractSet
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import place
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.binding.waiting_pods import MAX_PERMIT_TIMEOUT_SECONDS
from quaymaster._core.contract.clock import VirtualClock
from quaymaster._core.contract.status import Status

__all__ = ["ask_repeated"]

_MOST_TIMERS: Final = 200
"""A plugin that looks every second is not measured longer."""
_MARGIN_SECONDS: Final = 0.5
_OTHER: Final = Status.unschedulable("another plugin has rejected the pod")


@attrs.frozen
class _Wait:
    """A wait on Permit.

    Attributes:
        activated: The pods that it has activated at its begin.
        seconds: How long it lasts.
    """

    activated: AbstractSet[str]
    seconds: float


def ask_repeated(subject: Subject, cluster: SmallCluster) -> None:
    """Check that a second wait of a pod is like that of a new instance.

    Raises:
        Finding: It ends earlier, or activates fewer pods.
    """
    for pod in cluster.pending:
        first = _wait_after(subject, cluster, pod, 0.0)
        if first is None:
            continue
        half = first.seconds / 2
        expected = _wait_after(subject, cluster, pod, half)
        bench = Bench(subject, cluster)
        place(bench, pod)
        bench.advance(half)
        entry = bench.room.pods.get(pod.uid)
        if entry is None or expected is None:
            continue
        bench.room.pods.end(entry, _OTHER)
        bench.room.settle()
        actual = _wait(bench, pod)
        if actual is not None:
            _compare(actual, expected, pod)


def _compare(actual: _Wait, expected: _Wait, pod: Pod) -> None:
    when = "when it waits again after another plugin has rejected it"
    missing = sorted(expected.activated - actual.activated)
    if missing:
        text = (
            f"does not activate '{missing[0]}' for pod '{pod.key}' {when}, expected "
            "handle.activate as in its first wait: permit runs in each attempt, and "
            "unreserve is called between them"
        )
        fail("permit", text, pod)
    if actual.seconds < expected.seconds - _MARGIN_SECONDS:
        text = (
            f"lets pod '{pod.key}' wait for {actual.seconds:g} s {when}, expected "
            f"{expected.seconds:g} s as from a new instance: neither a timer nor a "
            "deadline of an earlier wait may end a later one, so cancel or drop it in "
            "unreserve"
        )
        fail("permit", text, pod)


def _wait_after(
    subject: Subject, cluster: SmallCluster, pod: Pod, seconds: float
) -> _Wait | None:
    """Return the wait of a pod that comes after some time, or None."""
    bench = Bench(subject, cluster)
    bench.advance(seconds)
    return _wait(bench, pod)


def _wait(bench: Bench, pod: Pod) -> _Wait | None:
    """Place a pod; return None if it does not wait, or waits too long to measure."""
    wakes, clock = bench.subject.wakes, bench.services.clock
    assert isinstance(clock, VirtualClock)
    wakes.clear()
    place(bench, pod)
    activated, begin = frozenset(wakes), clock.now()
    entry = bench.room.pods.get(pod.uid)
    for _ in range(_MOST_TIMERS if entry is not None else 0):
        due = clock.next_due()
        if due is None or due - begin > MAX_PERMIT_TIMEOUT_SECONDS:
            break
        bench.advance(max(0.0, due - clock.now()))
        # Identity: a later wait of the same pod is another entry.
        if bench.room.pods.get(pod.uid) is not entry:
            return _Wait(activated, clock.now() - begin)
    return None
