"""The answers of one plugin in one attempt, and how they are compared."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import NodeVerdicts, PreFilterResult
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import Int64Array, Rows, freeze
from quaymaster._core.state.node_info import NodeInfo

__all__ = [
    "Answers",
    "Difference",
    "answers",
    "changed_verdict",
    "difference",
    "filter_all",
    "is_open",
    "shown",
    "verdicts_of",
]


@attrs.frozen(kw_only=True)
class Answers:
    """The answers of a plugin for a pod.

    Attributes:
        pre_enqueue: The answer of PreEnqueue.
        pre_filter: The answer of PreFilter.
        rejected: Node -> why Filter rejects it.
        score: Node -> its raw score, or a status; for the nodes that pass.
        normalized: Node -> its score after NormalizeScore, or a status; for the same
            nodes.
        tied: The rows that the plugin chose from; empty if it had no tie to break.
        tie: The row that it chose.
    """

    pre_enqueue: object = None
    pre_filter: object = None
    rejected: Mapping[str, object] = attrs.field(factory=dict)
    score: Mapping[str, object] = attrs.field(factory=dict)
    normalized: Mapping[str, object] = attrs.field(factory=dict)
    tied: Sequence[int] = ()
    tie: object = None


@attrs.frozen
class Difference:
    """A difference of two answers.

    Attributes:
        hook: The hook that gave them.
        node: The node of the answers, or empty.
        actual: The first answer.
        expected: The second answer.
    """

    hook: str
    node: str
    actual: object
    expected: object

    def __str__(self) -> str:
        about = f" for node '{self.node}'" if self.node else ""
        actual, expected = map(self._shown, (self.actual, self.expected))
        return f"{actual}{about}, expected {expected}"

    def _shown(self, answer: object) -> str:
        is_unscored = self.hook == "score" and answer is None
        return "no score" if is_unscored else shown(answer)


def changed_verdict(
    before: Mapping[str, object], after: Mapping[str, object]
) -> str | None:
    """Return which verdict a hook has changed, or None.

    Args:
        before: Node -> why Filter rejected it before the hook was called.
        after: The same afterwards.
    """
    for name in dict.fromkeys((*before, *after)):
        first, second = before.get(name), after.get(name)
        if first != second:
            verdicts = f"from {shown(first)} to {shown(second)}"
            return f"changed the verdict on node '{name}' {verdicts}"
    return None


def shown(answer: object) -> str:
    """Format an answer for messages."""
    if answer is None:
        return "success"
    if isinstance(answer, Status):
        return (
            f"{answer.code.label} '{answer.message}'"
            if answer.message
            else (answer.code.label)
        )
    if isinstance(answer, PreFilterResult):
        return f"nodes {sorted(answer.node_names)}"
    return str(answer)


def _nothing() -> None:
    """By default, nothing happens between the hooks of an attempt."""


def answers(
    bench: Bench, pod: Pod, meanwhile: Callable[[], object] = _nothing
) -> Answers:
    """Run a pod through one attempt, up to the choice of a node.

    Args:
        bench: The plugin and its cluster.
        pod: The pod.
        meanwhile: Called after PreFilter and PreScore.
    """
    subject = bench.subject
    gate = bench.ask("pre_enqueue", pod) if subject.has("pre_enqueue") else None
    state = CycleState()
    prepared = bench.pre_filter(state, pod)
    result = Answers(pre_enqueue=gate, pre_filter=prepared)
    if not is_open(prepared):
        return result
    meanwhile()
    rejected = {} if _is_skip(prepared) else filter_all(bench, state, pod)
    restricted = isinstance(prepared, PreFilterResult)
    names = [
        info.name
        for info in bench.snapshot
        if info.name not in rejected
        and not (
            restricted and info.name not in cast(PreFilterResult, prepared).node_names
        )
    ]
    raw = _scores(bench, state, pod, names, meanwhile)
    normalized = _normal(bench, state, pod, raw)
    result = attrs.evolve(result, rejected=rejected, score=raw, normalized=normalized)
    is_failed = any(isinstance(score, Status) for score in normalized.values())
    if is_failed or len(names) < 2 or not subject.has("break_tie"):
        return result
    rows = bench.snapshot.nodes.rows_of(names)
    tie = bench.ask("break_tie", state, pod, bench.snapshot.nodes, rows.copy())
    return attrs.evolve(result, tied=rows.tolist(), tie=tie)


def is_open(prepared: object) -> bool:
    """Return whether an attempt continues after PreFilter."""
    return not isinstance(prepared, Status) or prepared.is_skip


def _is_skip(prepared: object) -> bool:
    return isinstance(prepared, Status) and prepared.is_skip


def filter_all(
    bench: Bench, state: CycleState, pod: Pod, node: NodeInfo | None = None
) -> dict[str, object]:
    """Return why Filter rejects nodes, of all nodes or of one."""
    if not bench.subject.has("filter"):
        return {}
    nodes = bench.snapshot if node is None else [node]
    verdicts = {info.name: bench.ask("filter", state, pod, info) for info in nodes}
    return {name: status for name, status in verdicts.items() if status is not None}


def verdicts_of(answer: object, names: Sequence[str]) -> dict[str, object]:
    """Return why nodes are rejected by the answer of a batch twin."""
    if isinstance(answer, Status):
        return dict.fromkeys(names, answer)
    if not isinstance(answer, NodeVerdicts):
        return {}
    codes = zip(names, answer.codes.tolist(), strict=True)
    return {name: answer.status_of(int(code)) for name, code in codes if code}


def _scores(
    bench: Bench,
    state: CycleState,
    pod: Pod,
    names: Sequence[str],
    meanwhile: Callable[[], object],
) -> dict[str, object]:
    if not names or not bench.subject.has("score"):
        return {}
    if not prepare_scores(bench, state, pod, bench.rows_of(names)):
        return {}
    meanwhile()
    infos = [cast(NodeInfo, bench.snapshot.get(name)) for name in names]
    return {info.name: bench.ask("score", state, pod, info) for info in infos}


def prepare_scores(bench: Bench, state: CycleState, pod: Pod, rows: Rows) -> bool:
    """Run PreScore; return whether Score follows."""
    if not bench.subject.has("pre_score"):
        return True
    nodes = bench.snapshot.nodes
    return bench.ask("pre_score", state, pod, nodes, rows) is None


def _normal(
    bench: Bench, state: CycleState, pod: Pod, raw: Mapping[str, object]
) -> Mapping[str, object]:
    if not raw or any(isinstance(score, Status) for score in raw.values()):
        return raw
    scores = np.array(list(raw.values()), dtype=np.int64)
    normal = normalized(bench, state, pod, freeze(scores), bench.rows_of(list(raw)))
    if isinstance(normal, Status):
        return dict.fromkeys(raw, normal)
    return dict(zip(raw, normal.tolist(), strict=True))


def normalized(
    bench: Bench, state: CycleState, pod: Pod, raw: Int64Array, rows: Rows
) -> Int64Array | Status:
    """Return raw scores after NormalizeScore, if the plugin has the hook."""
    if not bench.subject.has("normalize_score"):
        return raw
    nodes = bench.snapshot.nodes
    answer = bench.ask("normalize_score", state, pod, raw, nodes, rows)
    return raw if answer is None else cast("Int64Array | Status", answer)


_PER_NODE: Sequence[tuple[str, Callable[[Answers], Mapping[str, object]]]] = (
    ("filter", lambda attempt: attempt.rejected),
    ("score", lambda attempt: attempt.score),
    ("normalize_score", lambda attempt: attempt.normalized),
)


def difference(actual: Answers, expected: Answers) -> Difference | None:
    """Return the first difference of two attempts, or None."""
    for hook in ("pre_enqueue", "pre_filter"):
        answer, expectation = getattr(actual, hook), getattr(expected, hook)
        if answer != expectation:
            return Difference(hook, "", answer, expectation)
    for hook, of in _PER_NODE:
        ours, theirs = of(actual), of(expected)
        for name in dict.fromkeys((*ours, *theirs)):
            if ours.get(name) != theirs.get(name):
                return Difference(hook, name, ours.get(name), theirs.get(name))
    return None
