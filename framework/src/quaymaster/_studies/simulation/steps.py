"""One attempt of a run, as its driver sees it."""

import enum

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.explain import explain
from quaymaster._core.cycle.explanation import Explanation
from quaymaster._core.engine.failure import Failure, FailureKind
from quaymaster._core.engine.framework import Framework

__all__ = ["Step", "StepLog", "StepOutcome"]


class StepOutcome(enum.Enum):
    """What an attempt came to by the end of the moment in which it was made."""

    BOUND = "bound"
    """The pod is on its node."""

    WAITING = "waiting"
    """The pod has a node, and waits on Permit or PreBind before it is bound."""

    UNSCHEDULABLE = "unschedulable"
    """Plugins said no, or there is no node."""

    ERROR = "error"
    """Something broke."""

    GONE = "gone"
    """The pod was deleted while it was tried."""


@attrs.frozen(kw_only=True)
class Step:
    """One attempt to find a node for a pod.

    Attributes:
        pod: The pod as it was tried, without a node.
        number: Which attempt of the pod it was, from 1.
        at: When it was made, in seconds since the run began.
        outcome: What it came to.
        node: The node that the pod is bound to, or waits for; empty if it has none.
        nominated_node: The node that the pod was nominated to, or empty.
        message: Why the pod got no node, in upstream's words; empty if it has one.
        preempted: The keys of the pods that were preempted for it, in order.
        explanation: What each plugin said of each node; None if it was not asked for.
    """

    pod: Pod
    number: int
    at: float
    outcome: StepOutcome
    node: str = ""
    nominated_node: str = ""
    message: str = ""
    preempted: tuple[str, ...] = ()
    explanation: Explanation | None = attrs.field(default=None, repr=False)


class StepLog:
    """Follows one attempt at a time; implements `FollowsAttempts`.

    Attributes:
        explains: Whether the next attempt is to be taken apart.
        pod: The pod that was tried since `clear`, or None.
        outcome: What its attempt came to; None if it has not ended.
        at: When it was tried.
        node: The node that it was bound to, or empty.
        nominated_node: The node that it was nominated to, or empty.
        message: Why it got no node.
        preempted: The keys of the pods that were preempted for it.
        explanation: What the attempt looks like taken apart, if that was asked for.
    """

    __slots__ = (
        "at",
        "explains",
        "explanation",
        "message",
        "node",
        "nominated_node",
        "outcome",
        "pod",
        "preempted",
    )

    def __init__(self) -> None:
        self.clear(explains=False)

    def clear(self, *, explains: bool) -> None:
        """Forget the last attempt, and be ready for the next one."""
        self.explains = explains
        self.pod: Pod | None = None
        self.outcome: StepOutcome | None = None
        self.at = 0.0
        self.node = self.nominated_node = self.message = ""
        self.preempted: list[str] = []
        self.explanation: Explanation | None = None

    def begin(self, pod: Pod, framework: Framework, now: float) -> None:
        """Begin the attempt of a pod."""
        self.pod, self.at = pod, now
        if self.explains:
            self.explanation = explain(framework.plain, pod, framework.profile.name)

    def fail(self, pod: Pod, failure: Failure) -> None:
        """End the attempt of a pod that got no node."""
        if self._is_followed(pod):
            is_error = failure.kind is FailureKind.ERROR
            self.outcome = StepOutcome.ERROR if is_error else StepOutcome.UNSCHEDULABLE
            self.message = failure.message
            self.nominated_node = failure.nominated_node(pod)

    def bind(self, pod: Pod, node_name: str) -> None:
        """End the attempt of a pod that was bound."""
        if self._is_followed(pod):
            self.outcome, self.node = StepOutcome.BOUND, node_name

    def preempt(self, victim: str, by: str) -> None:
        """Note that a pod was preempted for another one."""
        if self.pod is not None and self.pod.key == by:
            self.preempted.append(victim)

    def _is_followed(self, pod: Pod) -> bool:
        # Pods of earlier attempts, which have waited, may end at any moment.
        return self.pod is not None and self.pod.metadata.uid == pod.metadata.uid
