"""Checks: scores after NormalizeScore are from 0 to 100."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

import attrs
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.answers import answers
from quaymaster._authors.testing.contract.bench import (
    Bench,
    HookFailedError,
    is_caused_by,
)
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.near_numbers import exact_pod
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import stressed
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.declarations import Scope
from quaymaster._core.contract.scores import MAX_NODE_SCORE
from quaymaster._core.contract.status import Status

__all__ = ["NORMALIZATION", "SCORE_RANGE"]


def _ask_range(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    _ask_variant(subject, cluster)
    for variant in (*stressed(cluster), *_exact(cluster)):
        # A hook may fail on extreme values.
        with suppress(HookFailedError):
            _ask_variant(subject, variant)


def _exact(cluster: SmallCluster) -> Iterator[SmallCluster]:
    """Yield clusters of one node, of which the waiting pods need all.

    Such nodes often have a score of 0, and there is no other score.
    """
    for node in cluster.nodes:
        pending = tuple(exact_pod(pod, node) for pod in cluster.pending)
        yield attrs.evolve(cluster, nodes=(node,), pods=(), pending=pending)


def _ask_variant(subject: Subject, cluster: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    hook = "normalize_score" if subject.has("normalize_score") else "score"
    for pod in cluster.pending:
        for name, score in _normalized(bench, cluster, pod).items():
            if isinstance(score, int) and not 0 <= score <= MAX_NODE_SCORE:
                text = f"{score} for node '{name}', expected 0 to {MAX_NODE_SCORE}"
                more = (
                    ""
                    if hook == "normalize_score"
                    else ("; larger ones need normalize_score")
                )
                fail(hook, text + more, pod, cluster.nodes, cluster.pods)


def _normalized(bench: Bench, cluster: SmallCluster, pod: Pod) -> Mapping[str, object]:
    """Return normalised scores; fail if a hook divides by zero or the like."""
    try:
        # By default, numpy only warns, and returns arbitrary numbers.
        with np.errstate(divide="raise", invalid="raise"):
            return answers(bench, pod).normalized
    except HookFailedError as failure:
        if not is_caused_by(failure, ArithmeticError):
            raise
        text = f"{failure.problem}: any subset of the nodes may be left to score"
        fail(failure.hook, text, pod, cluster.nodes, cluster.pods)


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
