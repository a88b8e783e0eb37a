"""A check: with nothing to do, a plugin has only background timers."""

from typing import Final

from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.pod_lives import live
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.nodes import make_node
from quaymaster._authors.testing.makers.pods import make_pod
from quaymaster._base.errors import QuaymasterError
from quaymaster._core.contract.clock import VirtualClock

__all__ = ["PERIODIC_TIMERS"]

_CLUSTER: Final = SmallCluster(
    nodes=(make_node(name="n0"), make_node(name="n1")),
    pods=(make_pod(name="p0", node="n0"),),
)
_MOST_TIMERS: Final = 100
"""Chosen, not measured: timers that retry something are fewer."""


def _ask(subject: Subject, _cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, _CLUSTER, services=subject.make_services())
    try:
        live(bench, make_pod(name="w0"))
        is_at_rest = _comes_to_rest(bench)
    finally:
        subject.close()
    if not is_at_rest:
        text = (
            f"after {_MOST_TIMERS} timers there is still one without background=True, "
            "although no pod waits: simulations would not end. Set periodic timers by "
            "handle.clock.call_later(seconds, callback, background=True)"
        )
        fail("", text)


def _comes_to_rest(bench: Bench) -> bool:
    """Run timers until only background timers are left; return False for too many."""
    clock = bench.services.clock
    assert isinstance(clock, VirtualClock)
    for _ in range(_MOST_TIMERS):
        due = clock.next_due()
        if due is None or not clock.has_foreground_timers:
            return True
        try:
            bench.advance(max(0.0, due - clock.now()))
        except QuaymasterError:
            return True  # another check reports failures
    return not clock.has_foreground_timers


PERIODIC_TIMERS: Final = Check(
    name="periodic timers",
    promise="with nothing to do, only background timers are left",
    ask=_ask,
    needs_clusters=False,
)
