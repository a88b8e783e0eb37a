"""Runs pods through their lives: they wait, are bound or not, and are deleted."""

from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.pre_binding import pre_bind
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._core.contract.cycle_state import CycleState

__all__ = ["live", "live_unbound", "live_unplaced"]

_RESERVING_HOOKS: Final = ("reserve", "permit")


def live(bench: Bench, pod: Pod) -> None:
    """Run a pod through its life: it waits, is bound, and is deleted."""
    subject, state = bench.subject, CycleState()
    _enqueue(bench, pod)
    node_name = first_open_node(bench, pod)
    if node_name:
        bench.pre_filter(state, pod)
        with bench.assuming(pod, node_name) as plain:
            assumed = plain
            for hook in _RESERVING_HOOKS:
                if subject.has(hook):
                    bench.ask(hook, state, assumed, node_name)
                    assumed = bench.annotate(assumed, state)
            is_bound = pre_bind(bench, state, assumed, node_name) is None
            last = "post_bind" if is_bound else "unreserve"
            if subject.has(last):
                bench.ask(last, state, assumed, node_name)
        if is_bound:
            pod = assumed
            bench.add(pod)
    bench.remove(pod)


def live_unplaced(bench: Bench, pod: Pod) -> None:
    """Run a pod through its life: it is deleted before it gets a node."""
    _enqueue(bench, pod)
    answers(bench, pod)
    bench.remove(pod)


def live_unbound(bench: Bench, pod: Pod) -> None:
    """Run a pod through its life: its attempt ends after Permit, and it is deleted."""
    _enqueue(bench, pod)
    node_name = first_open_node(bench, pod)
    if node_name:
        reserve_and_return(bench, pod, node_name)
        bench.room.drop()
    bench.remove(pod)


def _enqueue(bench: Bench, pod: Pod) -> None:
    bench.add(pod)
    if bench.subject.has("queue_sort"):
        bench.ask("queue_sort", make_queued_pod(pod))
