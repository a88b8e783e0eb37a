"""One attempt of a `Run`."""

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.explain import explain
from quaymaster._core.engine.attempts import (
    Attempt,
    AttemptOutcome,
    bound_attempt,
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

    Attributes:
        explains: Whether the next attempt is explained.
        step: The attempt that was made since `clear`, or None; its number is 0.
    """

    __slots__ = ("explains", "step")

    def __init__(self) -> None:
        self.clear(explains=False)

    def clear(self, *, explains: bool) -> None:
        """Drop the last attempt, and be ready for the next one."""
        self.explains = explains
        self.step: Step | None = None

    def begin(self, pod: Pod, framework: Framework, now: float) -> None:
        """Begin the attempt of a pod."""
        explanation = None
        if self.explains:
            explanation = explain(framework.plain, pod, framework.profile.name)
        self.step = Step(
            pod=pod,
            uid=pod.uid,
            number=0,
            at=now,
            outcome=AttemptOutcome.UNFINISHED,
            explanation=explanation,
        )

    def fail(self, pod: Pod, failure: Failure) -> None:
        """End the attempt of a pod that got no node."""
        # Waiting pods of earlier attempts may end at any moment.
        if self.step is not None and self.step.uid == pod.uid:
            self.step = failed_attempt(self.step, pod, failure)

    def bind(self, pod: Pod, node_name: str) -> None:
        """End the attempt of a pod that was bound."""
        if self.step is not None and self.step.uid == pod.uid:
            self.step = bound_attempt(self.step, node_name)

    def preempt(self, victim: str, by: str) -> None:
        """Note that a pod was preempted for another one."""
        if self.step is not None and self.step.key == by:
            self.step = preempting_attempt(self.step, victim)
