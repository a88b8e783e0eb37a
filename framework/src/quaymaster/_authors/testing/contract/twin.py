"""A check: batch twins give the same answers for many nodes at once."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, cast

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import (
    Difference,
    filter_all,
    normalized,
    prepare_scores,
    verdicts_of,
)
from quaymaster._authors.testing.contract.bench import (
    Bench,
    HookFailedError,
    is_caused_by,
)
from quaymaster._authors.testing.contract.changes import running_steps
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.large_numbers import with_large_numbers
from quaymaster._authors.testing.contract.other_numbers import with_other_numbers
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._base.raised import describe_exception
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import Int64Array, freeze, is_frozen

__all__ = ["TWIN", "compare_twins"]


@attrs.frozen
class _Verdicts:
    """The verdicts of a twin, whose reasons are read again later.

    Attributes:
        pod: The pod.
        answer: The answer of the twin.
        names: The nodes that it is about.
        expected: Node -> why the scalar hook rejects it.
        when: When the twin was called.
    """

    pod: Pod
    answer: object
    names: Sequence[str]
    expected: Mapping[str, object]
    when: str

    def compare(self) -> None:
        """Read the reasons again.

        Raises:
            Finding: They have changed.
        """
        try:
            late = verdicts_of(self.answer, self.names)
        except Exception as error:
            problem = f"status_of raised {describe_exception(error)}"
            fail("filter_nodes", f"{problem} {_LATE}", self.pod)
        difference = _first_verdict(self.names, late, self.expected)
        if difference is not None:
            text = f"{difference} as before{self.when}, {_LATE}"
            fail("filter_nodes", text, self.pod)


def _ask(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    verdicts = compare_twins(bench, cluster.pending, cluster)
    # A twin may cache columns, and must renew them.
    bench.become(cluster, other)
    when = ", once the cluster has changed"
    verdicts += compare_twins(bench, other.pending, other, when)
    for step in islice(running_steps(other, cluster), _STEPS):
        bench.add(step.subject)
        when = ", once a pod has changed"
        verdicts += compare_twins(bench, other.pending[:1], other, when)
    for answer in verdicts:
        answer.compare()
    for variant in with_other_numbers(cluster):
        when = ", with other numbers than the drawn ones"
        compare_twins(Bench(subject, variant), variant.pending, variant, when)
    for variant, numbers in with_large_numbers(cluster):
        _compare_large(subject, variant, numbers)


def _compare_large(subject: Subject, cluster: SmallCluster, numbers: str) -> None:
    when = f", with larger {numbers} ({_INT64})"
    try:
        compare_twins(Bench(subject, cluster), cluster.pending, cluster, when)
    except HookFailedError as failure:
        if not is_caused_by(failure, OverflowError):
            raise
        text = f"{failure.problem}{when}"
        fail(failure.hook, text, cluster.pending, cluster.nodes, cluster.pods)


def compare_twins(
    bench: Bench, pending: Iterable[Pod], cluster: SmallCluster, when: str = ""
) -> list[_Verdicts]:
    """Compare the twins of a plugin with its scalar hooks.

    Args:
        bench: The plugin and its cluster.
        pending: The pods to try.
        cluster: The cluster of the bench, to be shown.
        when: What has happened to the cluster, to be shown.

    Returns:
        The verdicts of the twin, whose reasons can be read again.

    Raises:
        Finding: They differ.
        HookFailedError: A hook failed.
    """
    verdicts: list[_Verdicts] = []
    for pod in pending:
        difference = _filters_differ(bench, pod, when, verdicts)
        difference = difference or _scores_differ(bench, pod)
        if difference is not None:
            node = [node for node in cluster.nodes if node.name == difference.node]
            near = [pod for pod in cluster.pods if pod.node_name == difference.node]
            text = f"{difference} as {_SCALAR[difference.hook]} says{when}"
            fail(difference.hook, text, pod, node, near)
    return verdicts


_LATE: Final = (
    "when the reasons are read after later calls: status_of of NodeVerdicts is called "
    "long after the attempt, so keep what it needs in local variables, not in the "
    "plugin, and copy what it reads of the snapshot and of columns"
)
_INT64: Final = (
    "bytes of memory, and sums over many nodes, need arrays of int64 from the first "
    "step on; int32 overflows, and float32 keeps seven digits"
)
_STEPS: Final = 3
"""The updates of running pods that are tried for each cluster."""

_SCALAR = {
    "filter_nodes": "filter",
    "score_nodes": "score",
    "normalize_score": "normalize_score of the scores that score gave",
}


def _choices(names: list[str]) -> Sequence[list[str]]:
    """Return all nodes, and some of them."""
    return (names, names[1:]) if len(names) > 1 else (names,)


def _filters_differ(
    bench: Bench, pod: Pod, when: str, verdicts: list[_Verdicts]
) -> Difference | None:
    if not bench.subject.has("filter_nodes"):
        return None
    state, nodes = CycleState(), bench.snapshot.nodes
    if isinstance(bench.pre_filter(state, pod), Status):
        return None
    expected = filter_all(bench, state, pod)
    for names in _choices([info.name for info in bench.snapshot]):
        if not names:
            continue
        rows = nodes.rows if len(names) == len(nodes) else bench.rows_of(names)
        answer = bench.ask("filter_nodes", state, pod, nodes, rows)
        if isinstance(answer, Status) and answer.is_error:
            continue  # the first Error ends the attempt, for any node
        actual = verdicts_of(answer, nodes.names_at(rows))
        difference = _first_verdict(names, actual, expected)
        if difference is not None:
            return difference
        verdicts.append(_Verdicts(pod, answer, names, expected, when))
    return None


def _first_verdict(
    names: Iterable[str], actual: Mapping[str, object], expected: Mapping[str, object]
) -> Difference | None:
    for name in names:
        ours, theirs = actual.get(name), expected.get(name)
        if ours != theirs:
            return Difference("filter_nodes", name, ours, theirs)
    return None


def _scores_differ(bench: Bench, pod: Pod) -> Difference | None:
    if not bench.subject.has("score_nodes"):
        return None
    state = CycleState()
    prepared = bench.pre_filter(state, pod)
    if isinstance(prepared, Status) and not prepared.is_skip:
        return None
    names = [info.name for info in bench.snapshot]
    if not isinstance(prepared, Status):
        rejected = filter_all(bench, state, pod)
        names = [name for name in names if name not in rejected]
    for chosen in _choices(names):
        difference = _scores_of(bench, state.clone(), pod, chosen) if chosen else None
        if difference is not None:
            return difference
    return None


def _scores_of(
    bench: Bench, state: CycleState, pod: Pod, names: list[str]
) -> Difference | None:
    nodes, rows = bench.snapshot.nodes, bench.rows_of(names)
    if not prepare_scores(bench, state, pod, rows):
        return None
    infos = nodes.infos_at(rows)
    scalar = [bench.ask("score", state, pod, info) for info in infos]
    twin = bench.ask("score_nodes", state, pod, nodes, rows)
    if isinstance(twin, Status) or any(isinstance(score, Status) for score in scalar):
        return None
    expected = np.array(scalar, dtype=np.int64)
    scores = cast(Int64Array, twin)
    difference = _first("score_nodes", names, scores, expected)
    if difference is not None:
        return difference
    frozen = scores if is_frozen(scores) else freeze(scores.view())
    ours = normalized(bench, state, pod, frozen, rows)
    theirs = normalized(bench, state, pod, freeze(expected), rows)
    if isinstance(ours, Status) or isinstance(theirs, Status):
        return None
    return _first("normalize_score", names, ours, theirs)


def _first(
    hook: str, names: Sequence[str], difference: Int64Array, expected: Int64Array
) -> Difference | None:
    for name, ours, theirs in zip(
        names, difference.tolist(), expected.tolist(), strict=True
    ):
        if ours != theirs:
            return Difference(hook, name, ours, theirs)
    return None


TWIN = Check(
    name="twin",
    promise="filter_nodes and score_nodes return the same as filter and score",
    ask=_ask,
    hooks=frozenset({"filter_nodes", "score_nodes"}),
    needs_other=True,
)
