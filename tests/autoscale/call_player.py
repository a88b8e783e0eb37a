"""Plays single calls of functions of the cluster autoscaler.

Objects of an answer are those of the input, so each keeps its tree.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from quaymaster import ApiObject
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node
from tests.autoscale.call_settings import group_tree, in_progress
from tests.autoscale.cases import Tree
from tests.autoscale.read_objects import ReadObjects, trial_of
from tests.autoscale.scale_up_player import answer_to_scale_up
from tests.kit.internals.autoscaling import (
    EXPANDERS,
    Cloud,
    ClusterAutoscalerOptions,
    Drainability,
    Expansion,
    NodeInfo,
    RemainingBudgets,
    Removable,
    RemovalTrial,
    ScaledGroup,
    are_similar,
    balanced,
    cropped,
    equivalence_groups,
    estimate,
    in_order,
    utilization_of,
)

__all__ = ["CALLS", "answer_to_call"]

_EXPANDERS: Final = {
    "waste": "least-waste",
    "mostpods": "most-pods",
    "leastnodes": "least-nodes",
}


def answer_to_call(case: Tree, recorded: Tree | None = None) -> Tree:
    """Return our answer to a call, in the form of the recordings.

    Args:
        case: The call.
        recorded: Upstream's answer: it shows what the expander of a test has chosen.
    """
    if case["call"] == "orchestrator.ScaleUp":
        return {"id": case["id"], "out": answer_to_scale_up(case, _chosen(recorded))}
    return {"id": case["id"], "out": CALLS[case["call"]](case)}


def _chosen(recorded: Tree | None) -> list[str]:
    status = recorded["out"][0] if recorded else None
    resizes = status["ScaleUpInfos"] if status else None
    return [resize["Group"]["id"] for resize in resizes or ()]


def _seconds(text: str) -> float:
    """Return a time in seconds since the epoch; Go has nine digits of a second."""
    whole, _, _ = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(f"{whole}+00:00").timestamp()


def _order(case: Tree) -> list[Any]:
    objects = ReadObjects()
    kinds = objects.kinds(case["in"][0] or [])
    ordered = in_order(kinds, objects.template(case["in"][1]))
    return [[{"Pods": objects.trees(kind.pods)} for kind in ordered]]


def _estimate(case: Tree) -> list[Any]:
    objects = ReadObjects()
    trial = trial_of(objects, case["self"]["snapshot"]["snapshot"])
    result = estimate(
        trial,
        objects.kinds(case["in"][0] or []),
        objects.template(case["in"][1]),
        0,
        with_arithmetic=bool(case["self"]["fastpath"]),
    )
    return [result.nodes, objects.trees([*result.pods])]


def _groups(case: Tree) -> list[Any]:
    objects = ReadObjects()
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
    objects, (first, second, ignored, ratios) = ReadObjects(), case["in"]
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
    objects = ReadObjects()
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
    objects = ReadObjects()
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
    objects = ReadObjects()
    name, destinations, now, _budgets = case["in"]
    nodes = case["self"]["snapshot"]["snapshot"]
    trial = trial_of(objects, nodes)
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


def _cropped(case: Tree) -> list[Any]:
    empty, with_pods = case["in"][1] or [], case["in"][2] or []
    trees = {tree["metadata"]["name"]: tree for tree in (*empty, *with_pods)}
    cloud = Cloud(InMemoryCluster(VirtualClock()), _groups_of(trees))
    for name in trees:
        cloud.adopt(name.rpartition("-node-")[0], name)
    groups = {name: group_tree(name) for name in cloud.groups}
    cloud.sizes.update({name: tree["target"] for name, tree in groups.items()})
    deleted, drained = in_progress(case)
    batches = cropped(
        [*trees][: len(empty)],
        [*trees][len(empty) :],
        cloud,
        most=10 - deleted - drained,
        most_drains=5 - drained,
    )
    return [
        [
            {
                "BatchSize": batch.size,
                "Group": groups[batch.group.name],
                "Nodes": [trees[name] for name in batch.nodes],
            }
            for batch in chosen
        ]
        for chosen in batches
    ]


def _groups_of(nodes: Iterable[str]) -> list[ScaledGroup]:
    names = dict.fromkeys(name.rpartition("-node-")[0] for name in nodes)
    return [
        ScaledGroup(
            name=name,
            max_size=10000,
            template=make_node(name=name),
            zero_or_max=name.startswith("atomic-"),
        )
        for name in names
    ]


def _best(case: Tree) -> list[Any]:
    objects, (trees, nodes) = ReadObjects(), case["in"]
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
    "budgets.CropNodes": _cropped,
    "equivalence.BuildPodGroups": _groups,
    "estimator.Estimate": _estimate,
    "estimator.Order": _order,
    "leastnodes.BestOptions": _best,
    "mostpods.BestOptions": _best,
    "nodegroupset.BalanceScaleUpBetweenGroups": _balanced,
    "nodegroupset.IsCloudProviderNodeInfoSimilar": _similar,
    "orchestrator.ScaleUp": answer_to_scale_up,
    "simulator.GetPodsToMove": _moving,
    "simulator.SimulateNodeRemoval": _removal,
    "utilization.Calculate": _utilization,
    "waste.BestOptions": _best,
}
"""The functions that are played, by their names."""
