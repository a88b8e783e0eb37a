"""Runs a pod through Reserve and Permit, and back."""

from collections.abc import Callable, Mapping, Sequence

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import Difference, answers, is_open
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._core.contract.cycle_state import CycleState

__all__ = [
    "binding_answers",
    "binding_difference",
    "first_open_node",
    "open_nodes",
    "reserve_and_return",
]


def open_nodes(bench: Bench, pod: Pod) -> Sequence[str]:
    """Return the nodes that the plugin accepts for a pod."""
    actual = answers(bench, pod)
    if not is_open(actual.pre_filter):
        return ()
    return [info.name for info in bench.snapshot if info.name not in actual.rejected]


def first_open_node(bench: Bench, pod: Pod) -> str:
    """Return the first node that the plugin accepts for a pod, or empty."""
    return next(iter(open_nodes(bench, pod)), "")


def _nothing() -> None:
    """By default, nothing happens between the hooks of an attempt."""


def reserve_and_return(
    bench: Bench,
    pod: Pod,
    node_name: str,
    state: CycleState | None = None,
    meanwhile: Callable[[], object] = _nothing,
) -> Mapping[str, object]:
    """Run Reserve, Permit and Unreserve of one attempt; return their answers.

    Args:
        bench: The plugin and its cluster.
        pod: The pod, which passes the filters.
        node_name: The node, which is assumed for the pod meanwhile.
        state: The state of the attempt; by default a new one.
        meanwhile: Called before each of these hooks.
    """
    subject, state = bench.subject, state or CycleState()
    bench.filter_on(state, pod, node_name)
    actual: dict[str, object] = {}
    with bench.assuming(pod, node_name) as assumed:
        for hook in ("reserve", "permit"):
            if subject.has(hook) and actual.get("reserve") is None:
                meanwhile()
                actual[hook] = bench.ask(hook, state, assumed, node_name)
        if subject.has("unreserve"):
            meanwhile()
            bench.ask("unreserve", state, assumed, node_name)
    return actual


def binding_answers(
    bench: Bench,
    pod: Pod,
    node_name: str,
    meanwhile: Callable[[], object] = _nothing,
) -> Mapping[str, object]:
    """Return the answers of Reserve and Permit, with what Reserve has chosen.

    The pods that wait go on waiting, whatever the plugin does with them.
    """
    state = CycleState()
    results = dict(reserve_and_return(bench, pod, node_name, state, meanwhile))
    bench.room.drop()
    if results.get("reserve") is None and state.annotations:
        results["reserve"] = f"success {dict(state.annotations)}"
    return results


def binding_difference(bench: Bench, renewed: Bench, pod: Pod) -> Difference | None:
    """Return how Reserve or Permit differ from those of a new instance.

    Args:
        bench: The plugin and its cluster.
        renewed: A new instance on the same cluster.
        pod: The pod. If the two choose other nodes for it, nothing is compared.
    """
    node_name = first_open_node(bench, pod)
    if not node_name or first_open_node(renewed, pod) != node_name:
        return None
    expected = binding_answers(renewed, pod, node_name)
    for hook, answer in binding_answers(bench, pod, node_name).items():
        if answer != expected.get(hook):
            return Difference(hook, "", answer, expected.get(hook))
    return None
