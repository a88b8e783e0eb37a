"""The explanation of one pod: why it is on its node, or on none."""

import enum

import attrs

from quaymaster._base.displayed import Tabular
from quaymaster._base.notices import Notice
from quaymaster._core.config.model import RANDOM
from quaymaster._core.cycle.explanation import (
    Explanation,
    NodeRejection,
    NodeScores,
)
from quaymaster._core.engine.attempts import Attempt, AttemptOutcome
from quaymaster._studies.simulation.explained_groups import ExplainedGroup
from quaymaster._studies.simulation.scaling import PodScaling

__all__ = ["ExplainedPod", "NodeFate", "WhichAttempt", "WhyNot"]


class WhichAttempt(enum.StrEnum):
    """Which attempts of a pod are explained."""

    AUTO = "auto"
    """The last one. If pods of the input are terminating, the first one, which is made
    while they still exist."""

    FIRST = "first"
    """The first one: in the cluster of the input, with the pods that were placed before
    this one."""

    LAST = "last"
    """The last one: the one that gave the pod its node, if it has one."""

    ALL = "all"
    """Every one."""


class NodeFate(enum.StrEnum):
    """The result of an attempt for one node."""

    CHOSEN = "chosen"
    """The pod was bound to it."""

    FEASIBLE = "feasible"
    """It was feasible, but another one was chosen."""

    REJECTED = "rejected"
    """Some plugin rejected it."""

    NOT_LOOKED_AT = "not-looked-at"
    """It was not evaluated: enough feasible nodes were found before, or the pod was
    nominated to another node that was feasible."""

    UNKNOWN = "unknown"
    """There was no such node."""


@attrs.frozen(kw_only=True)
class WhyNot:
    """The result of an attempt for one node, with the reasons.

    Attributes:
        node: The node's name.
        fate: Its result.
        rejections: The rejection of every plugin that rejects it, in profile order; not
            only the first.
        nominated: The keys of the pods that are nominated to it, whose requests count.
        scores: Its scores, if it was feasible.
        winner: The scores of the chosen node, if any.
        preemption: The result of preemption for it, if the pod found no node.
        tie_breaker: What chooses among nodes with the same total.
    """

    node: str
    fate: NodeFate
    rejections: tuple[NodeRejection, ...] = ()
    nominated: tuple[str, ...] = ()
    scores: NodeScores | None = None
    winner: NodeScores | None = None
    preemption: str = ""
    tie_breaker: str = RANDOM


@attrs.frozen(kw_only=True)
class ExplainedPod(Tabular):
    """Why a pod is on its node, or on none.

    Attributes:
        pod: Its key.
        scheduler: The profile of the pod.
        outcome: For the attempt that is shown: ``scheduled``, ``unschedulable`` or
            ``error``. For a pod that was never tried: ``gated``, ``bound`` (it came
            with a node), ``ignored`` (no profile has its scheduler name) or
            ``terminating`` (it was deleted before it had a node).
        node: The node that the attempt gave it, or empty.
        message: Why it has no node, in upstream's words.
        explanation: The explanation of that attempt; None if there was none.
        notices: What was left out or assumed.
        attempt: The number of the attempt that is shown, from 1; 0 if there was none.
        attempts: All attempts, in their order.
        why_not: Why that attempt did not choose the requested node; None without such a
            node or without an attempt.
        terminating: How many pods of the input were terminating at the beginning.
        group: The decision about its PodGroup, with the attempt of that time; None for
            a pod outside groups.
        scaling: What an autoscaler decided for the pod; None without one.
    """

    pod: str
    scheduler: str
    outcome: AttemptOutcome
    node: str
    message: str
    explanation: Explanation | None
    notices: tuple[Notice, ...] = ()
    attempt: int = 0
    attempts: tuple[Attempt, ...] = ()
    terminating: int = 0
    why_not: WhyNot | None = None
    group: ExplainedGroup | None = None
    scaling: PodScaling | None = None
