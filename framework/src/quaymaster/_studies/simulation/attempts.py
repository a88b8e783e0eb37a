"""Explains the attempts of a pod while they are made."""

from collections.abc import Callable, Sequence

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.explain import explain, judge_node
from quaymaster._core.engine.attempts import (
    Attempt,
    AttemptOutcome,
    bound_attempt,
    failed_attempt,
    preempting_attempt,
)
from quaymaster._core.engine.failure import Failure
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.simulation.explained import WhichAttempt
from quaymaster._studies.simulation.names import PodNotFoundError, RequestedPod

__all__ = ["AttemptLog", "no_attempt", "shown_attempt"]


class AttemptLog:
    """Follows the attempts of the pods that may be the requested one.

    Args:
        requested: Decides which pods may be the requested one.
        which: The attempts to explain; a number counts from 1.
        node: A node that all plugins evaluate, or empty.

    Attributes:
        calls_hooks: Whether it may call hooks.
    """

    calls_hooks = True

    def __init__(
        self, requested: RequestedPod, which: WhichAttempt | int, node: str = ""
    ) -> None:
        self._requested = requested
        self._which = which
        self._node = node
        self._attempts: dict[str, list[Attempt]] = {}

    def begin(self, pod: Pod, framework: Framework, now: float) -> None:
        """Begin an attempt of a pod, if it may be the requested one."""
        if not self._requested.takes(pod):
            return
        attempts = self._attempts.setdefault(pod.key, [])
        explanation = judged = None
        if self._is_requested(len(attempts) + 1):
            explanation = explain(framework.plain, pod, framework.profile.name)
            if self._node:
                judged = judge_node(framework.plain, pod, self._node)
            if self._which is WhichAttempt.LAST and attempts:
                # Only the last explanation is shown, and each has an entry for every
                # node.
                attempts[-1] = attrs.evolve(attempts[-1], explanation=None, judged=None)
        attempt = Attempt(
            pod=pod.key,
            uid=pod.uid,
            number=len(attempts) + 1,
            at=now,
            outcome=AttemptOutcome.UNFINISHED,
            explanation=explanation,
            judged=judged,
        )
        attempts.append(attempt)

    def fail(self, pod: Pod, failure: Failure) -> None:
        """End the attempt of a pod that got no node."""
        self._change(pod.key, lambda last: failed_attempt(last, pod, failure))

    def bind(self, pod: Pod, node_name: str) -> None:
        """End the attempt of a pod that was bound to a node."""
        self._change(pod.key, lambda last: bound_attempt(last, node_name))

    def preempt(self, victim: str, by: str) -> None:
        """Note that the attempt of a pod preempted another one."""
        self._change(by, lambda last: preempting_attempt(last, victim))

    def of(self, key: str) -> tuple[Attempt, ...]:
        """Return the attempts of a pod, in their order."""
        return tuple(map(_winner_first, self._attempts.get(key, ())))

    def _is_requested(self, number: int) -> bool:
        if self._which is WhichAttempt.FIRST:
            return number == 1
        return isinstance(self._which, WhichAttempt) or number == self._which

    def _change(self, key: str, change: Callable[[Attempt], Attempt]) -> None:
        """Replace the last attempt of a pod, if there is one."""
        attempts = self._attempts.get(key)
        if attempts:
            attempts[-1] = change(attempts[-1])


def no_attempt(which: int, tries: int) -> str:
    """Return the problem with the number of an attempt that was not made."""
    times = "once" if tries == 1 else f"{tries} times"
    return f"attempt {which} does not exist: it was tried {times}"


def shown_attempt(
    name: str, attempts: Sequence[Attempt], which: WhichAttempt | int
) -> Attempt:
    """Return the attempt that a number or a word selects.

    Args:
        name: The pod's name, for the error.
        attempts: All of its attempts; not empty if ``which`` is a word.
        which: The attempt, by number or by word; ``all`` selects the last one.

    Raises:
        PodNotFoundError: There were fewer attempts.
    """
    if isinstance(which, WhichAttempt):
        return attempts[0 if which is WhichAttempt.FIRST else -1]
    if not 1 <= which <= len(attempts):
        raise PodNotFoundError(name, [], problem=no_attempt(which, len(attempts)))
    return attempts[which - 1]


def _winner_first(attempt: Attempt) -> Attempt:
    """Put the chosen node first in the explanation: others may have the same total."""
    explanation = attempt.explanation
    if explanation is None or not attempt.node:
        return attempt
    scores = sorted(explanation.scores, key=lambda rated: rated.node != attempt.node)
    ordered = attrs.evolve(explanation, scores=tuple(scores))
    return attrs.evolve(attempt, explanation=ordered)
