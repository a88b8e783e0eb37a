"""Laws of suggestions, in random clusters of several clouds with random causes."""

import random
from collections.abc import Iterator, Sequence
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import (
    ChangeKind,
    SimulationResult,
    SuggestedChange,
    simulate,
    suggest_changes,
)
from tests.kit.clouds import TWIN_ZONES
from tests.kit.pending_pods import PendingCluster, pending_cluster
from tests.kit.profiles import fewer

REGISTRY: Final = PluginRegistry.discover()
CONFIG: Final = default_config(REGISTRY)
OWN_DOMAIN: Final = "example.com/"
RESERVING: Final = frozenset(
    {"dedicated", "nvidia.com/gpu", "kubernetes.azure.com/scalesetpriority"}
)
"""The taints of `tests.kit.clouds` that reserve nodes; all others protect them."""
PASSING: Final = frozenset({"karpenter.sh/disrupted", "node.cilium.io/agent-not-ready"})
TWINS: Final = (
    TWIN_ZONES,
    ("kubernetes.io/arch", "beta.kubernetes.io/arch"),
    ("kubernetes.io/os", "beta.kubernetes.io/os"),
    ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"),
)
MACHINE: Final = (
    "node.kubernetes.io/instance-type",
    "kubernetes.io/arch",
    "karpenter.k8s.aws/instance-family",
    "karpenter.k8s.aws/instance-size",
    "karpenter.k8s.aws/instance-cpu",
    "cloud.google.com/machine-family",
)
"""Labels of which each combination must exist, if the values exist."""
IDENTITIES: Final = (
    "kubernetes.io/hostname",
    "alpha.eksctl.io/instance-id",
    "topology.topolvm.io/node",
    "k3s.io/hostname",
)


def broken_laws(cluster: PendingCluster) -> Iterator[str]:
    answer = suggest_changes(
        cluster.name, cluster.objects, config=CONFIG, registry=REGISTRY, max_trials=60
    )
    before = simulated(cluster.objects)
    for change in answer.changes:
        after = change.apply(cluster.objects)
        for law in (
            *node_edits(cluster, after),
            *new_tolerations(cluster.objects, after),
            *impossible_nodes(cluster, after),
            *promises(cluster, change, before, after),
        ):
            yield f"{change.text}: {law}"


def node_edits(cluster: PendingCluster, after: Sequence[ApiObject]) -> Iterator[str]:
    """No label of a node changes its value, and only owners' labels are added."""
    nodes = {obj.name: obj for obj in after if isinstance(obj, Node)}
    for name, old in cluster.nodes.items():
        new = nodes[name]
        for key, value in new.labels.items():
            if key in old.labels and old.labels[key] != value:
                yield f"{name} has {key}={old.labels[key]}"
            if key not in old.labels and not key.startswith(OWN_DOMAIN):
                yield f"{name} gets {key}"
        if not old.labels.keys() <= new.labels.keys():
            yield f"{name} loses labels"


def new_tolerations(
    before: Sequence[ApiObject], after: Sequence[ApiObject]
) -> Iterator[str]:
    """No protective taint is tolerated."""
    for key in tolerated(after) - tolerated(before) - RESERVING:
        yield f"tolerates {key}"


def tolerated(objects: Sequence[ApiObject]) -> set[str]:
    specs = (
        obj.spec if isinstance(obj, Pod) else obj.spec.template.spec  # type: ignore[attr-defined]  # workloads
        for obj in objects
        if isinstance(obj, Pod) or hasattr(getattr(obj, "spec", None), "template")
    )
    return {each.key for spec in specs for each in spec.tolerations}


def impossible_nodes(
    cluster: PendingCluster, after: Sequence[ApiObject]
) -> Iterator[str]:
    """A new node has one zone, one name, and the size of its machine."""
    old = cluster.nodes
    for node in after:
        if not isinstance(node, Node) or node.name in old:
            continue
        labels = node.labels
        for twins in TWINS:
            values = {labels[key] for key in twins if key in labels}
            if len(values) > 1:
                yield f"has {sorted(values)} at once"
        for key in IDENTITIES:
            if any(
                key in each.labels and each.labels[key] == labels.get(key)
                for each in old.values()
            ):
                yield f"has the {key} of another node"
        if labels.get("kubernetes.io/hostname") != node.name:
            yield "has another hostname"
        if any(taint.key in PASSING for taint in node.spec.taints):
            yield "has a passing taint"
        yield from mixed_machine(node, list(old.values()))
        yield from wrong_region(labels, list(old.values()))


def mixed_machine(node: Node, old: Sequence[Node]) -> Iterator[str]:
    for key in MACHINE:
        value = node.labels.get(key)
        equal = [each for each in old if value and each.labels.get(key) == value]
        if not equal:
            continue
        if key == MACHINE[0] and all(
            each.status.allocatable["cpu"] != node.status.allocatable["cpu"]
            for each in equal
        ):
            yield f"has another size than {value}"
        for other in MACHINE:
            own = node.labels.get(other)
            existing = {each.labels.get(other) for each in old}
            there = {each.labels.get(other) for each in equal}
            if own in existing - there and own is not None:
                yield f"mixes {key}={value} and {other}={own}"


def wrong_region(labels: dict[str, str], old: Sequence[Node]) -> Iterator[str]:
    key = "topology.kubernetes.io/region"
    zone, region = labels.get(TWIN_ZONES[0]), labels.get(key)
    there = {
        each.labels.get(key) for each in old if each.labels.get(TWIN_ZONES[0]) == zone
    }
    if there and region not in there:
        yield f"zone {zone} is not in {region}"


def simulated(objects: Sequence[ApiObject]) -> SimulationResult:
    return simulate(objects, config=CONFIG, registry=REGISTRY)


def is_of_x(key: str) -> bool:
    return key.startswith(("default/x-", "default/x"))


def promises(
    cluster: PendingCluster,
    change: SuggestedChange,
    before: SimulationResult,
    after: Sequence[ApiObject],
) -> Iterator[str]:
    """The workload has all its nodes, and the promised number of pods is placed."""
    result = simulated(after)
    left = [pod for pod in result.unscheduled if is_of_x(pod.pod)]
    if left:
        yield f"{len(left)} pods are still pending: {left[0].message}"
    new = {obj.name for obj in after if isinstance(obj, Node)} - set(cluster.nodes)
    if ChangeKind.ADD_NODE in change.kinds:
        agents = [p for p in result.placements if p.node in new and "agent" in p.pod]
        fields = [each for each in change.fields if each.object.startswith("node/")]
        if len(fields) != len(new):
            yield f"promises {len(fields)} nodes and adds {len(new)}"
    else:
        agents = []
    gain = len(result.placements) - len(before.placements) - len(agents)
    if gain != change.placed and not change.evicted:
        yield f"promises {change.placed} pods and places {gain}"
    lost = len(result.preempted) - len(before.preempted)
    if lost > change.evicted:
        yield f"evicts {lost} pods"


@pytest.mark.long
@fewer(2)
@given(seed=st.integers(0, 10**6))
def test_suggestions_are_safe_and_keep_their_promises(seed: int) -> None:
    cluster = pending_cluster(random.Random(seed))
    assert not list(broken_laws(cluster)), (seed, cluster.causes)
