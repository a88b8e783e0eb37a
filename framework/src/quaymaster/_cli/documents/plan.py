"""The result of ``plan``."""

from quaymaster._cli.documents.parts import (
    ClosedNodePart,
    DocumentPart,
    WarningPart,
)

__all__ = [
    "CostSharePart",
    "CostsPart",
    "LackPart",
    "PackingPart",
    "PlacedPodPart",
    "PlanDocument",
    "PlanSummary",
    "PlannedGroupPart",
    "RoundPart",
    "ScaledPlanPart",
    "UnplacedKindPart",
    "UnplacedPodPart",
    "UtilizationPart",
]


class UtilizationPart(DocumentPart, frozen=True):
    """The utilization of a resource: CPU in millicores, memory and storage in bytes.

    Attributes:
        requested: What the pods request.
        allocatable: What the nodes offer.
        share: The requested part of the allocatable amount.
    """

    requested: int
    allocatable: int
    share: float


class PlannedGroupPart(DocumentPart, frozen=True):
    """The nodes of one group in a plan.

    Attributes:
        name: The name of the group.
        nodes: How many nodes of it the plan has.
        spare: How many of them are spare.
        autoscaler: How many nodes of it the autoscaler adds; null without one.
        min: The fewest nodes that a plan may have.
        max: The most nodes that a plan may have; null for any number.
        price: The price of a node; null if none is given.
        cost: The price of the nodes of the plan; null if none is given.
        spec: The group as the option of plan describes it.
        utilization: Resource -> its utilization on these nodes.
    """

    name: str
    nodes: int
    spare: int
    autoscaler: int | None
    min: int
    max: int | None
    price: float | None
    cost: float | None
    spec: str
    utilization: dict[str, UtilizationPart]


class RoundPart(DocumentPart, frozen=True):
    """A round in which nodes are added for the pods that are still pending.

    Attributes:
        nodes: Group -> how many nodes of it are added.
        pending: How many pods are pending afterwards.
        cost: The price of all nodes so far; null without prices.
    """

    nodes: dict[str, int]
    pending: int
    cost: float | None


class PlanSummary(DocumentPart, frozen=True):
    """The numbers of a plan.

    Attributes:
        found: Whether the plan places all pods.
        nodes: How many nodes it adds.
        cost: Their price; null without prices.
        lower_bound: What no plan that is bought at once costs less than; without
            prices, a number of nodes. Null if it was not computed.
        lower_bound_in_rounds: The same for plans that are bought in rounds.
        proven: Whether the answer is proven to be the best, or that there is none.
        proven_at_once: Whether it is proven for plans that are bought at once.
        gap: The largest possible excess over the best plan, as a part of the bound;
            null if it is unknown.
        tried: How many plans were tried.
        obstacle: Why no plan was found; empty if one was found.
    """

    found: bool
    nodes: int
    cost: float | None
    lower_bound: float | None
    lower_bound_in_rounds: float | None
    proven: bool
    proven_at_once: bool
    gap: float | None
    tried: int
    obstacle: str


class CostSharePart(DocumentPart, frozen=True):
    """What the pods of a workload or a namespace cost.

    Attributes:
        name: The workload or the namespace.
        pods: How many pods it has on nodes with a price.
        cost: Their share of the prices of these nodes.
    """

    name: str
    pods: int
    cost: float


class CostsPart(DocumentPart, frozen=True):
    """The prices of nodes, divided among their pods.

    Attributes:
        total: The prices of all nodes that have one.
        idle: The part of them that no pod requests.
        unpriced_nodes: How many nodes have no price.
        namespaces: The costs by namespace, the most expensive first.
        workloads: The costs by workload, the most expensive first.
    """

    total: float
    idle: float
    unpriced_nodes: int
    namespaces: list[CostSharePart]
    workloads: list[CostSharePart]


class PlacedPodPart(DocumentPart, frozen=True):
    """A pod with its node.

    Attributes:
        pod: Its namespace and name.
        node: The name of the node.
    """

    pod: str
    node: str


class UnplacedPodPart(DocumentPart, frozen=True):
    """A pod that the plan does not place.

    Attributes:
        pod: Its namespace and name.
        reason: One word, as in the condition PodScheduled.
        message: Why, in upstream's words.
        plugins: The plugins that rejected it.
    """

    pod: str
    reason: str
    message: str
    plugins: list[str]


class LackPart(DocumentPart, frozen=True):
    """A resource of which a pod requests more than any node offers.

    Attributes:
        requested: What the pod requests.
        largest: The most that a node offers.
    """

    requested: int
    largest: int


class UnplacedKindPart(DocumentPart, frozen=True):
    """Pods of one workload that the plan does not place, for the same reason.

    Attributes:
        workload: The topmost owner, as deployment.apps/NAMESPACE/NAME; else a pod.
        pods: How many pods.
        example: The namespace and name of one of them.
        message: Why, in upstream's words.
        lacks: The resources of which each of them requests more than any node offers.
    """

    workload: str
    pods: int
    example: str
    message: str
    lacks: dict[str, LackPart]


class PackingPart(DocumentPart, frozen=True):
    """A plan with the profile that packs pods.

    Attributes:
        config: The name of the profile for --config.
        nodes: How many nodes the plan adds.
        cost: Their price; null without prices.
    """

    config: str
    nodes: int
    cost: float | None


class ScaledPlanPart(DocumentPart, frozen=True):
    """What the autoscaler does for the same pods, until it changes nothing more.

    Attributes:
        groups: Group -> how many nodes of it the autoscaler adds and keeps.
        nodes: How many nodes it adds and keeps.
        cost: Their price; null if one is unknown.
        removed: How many nodes of the input it removes.
        pending: How many pods have no node at the end.
        seconds: When the last of its nodes is ready.
    """

    groups: dict[str, int]
    nodes: int
    cost: float | None
    removed: int
    pending: int
    seconds: float


class PlanDocument(DocumentPart, frozen=True):
    """The fewest or cheapest nodes for some manifests: ``plan -o json``.

    Attributes:
        groups: The groups of nodes.
        rounds: The rounds in which nodes are bought; empty if that is at once.
        daemon_sets_first: Whether pods of DaemonSets got their room first.
        summary: The numbers of the plan.
        utilization: Resource -> its utilization on all nodes.
        closed_nodes: The nodes of the input that accept no pods.
        unneeded_nodes: The nodes of the input that the plan does not need.
        spot_share: The part of the added CPU that is on spot nodes; null without CPU.
        costs: The prices of nodes, divided among their pods.
        placements: The pods with their nodes.
        unplaced: The pods that the plan does not place.
        unplaced_kinds: The same pods, grouped by workload and reason.
        partial: The plan for the other pods, if there is none for all; else null.
        with_packing: A plan with the profile bin-packing, if that is better; else null.
        autoscaler: What the autoscaler of --autoscaler does; null without one.
        warnings: What was left out or assumed.
    """

    groups: list[PlannedGroupPart]
    rounds: list[RoundPart]
    daemon_sets_first: bool
    summary: PlanSummary
    utilization: dict[str, UtilizationPart]
    closed_nodes: list[ClosedNodePart]
    unneeded_nodes: list[str]
    spot_share: float | None
    costs: CostsPart
    placements: list[PlacedPodPart]
    unplaced: list[UnplacedPodPart]
    unplaced_kinds: list[UnplacedKindPart]
    partial: "PlanDocument | None"
    with_packing: PackingPart | None
    autoscaler: ScaledPlanPart | None
    warnings: list[WarningPart]
