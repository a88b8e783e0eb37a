"""Explains the attempts of a pod as they happen."""

from collections.abc import Sequence
from typing import Protocol

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.explain import explain, judge_node
from quaymaster._core.cycle.explanation import Explanation, JudgedNode
from quaymaster._core.engine.failure import Failure, FailureKind
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.simulation.explained import Attempt, WhichAttempt
from quaymaster._studies.simulation.names import PodNotFoundError, Wanted

__all__ = ["AttemptLog", "FollowsAttempts", "shown_attempt"]


@attrs.define(kw_only=True)
class _Entry:
    """An attempt, which may still be going on."""

    at: float
    outcome: str = "unfinished"
    node: str = ""
    nominated_node: str = ""
    message: str = ""
    preempted: list[str] = attrs.field(factory=list)
    explanation: Explanation | None = None
    judged: JudgedNode | None = None


class FollowsAttempts(Protocol):
    """Is told of attempts, each from its beginning to its end."""

    def begin(self, pod: Pod, framework: Framework, now: float, /) -> None:
        """Called when a pod is about to be tried."""

    def fail(self, pod: Pod, failure: Failure, /) -> None:
        """Called when a pod got no node."""

    def bind(self, pod: Pod, node_name: str, /) -> None:
        """Called when a pod was bound."""

    def preempt(self, victim: str, by: str, /) -> None:
        """Called when a pod was preempted for another one."""


class AttemptLog:
    """Follows the attempts of the pods that may be the wanted one.

    Args:
        wanted: Says which pods may be the wanted one.
        which: The attempts to explain; a number counts from 1.
        node: A node to ask all plugins about, or empty.
    """

    def __init__(
        self, wanted: Wanted, which: WhichAttempt | int, node: str = ""
    ) -> None:
        self._wanted = wanted
        self._which = which
        self._node = node
        self._entries: dict[str, list[_Entry]] = {}

    def begin(self, pod: Pod, framework: Framework, now: float) -> None:
        """Begin an attempt of a pod, if it may be the wanted one."""
        if not self._wanted.takes(pod):
            return
        entries = self._entries.setdefault(pod.key, [])
        entry = _Entry(at=now)
        if self._is_asked_for(len(entries) + 1):
            name = framework.profile.name
            entry.explanation = explain(framework.plain, pod, name)
            if self._node:
                entry.judged = judge_node(framework.plain, pod, self._node)
            if self._which is WhichAttempt.LAST and entries:
                entries[-1].explanation = entries[-1].judged = None
        entries.append(entry)

    def fail(self, pod: Pod, failure: Failure) -> None:
        """End the attempt of a pod that got no node."""
        entry = self._current(pod.key)
        if entry is None:
            return
        is_error = failure.kind is FailureKind.ERROR
        entry.outcome = "error" if is_error else "unschedulable"
        entry.message = failure.message
        entry.nominated_node = failure.nominated_node(pod)

    def bind(self, pod: Pod, node_name: str) -> None:
        """End the attempt of a pod that was bound to a node."""
        entry = self._current(pod.key)
        if entry is not None:
            entry.outcome, entry.node = "scheduled", node_name

    def preempt(self, victim: str, by: str) -> None:
        """Note that the attempt of a pod preempted another one."""
        entry = self._current(by)
        if entry is not None:
            entry.preempted.append(victim)

    def of(self, key: str) -> tuple[Attempt, ...]:
        """Return the attempts of a pod, in their order."""
        return tuple(
            Attempt(
                number=number,
                at=entry.at,
                outcome=entry.outcome,
                node=entry.node,
                nominated_node=entry.nominated_node,
                message=entry.message,
                preempted=tuple(entry.preempted),
                explanation=_winner_first(entry.explanation, entry.node),
                judged=entry.judged,
            )
            for number, entry in enumerate(self._entries.get(key, ()), 1)
        )

    def _is_asked_for(self, number: int) -> bool:
        if self._which is WhichAttempt.FIRST:
            return number == 1
        return isinstance(self._which, WhichAttempt) or number == self._which

    def _current(self, key: str) -> _Entry | None:
        entries = self._entries.get(key)
        return entries[-1] if entries else None


def shown_attempt(
    name: str, attempts: Sequence[Attempt], which: WhichAttempt | int
) -> Attempt:
    """Return the attempt that is asked for.

    Args:
        name: What the pod is called, for the error.
        attempts: All of its attempts; if a word asks, at least one.
        which: The attempt, by number or by word; of all of them, the last one.

    Raises:
        PodNotFoundError: There were not so many.
    """
    if isinstance(which, WhichAttempt):
        return attempts[0 if which is WhichAttempt.FIRST else -1]
    if not 1 <= which <= len(attempts):
        times = "once" if len(attempts) == 1 else f"{len(attempts)} times"
        problem = f"there is no attempt {which}: it was tried {times}"
        raise PodNotFoundError(name, [], problem=problem)
    return attempts[which - 1]


def _winner_first(found: Explanation | None, winner: str) -> Explanation | None:
    """Put the node that was picked first: others may have the same total."""
    if found is None or not winner:
        return found
    scores = tuple(sorted(found.scores, key=lambda one: one.node != winner))
    return attrs.evolve(found, scores=scores)
