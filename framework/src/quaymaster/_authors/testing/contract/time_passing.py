"""A check: remembered answers do not depend on the time."""

from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import Answers, answers, difference
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.clock import Clock

__all__ = ["TIME", "time_steps"]

_SECONDS: Final = (1, 8, 31, 67, 601)
"""Steps of the clock, so that rules by the second, minute and hour change."""

_LONG_SECONDS: Final = (13 * 3600, 3 * 24 * 3600)
"""Steps for plugins without timers; a timer of a second would run too often."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not subject.has("sign_pod"):
        return  # nothing is remembered
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        if bench.ask("sign_pod", pod) is not None:
            _ask_later(bench, pod, cluster)


def _ask_later(bench: Bench, pod: Pod, cluster: SmallCluster) -> None:
    reported_changes = bench.handle.reported_changes
    expected = _remembered(bench, pod)
    for seconds in time_steps(bench.services.clock):
        reported_changes.clear()
        bench.advance(seconds)
        actual = _remembered(bench, pod)
        changed = difference(actual, expected)
        if changed is not None and not reported_changes:
            text = (
                f"{changed} as {seconds:,} s before, with an unchanged cluster: "
                "answers are remembered, so a timer has to call Handle.changed"
            )
            fail(changed.hook, text, pod, cluster.nodes, cluster.pods)
        expected = actual


def time_steps(clock: Clock) -> Sequence[int]:
    """Return by how many seconds to advance a clock, one after another."""
    has_timers = clock.next_due() is not None
    return _SECONDS if has_timers else (*_SECONDS, *_LONG_SECONDS)


def _remembered(bench: Bench, pod: Pod) -> Answers:
    """Return the answers that the framework remembers; the others may change."""
    actual = answers(bench, pod)
    return attrs.evolve(actual, pre_enqueue=None, tied=(), tie=None)


TIME = Check(
    name="time",
    promise="answers that are remembered do not change with the time alone",
    ask=_ask,
    hooks=frozenset({"pre_filter", "filter", "score"}),
)
