"""What the recordings show of a cluster after a step."""

from collections.abc import Iterable, Sequence

from quaymaster import ApiObject, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    CompositePodGroup,
    Condition,
    PodCondition,
    PodGroup,
    ResourceClaim,
    Workload,
)
from tests.groups.cases import Tree

__all__ = ["state_of"]

_SHOWN: Sequence[str] = ("PodScheduled", "DisruptionTarget")


def state_of(cluster: InMemoryCluster) -> Tree:
    """Return the pods, groups and claims of a cluster in the form of the recordings."""
    return {
        "Pod": {pod.name: _pod(pod) for pod in cluster.list(Pod).items},
        "PodGroup": {
            group.name: _group(group) for group in cluster.list(PodGroup).items
        },
        "CompositePodGroup": {
            group.name: _entry(conditions=_conditions(group.status.conditions))
            for group in cluster.list(CompositePodGroup).items
        },
        "Workload": {workload.name: {} for workload in cluster.list(Workload).items},
        "ResourceClaim": {
            _claim_name(claim): _claim(claim)
            for claim in cluster.list(ResourceClaim).items
        },
    }


def _pod(pod: Pod) -> Tree:
    status = pod.status
    conditions = [c for c in status.conditions if _is_shown(c, pod)]
    return _entry(
        node=pod.node_name,
        nominated=status.nominated_node_name,
        group=pod.group_key.partition("/")[2],
        deleting=pod.is_terminating,
        claims=[
            {"name": claim.name, "made": claim.resource_claim_name is not None}
            for claim in status.resource_claim_statuses
        ],
        conditions=_conditions(conditions),
    )


def _is_shown(condition: PodCondition, pod: Pod) -> bool:
    is_bound = condition.status == "True" and bool(pod.node_name)
    is_usual = condition.type == "PodScheduled" and is_bound
    return condition.type in _SHOWN and not is_usual


def _group(group: PodGroup) -> Tree:
    status = group.status
    return _entry(
        deleting=group.metadata.deletion_timestamp is not None,
        claims=[
            {"name": claim.name, "made": claim.resource_claim_name is not None}
            for claim in status.resource_claim_statuses
        ],
        conditions=_conditions(status.conditions),
    )


def _conditions(conditions: Iterable[Condition | PodCondition]) -> Tree:
    return {c.type: [c.status, c.reason, c.message] for c in conditions}


def _claim(claim: ResourceClaim) -> Tree:
    allocation = claim.status.allocation
    results = () if allocation is None else allocation.devices.results
    owners = claim.metadata.owner_references
    return _entry(
        reserved=sorted(f"{r.resource}/{r.name}" for r in claim.status.reserved_for),
        devices=sorted(f"{r.driver}/{r.pool}/{r.device}" for r in results),
        owner=[f"{owner.kind}/{owner.name}" for owner in owners],
    )


def _claim_name(claim: ApiObject) -> str:
    """Return the name of a claim; one made from a template is named by its owner."""
    for owner in claim.metadata.owner_references:
        return f"claim-of-{owner.kind.lower()}-{owner.name}"
    return claim.name


def _entry(**fields: object) -> Tree:
    """Return the fields that are set."""
    return {name: value for name, value in fields.items() if value}
