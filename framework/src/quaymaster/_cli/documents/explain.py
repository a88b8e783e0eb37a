"""The results of ``explain``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.explain_node import PodScalingPart
from quaymaster._cli.documents.explained_groups import ExplainedGroupPart
from quaymaster._cli.documents.parts import (
    DocumentPart,
    NodeScoresPart,
    RejectionPart,
    WarningPart,
)
from quaymaster._core.engine.attempts import AttemptOutcome
from quaymaster._studies.simulation.explained import NodeFate
from quaymaster._studies.why.changes import ChangeKind

__all__ = [
    "AttemptPart",
    "CauseCountPart",
    "CausePart",
    "ChangePart",
    "ExplainDocument",
    "FieldChangePart",
    "PendingDocument",
    "PendingGroupPart",
    "SuggestionsPart",
    "VerdictPart",
    "WhyNotPart",
]


class AttemptPart(DocumentPart, frozen=True):
    """An attempt to find a node for a pod.

    Attributes:
        attempt: Its number, from 1.
        at: When it began, in seconds since the beginning.
        outcome: Its outcome.
        node: The chosen node; may be empty.
        nominated_node: The node that the pod was nominated to; may be empty.
        message: Why the pod got no node, in upstream's words.
        preempted: The pods that were preempted for it.
        rejections: The nodes that were rejected, if the attempt was explained.
        scores: The scores of the nodes that fit, if the attempt was explained.
        tie_breaker: What chooses among nodes with the same total, if the attempt was
            explained.
    """

    attempt: int
    at: float
    outcome: AttemptOutcome
    node: str
    nominated_node: str
    message: str
    preempted: list[str]
    rejections: list[RejectionPart] | UnsetType = UNSET
    scores: list[NodeScoresPart] | UnsetType = UNSET
    tie_breaker: str | UnsetType = UNSET


class VerdictPart(DocumentPart, frozen=True):
    """The rejection of the node of --why-not by one plugin.

    Attributes:
        plugin: The plugin.
        code: The code of its status.
        reasons: The reasons, in upstream's words.
        details: The facts behind them.
        post_filter: What preemption can do on this node.
    """

    plugin: str
    code: str
    reasons: list[str]
    details: list[str]
    post_filter: list[str]


class WhyNotPart(DocumentPart, frozen=True):
    """Why an attempt did not choose the node of --why-not.

    Attributes:
        node: The name of the node.
        fate: Its result.
        rejections: The rejection of every plugin that rejects it, in profile order.
        nominated: The pods that are nominated to it, whose requests count.
        total: Its total score; null if it was not feasible.
        winner_total: The total score of the chosen node; null if there is none.
        preemption: The result of preemption for it; may be empty.
    """

    node: str
    fate: NodeFate
    rejections: list[VerdictPart]
    nominated: list[str]
    total: int | None
    winner_total: int | None
    preemption: str


class FieldChangePart(DocumentPart, frozen=True):
    """A field that is changed.

    Attributes:
        object: The object in kubectl's notation, such as deployment/web.
        namespace: Its namespace; empty if it has none.
        path: The path of the field.
        old: The current value; empty if the field is missing.
        new: The required value as YAML; empty if the field must be removed.
    """

    object: str
    namespace: str
    path: str
    old: str
    new: str


class ChangePart(DocumentPart, frozen=True):
    """A tried change that places pods.

    Attributes:
        kinds: Its kind, or two kinds for two changes together.
        text: The change as a sentence.
        command: The kubectl command that makes it; empty if no short command makes it.
        placed: How many more pods of the input have a node with it.
        evicted: How many other pods lose their nodes, or get none, because of it.
        fields: The changed fields.
    """

    kinds: list[ChangeKind]
    text: str
    command: str
    placed: int
    evicted: int
    fields: list[FieldChangePart]


class SuggestionsPart(DocumentPart, frozen=True):
    """The changes that place a pod.

    Attributes:
        subject: The object that a user would change, such as deployment/web.
        namespace: Its namespace.
        pending: How many of its pods have no node without any change.
        changes: The changes, the smallest first.
        candidates: How many single changes could be tried.
        trials: How many simulations were run.
        complete: Whether all changes were tried.
        remarks: Facts that explain why the pod is pending.
    """

    subject: str
    namespace: str
    pending: int
    changes: list[ChangePart]
    candidates: int
    trials: int
    complete: bool
    remarks: list[str]


class ExplainDocument(DocumentPart, frozen=True):
    """Why a pod is placed on a node, or on none: ``explain POD -o json``.

    Attributes:
        pod: Its namespace and name.
        scheduler: The profile of the pod.
        outcome: The outcome of the attempt, or the state of a pod that was not tried.
        node: The node; may be empty.
        message: Why it has none, in upstream's words.
        rejections: The nodes that the attempt rejected.
        scores: The scores of the nodes that fit.
        tie_breaker: What chooses among nodes with the same total; null without an
            attempt.
        attempt: The number of the attempt, from 1; 0 if there was none.
        attempts: All attempts.
        terminating: How many pods of the input were terminating at the beginning.
        warnings: What was left out or assumed.
        pod_group: The decision about its PodGroup; missing for a pod outside groups.
        why_not: The verdict about one node, with --why-not.
        suggestions: The changes that place the pod, with --suggest.
        scaling: What the autoscaler decided for the pod, with --autoscaler.
    """

    pod: str
    scheduler: str
    outcome: AttemptOutcome
    node: str
    message: str
    rejections: list[RejectionPart]
    scores: list[NodeScoresPart]
    tie_breaker: str | None
    attempt: int
    attempts: list[AttemptPart]
    terminating: int
    warnings: list[WarningPart]
    pod_group: ExplainedGroupPart | UnsetType = UNSET
    why_not: WhyNotPart | UnsetType = UNSET
    suggestions: SuggestionsPart | UnsetType = UNSET
    scaling: PodScalingPart | UnsetType = UNSET


class CausePart(DocumentPart, frozen=True):
    """The reason why some nodes were rejected for a pod, or why it was not tried.

    Attributes:
        plugin: The plugin that rejected; may be empty.
        reason: Its message.
        nodes: The number of nodes; 0 if the cause does not concern nodes.
        alone: The number of these nodes that nothing else keeps from the pod.
    """

    plugin: str
    reason: str
    nodes: int
    alone: int


class CauseCountPart(DocumentPart, frozen=True):
    """A cause of all groups together.

    Attributes:
        helped: How many of the pods have a node that only this cause keeps from them.
        pods: How many pods the cause keeps from some node.
        plugin: The plugin that rejected; may be empty.
        reason: Its message.
    """

    helped: int
    pods: int
    plugin: str
    reason: str


class PendingGroupPart(DocumentPart, frozen=True):
    """Pending pods of the same owner with the same causes.

    Attributes:
        pods: The namespaces and names of the pods.
        namespace: The namespace of their owner.
        subject: Their owner in kubectl's notation, such as deployment/web.
        scheduler: The scheduler name of the pods.
        reason: One word, as in the condition PodScheduled.
        message: Why the first of them has no node, in upstream's words.
        causes: The causes for the first of them.
        change: The smallest change that places all of them; null if there is none.
        remarks: Facts that explain why they are pending.
        facts: The facts of plugins behind the message of the first of them.
    """

    pods: list[str]
    namespace: str
    subject: str
    scheduler: str
    reason: str
    message: str
    causes: list[CausePart]
    change: ChangePart | None
    remarks: list[str]
    facts: list[str]


class PendingDocument(DocumentPart, frozen=True):
    """Why many pods have no node: ``explain --all-pending -o json``.

    Attributes:
        groups: The groups of pending pods, the largest first.
        causes: The causes of all groups together.
        pending: How many pods are pending.
        placed: How many pods have got a node.
        kept: How many pods had a node in the input, and still have it.
        nodes: How many nodes there are.
        trials: How many simulations were run to try changes.
        complete: Whether all changes were tried.
        warnings: What was left out or assumed.
    """

    groups: list[PendingGroupPart]
    causes: list[CauseCountPart]
    pending: int
    placed: int
    kept: int
    nodes: int
    trials: int
    complete: bool
    warnings: list[WarningPart]
