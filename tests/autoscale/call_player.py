"""Plays single calls of functions of the cluster autoscaler.

Objects of an answer are those of the input, so each keeps its tree.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import from_wire
from quaymaster.scheduler import VirtualClock
from tests.autoscale.cases import Tree
from tests.kit.internals.autoscaling import (
    EXPANDERS,
    ClusterAutoscalerOptions,
    Drainability,
    Expansion,
    NodeInfo,
    PodEquivalenceGroup,
    RemainingBudgets,
    Removable,
    RemovalTrial,
    Template,
    TrialCluster,
    are_similar,
    balanced,
    equivalence_groups,
    estimate,
    in_order,
    utilization_of,
    with_defaults,
)

__all__ = ["CALLS", "answer_to_call"]

_EXPANDERS: Final = {
    "waste": "least-waste",
    "mostpods": "most-pods",
    "leastnodes": "least-nodes",
}


def answer_to_call(case: Tree) -> Tree:
    """Return our answer to a call, in the form of the recordings."""
    return {"id": case["id"], "out": CALLS[case["call"]](case)}


class _Objects:
    """Reads pods and nodes, and returns their trees for answers."""

    def __init__(self) -> None:
        self._trees: dict[str, Tree] = {}

    def pod(self, tree: Tree) -> Pod:
        """Read a pod; each has another uid, so that its tree can be returned."""
        pod = from_wire(tree, Pod)
        key = f"{pod.uid or pod.key}#{len(self._trees)}"
        self._trees[key] = tree
        return replace(pod, metadata=replace(pod.metadata, uid=key))

    def pods(self, trees: list[Tree] | None) -> list[Pod]:
        return [self.pod(tree) for tree in trees or ()]

    def tree(self, pod: Pod) -> Tree:
        return self._trees[pod.uid]

    def trees(self, pods: list[Pod]) -> list[Tree] | None:
        return [self.tree(pod) for pod in pods] or None

    def template(self, tree: Tree) -> Template:
        """Read a node with its pods."""
        node = from_wire(tree["node"], Node)
        pods = [replace(pod, node_name=node.name) for pod in self.pods(tree["pods"])]
        return Template(node=node, pods=pods)

    def kinds(self, trees: list[Tree]) -> list[PodEquivalenceGroup]:
        return [PodEquivalenceGroup(self.pods(tree["Pods"])) for tree in trees]


def _trial(objects: _Objects, trees: list[Tree]) -> TrialCluster:
    """Make a trial with nodes and their pods."""
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    config, registry = with_defaults(None, None)
    trial = TrialCluster(cluster, config, registry)
    for tree in trees:
        template = objects.template(tree)
        trial.add_node(template.node, template.pods)
    return trial


def _seconds(text: str) -> float:
    """Return a time in seconds since the epoch; Go has nine digits of a second."""
    whole, _, _ = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{whole}+00:00").timestamp()


def _order(case: Tree) -> list[Any]:
    objects = _Objects()
    kinds = objects.kinds(case["in"][0] or [])
    ordered = in_order(kinds, objects.template(case["in"][1]))
    return [[{"Pods": objects.trees(kind.pods)} for kind in ordered]]


def _estimate(case: Tree) -> list[Any]:
    objects = _Objects()
    trial = _trial(objects, case["self"]["snapshot"]["snapshot"])
    result = estimate(
        trial,
        objects.kinds(case["in"][0] or []),
        objects.template(case["in"][1]),
        0,
        with_arithmetic=bool(case["self"]["fastpath"]),
    )
    return [result.nodes, objects.trees([*result.pods])]


def _groups(case: Tree) -> list[Any]:
    objects = _Objects()
    return [
        [
            {
                "Pods": objects.trees(group.pods),
                "Schedulable": False,
                "SchedulableGroups": None,
                "SchedulingErrors": {},
            }
            for group in equivalence_groups(objects.pods(case["in"][0]))
        ]
    ]


def _similar(case: Tree) -> list[Any]:
    objects, (first, second, ignored, ratios) = _Objects(), case["in"]
    options = ClusterAutoscalerOptions(
        balancing_ignore_labels=tuple(ignored),
        memory_difference_ratio=ratios["MaxCapacityMemoryDifferenceRatio"],
        max_allocatable_difference_ratio=ratios["MaxAllocatableDifferenceRatio"],
        max_free_difference_ratio=ratios["MaxFreeDifferenceRatio"],
    )
    templates = objects.template(first), objects.template(second)
    return [are_similar(*templates, options)]


def _balanced(case: Tree) -> list[Any]:
    groups, nodes = case["in"][1:]
    trees = {tree["id"]: tree for tree in groups or ()}
    if not trees:
        return [[], "Can't balance scale up between 0 groups"]
    resizes = balanced(
        [*trees],
        {name: tree["target"] for name, tree in trees.items()},
        {name: tree["max"] for name, tree in trees.items()},
        nodes,
    )
    entries = [
        {
            "CurrentSize": resize.size,
            "Group": trees[resize.group],
            "MaxSize": resize.max_size,
            "NewSize": resize.new_size,
        }
        for resize in resizes
    ]
    return [entries, None]


_NO_UTILIZATION: Final = {
    "CpuUtil": 0,
    "DynamicResourceUtil": 0,
    "GpuUtil": 0,
    "MemUtil": 0,
    "ResourceName": "",
    "Utilization": 0,
}


def _utilization(case: Tree) -> list[Any]:
    objects = _Objects()
    tree, daemons, mirrors, _devices, _gpu, now = case["in"]
    template = objects.template(tree)
    options = ClusterAutoscalerOptions(
        ignore_daemonsets_utilization=daemons, ignore_mirror_pods_utilization=mirrors
    )
    info = NodeInfo(template.node, pods=template.pods)
    utilization = utilization_of(info, options, _seconds(now))
    if utilization is None:
        offered = info.node.status.allocatable
        missing = next(name for name in ("cpu", "memory") if name not in offered)
        return [_NO_UTILIZATION, f"failed to get {missing} from {info.node.name}"]
    return [
        {
            "CpuUtil": utilization.cpu,
            "DynamicResourceUtil": 0,
            "GpuUtil": utilization.gpu or 0,
            "MemUtil": utilization.memory,
            "ResourceName": utilization.resource,
            "Utilization": utilization.highest,
        },
        None,
    ]


def _drain_options(tree: Tree) -> ClusterAutoscalerOptions:
    return ClusterAutoscalerOptions(
        blocking_system_pod_disruption_timeout=0,
        min_replica_count=tree["MinReplicaCount"],
        skip_nodes_with_custom_controller_pods=tree[
            "SkipNodesWithCustomControllerPods"
        ],
        skip_nodes_with_local_storage=tree["SkipNodesWithLocalStorage"],
        skip_nodes_with_system_pods=tree["SkipNodesWithSystemPods"],
    )


def _nothing(_kind: type[ApiObject], _key: str) -> None:
    """Find no controller: the recordings have no listers."""


def _moving(case: Tree) -> list[Any]:
    objects = _Objects()
    tree, options, _rules, _listers, _budgets, now = case["in"]
    template = objects.template(tree)
    drainability = Drainability(_drain_options(options), _nothing)
    drain = drainability.drain_of(
        template.pods, RemainingBudgets(), _seconds(now), knows_controllers=False
    )
    blocking = drain.blocking
    moves = {
        "BlockingPod": blocking
        and {"Pod": objects.tree(blocking.pod), "Reason": blocking.reason.value},
        "DaemonSetPods": objects.trees(drain.daemons),
        "OnCompletionPods": objects.trees(drain.completing),
        "Pods": objects.trees(drain.moving),
    }
    problem = blocking and f"{blocking.pod.key} is not replicated"
    return [moves, problem]


def _removal(case: Tree) -> list[Any]:
    objects = _Objects()
    name, destinations, now, _budgets = case["in"]
    nodes = case["self"]["snapshot"]["snapshot"]
    trial = _trial(objects, nodes)
    drainability = Drainability(_drain_options(case["self"]["options"]), _nothing)
    places = {each for each, may in destinations.items() if may}
    result = RemovalTrial(trial, drainability).remove(
        name, places, RemainingBudgets(), _seconds(now)
    )
    trees = {tree["node"]["metadata"]["name"]: tree["node"] for tree in nodes}
    if isinstance(result, Removable):
        entry = {
            "DaemonSetPods": objects.trees(result.drain.daemons),
            "IsRisky": False,
            "Node": trees[name],
            "OnCompletionPods": objects.trees(result.drain.completing),
            "PodsToReschedule": objects.trees(result.drain.moving),
        }
        return [entry, None]
    node = trees.get(name, {"metadata": {"name": name}})
    reason = {"BlockingPod": None, "Node": node, "Reason": result.reason.value}
    return [None, reason]


def _best(case: Tree) -> list[Any]:
    objects, (trees, nodes) = _Objects(), case["in"]
    options = [
        Expansion(
            group=str((tree["NodeGroup"] or {}).get("id", number)),
            nodes=tree["NodeCount"],
            pods=objects.pods(tree["Pods"]),
        )
        for number, tree in enumerate(trees)
    ]
    templates = {name: objects.template(tree) for name, tree in nodes.items()}
    expander = EXPANDERS[_EXPANDERS[case["call"].partition(".")[0]]]
    best = expander(options, templates)
    return [[trees[options.index(each)] for each in best] or None]


CALLS: Final[Mapping[str, Callable[[Tree], list[Any]]]] = {
    "equivalence.BuildPodGroups": _groups,
    "estimator.Estimate": _estimate,
    "estimator.Order": _order,
    "leastnodes.BestOptions": _best,
    "mostpods.BestOptions": _best,
    "nodegroupset.BalanceScaleUpBetweenGroups": _balanced,
    "nodegroupset.IsCloudProviderNodeInfoSimilar": _similar,
    "simulator.GetPodsToMove": _moving,
    "simulator.SimulateNodeRemoval": _removal,
    "utilization.Calculate": _utilization,
    "waste.BestOptions": _best,
}
"""The functions that are played, by their names."""
