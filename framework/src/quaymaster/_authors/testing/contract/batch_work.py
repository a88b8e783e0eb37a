"""A check: batch twins run no Python code for each pod on the nodes."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, TypeAlias

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import is_open, prepare_scores
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.own_frames import module_of, packages_of
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status

__all__ = ["BATCH_WORK"]

_Trace: TypeAlias = Callable[[FrameType, str, Any], Any]  # Any: as of sys.settrace
_FEW: Final = 1
_MANY: Final = 9
"""The pods on each node."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not cluster.nodes or sys.gettrace() is not None:
        return  # a debugger or a coverage tool is at work
    for pod in cluster.pending[:1]:
        few, many = (_lines(subject, cluster, pod, count) for count in (_FEW, _MANY))
        added = len(cluster.nodes) * (_MANY - _FEW)
        for hook, lines in many.items():
            if hook in few and lines - few[hook] >= added:
                text = (
                    f"runs {lines - few[hook]} more lines of Python for {added} more "
                    "pods on nodes, although nothing has changed since the last call: "
                    "read the pods by a PodColumn of quaymaster.columns, which keeps "
                    "what it has read"
                )
                fail(hook, text, pod, cluster.nodes, cluster.pods)


def _lines(
    subject: Subject, cluster: SmallCluster, pod: Pod, count: int
) -> dict[str, int]:
    """Return how many lines each twin runs in its second call.

    Args:
        subject: The plugin.
        cluster: The nodes, and the kinds of pods on them.
        pod: The pod that is scheduled.
        count: How many pods run on each node.
    """
    models = (*cluster.pods, *cluster.pending)
    pods = tuple(
        replace(copy, node_name=node.name)
        for at, node in enumerate(cluster.nodes)
        for copy in copies_of(_named(models[at % len(models)], at), count)
    )
    bench = Bench(subject, attrs.evolve(cluster, pods=pods))
    state, nodes = CycleState(), bench.snapshot.nodes
    prepared = bench.pre_filter(state, pod)
    if not is_open(prepared):
        return {}
    lines: dict[str, int] = {}
    for hook in ("filter_nodes", "score_nodes"):
        if not subject.has(hook):
            continue
        if hook == "filter_nodes" and isinstance(prepared, Status):
            continue  # it returned Skip
        if hook == "score_nodes" and not prepare_scores(bench, state, pod, nodes.rows):
            continue
        bench.ask(hook, state, pod, nodes, nodes.rows)
        with _counting(packages_of(subject.plugin)) as counted:
            bench.ask(hook, state, pod, nodes, nodes.rows)
        lines[hook] = len(counted)
    return lines


def _named(pod: Pod, number: int) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, name=f"on-{number}"))


@contextmanager
def _counting(packages: frozenset[str]) -> Iterator[list[int]]:
    """Collect the numbers of the lines that some packages run in the block."""
    lines: list[int] = []

    def trace(frame: FrameType, event: str, _argument: Any) -> _Trace | None:  # noqa: ANN401 - as of sys.settrace
        if event == "line":
            lines.append(frame.f_lineno)
        elif event == "call":
            is_own = module_of(frame).partition(".")[0] in packages
            return trace if is_own else None
        return trace

    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(None)


BATCH_WORK: Final = Check(
    name="batch work",
    promise="filter_nodes and score_nodes run no Python code for each pod on nodes",
    ask=_ask,
    hooks=frozenset({"filter_nodes", "score_nodes"}),
)
