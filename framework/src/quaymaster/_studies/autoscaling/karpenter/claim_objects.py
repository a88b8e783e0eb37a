"""The objects that Karpenter writes: claims and their nodes.

Mirrors ``ToNodeClaim`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling/nodeclaimtemplate.go``), and what kubelets and
``pkg/controllers/nodeclaim/lifecycle`` write to nodes.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Node,
    NodeCondition,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    OwnerReference,
    Taint,
    Time,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    InstanceType,
    Offering,
)
from quaymaster._studies.autoscaling.karpenter.labels import (
    HOSTNAME,
    INITIALIZED,
    INSTANCE_TYPE,
    REGISTERED,
)
from quaymaster._studies.autoscaling.karpenter.objects import (
    ClaimSpec,
    ClaimStatus,
    Condition,
    NodeClaim,
    NodePool,
    RequestSpec,
    RequirementSpec,
    is_true,
)
from quaymaster._studies.autoscaling.karpenter.pods import DISRUPTED_TAINT
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.solve.claims import ProposedClaim
from quaymaster._studies.autoscaling.karpenter.template_hash import (
    HASH,
    HASH_VERSION,
    VERSION,
    template_hash,
)

__all__ = [
    "FINALIZER",
    "as_initialized",
    "as_launched",
    "as_ready",
    "new_claim",
    "new_node",
    "quantities",
    "single_values",
    "with_condition",
    "with_disrupted_taint",
    "without_condition",
]

_UNIT: Final = 10**9
FINALIZER: Final = "karpenter.sh/termination"
_NOT_READY: Final = Taint(key="node.kubernetes.io/not-ready", effect="NoSchedule")


def new_claim(claim: ProposedClaim, now: float) -> NodeClaim:
    """Return the object of a claim that has been solved."""
    pool = claim.pool
    template = pool.spec.template.spec
    owner = OwnerReference(
        api_version=NodePool.api_version,
        kind=NodePool.kind,
        name=pool.name,
        uid=pool.uid,
        block_owner_deletion=True,
    )
    return NodeClaim(
        metadata=ObjectMeta(
            generate_name=f"{pool.name}-",
            creation_timestamp=Time(now),
            labels=dict(claim.labels),
            annotations={
                **claim.annotations,
                HASH: template_hash(pool),
                HASH_VERSION: VERSION,
            },
            owner_references=(owner,),
            finalizers=(FINALIZER,),
        ),
        spec=ClaimSpec(
            taints=template.taints,
            startup_taints=template.startup_taints,
            requirements=tuple(map(_requirement, claim.requirement_trees())),
            node_class_ref=template.node_class_ref,
            termination_grace_period=template.termination_grace_period,
            expire_after=template.expire_after,
            resources=RequestSpec(requests=dict(claim.requests)),
        ),
    )


def _requirement(tree: Mapping[str, Any]) -> RequirementSpec:
    return RequirementSpec(
        key=tree["key"],
        operator=tree["operator"],
        values=tuple(tree.get("values", ())),
        min_values=tree.get("minValues"),
    )


def as_launched(
    claim: NodeClaim, instance_type: InstanceType, offering: Offering, now: float
) -> NodeClaim:
    """Return a claim for which the cloud has a machine."""
    chosen = {
        spec.key: spec.values[0]
        for spec in claim.spec.requirements
        if spec.operator == "In" and len(spec.values) == 1
    }
    labels = {
        **claim.labels,
        **chosen,
        INSTANCE_TYPE: instance_type.name,
        **single_values(instance_type.requirements),
        **single_values(offering.requirements),
    }
    status = replace(
        claim.status,
        provider_id=f"simulation://{claim.name}",
        capacity=quantities(instance_type.capacity),
        allocatable=quantities(instance_type.allocatable),
    )
    launched = replace(
        claim, metadata=replace(claim.metadata, labels=labels), status=status
    )
    return with_condition(launched, "Launched", now)


def single_values(requirements: Requirements) -> Mapping[str, str]:
    """Return the labels of which requirements allow one value."""
    return {
        each.key: each.single_value
        for each in requirements
        if each.single_value is not None
    }


def quantities(amounts: Amounts) -> dict[str, Quantity]:
    """Return amounts as objects have them."""
    return {name: _quantity(amount) for name, amount in amounts.items()}


def _quantity(amount: int) -> Quantity:
    whole, rest = divmod(amount, _UNIT)
    return Quantity(f"{amount}n") if rest else Quantity(whole)


def new_node(claim: NodeClaim, now: float) -> Node:
    """Return the node of a claim as it joins the cluster: registered, not ready."""
    labels = {**claim.labels, HOSTNAME: claim.name, REGISTERED: "true"}
    taints = (*claim.spec.taints, *claim.spec.startup_taints, _NOT_READY)
    return Node(
        metadata=ObjectMeta(
            name=claim.name,
            creation_timestamp=Time(now),
            labels=labels,
            annotations=claim.annotations,
        ),
        spec=NodeSpec(provider_id=claim.status.provider_id, taints=taints),
        status=NodeStatus(
            capacity=claim.status.capacity,
            allocatable=claim.status.allocatable,
            conditions=(_readiness("False", "Starting", now),),
        ),
    )


def as_ready(node: Node, now: float) -> Node:
    """Return a node that is ready for pods, apart from its startup taints."""
    others = tuple(each for each in node.status.conditions if each.type != "Ready")
    ready = _readiness("True", "KubeletReady", now)
    return replace(
        _without_taints(node, (_NOT_READY,)),
        status=replace(node.status, conditions=(*others, ready)),
    )


def _readiness(status: str, reason: str, now: float) -> NodeCondition:
    return NodeCondition(
        type="Ready", status=status, reason=reason, last_transition_time=Time(now)
    )


def as_initialized(node: Node, claim: NodeClaim) -> Node:
    """Return a node whose startup has ended."""
    labels = {**node.labels, INITIALIZED: "true"}
    started = _without_taints(node, claim.spec.startup_taints)
    return replace(started, metadata=replace(started.metadata, labels=labels))


def with_disrupted_taint(node: Node, *, is_disrupted: bool) -> Node:
    """Return a node with the taint of nodes that are going, or without it."""
    plain = _without_taints(node, (DISRUPTED_TAINT,))
    if not is_disrupted:
        return plain
    taints = (*plain.spec.taints, DISRUPTED_TAINT)
    return replace(plain, spec=replace(plain.spec, taints=taints))


def _without_taints(node: Node, taints: Iterable[Taint]) -> Node:
    gone = {(taint.key, taint.effect) for taint in taints}
    kept = tuple(t for t in node.spec.taints if (t.key, t.effect) not in gone)
    return replace(node, spec=replace(node.spec, taints=kept))


def with_condition(
    claim: NodeClaim, kind: str, now: float, reason: str = ""
) -> NodeClaim:
    """Return a claim of which a condition holds; it keeps its time if it did before."""
    reason = reason or kind
    present = claim.status.conditions
    if is_true(present, kind) and any(
        each.type == kind and each.reason == reason for each in present
    ):
        return claim
    holds = Condition(
        type=kind, status="True", reason=reason, last_transition_time=Time(now)
    )
    others = (each for each in present if each.type != kind)
    return _with_conditions(claim, (*others, holds))


def without_condition(claim: NodeClaim, kind: str) -> NodeClaim:
    """Return a claim without a condition."""
    conditions = claim.status.conditions
    kept = tuple(each for each in conditions if each.type != kind)
    return claim if len(kept) == len(conditions) else _with_conditions(claim, kept)


def _with_conditions(claim: NodeClaim, conditions: tuple[Condition, ...]) -> NodeClaim:
    status: ClaimStatus = replace(claim.status, conditions=conditions)
    return replace(claim, status=status)
