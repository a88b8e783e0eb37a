"""Clusters with Karpenter in a few words."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from quaymaster import ApiObject, Node, Pod
from quaymaster.objects import DaemonSet, Quantity, from_wire
from tests.kit.internals.karpenter import (
    KWOK_RESTRICTED_DOMAINS,
    KWOK_WELL_KNOWN_LABELS,
    ClusterState,
    InstanceType,
    KarpenterOptions,
    NodePool,
    SolveResult,
    kwok_offering,
    kwok_type,
    pods_to_schedule,
    solve,
)

__all__ = [
    "CAPACITY_TYPE",
    "HOSTNAME",
    "OPTIONS",
    "TYPES",
    "ZONE",
    "ZONES",
    "Tree",
    "agent_of_all_nodes",
    "away_from",
    "claimed_pods",
    "make_pod",
    "make_pool",
    "make_type",
    "names_of_pods",
    "node_preferences",
    "prefer",
    "required",
    "solved",
    "spread_of",
    "types_of",
    "zoned_node",
]

ZONE: Final = "topology.kubernetes.io/zone"
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
HOSTNAME: Final = "kubernetes.io/hostname"
ZONES: Final = ("zone-a", "zone-b")
OPTIONS: Final = KarpenterOptions(
    well_known_labels=KWOK_WELL_KNOWN_LABELS,
    restricted_domains=KWOK_RESTRICTED_DOMAINS,
)
Tree: TypeAlias = dict[str, Any]


def make_type(name: str, cpu: int, price: float) -> InstanceType:
    """Return a type in two zones, as spot and on demand."""
    return kwok_type(
        name=name,
        arch="amd64",
        systems=["linux"],
        capacity={"cpu": Quantity(cpu), "memory": Quantity(f"{4 * cpu}Gi")},
        offerings=[
            kwok_offering(zone, kind, price * share)
            for zone in ZONES
            for kind, share in (("on-demand", 1.0), ("spot", 0.7))
        ],
    )


TYPES: Final = (
    make_type("m-2", 2, 0.1),
    make_type("m-4", 4, 0.2),
    make_type("m-8", 8, 0.4),
)


def make_pool(name: str = "pool", **spec: Any) -> NodePool:
    """Return a pool; `template` and `metadata` are those of its nodes."""
    template = {"spec": spec.pop("template", {}), "metadata": spec.pop("metadata", {})}
    return from_wire(
        {"metadata": {"name": name}, "spec": {"template": template, **spec}}, NodePool
    )


def make_pod(name: str, cpu: str = "1", labels: Tree | None = None, **spec: Any) -> Pod:
    """Return a pod that no scheduler has found a node for."""
    ports = spec.pop("ports", [])
    container = {
        "name": "main",
        "image": "main",
        "resources": {"requests": {"cpu": cpu}},
        "ports": ports,
    }
    unschedulable = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
    }
    return from_wire(
        {
            "metadata": {
                "name": name,
                "namespace": "default",
                "uid": name,
                "labels": labels or {},
            },
            "spec": {"containers": [container], **spec},
            "status": {"phase": "Pending", "conditions": [unschedulable]},
        },
        Pod,
    )


def zoned_node(name: str, cpu: int = 4, **spec: Any) -> Node:
    """Return a node in the first zone."""
    amounts = {"cpu": str(cpu), "memory": "16Gi", "pods": "110"}
    labels = {HOSTNAME: name, ZONE: "zone-a", **spec.pop("labels", {})}
    return from_wire(
        {
            "metadata": {"name": name, "labels": labels},
            "spec": {"providerID": name, **spec},
            "status": {"allocatable": amounts, "capacity": amounts},
        },
        Node,
    )


def solved(
    *objects: ApiObject,
    types: Sequence[InstanceType] = TYPES,
    options: KarpenterOptions = OPTIONS,
    **arguments: Any,
) -> SolveResult:
    """Return where the pending pods of some objects go."""
    state = ClusterState.from_objects(objects, types, now=0.0)
    pods = pods_to_schedule(state, options)
    assert not pods.rejected
    return solve(state, pods.all_pods, options, **arguments)


def names_of_pods(pods: Sequence[Pod]) -> list[str]:
    """Return the names of pods in order."""
    return sorted(pod.name for pod in pods)


def claimed_pods(result: SolveResult) -> list[list[str]]:
    """Return the pods of each new claim."""
    return sorted(names_of_pods(claim.pods) for claim in result.new_claims)


def types_of(result: SolveResult) -> list[list[str]]:
    """Return the types of each new claim."""
    return [[each.name for each in claim.instance_types] for claim in result.new_claims]


def required(*expressions: tuple[str, str, list[str]]) -> Tree:
    """Return a node affinity with one term for each condition."""
    terms = [
        {"matchExpressions": [{"key": key, "operator": operator, "values": values}]}
        for key, operator, values in expressions
    ]
    selector = {"nodeSelectorTerms": terms}
    return {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}
    }


def spread_of(key: str, app: str, **settings: Any) -> Tree:
    """Return a spread constraint for the pods of an application."""
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
        **settings,
    }


def away_from(app: str, key: str) -> Tree:
    """Return an affinity that keeps away from the pods of an application."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    return {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    }


def prefer(zone: str, weight: int) -> Tree:
    """Return a preference for a zone."""
    expression = {"key": ZONE, "operator": "In", "values": [zone]}
    return {"weight": weight, "preference": {"matchExpressions": [expression]}}


def node_preferences(*terms: Tree) -> Tree:
    """Return an affinity with preferences."""
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


def agent_of_all_nodes(cpu: str) -> DaemonSet:
    """Return a DaemonSet that runs on all nodes."""
    resources = {"requests": {"cpu": cpu}}
    container = {"name": "main", "image": "main", "resources": resources}
    return from_wire(
        {
            "metadata": {"name": "agent", "namespace": "default", "uid": "agent"},
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}},
                "template": {
                    "metadata": {"labels": {"app": "agent"}},
                    "spec": {"containers": [container]},
                },
            },
        },
        DaemonSet,
    )
