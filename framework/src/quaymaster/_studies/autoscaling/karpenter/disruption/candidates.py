"""The nodes that may be disrupted, and why the others may not.

Mirrors ``NewCandidate`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/disruption/types.go``), ``ValidateNodeDisruptable`` and
``ValidatePodsDisruptable`` (``pkg/controllers/state/statenode.go``).
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar, Final, TypeAlias

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.amounts import (
    Amounts,
    added,
    requests_of,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState, StateNode
from quaymaster._studies.autoscaling.karpenter.disruption.costs import (
    BASE_COST,
    lifetime_remaining,
    reschedule_cost,
)
from quaymaster._studies.autoscaling.karpenter.disruption.eligibility import (
    Eligibility,
    eligibility_of,
)
from quaymaster._studies.autoscaling.karpenter.disruption.events import sentence
from quaymaster._studies.autoscaling.karpenter.disruption_limits import (
    DisruptionLimits,
)
from quaymaster._studies.autoscaling.karpenter.go_sort import sort_slice
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    NODE_POOL,
    ZONE,
)
from quaymaster._studies.autoscaling.karpenter.objects import NodeClaim, NodePool
from quaymaster._studies.autoscaling.karpenter.offered_types import offered_types
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.pods import (
    DO_NOT_DISRUPT,
    is_daemon_pod,
    is_disruptable,
)

__all__ = [
    "Blocked",
    "Candidate",
    "CandidateFinder",
    "Shape",
    "in_order",
    "is_balanced",
]

Shape: TypeAlias = tuple[tuple[str, int], ...]
"""What a pod requests."""

_BALANCED: Final = "Balanced"
"""A consolidation policy."""

_MULTIPLE: Final = "eviction does not support multiple PDBs"


@attrs.frozen(kw_only=True, eq=False)
class Candidate:
    """A node that may be disrupted.

    Attributes:
        node: The node.
        claim: Its claim.
        pool: Its pool.
        instance_type: Its type; None if the pool's provider does not know it.
        pods: The pods that need another place.
        price: What it costs per hour; 0 if that is unknown.
        reschedule_cost: What moving its pods costs.
        limits: The PodDisruptionBudgets.
    """

    node: StateNode
    claim: NodeClaim
    pool: NodePool
    instance_type: InstanceType | None
    pods: Sequence[Pod]
    price: float
    reschedule_cost: float
    limits: DisruptionLimits

    @functools.cached_property
    def name(self) -> str:
        """The name of the node."""
        return self.node.name

    @functools.cached_property
    def capacity_type(self) -> str:
        """Its capacity type, or empty."""
        return self.node.labels.get(CAPACITY_TYPE, "")

    @functools.cached_property
    def ratio(self) -> float:
        """The price for each unit of cost; nodes with more go first."""
        return self.price / self.reschedule_cost

    @property
    def is_empty(self) -> bool:
        """Whether no pod makes it costly to remove."""
        return self.reschedule_cost <= BASE_COST

    @functools.cached_property
    def eligibility(self) -> Eligibility:
        """For which methods it counts."""
        return eligibility_of(
            self.claim,
            self.pool,
            self.node.labels,
            self.instance_type,
            is_empty=self.is_empty,
        )

    @functools.cached_property
    def is_usual(self) -> bool:
        """Whether it counts for consolidation only, as most nodes do."""
        return self.eligibility.is_usual

    @functools.cached_property
    def moving_pods(self) -> Sequence[Pod]:
        """The pods that would soon leave it, and need another node."""
        may_leave = self.limits.is_currently_reschedulable
        return [pod for pod in self.pods if may_leave(pod)]

    @functools.cached_property
    def shapes(self) -> Mapping[Shape, Amounts]:
        """What these pods request: the sum of those that request the same."""
        shapes: dict[Shape, Amounts] = {}
        for pod in self.moving_pods:
            requests = requests_of(pod)
            shape = tuple(requests.items())
            shapes[shape] = added(shapes.get(shape, {}), requests)
        return shapes

    def disruption_cost(self, now: float) -> float:
        """Return what the disruption of all its pods costs, less for old nodes."""
        # The other cost is of the pods that need another node.
        age = now - (self.claim.metadata.creation_timestamp or now)
        rest = lifetime_remaining(age, self.claim.spec.expire_after_seconds)
        return self.node.eviction_cost * rest


def is_balanced(pool: NodePool) -> bool:
    """Return whether a pool has the consolidation policy Balanced."""
    return pool.spec.disruption.consolidation_policy == _BALANCED


def in_order(candidates: Iterable[Candidate]) -> Sequence[Candidate]:
    """Return nodes by price for each unit of cost, the highest first."""
    # By savings and not by disruption cost alone: most documentation still describes
    # that older order.
    return sort_slice(candidates, lambda each: -each.ratio)


@attrs.frozen
class Blocked:
    """Why a node may not be disrupted.

    Attributes:
        node: The node.
        problem: The whole error.
        message: The text of the event, or empty without one.
        is_by_pods: Whether only its pods block it.
        is_usual: No.
    """

    node: StateNode
    problem: str
    message: str
    is_by_pods: bool = False
    is_usual: ClassVar[bool] = False


class CandidateFinder:
    """Decides which nodes may be disrupted.

    Args:
        state: The cluster.
        options: The options of Karpenter.
    """

    def __init__(self, state: ClusterState, options: KarpenterOptions) -> None:
        self._state = state
        self._options = options
        self._limits = state.disruption_limits
        self._now = state.now

    def candidate(
        self, node: StateNode, *, ignores_pods: bool = False
    ) -> Candidate | Blocked:
        """Return a node as a candidate, or why it is none.

        Args:
            node: The node.
            ignores_pods: Whether pods do not block if the claim limits its drain.
        """
        problem = self._node_problem(node)
        claim = node.claim
        if problem or claim is None:
            message = sentence(problem) if claim is not None else ""
            return Blocked(node, _node_error(node, problem), message)
        pool_name = node.labels.get(NODE_POOL, "")
        pool = self._state.pools.get(pool_name)
        if pool is None or not self._state.instance_types.get(pool_name):
            text = f"(NodePool={pool_name})"
            message = f"NodePool not found {text}"
            return Blocked(node, f"nodepool not found {text}", message)
        problem = self._pod_problem(node)
        is_bounded = claim.spec.termination_grace_period is not None
        if problem and not (ignores_pods and is_bounded):
            text = f"validating pod disruption, {problem} (Node={node.name})"
            return Blocked(node, text, sentence(problem), is_by_pods=True)
        return self._made(node, claim, pool)

    @staticmethod
    def busy(node: StateNode) -> Blocked:
        """Return why a node that is being disrupted may not be disrupted."""
        return Blocked(node, "candidate is already being disrupted", "")

    def as_candidate(self, node: StateNode) -> Candidate | None:
        """Return a node as if it might be disrupted; None if it has no known pool."""
        pool = self._state.pools.get(node.pool)
        if node.claim is None or node.node is None or pool is None:
            return None
        return self._made(node, node.claim, pool)

    def cost_of(self, node: StateNode) -> float:
        """Return what moving the pods of any node would cost."""
        return reschedule_cost(
            p for p in node.pods if not p.is_finished and not is_daemon_pod(p)
        )

    def price_of(self, pool: str, labels: Mapping[str, str]) -> float:
        """Return the price of a machine of a pool by its labels; 0 if unknown."""
        return _listed_price(_type_of(self._state, self._options, pool, labels), labels)

    def _made(self, node: StateNode, claim: NodeClaim, pool: NodePool) -> Candidate:
        labels = node.labels
        instance_type = _type_of(self._state, self._options, pool.name, labels)
        return Candidate(
            node=node,
            claim=claim,
            pool=pool,
            instance_type=instance_type,
            pods=node.reschedulable_pods,
            price=_listed_price(instance_type, labels),
            reschedule_cost=node.reschedule_cost,
            limits=self._limits,
        )

    def _node_problem(self, node: StateNode) -> str:
        if node.claim is None:
            return "node isn't managed by karpenter"
        if node.node is None:
            return "nodeclaim does not have an associated node"
        # Also while the node is drained for the restart, when it is still initialised.
        if node.is_rebooting:
            return "node is rebooting"
        if node.marked_for_deletion:
            return "node is deleting or marked for deletion"
        # Before the nomination, which is renewed as long as pods wait for a node that
        # starts.
        if not node.is_initialized:
            if not node.is_registered:
                return "node isn't initialized nor registered"
            return "node isn't initialized"
        if node.is_nominated(self._now):
            return "node is nominated for a pending pod"
        if node.annotations.get(DO_NOT_DISRUPT) == "true":
            return f'disruption is blocked through the "{DO_NOT_DISRUPT}" annotation'
        if NODE_POOL not in node.labels:
            return f"node doesn't have required label (label={NODE_POOL})"
        return ""

    def _pod_problem(self, node: StateNode) -> str:
        for pod in node.pods:
            if not is_disruptable(pod, self._now):
                return f'pod has "{DO_NOT_DISRUPT}" annotation (Pod={pod.key})'
        budgets = self._limits.blocking(node.pods)
        if not budgets:
            return ""
        names = " ".join(budgets)
        if len(budgets) > 1:
            return f"{_MULTIPLE} (PodDisruptionBudget(s)=[{names}])"
        return f"pdb prevents pod evictions (PodDisruptionBudget=[{names}])"


def _node_error(node: StateNode, problem: str) -> str:
    is_named = node.node is not None and node.is_registered
    kind = "Node" if is_named else "NodeClaim"
    name = node.claim.name if node.claim and not is_named else node.name
    return f"validating node for disruption, {problem} ({kind}={name})"


def _type_of(
    state: ClusterState, options: KarpenterOptions, pool: str, labels: Mapping[str, str]
) -> InstanceType | None:
    """Return the type that labels name among those of a pool, or None."""
    key = ("types", options, pool)
    by_name: Mapping[str, InstanceType] | None = state.cache.get(key)
    if by_name is None:
        offered = offered_types(state, options).get(pool, ())
        by_name = {each.name: each for each in offered}
        state.cache[key] = by_name
    return by_name.get(labels.get(INSTANCE_TYPE, ""))


def _listed_price(
    instance_type: InstanceType | None, labels: Mapping[str, str]
) -> float:
    """Return the price of the offering that labels name; 0 if it is unknown."""
    if instance_type is None:
        return 0.0
    zone, capacity_type = labels.get(ZONE, ""), labels.get(CAPACITY_TYPE, "")
    return instance_type.offering_price(zone, capacity_type) or 0.0
