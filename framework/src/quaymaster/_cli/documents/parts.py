"""Parts that several results have in common."""

import msgspec

from quaymaster._studies.simulation.explained_groups import GroupOutcome

__all__ = [
    "ClosedNodePart",
    "DecidedPart",
    "DocumentPart",
    "MovePart",
    "NodeScoresPart",
    "PlacedPart",
    "PluginScorePart",
    "PodGroupPart",
    "PodReasonsPart",
    "PreemptedPart",
    "RejectionPart",
    "ResourcePart",
    "SpreadPart",
    "StuckRolloutPart",
    "UnscheduledPart",
    "WarningPart",
]


class DocumentPart(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"
):
    """An object of a result. Keys that have a default may be missing."""


class WarningPart(DocumentPart, frozen=True):
    """Something that was left out or assumed.

    Attributes:
        reason: One word for programs.
        where: The file, the object or the profile.
        path: The path of the field; may be empty.
        message: The warning.
    """

    reason: str
    where: str
    path: str
    message: str


class UnscheduledPart(DocumentPart, frozen=True):
    """A pod without a node.

    Attributes:
        pod: Its namespace and name.
        reason: One word, as in the condition PodScheduled, such as Unschedulable.
        scheduler: The scheduler name in its spec.
        attempts: How often it was tried.
        created: When it entered the simulation, in seconds since the beginning.
        plugins: The plugins that rejected it, sorted.
        message: Why, in upstream's words.
        reasons: The reasons for which nodes were rejected, each once, without counts.
        facts: The facts of plugins behind the reasons; empty without --facts.
    """

    pod: str
    reason: str
    scheduler: str
    attempts: int
    created: float
    plugins: list[str]
    message: str
    reasons: list[str]
    facts: list[str]


class PodGroupPart(DocumentPart, frozen=True):
    """A PodGroup at the end of a simulation.

    Attributes:
        group: Its namespace and name.
        outcome: Its state.
        pods: How many pods it has.
        placed: How many of them have a node.
        min_count: The pods that must fit together; null without a gang policy.
        topology_key: The label of nodes whose value its pods must share; may be empty.
        domains: Value of that label -> the number of its pods on such nodes.
        message: What it waits for, or why it does not fit.
    """

    group: str
    outcome: GroupOutcome
    pods: int
    placed: int
    min_count: int | None
    topology_key: str
    domains: dict[str, int]
    message: str


class PodReasonsPart(DocumentPart, frozen=True):
    """Pods without a node that have the same reasons.

    Attributes:
        pods: How many pods.
        reasons: Their reasons.
    """

    pods: int
    reasons: list[str]


class PreemptedPart(DocumentPart, frozen=True):
    """A pod that was preempted for another one.

    Attributes:
        pod: The namespace and name of the victim.
        by: The namespace and name of the pod that it was preempted for.
        node: The node.
        at: The time, in seconds since the beginning.
    """

    pod: str
    by: str
    node: str
    at: float


class ResourcePart(DocumentPart, frozen=True):
    """The amounts of a resource: CPU in millicores, memory and storage in bytes.

    Attributes:
        allocatable: What the nodes offer.
        requested: What the pods on them request.
        free: The free amount; 0 if requests exceed the allocatable amount.
        utilization: The requested part of the allocatable amount.
    """

    allocatable: int
    requested: int
    free: int
    utilization: float


class PluginScorePart(DocumentPart, frozen=True):
    """The score that a plugin gives a node.

    Attributes:
        raw: The plugin's own score.
        normalized: The score after normalizing, from 0 to 100.
        weighted: The normalized score times the plugin's weight.
    """

    raw: int
    normalized: int
    weighted: int


class NodeScoresPart(DocumentPart, frozen=True):
    """The scores of a node.

    Attributes:
        node: The name of the node.
        total: The sum of the weighted scores.
        plugins: Plugin -> its score.
    """

    node: str
    total: int
    plugins: dict[str, PluginScorePart]


class RejectionPart(DocumentPart, frozen=True):
    """A node that an attempt rejected.

    Attributes:
        node: The name of the node.
        plugin: The plugin; empty if the node was not evaluated, or PreFilter left it
            out.
        code: The code of the plugin's status.
        reasons: The reasons, in upstream's words.
        details: The facts behind them.
        post_filter: What preemption can do on this node.
    """

    node: str
    plugin: str
    code: str
    reasons: list[str]
    details: list[str]
    post_filter: list[str]


class ClosedNodePart(DocumentPart, frozen=True):
    """A node that accepts no pods.

    Attributes:
        node: Its name.
        status: Its status as kubectl get nodes prints it.
        why: Why it accepts no pods.
    """

    node: str
    status: str
    why: str


class DecidedPart(DocumentPart, frozen=True):
    """A decision about a pod.

    Attributes:
        node: The node; empty if it got none.
        message: Why it got none, in upstream's words.
        nominated_node: The node that it was nominated to; may be empty.
        victims: The pods that were preempted for it.
    """

    node: str
    message: str
    nominated_node: str
    victims: list[str]


class StuckRolloutPart(DocumentPart, frozen=True):
    """A rollout that is not complete, and whose pods make no progress.

    Attributes:
        namespace: The namespace of the workload.
        workload: The workload, as deployment/nginx.
        seconds: How long ago the last progress was made.
        pending: How many new pods have no node.
        message: What keeps the rollout from completing.
        exceeded_deadline: Whether progressDeadlineSeconds of a Deployment is over.
    """

    namespace: str
    workload: str
    seconds: float
    pending: int
    message: str
    exceeded_deadline: bool


class MovePart(DocumentPart, frozen=True, rename={"source": "from", "target": "to"}):
    """A pod that is on another node than before, or whose replacement is.

    Attributes:
        workload: The workload of the pod, as deployment.apps/NAMESPACE/NAME.
        pod: The namespace and name of the pod now.
        was: The namespace and name of the pod before.
        source: The node before.
        target: The node now.
    """

    workload: str
    pod: str
    was: str
    source: str
    target: str


class PlacedPart(DocumentPart, frozen=True):
    """A pod that got a node during a step, and still has it.

    Attributes:
        workload: The workload of the pod, as deployment.apps/NAMESPACE/NAME.
        pod: Its namespace and name.
        node: The name of the node.
        at: When it got the node, in seconds since the beginning.
    """

    workload: str
    pod: str
    node: str
    at: float


class SpreadPart(DocumentPart, frozen=True):
    """The number of pods of a workload per topology domain.

    Attributes:
        workload: The workload, as deployment.apps/NAMESPACE/NAME.
        topology_key: The label of nodes whose values are the domains.
        before: Value of the label -> number of pods when the step began.
        after: Value of the label -> number of pods when the step had ended.
    """

    workload: str
    topology_key: str
    before: dict[str, int]
    after: dict[str, int]
