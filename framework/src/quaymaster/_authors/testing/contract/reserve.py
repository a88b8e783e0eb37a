"""A check: Unreserve undoes Reserve, also twice, and also without Reserve."""

from collections.abc import Mapping, Sequence

from quaymaster._api.objects import Node, Pod
from quaymaster._authors.testing.contract.answers import answers, difference, shown
from quaymaster._authors.testing.contract.assuming import attempt
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState

__all__ = ["UNRESERVE"]

_ATTEMPTS = 5
_MOST_COPIES = 6
_ORDERS: Mapping[str, Sequence[str]] = {
    "without reserve": ("unreserve", "unreserve"),
    "after reserve": ("reserve", "unreserve"),
    "twice": ("reserve", "unreserve", "unreserve"),
}


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    orders = _ORDERS if subject.has("unreserve") else {}
    for pod in cluster.pending:
        for when, hooks in orders.items():
            _ask_in_order(Bench(subject, cluster), pod, when, hooks)
        _ask_again(Bench(subject, cluster), pod)
    if subject.has("reserve") and orders:
        _ask_of_others(subject, cluster, cluster.pending[0])


def _ask_in_order(bench: Bench, pod: Pod, when: str, hooks: Sequence[str]) -> None:
    expected = answers(bench, pod)
    node_name = _run(bench, pod, when, hooks)
    changed = difference(answers(bench, pod), expected)
    if node_name and changed is not None:
        text = f"{when}, {changed.hook} says {changed} as before"
        fail("unreserve", text, pod, _node(bench, node_name))


def _run(bench: Bench, pod: Pod, when: str, hooks: Sequence[str]) -> str:
    """Run some hooks for a pod on the first node that accepts it.

    Returns:
        The node, or empty.
    """
    node_name, state = first_open_node(bench, pod), CycleState()
    if not node_name:
        return ""
    bench.filter_on(state, pod, node_name)
    with bench.assuming(pod, node_name) as assumed:
        for hook in hooks:
            try:
                bench.ask(hook, state, assumed, node_name)
            except HookFailedError as failure:
                if hook == "reserve":
                    raise
                text = f"fails {when}: {failure.problem}"
                fail(hook, text, pod, _node(bench, node_name))
    return node_name


def _node(bench: Bench, name: str) -> Node:
    info = bench.snapshot.get(name)
    assert info is not None
    return info.node


def _ask_again(bench: Bench, pod: Pod) -> None:
    """Reserve and unreserve a pod several times, as attempts that fail later do."""
    node_name = first_open_node(bench, pod)
    if not node_name:
        return
    first = reserve_and_return(bench, pod, node_name)
    for number in range(2, _ATTEMPTS + 1):
        if first_open_node(bench, pod) != node_name:
            return
        for hook, answer in reserve_and_return(bench, pod, node_name).items():
            expected = first.get(hook)
            if answer != expected:
                text = (
                    f"leaves state behind: {hook} says {shown(answer)} in attempt "
                    f"{number}, expected {shown(expected)} as in the first one"
                )
                fail("unreserve", text, pod)


def _ask_of_others(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    """Check that Unreserve of a pod leaves the reservations of other pods."""
    holder, returned, *later = copies_of(pod, _MOST_COPIES)
    plain = Bench(subject, cluster)
    held = attempt(plain, holder)
    if not held.node_name:
        return
    # The pod stays in the queue, where it holds no reservation. When it is deleted,
    # a plugin may release what its unreserve has forgotten.
    plain.add(returned)
    if not first_open_node(plain, returned):
        return
    expected = [attempt(plain, copy) for copy in later]
    for when, hooks in _ORDERS.items():
        bench = Bench(subject, cluster)
        if attempt(bench, holder) != held:
            return
        bench.add(returned)
        if not _run(bench, returned, when, hooks):
            return
        for copy, outcome in zip(later, expected, strict=True):
            actual = attempt(bench, copy)
            if actual != outcome:
                text = (
                    f"called {when} for pod '{returned.key}', it releases too little "
                    f"or too much: pod '{copy.key}' then gets: {actual}, expected: "
                    f"{outcome}, as while pod '{returned.key}' waits in the queue"
                )
                fail("unreserve", text, pod, cluster.nodes)


UNRESERVE = Check(
    name="unreserve",
    promise="unreserve undoes reserve, may come twice, and without reserve",
    ask=_ask,
    hooks=frozenset({"reserve", "unreserve"}),
)
