"""The answer of `plan`."""

from collections.abc import Mapping
from decimal import Decimal

import attrs

from quaymaster._api.objects import Node
from quaymaster._base.displayed import Tabular
from quaymaster._base.notices import Notice
from quaymaster._studies.capacity.node_status import ClosedNode
from quaymaster._studies.planning.costs import Costs
from quaymaster._studies.planning.groups import NodeGroup
from quaymaster._studies.planning.scaled import ScaledPlan
from quaymaster._studies.planning.trials import Utilization
from quaymaster._studies.simulation.results import SimulationResult, UnscheduledPod

__all__ = [
    "Lack",
    "Plan",
    "PlannedGroup",
    "PlannedRound",
    "UnplacedKind",
    "Utilization",
]


@attrs.frozen(kw_only=True)
class PlannedGroup:
    """The nodes of one group in a plan.

    Attributes:
        group: The group.
        nodes: How many nodes of it the plan has.
        spare: How many of them are spare.
        utilization: Resource -> its utilisation on these nodes.
    """

    group: NodeGroup
    nodes: int
    spare: int = 0
    utilization: Mapping[str, Utilization] = attrs.field(factory=dict)

    @property
    def spare_cost(self) -> Decimal:
        """The price of the spare nodes; their number if the price is unknown."""
        return self.spare * (self.group.price or Decimal(1))

    @property
    def cost(self) -> Decimal | None:
        """The price of all nodes; None if a price is unknown."""
        return None if self.group.price is None else self.nodes * self.group.price

    @property
    def spec(self) -> str:
        """The text for ``--nodes`` that makes these nodes."""
        return self.group.spec(self.nodes)


@attrs.frozen(kw_only=True)
class PlannedRound:
    """What a plan adds at one time, after the pods of earlier rounds have their nodes.

    Attributes:
        nodes: How many nodes of each group, in the order of the groups.
        pending: How many pods have no node afterwards.
        cost: What the nodes of this round and of those before it cost; None if a price
            is unknown.
    """

    nodes: tuple[int, ...]
    pending: int
    cost: Decimal | None = None


@attrs.frozen(kw_only=True)
class Lack:
    """A resource of which a pod requests more than any node offers.

    Attributes:
        requested: What the pod requests: CPU in millicores, memory in bytes.
        largest: What the node with most of it offers.
    """

    requested: int
    largest: int


@attrs.frozen(kw_only=True)
class UnplacedKind:
    """Pods of one workload that a plan does not place, for the same reason.

    Attributes:
        workload: The topmost owner, as ``deployment.apps/NAMESPACE/NAME``; for pods
            without an owner, one of them.
        pods: How many pods.
        example: The key of one of them.
        message: Why, in the scheduler's words.
        lacks: The resources of which each of them requests more than any node offers.
    """

    workload: str
    pods: int
    example: str
    message: str
    lacks: Mapping[str, Lack] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Plan(Tabular):
    """The nodes with which everything fits, or the reason why there is no such plan.

    Attributes:
        groups: The groups, in the given order; without a plan, with no nodes.
        nodes: The nodes of the plan, to be added to those of the input.
        is_found: Whether there is a plan.
        rounds: What is added when, if the nodes are bought in rounds: first what is
            there from the beginning, maybe nothing. Empty if that is all.
        is_final: Whether that was proven: that no plan is better than this one, bought
            at once or in rounds, or that there is none at all. If plans in rounds were
            not searched, that is proven of plans without rounds.
        is_final_at_once: Whether that was proven of plans without rounds.
        has_looked_at_rounds: Whether plans in rounds were searched, too.
        lower_bound: The least that a plan can cost if the groups have prices, and else
            the fewest nodes it can have, also where this one may not be the best;
            without spare nodes. If the plan has no rounds, the bound holds for plans
            without rounds.
        lower_bound_in_rounds: The same for all plans.
        tried: How many plans were tried, each by at least one simulation.
        utilization: Resource -> how much of it is requested in the end, on all nodes
            that accept pods.
        costs: The prices of all nodes, divided among workloads and namespaces.
        closed_nodes: The nodes of the input that accept no pods.
        unneeded_nodes: Nodes of the input without which the plan works as well.
        spot_share: The part of the CPU of the plan's nodes that spot nodes have; None
            without nodes.
        daemon_sets_first: Whether pods of DaemonSets were tried before all others.
        obstacle: Why there is no plan, in one line; empty if there is one.
        unplaced: Without a plan, the pods that did not fit.
        unplaced_kinds: The same by workload and reason, the most pods first.
        partial: Without a plan for all pods, one for the others, if it places any:
            `unplaced` of that plan are the pods that it leaves pending. It has a lower
            bound if no group can take these pods.
        has_bound: Whether the lower bounds are those of a search. If not, the plan is
            the best one that was bought in rounds while pods could be placed.
        scaled: What the autoscaler does whose nodes the plan may add; None without one,
            or if the time was over before it had settled.
        result: The simulation of the plan, or of the last one that was tried; None if
            none was.
        notices: What was left out or assumed.
    """

    groups: tuple[PlannedGroup, ...]
    nodes: tuple[Node, ...] = ()
    is_found: bool = False
    is_final: bool = False
    is_final_at_once: bool = False
    has_looked_at_rounds: bool = False
    rounds: tuple[PlannedRound, ...] = ()
    lower_bound: Decimal = Decimal(0)
    lower_bound_in_rounds: Decimal = Decimal(0)
    tried: int = 0
    utilization: Mapping[str, Utilization] = attrs.field(factory=dict)
    costs: Costs = attrs.field(factory=Costs)
    closed_nodes: tuple[ClosedNode, ...] = ()
    unneeded_nodes: tuple[str, ...] = ()
    spot_share: float | None = None
    daemon_sets_first: bool = False
    obstacle: str = ""
    unplaced: tuple[UnscheduledPod, ...] = ()
    unplaced_kinds: tuple[UnplacedKind, ...] = ()
    partial: "Plan | None" = None
    has_bound: bool = True
    scaled: ScaledPlan | None = None
    result: SimulationResult | None = attrs.field(default=None, repr=False)
    notices: tuple[Notice, ...] = ()

    @property
    def cost(self) -> Decimal | None:
        """The cost of all nodes; None if the groups have no prices."""
        costs = [group.cost for group in self.groups]
        prices = [cost for cost in costs if cost is not None]
        return sum(prices, Decimal(0)) if len(prices) == len(costs) else None

    @property
    def spare_cost(self) -> Decimal:
        """What the spare nodes cost; without prices, how many there are."""
        return sum((group.spare_cost for group in self.groups), Decimal(0))

    @property
    def gap(self) -> float:
        """The largest possible excess over the best plan, as a part of the bound.

        0 if the plan is the best one; infinite if the bound is 0 and that is unproven.
        """
        if self.is_final or not self.is_found:
            return 0.0
        value = Decimal(len(self.nodes)) if self.cost is None else self.cost
        value -= self.spare_cost
        bound = (
            self.lower_bound_in_rounds
            if self.has_looked_at_rounds
            else self.lower_bound
        )
        if not bound:
            return float("inf") if value else 0.0
        return float(value / bound - 1)
