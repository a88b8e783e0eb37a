"""Runs attempts that leave their pods assumed on nodes, before they are bound."""

from collections.abc import Mapping

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, is_open, shown
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PermitWait
from quaymaster._core.contract.status import Status

__all__ = ["Outcome", "assume", "attempt"]


@attrs.frozen(kw_only=True)
class Outcome:
    """The end of an attempt.

    Attributes:
        hook: The hook that rejected the pod, or empty.
        node_name: The node where the pod is assumed, or empty.
        answer: The answer of Permit, or of the hook that rejected the pod.
        chosen: What Reserve has chosen, as annotations of the pod.
    """

    hook: str = ""
    node_name: str = ""
    answer: object = None
    chosen: Mapping[str, str] = attrs.field(factory=dict)

    def __str__(self) -> str:
        if self.hook:
            return f"{self.hook} says {shown(self.answer)}"
        if not self.node_name:
            return "no node"
        chosen = f" with {dict(self.chosen)}" if self.chosen else ""
        wait = self.answer if isinstance(self.answer, PermitWait) else None
        end = f", and permit says {shown(wait)}" if wait else ""
        return f"node '{self.node_name}'{chosen}{end}"


def attempt(bench: Bench, pod: Pod) -> Outcome:
    """Run a pod through an attempt, and leave it assumed on its node."""
    bench.add(pod)
    actual = answers(bench, pod)
    if isinstance(actual.pre_enqueue, Status):
        return Outcome(hook="pre_enqueue", answer=actual.pre_enqueue)
    if not is_open(actual.pre_filter):
        return Outcome(hook="pre_filter", answer=actual.pre_filter)
    names = (info.name for info in bench.snapshot if info.name not in actual.rejected)
    node_name = next(names, "")
    if not node_name:
        rejections = actual.rejected.values()
        return Outcome(
            hook="filter" if rejections else "", answer=next(iter(rejections), None)
        )
    return assume(bench, pod, node_name)


def assume(bench: Bench, pod: Pod, node_name: str, *, is_kept: bool = True) -> Outcome:
    """Run an attempt on a node, from PreFilter to Permit.

    Args:
        bench: The plugin and its cluster.
        pod: The pod.
        node_name: The node.
        is_kept: Whether the pod stays assumed, unless it is rejected.
    """
    subject, state = bench.subject, CycleState()
    bench.filter_on(state, pod, node_name)
    assumed = replace(pod, node_name=node_name)
    bench.snapshot.add_pod(assumed)
    answer: object = None
    for hook in ("reserve", "permit"):
        if not subject.has(hook):
            continue
        answer = bench.ask(hook, state, assumed, node_name)
        if isinstance(answer, Status):
            _unreserve(bench, state, assumed)
            return Outcome(hook=hook, answer=answer)
    bench.room.drop()
    if is_kept:
        bench.annotate(assumed, state)
    else:
        _unreserve(bench, state, assumed)
    chosen = dict(state.annotations)
    return Outcome(node_name=node_name, answer=answer, chosen=chosen)


def _unreserve(bench: Bench, state: CycleState, assumed: Pod) -> None:
    if bench.subject.has("unreserve"):
        bench.ask("unreserve", state, assumed, assumed.node_name)
    bench.snapshot.remove_pod(assumed)
