"""Checks: scores after NormalizeScore are from 0 to 100."""

from collections.abc import Sequence
from contextlib import suppress

from quaymaster._authors.testing.contract.answers import answers
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import stressed
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.declarations import Scope
from quaymaster._core.contract.scores import MAX_NODE_SCORE
from quaymaster._core.contract.status import Status

__all__ = ["NORMALIZATION", "SCORE_RANGE"]


def _ask_range(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    _ask_variant(subject, cluster)
    for variant in stressed(cluster):
        # A hook may fail on extreme values.
        with suppress(HookFailedError):
            _ask_variant(subject, variant)


def _ask_variant(subject: Subject, cluster: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    hook = "normalize_score" if subject.has("normalize_score") else "score"
    for pod in cluster.pending:
        for name, score in answers(bench, pod).normalized.items():
            if isinstance(score, int) and not 0 <= score <= MAX_NODE_SCORE:
                text = f"{score} for node '{name}', expected 0 to {MAX_NODE_SCORE}"
                more = (
                    ""
                    if hook == "normalize_score"
                    else ("; larger ones need normalize_score")
                )
                fail(hook, text + more, pod, cluster.nodes, cluster.pods)


def _ask_normal(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    for pod in cluster.pending:
        actual = answers(bench, pod)
        by_raw: dict[object, list[object]] = {}
        for name, score in actual.score.items():
            by_raw.setdefault(score, []).append(actual.normalized.get(name))
        for scores in by_raw.values():
            if not _is_equal(scores):
                text = ", ".join(map(str, scores))
                text = f"scores {text} of equal raw scores, expected equal ones"
                fail("normalize_score", text, pod, cluster.nodes, cluster.pods)


def _is_equal(scores: Sequence[object]) -> bool:
    is_failed = any(isinstance(score, Status) for score in scores)
    return is_failed or len(set(scores)) <= 1


SCORE_RANGE = Check(
    name="score range",
    promise=f"scores lie from 0 to {MAX_NODE_SCORE} after normalisation",
    ask=_ask_range,
    hooks=frozenset({"score"}),
)
NORMALIZATION = Check(
    name="normalisation",
    promise="with Scope.NODE, equal raw scores stay equal",
    ask=lambda subject, cluster, other: (
        _ask_normal(subject, cluster, other) if subject.scope is Scope.NODE else None
    ),
    hooks=frozenset({"normalize_score"}),
)
