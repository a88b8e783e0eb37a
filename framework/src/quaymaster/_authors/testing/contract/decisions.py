"""All decisions of a plugin on a small cluster, as texts."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import permutations
from typing import Any, Final, TypeAlias, cast

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers, shown
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.companions import (
    evicting_harnesses,
    post_filter_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.group_bench import GroupBench, group_benches
from quaymaster._authors.testing.contract.reserving import (
    first_open_node,
    reserve_and_return,
)
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import with_equal_nodes
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._authors.testing.makers.queued_pods import make_queued_pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import PodGroupPlacement
from quaymaster._core.contract.status import Status

__all__ = ["FAILS", "Decision", "decisions"]

FAILS: Final = "fails"
"""The beginning of a decision for a hook that failed."""

Decision: TypeAlias = tuple[str, str]
"""The hook, and what it decides about what."""


def decisions(subject: Subject, cluster: SmallCluster) -> list[Decision]:
    """Return the decisions about the waiting pods and their groups.

    Once a hook fails, no further decision follows.

    Raises:
        HookFailedError: No instance can be built or started.
    """
    made: list[Decision] = []
    try:
        made.extend(_all(subject, cluster))
    except HookFailedError as failure:
        if failure.hook in ("__init__", "start"):
            raise
        made.append((failure.hook, f"{FAILS}: {failure.problem}"))
    return made


def _all(subject: Subject, cluster: SmallCluster) -> Iterator[Decision]:
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        for hook, text in (*_of_attempt(bench, pod), *_of_binding(bench, pod)):
            yield hook, f"pod '{pod.key}': {text}"
    if subject.has("queue_sort"):
        yield from _order(bench, cluster)
    if subject.has("post_filter"):
        yield from _evictions(subject, cluster)
    if subject.has("placement_generate") or subject.has("placement_score"):
        for group_bench, _ in group_benches(subject, cluster):
            yield from _placements(group_bench)
            yield from _placement_scores(group_bench)


def _of_attempt(bench: Bench, pod: Pod) -> Iterator[Decision]:
    attempt = answers(bench, pod)
    yield "pre_enqueue", shown(attempt.pre_enqueue)
    yield "pre_filter", shown(attempt.pre_filter)
    names = [info.name for info in bench.snapshot] if attempt.rejected else ()
    parts: Mapping[str, Mapping[str, object]] = {
        "filter": {name: attempt.rejected.get(name) for name in names},
        "score": attempt.score,
        "normalize_score": attempt.normalized,
    }
    for hook, by_node in parts.items():
        for name, answer in by_node.items():
            yield hook, f"{shown(answer)} for node '{name}'"
    yield "break_tie", f"row {attempt.tie}"


def _of_binding(bench: Bench, pod: Pod) -> Iterator[Decision]:
    node_name = first_open_node(bench, pod)
    if not node_name:
        return
    state = CycleState()
    for hook, answer in reserve_and_return(bench, pod, node_name, state).items():
        yield hook, f"{shown(answer)} on node '{node_name}'"
    yield "reserve", f"annotations {sorted(state.annotations.items())}"


def _evictions(subject: Subject, cluster: SmallCluster) -> Iterator[Decision]:
    """Yield what PostFilter does for the first pod: its answer, and the pods it evicts.

    Other checks report its failures.
    """
    pod = preempting(cluster.pending[0])
    for harness in _preemptions(subject, cluster) if cluster.nodes else ():
        answer: object = None
        with harness, suppress(Exception):
            harness.start()
            answer = harness.post_filter(pod)
        stored = harness.cluster.list(Pod).items
        kept = {each.key for each in stored if not each.metadata.deletion_timestamp}
        running = harness.handle.informers.list(Pod)
        evicted = sorted({each.key for each in running if each.node_name} - kept)
        yield "post_filter", f"pod '{pod.key}': {answer}, evicts {evicted}"


def _preemptions(subject: Subject, cluster: SmallCluster) -> Iterator[PluginHarness]:
    """Yield harnesses for PostFilter; in the last one, all candidates are equal."""
    yield from post_filter_harnesses(subject, cluster)
    occupied = {pod.node_name for pod in cluster.pods}
    models = [node for node in cluster.nodes if node.name in occupied]
    if models:
        equal = with_equal_nodes(cluster, models[0])
        yield next(evicting_harnesses(subject, equal, PluginHarness))


def _order(bench: Bench, cluster: SmallCluster) -> Iterator[Decision]:
    pods = enumerate(cluster.pending)
    queued = [make_queued_pod(pod, timestamp=at % 2) for at, pod in pods]
    # Any: every comparable object can be a key.
    keys = [(info.pod, cast(Any, bench.ask("queue_sort", info))) for info in queued]
    for (pod, key), (rival, other) in permutations(keys, 2):
        order = "before" if key < other else "not before"
        yield "queue_sort", f"pod '{pod.key}' {order} '{rival.key}'"


def _placements(bench: GroupBench) -> Iterator[Decision]:
    hook, nodes = "placement_generate", bench.snapshot.nodes
    if not bench.subject.has(hook):
        return
    parent = PodGroupPlacement("", nodes.row_numbers(nodes.rows))
    answer = bench.ask(hook, CycleState(), bench.info, nodes, parent)
    if isinstance(answer, Status):
        yield hook, shown(answer)
        return
    for placement in cast("list[PodGroupPlacement]", answer):
        rows = nodes.row_numbers(placement.rows).tolist()
        yield hook, f"placement '{placement.name}' with rows {rows}"


def _placement_scores(bench: GroupBench) -> Iterator[Decision]:
    hook, nodes = "placement_score", bench.snapshot.nodes
    if not bench.subject.has(hook):
        return
    for candidate in bench.candidates():
        score = bench.ask(hook, CycleState(), bench.info, nodes, candidate)
        yield hook, f"{shown(score)} for placement '{candidate.placement.name}'"
