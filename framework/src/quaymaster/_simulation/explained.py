"""The explanation of one pod: why it is on its node, or on none."""

import enum

import attrs

from quaymaster._cycle.explanation import Explanation
from quaymaster._notices import Notice

__all__ = ["Attempt", "ExplainedPod", "WhichAttempt"]


class WhichAttempt(enum.StrEnum):
    """Which attempts of a pod are explained."""

    AUTO = "auto"
    """The last one. If pods of the input are terminating, the first one, which decides
    while those are still there."""

    FIRST = "first"
    """The first one: in the cluster of the input, with the pods that were placed before
    this one."""

    LAST = "last"
    """The last one: the one that gave the pod its node, if it has one."""

    ALL = "all"
    """Every one."""


@attrs.frozen(kw_only=True)
class Attempt:
    """One attempt to find a node for a pod.

    Attributes:
        number: From 1.
        at: The time, in seconds since the simulation began.
        outcome: ``scheduled``, ``unschedulable``, ``error`` or ``unfinished``.
        node: The node that the pod was bound to, or empty.
        nominated_node: The node that the pod was nominated to, or empty.
        message: Why the pod got no node, in upstream's words.
        preempted: The keys of the pods that were preempted for it.
        explanation: What every plugin said of every node; None for attempts that are
            not explained.
    """

    number: int
    at: float
    outcome: str
    node: str = ""
    nominated_node: str = ""
    message: str = ""
    preempted: tuple[str, ...] = ()
    explanation: Explanation | None = attrs.field(default=None, repr=False)


@attrs.frozen(kw_only=True)
class ExplainedPod:
    """Why a pod is on its node, or on none.

    Attributes:
        pod: Its key.
        scheduler: The profile it belongs to.
        outcome: For the attempt that is shown: ``scheduled``, ``unschedulable`` or
            ``error``. For a pod that was never tried: ``gated``, ``bound`` (it came
            with a node), ``ignored`` (no profile has its scheduler name) or
            ``terminating`` (it was deleted before it had a node).
        node: The node that the attempt gave it, or empty.
        message: Why it has none, in upstream's words.
        explanation: The explanation of that attempt; None if there was none.
        notices: What was left out or assumed.
        attempt: The number of the attempt that is shown, from 1; 0 if there was none.
        attempts: All attempts, in their order.
        terminating: How many pods of the input were terminating when it all began.
    """

    pod: str
    scheduler: str
    outcome: str
    node: str
    message: str
    explanation: Explanation | None
    notices: tuple[Notice, ...] = ()
    attempt: int = 0
    attempts: tuple[Attempt, ...] = ()
    terminating: int = 0
