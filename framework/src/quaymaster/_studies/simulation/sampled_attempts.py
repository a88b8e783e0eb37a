"""Explains some attempts where explaining all would take too long."""

import string
from collections import Counter
from collections.abc import Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.explain import Scored, explain_and_score
from quaymaster._core.cycle.explanation import NodeScores
from quaymaster._core.engine.attempts import (
    Attempt,
    AttemptOutcome,
    bound_attempt,
    failed_attempt,
    grouped_rejections,
    preempting_attempt,
)
from quaymaster._core.engine.failure import Failure
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.simulation.observed import ObservedAttempt

__all__ = ["SampledAttempts", "shortened"]

_BEST: Final = 10
"""How many feasible nodes are kept per attempt."""
_NAMED: Final = 3
"""How many nodes with the same reasons are named."""
_JUDGED: Final = 2_500_000
"""How many nodes are evaluated in all explanations: about ten seconds."""
_JUDGED_AT_FIRST: Final = _JUDGED // 4
"""Until so many are evaluated, every attempt is explained."""


class SampledAttempts:
    """Explains attempts: all of a small simulation, and some of a large one.

    After many evaluations, only the attempts with the numbers 1, 2, 4, 8, ... of each
    workload are explained. Failed attempts are counted separately, so that each
    workload has explained attempts of both sorts. Follows attempts, for `Record`.
    """

    def __init__(self) -> None:
        self._judged = 0
        self._numbers: Counter[str] = Counter()
        self._begun: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._current: dict[str, tuple[ObservedAttempt, Scored | None]] = {}
        self._framework: Framework | None = None
        self._at = 0.0
        self._taken: list[ObservedAttempt] = []

    def begin(self, pod: Pod, framework: Framework, now: float) -> None:
        """Begin an attempt."""
        self._framework, self._at = framework, now
        self._numbers[pod.uid] += 1
        if self._is_next(self._begun, pod):
            self._current[pod.key] = self._explained(pod, framework)

    def fail(self, pod: Pod, failure: Failure) -> None:
        """End the attempt of a pod that got no node."""
        nominated = failure.nominated_node(pod)
        attempt = self._current.pop(pod.key, None)
        is_next = not attempt and not nominated and self._is_next(self._failed, pod)
        if is_next and self._framework is not None:
            attempt = self._explained(pod, self._framework)
        if attempt is None:
            return
        self._taken.append(failed_attempt(attempt[0], pod, failure))

    def bind(self, pod: Pod, node_name: str) -> None:
        """End the attempt of a pod that was bound."""
        sampled = self._current.pop(pod.key, None)
        if sampled is None:
            return
        attempt, scored = sampled
        scores = _kept(scored, node_name) if scored else ()
        taken = bound_attempt(attempt, node_name)
        self._taken.append(attrs.evolve(taken, scores=scores))

    def preempt(self, victim: str, by: str) -> None:
        """Note that the attempt of a pod preempted another one."""
        if by in self._current:
            attempt, scored = self._current[by]
            self._current[by] = preempting_attempt(attempt, victim), scored

    def attempts(self) -> Sequence[ObservedAttempt]:
        """Return the explained attempts, in the order of their end."""
        return tuple(self._taken)

    def _is_next(self, counts: Counter[str], pod: Pod) -> bool:
        name = _workload(pod)
        counts[name] += 1
        if self._judged < _JUDGED_AT_FIRST:
            return True
        # The 1st, 2nd, 4th, 8th and so on of each workload: a large one is shown over
        # its whole course, with few attempts.
        return self._judged < _JUDGED and counts[name].bit_count() == 1

    def _explained(
        self, pod: Pod, framework: Framework
    ) -> tuple[ObservedAttempt, Scored | None]:
        name = framework.profile.name
        self._judged += len(framework.plain.nodes)
        explanation, scored = explain_and_score(framework.plain, pod, name)
        attempt = ObservedAttempt(
            pod=pod.key,
            uid=pod.uid,
            number=self._numbers[pod.uid],
            at=self._at,
            outcome=AttemptOutcome.UNFINISHED,
            feasible=len(scored) if scored else 0,
            feasible_nodes=len(scored) if scored else 0,
            rejected=grouped_rejections(explanation.rejections, _NAMED),
        )
        return attempt, scored


def shortened(pod: str, attempt: Attempt) -> ObservedAttempt:
    """Shorten the explanation of an attempt to the parts that are kept.

    Args:
        pod: The pod's key.
        attempt: The attempt; the chosen node is the first of its scores.
    """
    explanation = attempt.explanation
    return ObservedAttempt(
        pod=pod,
        uid=attempt.uid,
        number=attempt.number,
        at=attempt.at,
        outcome=attempt.outcome,
        node=attempt.node,
        nominated_node=attempt.nominated_node,
        message=attempt.message,
        reasons=attempt.reasons,
        plugins=attempt.plugins,
        preempted=attempt.preempted,
        feasible=len(explanation.scores) if explanation else 0,
        feasible_nodes=len(explanation.scores) if explanation else 0,
        scores=explanation.scores[:_BEST] if explanation else (),
        rejected=grouped_rejections(explanation.rejections, _NAMED)
        if explanation
        else (),
    )


def _workload(pod: Pod) -> str:
    """Return a pod's workload; for bare pods, the name without a number."""
    owner = pod.metadata.controller
    if owner is not None:
        return owner.uid or f"{pod.namespace}/{owner.kind}/{owner.name}"
    name = pod.metadata.generate_name or _without_number(pod.name)
    return f"{pod.namespace}/{name}"


def _without_number(name: str) -> str:
    stem = name.rstrip(string.digits)
    return stem[:-1] if stem != name and stem.endswith(("-", ".")) else stem


def _kept(scored: Scored, node: str) -> tuple[NodeScores, ...]:
    """Return the scores of the chosen node, then the best of the others."""
    picked = scored.of(node)
    others = [scores for scores in scored.best(_BEST) if scores.node != node]
    return (picked, *others)[:_BEST] if picked is not None else tuple(others)
