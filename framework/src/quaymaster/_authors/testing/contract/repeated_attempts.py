"""Counts the timers that remain while a pod is tried again and again."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod, Time
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import fail
from quaymaster._authors.testing.contract.companions import (
    crowded_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.uptime import with_times
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.clock import VIRTUAL_START, VirtualClock
from quaymaster._core.engine.handle import Services

__all__ = ["ask_repeated"]

_ROUNDS: Final = 3
_ATTEMPTS: Final = 3
"""The attempts of each round."""

_SECONDS: Final = 61
"""The time between attempts, so that timers of a few minutes do not add up."""

_AGE_SECONDS: Final = 600


class _PendingClock(VirtualClock):
    """A clock that counts the timers that are not due yet."""

    @property
    def pending(self) -> int:
        """The number of timers."""
        return sum(timer.callback is not None for _, _, timer in self._timers)


class _ClockedHarness(PluginHarness):
    """A harness whose plugin has a clock that counts its timers."""

    def _adapted(self, services: Services) -> Services:
        self.plugin_clock = _PendingClock()
        return attrs.evolve(services, clock=self.plugin_clock)


def ask_repeated(subject: Subject, cluster: SmallCluster) -> None:
    """Try one pod again and again, and compare the numbers of timers."""
    cluster = _begun_lately(cluster)
    # Other examples begin with other pods.
    pod, clock = cluster.pending[0], _PendingClock()
    services = subject.make_services(subject.empty_cluster)
    services = attrs.evolve(services, clock=clock)
    bench = Bench(subject, cluster, services=services)
    _compare("", pod, clock, lambda: walk(bench, pod))
    if not subject.has("post_filter"):
        return
    for harness in crowded_harnesses(subject, cluster, _ClockedHarness):
        with harness:
            _ask_harness(harness, preempting(pod))


def _ask_harness(harness: _ClockedHarness, pod: Pod) -> None:
    with suppress(QuaymasterError):  # another check reports failures
        harness.start()

    def attempt() -> None:
        harness.post_filter(pod)

    _compare("post_filter", pod, harness.plugin_clock, attempt)


def _compare(
    hook: str, pod: Pod, clock: _PendingClock, attempt: Callable[[], None]
) -> None:
    """Compare how many timers are left after each round of attempts.

    Args:
        hook: The hook to name in a finding.
        pod: The pod.
        clock: The clock of the plugin.
        attempt: Tries the pod once.
    """
    counts = [clock.pending]
    for _ in range(_ROUNDS):
        for _ in range(_ATTEMPTS):
            with suppress(QuaymasterError):  # a rejection, or a failure
                attempt()
            if clock.pending <= counts[0]:
                return  # the usual case: attempts leave no timers
            clock.advance(_SECONDS)
        counts.append(clock.pending)
    _, first, second, third = counts
    if min(third - second, second - first) >= _ATTEMPTS:
        text = (
            f"has {third - second} more timers after {_ATTEMPTS} more attempts of the "
            "same pod, which add up: keep the timer of a pod, and set no second one"
        )
        fail(hook, text, pod)


def _begun_lately(cluster: SmallCluster) -> SmallCluster:
    """Return a cluster whose pods have started, or were created, a while ago."""
    cluster = with_times(cluster)
    pods = tuple(
        replace(
            pod,
            status=replace(
                pod.status, start_time=Time(VIRTUAL_START - _AGE_SECONDS - at)
            ),
        )
        for at, pod in enumerate(cluster.pods)
    )
    return attrs.evolve(cluster, pods=pods)
