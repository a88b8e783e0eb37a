"""The record of an attempt to find a node for a pod.

Everything that returns attempts returns this record: the history of a scheduler,
explanations, observed runs, and runs that are driven step by step. What is costly to
work out is optional.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar

import attrs

from quaymaster._api.objects import Pod
from quaymaster._core.cycle.explanation import (
    Explanation,
    JudgedNode,
    NodeRejection,
    NodeScores,
)
from quaymaster._core.engine.failure import Failure, FailureKind

__all__ = [
    "Attempt",
    "AttemptOutcome",
    "PastAttempt",
    "RejectedNodes",
    "bound_attempt",
    "facts_of_failure",
    "failed_attempt",
    "grouped_rejections",
    "outcome_of_failure",
    "preempting_attempt",
]


class AttemptOutcome(StrEnum):
    """The outcome of an attempt, or the state of a pod that was never tried.

    Each is equal to its value, so ``outcome == "scheduled"`` works.
    """

    SCHEDULED = "scheduled"
    """The pod got a node. In the history of a scheduler the binding may go on."""

    WAITING = "waiting"
    """The pod has a node, and waits on Permit or PreBind before it is bound."""

    UNSCHEDULABLE = "unschedulable"
    """Plugins rejected the pod, or there is no node."""

    ERROR = "error"
    """A plugin or a call to the cluster failed."""

    GONE = "gone"
    """The pod was deleted during the attempt."""

    UNFINISHED = "unfinished"
    """The attempt has not ended."""

    GATED = "gated"
    """Never tried: a PreEnqueue plugin keeps the pod out of the queue."""

    HAS_NODE = "bound"
    """Never tried: the pod had a node from the beginning."""

    IGNORED = "ignored"
    """Never tried: no profile has the pod's scheduler name."""

    TERMINATING = "terminating"
    """Never tried: the pod was deleted before it had a node."""

    BOUND = SCHEDULED
    """Deprecated: the name that `SCHEDULED` has in `StepOutcome`."""


@attrs.frozen(kw_only=True)
class RejectedNodes:
    """The nodes that one plugin rejected for the same reasons.

    Attributes:
        plugin: The plugin; empty if PreFilter left the nodes out.
        reasons: Why.
        nodes: How many they are.
        such_as: The names of the first few.
        details: The plugin's facts about the first of them.
    """

    plugin: str
    reasons: tuple[str, ...]
    nodes: int
    such_as: tuple[str, ...]
    details: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Attempt:
    """One attempt to find a node for a pod.

    The first eight attributes are always set. The source of the attempt decides which
    of the others are: a scheduler's history keeps reasons and verdicts, an explanation
    has ``explanation`` and ``judged``, and an observed run has ``scores`` and
    ``rejected``.

    Attributes:
        pod: The pod's key; empty if unknown.
        number: Which attempt of the pod it was, from 1.
        at: The time in seconds. In a simulation it is when the attempt began, since
            the beginning; in a scheduler's history when it ended, since the Unix epoch.
        outcome: The outcome. In a scheduler's history, a pod that found a node is
            ``scheduled`` until something refuses it.
        node: The node that was chosen, or empty. In a scheduler's history it stays if
            the binding failed.
        nominated_node: The node that the pod was nominated to, or empty.
        message: Why the pod got no node, in upstream's words.
        preempted: The keys of the pods that were preempted for it, in order.
        uid: The pod's uid: another pod may have had the same name.
        reasons: Each reason in the message once, without counts.
        plugins: The plugins that rejected the pod, sorted.
        nodes: How many nodes there were; 0 if that is not kept.
        feasible_nodes: How many nodes passed all filters.
        evaluated_nodes: How many nodes were evaluated, if one was chosen.
        rejections: The nodes that were rejected, in row order; None if the verdicts of
            nodes are not kept.
        feasible: The names of the nodes that passed all filters, in row order; empty if
            ``rejections`` is None.
        scores: The chosen node, then the best of the others.
        rejected: The nodes that were rejected, the largest group first.
        explanation: The verdict of every plugin for every node; None if the attempt was
            not explained.
        judged: The verdict of all plugins for one node; None if the attempt was not
            explained, or no node was named.
    """

    pod: str = ""
    number: int
    at: float
    outcome: AttemptOutcome
    node: str = ""
    nominated_node: str = ""
    message: str = ""
    preempted: tuple[str, ...] = ()
    uid: str = ""
    reasons: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    nodes: int = 0
    feasible_nodes: int = 0
    evaluated_nodes: int = 0
    rejections: tuple[NodeRejection, ...] | None = attrs.field(default=None, repr=False)
    feasible: tuple[str, ...] = attrs.field(default=(), repr=False)
    scores: tuple[NodeScores, ...] = ()
    rejected: tuple[RejectedNodes, ...] = ()
    explanation: Explanation | None = attrs.field(default=None, repr=False)
    judged: JudgedNode | None = attrs.field(default=None, repr=False)

    @property
    def key(self) -> str:
        """The pod's key, also where ``pod`` is the pod itself."""
        return self.pod

    def said_of(self, node: str) -> str:
        """Describe the verdict for one node in this attempt, in a few words.

        Args:
            node: The node's name.
        """
        if node == self.node:
            return "it was chosen" + (", and then refused" if self.message else "")
        if self.rejections is None:
            return "what was said of each node is not remembered"
        if node in self.feasible:
            return f"it would have done; the score, or a draw, was for {self.node}"
        for rejection in self.rejections:
            if rejection.node == node:
                reasons = ", ".join(rejection.reasons)
                if not reasons:
                    return "it was not looked at"
                return f"it was rejected by {rejection.plugin}: {reasons}"
        return "there was no such node"


