"""Runs pods through their lives: they wait, are bound, and are deleted."""

from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.pre_binding import pre_bind
from quaymaster._authors.testing.contract.reserving import first_open_node
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._core.contract.cycle_state import CycleState

__all__ = ["live"]

_RESERVING_HOOKS: Final = ("reserve", "permit")


def live(bench: Bench, pod: Pod) -> None:
    """Run a pod through its life: it waits, is bound, and is deleted."""
    subject, state = bench.subject, CycleState()
    bench.add(pod)
    if subject.has("queue_sort"):
        bench.ask("queue_sort", make_queued_pod(pod))
    node_name = first_open_node(bench, pod)
    if node_name:
        bench.pre_filter(state, pod)
        with bench.assuming(pod, node_name) as assumed:
            for hook in _RESERVING_HOOKS:
                if subject.has(hook):
                    bench.ask(hook, state, assumed, node_name)
            is_bound = pre_bind(bench, state, assumed, node_name) is None
            last = "post_bind" if is_bound else "unreserve"
            if subject.has(last):
                bench.ask(last, state, assumed, node_name)
        if is_bound:
            pod = assumed
            bench.add(pod)
    bench.remove(pod)
