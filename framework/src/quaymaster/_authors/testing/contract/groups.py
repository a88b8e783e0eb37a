"""Checks: the hooks that are about groups of pods."""

from collections.abc import Sequence
from typing import Final, cast

import numpy as np

from quaymaster._authors.testing.contract.answers import shown
from quaymaster._authors.testing.contract.check import Check
from quaymaster._authors.testing.contract.group_bench import GroupBench, group_benches
from quaymaster._authors.testing.contract.large_numbers import with_large_numbers
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    PlacementProgress,
    PodGroupAssignments,
    PodGroupPlacement,
    PodGroupPostFilterResult,
)
from quaymaster._core.contract.scores import MAX_NODE_SCORE
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.state.arrays import Int64Array, RowArray, Rows, freeze

__all__ = ["GROUP_RESCUE", "PLACEMENTS", "PLACEMENT_SCORES", "QUORUM"]

_AGAIN: Final = "as before, with an unchanged cluster"
_ANOTHER: Final = "as from another instance with the same cluster"
_REVERSED: Final = "as for the same pods on the same nodes in another order"
_DOES_NOT_FIT: Final = Status.unschedulable("it does not fit")


def _ask_placements(
    subject: Subject, cluster: SmallCluster, other: SmallCluster
) -> None:
    for bench, again in group_benches(subject, cluster):
        rows = _all_rows(bench)
        for parent in (rows, rows[1:]):
            _compare_placements(bench, again, parent)
        _compare_later(bench, other)


def _all_rows(bench: GroupBench) -> RowArray:
    nodes = bench.snapshot.nodes
    return nodes.row_numbers(nodes.rows)


def _compare_later(bench: GroupBench, other: SmallCluster) -> None:
    """Check that placements follow the nodes."""
    if not other.nodes:
        return
    bench.become_nodes_of(other)
    actual = _placements(bench, _all_rows(bench))
    renewed = bench.renewed()
    expected = _placements(renewed, _all_rows(renewed))
    if actual != expected:
        text = f"{actual}, expected {expected} as from a new instance"
        text = f"{text}; it keeps data of the earlier cluster"
        bench.fail("placement_generate", text)
    bench.expect_unchanged()


def _compare_placements(bench: GroupBench, again: GroupBench, parent: Rows) -> None:
    hook = "placement_generate"
    actual = _placements(bench, parent)
    for other in (bench, again):
        expected = _placements(other, parent)
        if actual != expected:
            bench.fail(hook, f"{actual}, expected {expected} {_AGAIN}")
    if isinstance(actual, Status):
        return
    names = [name for name, _ in actual]
    for name in names:
        if names.count(name) > 1:
            bench.fail(hook, f"two placements have the name '{name}'")
    allowed = set(bench.snapshot.nodes.row_numbers(parent).tolist())
    for name, placed in actual:
        if len(set(placed)) < len(placed):
            bench.fail(hook, f"placement '{name}' has a node twice")
        for row in placed:
            if row not in allowed:
                text = f"row {row} of placement '{name}' is not in the parent placement"
                bench.fail(hook, text)


def _placements(
    bench: GroupBench, parent: Rows
) -> Sequence[tuple[str, Sequence[int]]] | Status:
    nodes = bench.snapshot.nodes
    answer = bench.ask(
        "placement_generate",
        CycleState(),
        bench.info,
        nodes,
        PodGroupPlacement("", parent),
    )
    if isinstance(answer, Status):
        return answer
    return [
        (placement.name, nodes.row_numbers(placement.rows).tolist())
        for placement in cast(Sequence[PodGroupPlacement], answer)
    ]


def _ask_scores(subject: Subject, cluster: SmallCluster, other: SmallCluster) -> None:
    for bench, again in group_benches(subject, cluster):
        candidates = bench.candidates()
        raw = _raw(bench, candidates)
        if raw is None:
            continue
        reversed_pods = [_reversed(candidate) for candidate in candidates]
        for who, expected in (
            (_AGAIN, _raw(bench, candidates)),
            (_ANOTHER, _raw(again, again.candidates())),
            (_REVERSED, _raw(bench, reversed_pods)),
        ):
            if expected is None or expected.tolist() != raw.tolist():
                bench.fail("placement_score", f"{raw}, expected {expected} {who}")
        _compare_twin(bench, candidates, raw)
        _check_range(bench, candidates, raw)
        if other.nodes:
            bench.become_nodes_of(other)
            _compare_now(bench, ", once the cluster has changed")
            bench.expect_unchanged()
    if subject.has("placement_scores"):
        for variant, numbers in with_large_numbers(cluster):
            for bench, _ in group_benches(subject, variant):
                _compare_now(bench, f", with larger {numbers}")


def _compare_now(bench: GroupBench, when: str) -> None:
    candidates = bench.candidates()
    raw = _raw(bench, candidates)
    if raw is not None:
        _compare_twin(bench, candidates, raw, when)


def _raw(
    bench: GroupBench, candidates: Sequence[PodGroupAssignments]
) -> Int64Array | None:
    """Return the raw score of each placement; None if the hook returns a status."""
    scores = [
        bench.ask(
            "placement_score", CycleState(), bench.info, bench.snapshot.nodes, candidate
        )
        for candidate in candidates
    ]
    if any(isinstance(score, Status) for score in scores):
        return None
    return np.array(scores, dtype=np.int64)


def _reversed(candidate: PodGroupAssignments) -> PodGroupAssignments:
    attempts = tuple(reversed(candidate.attempts))
    return PodGroupAssignments(candidate.placement, attempts)


