"""Calls every hook of a plugin once, in the order of an attempt."""

import inspect
from typing import Final, cast

from quaymaster._api.objects import Node, Pod
from quaymaster._authors.testing.contract.answers import (
    answers,
    is_open,
    normalized,
    prepare_scores,
)
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.cluster import ApiError
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PermitWait, PreBindWait
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import Int64Array, freeze
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["expect_time", "walk"]

_NO_WAIT: Final = "which rejects the pod at once, in each further attempt, too"


def walk(bench: Bench, pod: Pod) -> None:
    """Call every hook of the plugin for a pod, except those of groups and preemption.

    Raises:
        HookFailedError: A hook failed.
    """
    subject = bench.subject
    if subject.has("queue_sort"):
        bench.ask("queue_sort", make_queued_pod(pod))
    if subject.has("sign_pod"):
        bench.ask("sign_pod", pod)
    passing = [info.name for info in bench.snapshot]
    rejected = answers(bench, pod).rejected
    passing = [name for name in passing if name not in rejected]
    _walk_filters(bench, pod)
    state = CycleState()
    if not is_open(bench.pre_filter(state, pod)) or not passing:
        return
    _walk_scores(bench, state, pod, passing)
    _walk_binding(bench, state, pod, passing[0])


def _walk_filters(bench: Bench, pod: Pod) -> None:
    state = CycleState()
    prepared = bench.pre_filter(state, pod)
    if isinstance(prepared, Status):
        return
    nodes = bench.snapshot.nodes
    if len(nodes) and bench.subject.has("filter_nodes"):
        bench.ask("filter_nodes", state, pod, nodes, nodes.rows)
    for info in list(bench.snapshot):
        for other in list(info.pods.values())[:2]:
            _imagine(bench, state.clone(), pod, info, other)


def _imagine(
    bench: Bench, state: CycleState, pod: Pod, info: NodeInfo, other: Pod
) -> None:
    """Imagine that a pod is removed from a node, and added again."""
    imagined = info.clone()
    imagined.remove_pod(other)
    if bench.subject.has("remove_pod"):
        bench.ask("remove_pod", state, pod, other, imagined)
    if bench.subject.has("filter"):
        bench.ask("filter", state, pod, imagined)
    imagined.add_pod(other)
    if bench.subject.has("add_pod"):
        bench.ask("add_pod", state, pod, other, imagined)


def _walk_scores(bench: Bench, state: CycleState, pod: Pod, names: list[str]) -> None:
    if not bench.subject.has("score_nodes"):
        return
    nodes = bench.snapshot.nodes
    # As in an attempt where all nodes are feasible: the rows may be a slice.
    rows = nodes.rows if len(names) == len(nodes) else bench.rows_of(names)
    if prepare_scores(bench, state, pod, rows):
        raw = bench.ask("score_nodes", state, pod, nodes, rows)
        if not isinstance(raw, Status):
            scores = freeze(cast(Int64Array, raw).copy())
            normalized(bench, state, pod, scores, rows)


def _walk_binding(bench: Bench, state: CycleState, pod: Pod, name: str) -> None:
    with bench.assuming(pod, name) as assumed:
        for hook in ("reserve", "permit"):
            answer = _ask(bench, hook, state, assumed)
            expect_time(hook, answer)
        _walk_pre_bind(bench, state, assumed)
        _ask_server(bench, "bind", state, assumed)
        state.end_annotations()
        for hook in ("post_bind", "unreserve"):
            _ask(bench, hook, state, assumed)


def _walk_pre_bind(bench: Bench, state: CycleState, assumed: Pod) -> None:
    """Call PreBind, and check its wait while informers have more and more of it."""
    if _ask(bench, "pre_bind_pre_flight", state, assumed) == Status.skip():
        return
    answer = _ask_server(bench, "pre_bind", state, assumed)
    expect_time("pre_bind", answer)
    if not isinstance(answer, PreBindWait):
        bench.deliver()
        return
    _check(answer, "before informers have what it has written")
    written = bench.deliver()
    _check(answer, "once informers have what it has written")
    written = [obj for obj in written if not isinstance(obj, Node | Pod)]
    for obj in written:
        bench.remove(obj)
    _check(answer, "once what it has written is deleted")
    for obj in written:
        bench.add(obj)


def expect_time(hook: str, answer: object) -> None:
    """Expect that a wait leaves some time.

    Raises:
        HookFailedError: It leaves none.
    """
    if isinstance(answer, PermitWait | PreBindWait) and answer.timeout_seconds <= 0:
        text = f"returned a wait of {answer.timeout_seconds:,.0f} s"
        raise HookFailedError(hook, f"{text}, {_NO_WAIT}")


def _check(wait: PreBindWait, when: str) -> None:
    # The guard would return a status, as the plugin itself may do.
    check = inspect.unwrap(wait.check)
    try:
        check()
    except Exception as error:
        text = f"the check of its PreBindWait raised {describe_exception(error)}"
        raise HookFailedError("pre_bind", f"{text} {when}") from error


def _ask(bench: Bench, hook: str, state: CycleState, assumed: Pod) -> object:
    if not bench.subject.has(hook):
        return None
    return bench.ask(hook, state, assumed, assumed.node_name)


def _ask_server(bench: Bench, hook: str, state: CycleState, assumed: Pod) -> object:
    """Call a hook that may raise the error of a call of the cluster."""
    try:
        return _ask(bench, hook, state, assumed)
    except HookFailedError as failure:
        if isinstance(failure.__cause__, ApiError):
            return None
        raise
