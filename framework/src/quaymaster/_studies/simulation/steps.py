"""One attempt of a `Run`."""

from collections.abc import Callable
from typing import Any

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.explain import explain
from quaymaster._core.cycle.explanation import Explanation
from quaymaster._core.engine.attempts import (
    Attempt,
    AttemptOutcome,
    bound_attempt,
    facts_of_failure,
    failed_attempt,
    preempting_attempt,
)
from quaymaster._core.engine.failure import Failure
from quaymaster._core.engine.framework import Framework

__all__ = ["Step", "StepLog", "StepOutcome"]


StepOutcome = AttemptOutcome
"""Deprecated: the old name of `AttemptOutcome` for the outcomes of a `Run`."""


@attrs.frozen(kw_only=True)
class Step(Attempt):
    """An `Attempt` of a `Run`; deprecated is only its own attribute.

    Attributes:
        pod: The pod as it was tried, without a node. Deprecated: in an `Attempt` it is
            the pod's key, which is ``key`` here as well.
    """

    pod: Pod  # type: ignore[assignment]  # promised, and deprecated

    @property
    def key(self) -> str:
        """The pod's key."""
        return self.pod.key


class StepLog:
    """Follows one attempt at a time; implements `FollowsAttempts`.

    The record of an attempt is made when it is read: in a simulation in which pods wait
    for nodes, making one for each attempt took 3 % of the time, and most are not read.

    Args:
        number_of: Returns how often a pod has been tried.

    Attributes:
        calls_hooks: Whether the next attempt is explained.
        has_step: Whether an attempt was made since `clear`.
    """

    __slots__ = (
        "_at",
        "_explanation",
        "_failure",
        "_node",
        "_number_of",
        "_pod",
        "_step",
        "calls_hooks",
        "has_step",
    )

    def __init__(self, number_of: Callable[[Pod], int]) -> None:
        self._number_of = number_of
        self._pod: Pod | None = None
        self._step: Step | None = None
        self._failure: tuple[Pod, Failure] | None = None
        self._node = ""
        self._explanation: Explanation | None = None
        self.calls_hooks = self.has_step = False

    @property
    def step(self) -> Step | None:
        """The attempt that was made since `clear`, or None."""
        pod = self._pod
        if self._step is None and pod is not None:
            if self._failure is not None:
                self._step = self._made(pod, **facts_of_failure(*self._failure))
            elif self._node:
                bound = AttemptOutcome.SCHEDULED
                self._step = self._made(pod, outcome=bound, node=self._node)
            else:
                self._step = self._made(pod, outcome=AttemptOutcome.UNFINISHED)
        return self._step

    def clear(self, *, explains: bool) -> None:
        """Drop the last attempt, and be ready for the next one."""
        self.calls_hooks = explains
        self.has_step = False
        self._pod = self._step = None

    def begin(self, pod: Pod, framework: Framework, now: float) -> None:
        """Begin the attempt of a pod."""
        self._explanation = None
        if self.calls_hooks:
            self._explanation = explain(framework.plain, pod, framework.profile.name)
        self._pod, self._at, self._step = pod, now, None
        self.has_step = True
        self._failure, self._node = None, ""

    def fail(self, pod: Pod, failure: Failure) -> None:
        """End the attempt of a pod that got no node."""
        # Waiting pods of earlier attempts may end at any moment.
        if self._pod is None or self._pod.metadata.uid != pod.metadata.uid:
            return
        if self._node or self._step is not None:
            step = self.step
            self._step = None if step is None else failed_attempt(step, pod, failure)
        else:
            self._failure = pod, failure

    def bind(self, pod: Pod, node_name: str) -> None:
        """End the attempt of a pod that was bound."""
        if self._pod is None or self._pod.uid != pod.uid:
            return
        if self._failure is not None or self._step is not None:
            step = self.step
            self._step = None if step is None else bound_attempt(step, node_name)
        else:
            self._node = node_name

    def preempt(self, victim: str, by: str) -> None:
        """Note that a pod was preempted for another one."""
        step = self.step
        if step is not None and step.key == by:
            self._step = preempting_attempt(step, victim)

    def _made(self, pod: Pod, **facts: Any) -> Step:
        return Step(
            pod=pod,
            uid=pod.uid,
            number=self._number_of(pod),
            at=self._at,
            explanation=self._explanation,
            **facts,
        )