def _compare_twin(
    bench: GroupBench,
    candidates: Sequence[PodGroupAssignments],
    raw: Int64Array,
    when: str = "",
) -> None:
    if not bench.subject.has("placement_scores"):
        return
    for count in {len(candidates), 2}:
        twin = bench.ask(
            "placement_scores",
            CycleState(),
            bench.info,
            bench.snapshot.nodes,
            candidates[:count],
        )
        for place, expected in enumerate(raw[:count].tolist()):
            actual = twin if isinstance(twin, Status) else cast(Int64Array, twin)[place]
            if actual != expected:
                name = candidates[place].placement.name
                text = f"{actual} for placement '{name}', expected {expected} as"
                bench.fail("placement_scores", f"{text} placement_score says{when}")


def _check_range(
    bench: GroupBench, candidates: Sequence[PodGroupAssignments], raw: Int64Array
) -> None:
    hook, scores = "placement_score", raw
    if bench.subject.has("normalize_placement_score"):
        hook = "normalize_placement_score"
        placements = [candidate.placement for candidate in candidates]
        answer = bench.ask(
            hook, CycleState(), bench.info, placements, freeze(raw.copy())
        )
        if isinstance(answer, Status):
            return
        scores = raw if answer is None else cast(Int64Array, answer)
    for candidate, score in zip(candidates, scores.tolist(), strict=True):
        if not 0 <= score <= MAX_NODE_SCORE:
            name = candidate.placement.name
            text = f"{score} for placement '{name}', expected 0 to {MAX_NODE_SCORE}"
            bench.fail(hook, text)


def _ask_quorum(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    for bench, again in group_benches(subject, cluster):
        most = len(bench.info.pods) + 1
        for scheduled in range(most + 1):
            for remaining in range(most):
                _check_progress(bench, again, PlacementProgress(scheduled, remaining))


def _check_progress(
    bench: GroupBench, again: GroupBench, progress: PlacementProgress
) -> None:
    hook = "placement_feasible"
    answer = _feasible(bench, progress)
    if answer != _feasible(again, progress):
        bench.fail(hook, f"{shown(answer)} for {progress}, expected the same {_AGAIN}")
    if answer is not None and answer.code not in (
        Code.WAIT,
        Code.UNSCHEDULABLE,
        Code.ERROR,
    ):
        text = f"{shown(answer)} for {progress}, expected Wait, Unschedulable or Error"
        bench.fail(hook, text)
    if not progress.remaining or (answer is not None and answer.code is Code.WAIT):
        return
    for gained in (0, 1):
        scheduled, left = progress.scheduled + gained, progress.remaining - 1
        _check_next(bench, answer, progress, PlacementProgress(scheduled, left))


def _check_next(
    bench: GroupBench,
    answer: Status | None,
    progress: PlacementProgress,
    later: PlacementProgress,
) -> None:
    """Check that a success or a rejection stays after one more pod; Wait may change."""
    after = _feasible(bench, later)
    if answer is None and after is not None:
        text = f"{shown(after)} for {later}, expected success as for {progress}"
        bench.fail("placement_feasible", text)
    if answer is not None and answer.is_rejected and after is None:
        text = f"success for {later}, although {progress} was Unschedulable"
        bench.fail("placement_feasible", text)


def _feasible(bench: GroupBench, progress: PlacementProgress) -> Status | None:
    answer = bench.ask("placement_feasible", CycleState(), bench.info, progress)
    assert answer is None or isinstance(answer, Status)
    return answer


def _ask_rescue(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    hook = "pod_group_post_filter"
    for bench, again in group_benches(subject, cluster):
        actual, expected = _rescued(bench), _rescued(again)
        if actual.status != expected.status:
            text = f"{shown(actual.status)}, expected {shown(expected.status)}"
            bench.fail(hook, f"{text} as from another instance with the same cluster")
        members = {pod.key for pod in bench.info.pods}
        for key, nominating in actual.nominating.items():
            if key not in members:
                bench.fail(hook, f"nominates pod {key}, which is not in the group")
            name = nominating.node_name
            if name and bench.snapshot.get(name) is None:
                bench.fail(hook, f"nominates pod {key} to node '{name}', which is gone")


def _rescued(bench: GroupBench) -> PodGroupPostFilterResult:
    """Return the result for a group that does not fit, whatever the plugin does."""
    answer = bench.ask(
        "pod_group_post_filter",
        CycleState(),
        bench.info,
        bench.attempts(),
        lambda: _DOES_NOT_FIT,
    )
    if isinstance(answer, PodGroupPostFilterResult):
        return answer
    assert answer is None or isinstance(answer, Status)
    return PodGroupPostFilterResult(status=answer)


PLACEMENTS: Final = Check(
    name="placements",
    promise="placements have names of their own, and nodes of the parent placement",
    ask=_ask_placements,
    hooks=frozenset({"placement_generate"}),
    needs_other=True,
)
PLACEMENT_SCORES: Final = Check(
    name="placement scores",
    promise=f"placements score 0 to {MAX_NODE_SCORE}, alone and with the batch twin",
    ask=_ask_scores,
    hooks=frozenset({"placement_score"}),
    needs_other=True,
)
QUORUM: Final = Check(
    name="quorum",
    promise="a verdict on a group stays when more of its pods are tried",
    ask=_ask_quorum,
    hooks=frozenset({"placement_feasible"}),
)
GROUP_RESCUE: Final = Check(
    name="group rescue",
    promise="a rescue of a group leaves the snapshot as it was",
    ask=_ask_rescue,
    hooks=frozenset({"pod_group_post_filter"}),
)
