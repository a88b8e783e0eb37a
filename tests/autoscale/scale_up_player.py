"""Plays whole scale-ups of the cluster autoscaler, as single calls."""

from collections.abc import Sequence
from random import Random
from typing import Any

from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import VirtualClock
from tests.autoscale.call_settings import is_atomic, limits_of
from tests.autoscale.cases import Tree
from tests.autoscale.read_objects import ReadObjects, trial_of
from tests.kit.internals.autoscaling import (
    EXPANDERS,
    Capacity,
    Cloud,
    ClusterAutoscalerOptions,
    Expander,
    Expansion,
    GroupStates,
    PodEquivalenceGroup,
    ScaledGroup,
    ScaleUp,
    ScaleUpOutcome,
    ScaleUpPlanner,
    amounts_of,
)

__all__ = ["answer_to_scale_up", "comparable_scale_up"]

_RESULTS = {
    ScaleUpOutcome.SUCCESSFUL: "ScaleUpSuccessful",
    ScaleUpOutcome.NO_OPTIONS: "ScaleUpNoOptionsAvailable",
    ScaleUpOutcome.ERROR: "ScaleUpError",
}
_NOW = 1_800_000_000.0


def answer_to_scale_up(case: Tree, chosen: Sequence[str] = ()) -> list[Any]:
    """Return our answer to a scale-up.

    Args:
        case: The call.
        chosen: The groups that grew. The expander of upstream's tests picks a group
            by its name, and the record lacks the name.
    """
    objects = ReadObjects()
    pods, nodes, _daemons, templates, all_or_nothing = case["in"]
    groups = case["self"]["groups"]
    planner = _planner(case, objects, chosen)
    amounts = [amounts_of(objects.node(tree)) for tree in nodes or ()]
    plan = planner.plan(
        objects.pods(pods),
        Capacity(
            len(amounts),
            {name: sum(each[name] for each in amounts) for name in ("cpu", "memory")},
        ),
        {name: objects.template(tree) for name, tree in templates.items()},
        _NOW,
        all_or_nothing=all_or_nothing,
    )
    grown = {each.group: each.new_size for each in plan.resizes}
    trees = {
        tree["id"]: {**tree, "target": grown.get(tree["id"], tree["target"])}
        for tree in groups
    }
    names = {name: tree["node"]["metadata"]["name"] for name, tree in templates.items()}
    return [_status(plan, trees, names, objects), None]


def _planner(case: Tree, objects: ReadObjects, chosen: Sequence[str]) -> ScaleUpPlanner:
    given, templates = case["self"], case["in"][3]
    options = ClusterAutoscalerOptions(
        balance_similar_node_groups=given["balance"],
        max_nodes_total=given["maxNodesTotal"],
        max_nodes_per_scaleup=given["maxNodesPerScaleUp"],
        balancing_ignore_labels=("ng",),
        **limits_of(case),
    )
    cluster = InMemoryCluster(VirtualClock(), kubelet=False, controllers=False)
    cloud = Cloud(
        cluster,
        [
            ScaledGroup(
                name=tree["id"],
                min_size=tree["min"],
                max_size=tree["max"],
                template=objects.template(templates[tree["id"]]).node,
                zero_or_max=is_atomic(case, tree),
            )
            for tree in given["groups"]
        ],
    )
    cloud.sizes.update({tree["id"]: tree["target"] for tree in given["groups"]})
    trial = trial_of(objects, given["snapshot"]["snapshot"])
    expanders = [_choice(chosen), EXPANDERS[given["expander"] or "least-waste"]]
    states = GroupStates(cloud, options)
    for name, size in cloud.sizes.items():
        # The record lacks the state of the groups: nodes that are still expected make
        # a group healthy.
        if size:
            states.note_scale_up(name, size, _NOW)
    return ScaleUpPlanner(trial, cloud, states, options, expanders, Random(0))


def _choice(chosen: Sequence[str]) -> Expander:
    def choose(options: Sequence[Expansion], _templates: object) -> Sequence[Expansion]:
        return [each for each in options if each.group in chosen] or options

    return choose


def _status(
    plan: ScaleUp,
    groups: dict[str, Tree],
    templates: dict[str, str],
    objects: ReadObjects,
) -> Tree:
    succeeds = plan.outcome is ScaleUpOutcome.SUCCESSFUL
    awaiting = [
        objects.tree(pod)
        for kind in plan.kinds
        if kind.is_schedulable and plan.chosen in kind.rejections
        for pod in kind.pods
    ]
    helped = [objects.tree(pod) for pod in plan.helped]
    infos = [
        {
            "CurrentSize": each.size,
            "Group": groups[each.group],
            "MaxSize": each.max_size,
            "NewSize": each.new_size,
        }
        for each in plan.resizes
    ]
    return {
        "ConsideredNodeGroups": [*groups.values()],
        "CreateNodeGroupResults": [] if succeeds else None,
        "FailedCreationNodeGroups": None,
        "FailedResizeNodeGroups": None,
        "PodsAwaitEvaluation": awaiting if succeeds else None,
        "PodsRemainUnschedulable": [
            {
                "Pod": objects.tree(pod),
                "RejectedNodeGroups": _rejections(kind, templates),
                "SkippedNodeGroups": {
                    name: {} for name in plan.skipped if name not in kind.rejections
                },
            }
            for kind in plan.unhelped
            for pod in kind.pods
        ],
        "PodsTriggeredScaleUp": helped if succeeds else None,
        "Result": _RESULTS[plan.outcome],
        "ScaleUpError": None,
        "ScaleUpInfos": infos if succeeds else None,
    }


def _rejections(kind: PodEquivalenceGroup, templates: dict[str, str]) -> Tree:
    """Return why no group helps a pod; a reason without a plugin is not recorded."""
    return {
        group: (
            f"can't schedule pod {kind.exemplar.key}: "
            f'predicate "{kind.plugins[group]}" didn\'t pass '
            f"(predicateReasons=[{', '.join(reasons)}]; "
            f'debugInfo=nodeName: "{templates[group]}")'
            if group in kind.plugins
            else {}
        )
        for group, reasons in kind.rejections.items()
    }


def comparable_scale_up(out: list[Any]) -> list[Any]:
    """Sort what has the order of Go maps."""
    status, error = out
    if status is None:
        return out
    ordered = dict(status)
    for key in (
        "ConsideredNodeGroups",
        "PodsAwaitEvaluation",
        "PodsRemainUnschedulable",
        "PodsTriggeredScaleUp",
        "ScaleUpInfos",
    ):
        if status[key] is not None:
            ordered[key] = sorted(status[key], key=repr)
    return [ordered, error]
