"""What the recordings show of a cluster after a step."""

import json
from collections.abc import Iterable, Mapping, Sequence

from quaymaster import ApiObject, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    CompositePodGroup,
    Condition,
    Job,
    JobCondition,
    PodCondition,
    PodGroup,
    ResourceClaim,
    Workload,
    encode,
)
from tests.groups.cases import Tree
from tests.groups.go_forms import as_go_writes
from tests.groups.shown_names import shown_name

__all__ = ["state_of"]

_SHOWN: Sequence[str] = ("PodScheduled", "DisruptionTarget")


def state_of(cluster: InMemoryCluster) -> Tree:
    """Return the pods, groups and claims of a cluster in the form of the recordings."""
    groups, workloads = cluster.list(PodGroup).items, cluster.list(Workload).items
    names = {obj.name: shown_name(obj) for obj in (*groups, *workloads)}
    return {
        "Pod": _pods(cluster.list(Pod).items, names),
        "PodGroup": {shown_name(group): _group(group, names) for group in groups},
        "CompositePodGroup": {
            group.name: _entry(conditions=_conditions(group.status.conditions))
            for group in cluster.list(CompositePodGroup).items
        },
        "Workload": {
            shown_name(workload): _described(workload, names) for workload in workloads
        },
        "Job": {job.name: _job(job) for job in cluster.list(Job).items},
        "ResourceClaim": {
            _claim_name(claim): _claim(claim)
            for claim in cluster.list(ResourceClaim).items
        },
    }


def _pods(pods: Iterable[Pod], names: Mapping[str, str]) -> Tree:
    """Return the pods by name; those of a Job, whose names are random, in one entry."""
    entries: Tree = {}
    for pod in pods:
        name, entry = shown_name(pod), _pod(pod, names)
        if name == pod.name:
            entries[name] = entry
        else:
            entries.setdefault(name, {"pods": []})["pods"].append(entry)
    return entries


def _pod(pod: Pod, names: Mapping[str, str]) -> Tree:
    group = pod.group_key.partition("/")[2]
    status = pod.status
    conditions = [c for c in status.conditions if _is_shown(c, pod)]
    return _entry(
        node=pod.node_name,
        nominated=status.nominated_node_name,
        group=names.get(group, group),
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


def _group(group: PodGroup, names: Mapping[str, str]) -> Tree:
    status = group.status
    return _entry(
        **_described(group, names),
        deleting=group.metadata.deletion_timestamp is not None,
        claims=[
            {"name": claim.name, "made": claim.resource_claim_name is not None}
            for claim in status.resource_claim_statuses
        ],
        conditions=_conditions(status.conditions),
    )


def _described(obj: PodGroup | Workload, names: Mapping[str, str]) -> Tree:
    """Return the spec and the owners of an object that a controller made."""
    references = obj.metadata.owner_references
    if not references:
        return {}
    spec = as_go_writes(json.loads(encode(obj)), obj.api_version)["spec"]
    origin = spec.get("workloadRef")
    if origin is not None:
        origin["workloadName"] = names[origin["workloadName"]]
    owners = [f"{r.kind}/{names.get(r.name, r.name)}" for r in references]
    return {"spec": spec, "owners": owners}


def _job(job: Job) -> Tree:
    status = job.status
    return _entry(
        conditions=_conditions(status.conditions),
        active=status.active,
        ready=status.ready,
    )


def _conditions(conditions: Iterable[Condition | JobCondition | PodCondition]) -> Tree:
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
