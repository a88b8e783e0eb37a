"""Takes some attempts apart, where taking all apart would take too long."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.explain import Scored, explain_and_score
from quaymaster._core.cycle.explanation import NodeRejection, NodeScores
from quaymaster._core.engine.failure import Failure, FailureKind
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.simulation.explained import Attempt
from quaymaster._studies.simulation.observed import ObservedAttempt, RejectedNodes

__all__ = ["SampledAttempts", "shortened"]

_BEST: Final = 10
"""How many of the nodes that fit are kept of an attempt."""
_NAMED: Final = 3
"""How many of the nodes with the same reasons are named."""
_JUDGED: Final = 2_500_000
"""How many nodes are judged in all to take attempts apart: some ten seconds."""
_JUDGED_AT_FIRST: Final = _JUDGED // 4
"""Until so many are judged, every attempt is taken apart."""


class SampledAttempts:
    """Takes attempts apart: all of a small simulation, and some of a large one.

    Once that has taken a while, the attempts with the numbers 1, 2, 4, 8, ... of each
    workload are left, the failed ones counted apart, so that each has some of them.
    Follows attempts, for `Record`.
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
        is_error = failure.kind is FailureKind.ERROR
        nominated = failure.nominated_node(pod)
        found = self._current.pop(pod.key, None)
        is_next = not found and not nominated and self._is_next(self._failed, pod)
        if is_next and self._framework is not None:
            found = self._explained(pod, self._framework)
        if found is None:
            return
        taken = attrs.evolve(
            found[0],
            outcome="error" if is_error else "unschedulable",
            message=failure.message,
            nominated_node=nominated,
        )
        self._taken.append(taken)

    def bind(self, pod: Pod, node_name: str) -> None:
        """End the attempt of a pod that was bound."""
        found = self._current.pop(pod.key, None)
        if found is None:
            return
        attempt, scored = found
        scores = _kept(scored, node_name) if scored else ()
        taken = attrs.evolve(
            attempt, outcome="scheduled", node=node_name, scores=scores
        )
        self._taken.append(taken)

    def preempt(self, victim: str, by: str) -> None:
        """Note that the attempt of a pod preempted another one."""
        if by in self._current:
            attempt, scored = self._current[by]
            preempted = (*attempt.preempted, victim)
            self._current[by] = attrs.evolve(attempt, preempted=preempted), scored

    def attempts(self) -> Sequence[ObservedAttempt]:
        """Return the attempts that were taken apart, in the order of their end."""
        return tuple(self._taken)

    def _is_next(self, counts: Counter[str], pod: Pod) -> bool:
        name = _workload(pod)
        counts[name] += 1
        if self._judged < _JUDGED_AT_FIRST:
            return True
        return self._judged < _JUDGED and counts[name].bit_count() == 1

    def _explained(
        self, pod: Pod, framework: Framework
    ) -> tuple[ObservedAttempt, Scored | None]:
        name = framework.profile.name
        self._judged += len(framework.plain.nodes)
        explanation, scored = explain_and_score(framework.plain, pod, name)
        attempt = ObservedAttempt(
            pod=pod.key,
            number=self._numbers[pod.uid],
            at=self._at,
            outcome="unfinished",
            feasible=len(scored) if scored else 0,
            rejected=_grouped(explanation.rejections),
        )
        return attempt, scored


def shortened(pod: str, attempt: Attempt) -> ObservedAttempt:
    """Return what is kept of an attempt that has been explained in full.

    Args:
        pod: The pod's key.
        attempt: The attempt; the node that was picked is the first of its scores.
    """
    found = attempt.explanation
    return ObservedAttempt(
        pod=pod,
        number=attempt.number,
        at=attempt.at,
        outcome=attempt.outcome,
        node=attempt.node,
        nominated_node=attempt.nominated_node,
        message=attempt.message,
        preempted=attempt.preempted,
        feasible=len(found.scores) if found else 0,
        scores=found.scores[:_BEST] if found else (),
        rejected=_grouped(found.rejections) if found else (),
    )


def _workload(pod: Pod) -> str:
    """The workload that a pod belongs to; of bare pods, the name without a number."""
    owner = pod.metadata.controller
    if owner is not None:
        return owner.uid or f"{pod.namespace}/{owner.kind}/{owner.name}"
    name = pod.metadata.generate_name or re.sub(r"[-.]?\d+$", "", pod.name)
    return f"{pod.namespace}/{name}"


def _kept(scored: Scored, node: str) -> tuple[NodeScores, ...]:
    """The node that was picked, then the best of the others."""
    picked = scored.of(node)
    others = [one for one in scored.best(_BEST) if one.node != node]
    return (picked, *others)[:_BEST] if picked is not None else tuple(others)


def _grouped(rejections: Iterable[NodeRejection]) -> tuple[RejectedNodes, ...]:
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for one in rejections:
        groups.setdefault((one.plugin, one.reasons), []).append(one.node)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return tuple(
        RejectedNodes(
            plugin=plugin,
            reasons=reasons,
            nodes=len(nodes),
            such_as=tuple(nodes[:_NAMED]),
        )
        for (plugin, reasons), nodes in ordered
    )