PastAttempt = Attempt
"""Deprecated: the old name of `Attempt` for attempts of a scheduler's history."""


def outcome_of_failure(kind: FailureKind) -> AttemptOutcome:
    """Return the outcome of an attempt that failed."""
    is_error = kind is FailureKind.ERROR
    return AttemptOutcome.ERROR if is_error else AttemptOutcome.UNSCHEDULABLE


AttemptT = TypeVar("AttemptT", bound=Attempt)


def failed_attempt(attempt: AttemptT, pod: Pod, failure: Failure) -> AttemptT:
    """Return an attempt that ended without a node.

    Args:
        attempt: The attempt, unfinished.
        pod: Its pod.
        failure: How it failed.
    """
    return attrs.evolve(attempt, **facts_of_failure(pod, failure))


def facts_of_failure(pod: Pod, failure: Failure) -> dict[str, Any]:
    """Return the attributes of an attempt that ended without a node, by name."""
    return {
        "outcome": outcome_of_failure(failure.kind),
        "nominated_node": failure.nominated_node(pod),
        "message": failure.message,
        "reasons": failure.reasons,
        "plugins": tuple(sorted(failure.unschedulable_plugins)),
    }


def bound_attempt(attempt: AttemptT, node_name: str) -> AttemptT:
    """Return an attempt whose pod was bound to a node."""
    return attrs.evolve(attempt, outcome=AttemptOutcome.SCHEDULED, node=node_name)


def preempting_attempt(attempt: AttemptT, victim: str) -> AttemptT:
    """Return an attempt that preempted one more pod, which is given by its key."""
    return attrs.evolve(attempt, preempted=(*attempt.preempted, victim))


def grouped_rejections(
    rejections: Iterable[NodeRejection], most_names: int
) -> tuple[RejectedNodes, ...]:
    """Group rejected nodes by plugin and reasons, the largest group first.

    Args:
        rejections: The rejections.
        most_names: How many nodes of each group are named at most.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[NodeRejection]] = {}
    for rejection in rejections:
        group = groups.setdefault((rejection.plugin, rejection.reasons), [])
        group.append(rejection)
    ordered = sorted(groups.items(), key=lambda group: -len(group[1]))
    return tuple(
        RejectedNodes(
            plugin=plugin,
            reasons=reasons,
            nodes=len(group),
            such_as=tuple(rejection.node for rejection in group[:most_names]),
            details=(*group[0].details, *group[0].post_filter),
        )
        for (plugin, reasons), group in ordered
    )
