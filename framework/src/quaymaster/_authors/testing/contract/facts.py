"""A check: facts about rejected nodes can be shown, and change no verdict."""

from collections.abc import Sequence

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import (
    changed_verdict,
    filter_all,
    is_open,
)
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["FACTS"]

_HOOK = "explain_filter"


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster, is_guarded=True)
    for pod in cluster.pending:
        state = CycleState()
        prepared = bench.pre_filter(state, pod)
        if not is_open(prepared) or isinstance(prepared, Status):
            continue
        rejected = filter_all(bench, state, pod)
        for node in bench.snapshot:
            if node.name in rejected:
                _check(bench, state, pod, node)
        again = filter_all(bench, state, pod)
        if text := changed_verdict(rejected, again):
            fail(_HOOK, text, pod, cluster.nodes, cluster.pods)


def _check(bench: Bench, state: CycleState, pod: Pod, node: NodeInfo) -> None:
    try:
        facts = bench.ask(_HOOK, state, pod, node)
    except HookFailedError as failure:
        fail(failure.hook, failure.problem, pod, node.node, node.pods.values())
    assert isinstance(facts, Sequence), "other answers are failures"
    for fact in facts:
        if not fact.strip() or len(fact.splitlines()) > 1:
            text = f"returned {fact!r} for node '{node.name}', expected a line of text"
            fail(_HOOK, text, pod, node.node, node.pods.values())


FACTS = Check(
    name="facts",
    promise="explain_filter returns lines of text and changes nothing",
    ask=_ask,
    hooks=frozenset({_HOOK}),
)
