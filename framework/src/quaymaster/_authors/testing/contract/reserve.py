"""A check: Unreserve undoes Reserve, also twice, and also without Reserve."""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import (
    answers,
    difference,
    is_open,
    shown,
)
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_keep,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.contract.cycle_state import CycleState

__all__ = ["UNRESERVE"]

_ATTEMPTS = 5
_ORDERS = {
    "without reserve": ("unreserve", "unreserve"),
    "after reserve": ("reserve", "unreserve"),
    "twice": ("reserve", "unreserve", "unreserve"),
}


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for pod in cluster.pending:
        for when, hooks in _ORDERS.items() if subject.has("unreserve") else ():
            _ask_in_order(Bench(subject, cluster), pod, when, hooks)
        _ask_again(Bench(subject, cluster), pod)
        _ask_of_others(subject, cluster, pod)


def _ask_in_order(bench: Bench, pod: Pod, when: str, hooks: tuple[str, ...]) -> None:
    expected = answers(bench, pod)
    passing = [info for info in bench.snapshot if info.name not in expected.rejected]
    state = CycleState()
    if not passing or not is_open(bench.pre_filter(state, pod)):
        return
    node = passing[0]
    if bench.subject.has("filter"):
        bench.ask("filter", state, pod, node)
    with bench.assuming(pod, node.name) as assumed:
        for hook in hooks:
            try:
                bench.ask(hook, state, assumed, node.name)
            except HookFailedError as failure:
                if hook == "reserve":
                    raise
                fail(hook, f"fails {when}: {failure.problem}", pod, node.node)
    changed = difference(answers(bench, pod), expected)
    if changed is not None:
        text = f"{when}, {changed.hook} says {changed} as before"
        fail("unreserve", text, pod, node.node)


def _ask_again(bench: Bench, pod: Pod) -> None:
    """Reserve and unreserve a pod several times, as attempts that fail later do."""
    node_name = first_open_node(bench, pod)
    if not node_name:
        return
    first = reserve_and_return(bench, pod, node_name)
    for attempt in range(2, _ATTEMPTS + 1):
        if first_open_node(bench, pod) != node_name:
            return
        for hook, answer in reserve_and_return(bench, pod, node_name).items():
            expected = first.get(hook)
            if answer != expected:
                text = (
                    f"leaves state behind: {hook} says {shown(answer)} in attempt "
                    f"{attempt}, expected {shown(expected)} as in the first one"
                )
                fail("unreserve", text, pod)


def _ask_of_others(subject: Subject, cluster: SmallCluster, pod: Pod) -> None:
    """Check that Unreserve of a pod leaves the reservations of other pods."""
    if not subject.has("reserve") or not subject.has("unreserve"):
        return
    returned, plain = Bench(subject, cluster), Bench(subject, cluster)
    node_name = first_open_node(plain, pod)
    if not node_name or first_open_node(returned, pod) != node_name:
        return
    holder, second, third = (_twin(pod, number) for number in range(3))
    for bench in (returned, plain):
        if reserve_and_keep(bench, holder, node_name) is not None:
            return
    _try(returned, second, node_name)
    found, expected = (_try(bench, third, node_name) for bench in (returned, plain))
    if found != expected:
        text = (
            f"of a pod, with another pod reserved on node '{node_name}', leaves "
            f"another result of reserve for a third pod: {_shown(found)}, expected "
            f"{_shown(expected)} as without the first one"
        )
        fail("unreserve", text, pod, cluster.nodes)


_Choice: TypeAlias = tuple[object, object, Mapping[str, str]] | None


def _try(bench: Bench, pod: Pod, node_name: str) -> _Choice:
    """Reserve and unreserve a pod; return what Reserve has chosen, if it may run."""
    found, state = answers(bench, pod), CycleState()
    if not is_open(found.pre_filter) or node_name in found.rejected:
        return None
    results = reserve_and_return(bench, pod, node_name, state)
    return results.get("reserve"), results.get("permit"), dict(state.annotations)


def _shown(choice: _Choice) -> str:
    if choice is None:
        return "rejected by a filter"
    reserved, permitted, chosen = choice
    text = f"{shown(reserved)} {chosen}"
    return text if permitted is None else f"{text}, permit {shown(permitted)}"


def _twin(pod: Pod, number: int) -> Pod:
    name = f"{pod.name}-twin-{number}"
    uid = make_uid(Pod, name, pod.namespace)
    return replace(pod, metadata=replace(pod.metadata, name=name, uid=uid))


UNRESERVE = Check(
    name="unreserve",
    promise="unreserve undoes reserve, may come twice, and without reserve",
    ask=_ask,
    hooks=frozenset({"reserve", "unreserve"}),
)
