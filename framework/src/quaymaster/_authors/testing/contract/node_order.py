"""A check: the answer for a node does not depend on the nodes that came before it."""

from typing import Final, cast

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import (
    Answers,
    Difference,
    answers,
    is_open,
    prepare_scores,
)
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.state.node_info import NodeInfo

__all__ = ["NODE_ORDER"]

_REMEDY: Final = (
    "when the nodes come in the opposite order: compute what depends on several "
    "nodes in pre_filter, pre_score or normalize_score, because any node may be first, "
    "and some are left out"
)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        expected, state = answers(bench, pod), CycleState()
        prepared = bench.pre_filter(state, pod)
        if not is_open(prepared):
            continue
        changed = _filter_backwards(bench, state, pod, expected, prepared)
        changed = changed or _score_backwards(bench, state, pod, expected)
        if changed is not None:
            text = f"{changed} as before, {_REMEDY}"
            fail(changed.hook, text, pod, cluster.nodes, cluster.pods)


def _filter_backwards(
    bench: Bench, state: CycleState, pod: Pod, expected: Answers, prepared: object
) -> Difference | None:
    if isinstance(prepared, Status) or not bench.subject.has("filter"):
        return None
    # All nodes are filtered, since a filter may store what the scores need.
    actual = {
        info.name: bench.ask("filter", state, pod, info)
        for info in reversed(list(bench.snapshot))
    }
    for name, answer in actual.items():
        if answer != expected.rejected.get(name):
            return Difference("filter", name, answer, expected.rejected.get(name))
    return None


def _score_backwards(
    bench: Bench, state: CycleState, pod: Pod, expected: Answers
) -> Difference | None:
    names = list(expected.score)
    if not names or not prepare_scores(bench, state, pod, bench.rows_of(names)):
        return None
    for name in reversed(names):
        info = cast(NodeInfo, bench.snapshot.get(name))
        answer = bench.ask("score", state, pod, info)
        if answer != expected.score[name]:
            return Difference("score", name, answer, expected.score[name])
    return None


NODE_ORDER: Final = Check(
    name="node order",
    promise="the answer for a node does not depend on the nodes before it",
    ask=_ask,
    hooks=frozenset({"filter", "score"}),
)
