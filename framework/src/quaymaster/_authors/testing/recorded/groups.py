"""Groups of recorded calls, and the calls of hooks that are about groups."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from quaymaster._api.objects import CompositePodGroup, ObjectMeta, Pod, PodGroup
from quaymaster._authors.testing.recorded.case import CallNotPlayedError, Json
from quaymaster._authors.testing.recorded.objects import object_from
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PlacementProgress,
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
)
from quaymaster._core.state.arrays import Int64Array
from quaymaster._core.state.node_table import NodeTable

__all__ = [
    "assignments_of",
    "group_info",
    "groups_in",
    "placement_of",
    "progress_of",
    "raw_scores",
]


def groups_in(tree: Mapping[str, Any]) -> Sequence[PodGroup | CompositePodGroup]:
    """Return the groups that the calls of a case name, each once."""
    groups = {}
    for call in tree.get("calls", ()):
        for argument in _arguments(call):
            for group in _objects(argument):
                groups[group.entity_key] = group
    return list(groups.values())


def _objects(tree: Mapping[str, Any]) -> Iterator[PodGroup | CompositePodGroup]:
    """Yield the objects of a group and of the groups below it."""
    group = _object(tree)
    if group is not None and group.name:
        yield group
    for child in _field(tree, "children", ()):
        yield from _objects(child)


def _object(tree: Mapping[str, Any]) -> PodGroup | CompositePodGroup | None:
    """Return the object of a group, if the record has it."""
    for name in ("cpg", "compositePodGroup"):
        fields = _field(tree, name, {}).get("CompositePodGroup")
        if fields is not None:
            return object_from(fields, CompositePodGroup)
    fields = _field(tree, "podGroup", {}).get("PodGroup")
    return None if fields is None else object_from(fields, PodGroup)


def group_info(tree: Mapping[str, Any], pods: Sequence[Pod]) -> PodGroupInfo:
    """Return the group that a call gets.

    Args:
        tree: The argument.
        pods: The pods of the case.
    """
    group = _object(tree)
    if group is None:
        metadata = ObjectMeta(
            name=_field(tree, "name", ""), namespace=_field(tree, "namespace", "")
        )
        group = PodGroup(metadata=metadata)
    members = _field(tree, "unscheduledPods", ())
    queued = tuple(pods[member["pod"]] for member in members)
    children = tuple(group_info(child, pods) for child in _field(tree, "children", ()))
    return PodGroupInfo(group=group, pods=queued, children=children)


def progress_of(tree: Mapping[str, int]) -> PlacementProgress:
    """Return the progress of a group."""
    return PlacementProgress(tree["Scheduled"], tree["Remaining"])


def placement_of(tree: Mapping[str, Any], nodes: NodeTable) -> PodGroupPlacement:
    """Return a placement.

    Raises:
        CallNotPlayedError: One of its nodes is not in the snapshot.
    """
    inner = _field(tree, "placement", tree)
    names = inner.get("nodes") or []
    if any(nodes.row_of(name) is None for name in names):
        raise CallNotPlayedError("a placement has nodes that the snapshot lacks")
    return PodGroupPlacement(inner.get("name", ""), nodes.rows_of(names))


def assignments_of(
    tree: Mapping[str, Any], nodes: NodeTable, pods: Sequence[Pod]
) -> PodGroupAssignments:
    """Return the pods that would get a node in a placement."""
    placement = _field(tree, "placement", {})
    attempts = [
        MemberAttempt(
            replace(pods[proposed["podInfo"]["pod"]], node_name=""),
            CycleState(),
            proposed.get("nodeName", ""),
        )
        for proposed in _field(tree, "proposedAssignments", ())
    ]
    return PodGroupAssignments(placement_of(placement, nodes), attempts)


def raw_scores(trees: Sequence[Json]) -> Int64Array:
    """Return the scores of placements."""
    return np.array([tree.get("Score", 0) for tree in trees], dtype=np.int64)


def _arguments(call: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    listed = call.get("in", ())
    for argument in listed if isinstance(listed, list) else ():
        if isinstance(argument, Mapping):
            yield argument


def _field(tree: Mapping[str, Any], name: str, default: Any) -> Any:  # noqa: ANN401 - any part of a JSON tree
    """Return a field by its name in Go, with or without a capital letter."""
    value = tree.get(name, tree.get(name[0].upper() + name[1:]))
    return default if value is None else value
