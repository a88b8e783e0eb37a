"""The counts and conditions of workloads, as a state has them."""

from collections.abc import Mapping
from typing import Final

from tests.world.cases import Tree
from tests.world.pod_states import controller_of

__all__ = ["selected_conditions", "workload_status"]

_NUMBERS: Final = {
    "Deployment": (
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
    ),
    "StatefulSet": (
        "replicas",
        "readyReplicas",
        "availableReplicas",
        "currentReplicas",
        "updatedReplicas",
    ),
    "DaemonSet": (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "numberAvailable",
        "numberUnavailable",
        "numberMisscheduled",
        "updatedNumberScheduled",
    ),
    "ReplicaSet": (
        "replicas",
        "readyReplicas",
        "availableReplicas",
        "terminatingReplicas",
    ),
    "HorizontalPodAutoscaler": ("currentReplicas", "desiredReplicas"),
}
_CONDITIONS: Final = {
    "Deployment": ("Available", "Progressing", "ReplicaFailure"),
    "HorizontalPodAutoscaler": ("AbleToScale", "ScalingActive", "ScalingLimited"),
}


def workload_status(objects: Mapping[str, list[Tree]]) -> Tree:
    """The status of each workload, by kind and name."""
    texts = {}
    for kind, numbers in _NUMBERS.items():
        for tree in objects[kind]:
            if kind == "ReplicaSet" and controller_of(tree) is not None:
                continue
            status = tree.get("status") or {}
            counts = {name: status[name] for name in numbers if status.get(name)}
            counts |= selected_conditions(tree, *_CONDITIONS.get(kind, ()))
            if kind == "StatefulSet":
                current, update = (
                    status.get(name) for name in ("currentRevision", "updateRevision")
                )
                counts["updated"] = current == update
            texts[f"{kind}/{tree['metadata']['name']}"] = counts
    return dict(sorted(texts.items()))


def selected_conditions(tree: Tree, *types: str) -> Tree:
    """The status and reason of conditions of some types."""
    texts = {}
    for condition in tree.get("status", {}).get("conditions") or ():
        if condition["type"] in types:
            reason = f" {condition['reason']}" if condition.get("reason") else ""
            texts[condition["type"]] = f"{condition['status']}{reason}"
    return texts
