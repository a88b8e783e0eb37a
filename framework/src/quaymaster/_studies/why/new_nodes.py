"""Changes that add nodes: copies of nodes of the input with their driver objects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, TypeAlias

import msgspec

from quaymaster._api.objects import ApiObject, Node, ObjectMeta, ResourceSlice
from quaymaster._api.objects.wire import from_wire, to_wire
from quaymaster._studies.why.changes import (
    Candidate,
    ChangeKind,
    FieldChange,
    SuggestedChange,
    single,
)
from quaymaster._studies.why.node_facts import (
    GROUP_LABELS,
    HOSTNAME,
    SHAPE_LABELS,
    ZONE_LABELS,
    can_be_ignored,
    is_control_plane,
    passing_taints,
)

__all__ = ["added_nodes", "series_of_nodes"]

_SHAPES: Final = 8
"""How many kinds of nodes are tried as one more node."""
_SERIES: Final = 3
"""How many kinds of nodes are tried as several more nodes."""
_MOST: Final = 64
"""How many nodes are added at most."""
_ARCHITECTURES: Final = ("kubernetes.io/arch", "beta.kubernetes.io/arch")
_SYSTEMS: Final = ("kubernetes.io/os", "beta.kubernetes.io/os")
_INSTANCE_TYPES: Final = (
    "node.kubernetes.io/instance-type",
    "beta.kubernetes.io/instance-type",
)
_TWINS: Final = (ZONE_LABELS, _ARCHITECTURES, _SYSTEMS, _INSTANCE_TYPES)
"""Labels with the same meaning: a node has one value for all labels of a line."""
_REGIONS: Final = (
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
)

Json: TypeAlias = Any
"""A value of a JSON document."""


def added_nodes(
    nodes: Sequence[Node],
    requirements: Iterable[Mapping[str, str]],
    pending: int,
) -> Iterator[Candidate]:
    """Offer one more node of each existing kind, then several.

    Args:
        nodes: The nodes of the input.
        requirements: Labels that the pods require of a node; each is an alternative.
        pending: How many pods are pending: the most nodes that are offered.
    """
    shapes = list(islice(_shapes(nodes), _SHAPES))
    alternatives = list(requirements)
    for node in shapes:
        yield single(_added(nodes, node, {}, 1))
    for node in shapes:
        yield from map(single, _with_labels(nodes, node, alternatives))
    yield from series_of_nodes(nodes, pending)


def series_of_nodes(nodes: Sequence[Node], pending: int) -> Iterator[Candidate]:
    """Offer several more nodes of each of the first kinds.

    Args:
        nodes: The nodes of the input.
        pending: How many pods are pending: the most nodes that are offered.
    """
    most = min(pending, _MOST)
    if most < 2:
        return
    for node in islice(_shapes(nodes), _SERIES):
        yield Candidate(
            kind=ChangeKind.ADD_NODE,
            levels=most - 1,
            at=partial(_series, nodes, node, most),
        )


def _series(
    nodes: Sequence[Node], node: Node, most: int, level: int
) -> SuggestedChange:
    return _added(nodes, node, {}, most - level)


def _shapes(nodes: Iterable[Node]) -> Iterator[Node]:
    """Yield one node of each kind, without those of the control plane."""
    seen = set()
    for node in nodes:
        if is_control_plane(node):
            continue
        shape = _shape(node)
        if shape not in seen:
            seen.add(shape)
            yield node


def _shape(node: Node) -> object:
    """Return a key that is equal for nodes that a scheduler treats as equal."""
    labels = {k: v for k, v in node.labels.items() if v != node.name and k != HOSTNAME}
    offered = node.status.allocatable or node.status.capacity
    taints = set(node.spec.taints) - set(passing_taints(node.spec.taints))
    return (
        frozenset(labels.items()),
        frozenset((name, amount.nanos) for name, amount in offered.items()),
        frozenset((each.key, each.value, each.effect) for each in taints),
    )


def _with_labels(
    nodes: Sequence[Node], node: Node, alternatives: Iterable[Mapping[str, str]]
) -> Iterator[SuggestedChange]:
    """Return a copy of a node with the fewest changed labels that pods require.

    Only a node that can exist is offered.
    """
    differences = (
        {key: value for key, value in labels.items() if node.labels.get(key) != value}
        for labels in alternatives
    )
    fewest = min(differences, key=len, default={})
    if fewest and HOSTNAME not in fewest and _can_exist(fewest):
        yield _added(nodes, node, fewest, 1)


def _can_exist(labels: Mapping[str, str]) -> bool:
    """Whether no two labels contradict each other, as two zones would."""
    return all(
        len({labels[key] for key in twins if key in labels}) <= 1 for twins in _TWINS
    )


def _added(
    nodes: Sequence[Node], node: Node, labels: Mapping[str, str], count: int
) -> SuggestedChange:
    """Return the change that adds copies of a node with some other labels."""
    taken = {each.name for each in nodes}
    names = _free_names(node.name, taken, count)
    consistent = _consistent(node, labels, nodes)
    where = "".join(f", with {key}={value}" for key, value in labels.items())
    amount = "one node" if count == 1 else f"{count} nodes"
    assumed = ""
    if any(key in SHAPE_LABELS or not can_be_ignored(key) for key in labels):
        assumed = f" (tried with the resources of {node.name})"
    plan = "" if count == 1 else "; 'quaymaster plan' looks for the cheapest nodes"
    return SuggestedChange(
        kinds=(ChangeKind.ADD_NODE,),
        text=f"add {amount} like {node.name}{_group(node, consistent)}{where}{assumed}"
        f"{plan}",
        fields=tuple(
            FieldChange(
                object=f"node/{name}",
                namespace="",
                path="",
                old="",
                new=f"a copy of {node.name}{where}",
            )
            for name in names
        ),
        apply=lambda objects: [
            *objects,
            *(
                copied
                for name in names
                for copied in _copies(objects, node, name, consistent)
            ),
        ],
    )


def _free_names(name: str, taken: set[str], count: int) -> list[str]:
    names: list[str] = []
    number = 1
    while len(names) < count:
        candidate = f"{name}-more-{number}"
        if candidate not in taken:
            names.append(candidate)
        number += 1
    return names


def _group(node: Node, changes: Mapping[str, str | None]) -> str:
    for key in GROUP_LABELS:
        if key in node.labels and key not in changes:
            return f" ({key}={node.labels[key]})"
    return ""


def _consistent(
    node: Node, labels: Mapping[str, str], nodes: Iterable[Node]
) -> dict[str, str | None]:
    """Add the labels that follow from others; None removes a label.

    For example, all labels that name the zone get the same value. Another zone may be
    in another region; another architecture is another instance type and node group.
    """
    changes: dict[str, str | None] = dict(labels)
    for twins in _TWINS:
        value = next((labels[key] for key in twins if key in labels), None)
        if value is not None:
            changes |= {key: value for key in twins if key in node.labels}
    zone = next((labels[key] for key in ZONE_LABELS if key in labels), None)
    if zone is not None:
        changes |= _regions(node, zone, nodes)
    if any(key in labels for key in (*_ARCHITECTURES, *_SYSTEMS)):
        gone = (*_INSTANCE_TYPES, *GROUP_LABELS)
        changes |= {
            key: None for key in gone if key in node.labels and key not in labels
        }
    return changes


def _regions(node: Node, zone: str, nodes: Iterable[Node]) -> dict[str, str | None]:
    """Return the region labels of a node in the zone; None if unknown."""
    for other in nodes:
        if any(other.labels.get(key) == zone for key in ZONE_LABELS):
            return {
                key: other.labels.get(key) for key in _REGIONS if key in node.labels
            }
    return {
        key: None
        for key in _REGIONS
        if key in node.labels and not zone.startswith(node.labels[key])
    }


def _copies(
    objects: Iterable[ApiObject],
    node: Node,
    name: str,
    labels: Mapping[str, str | None],
) -> Iterator[ApiObject]:
    """Yield the new node, and copies of the objects that describe the old one."""
    yield _copied_node(node, name, labels)
    for obj in objects:
        if not isinstance(obj, Node) and _belongs(obj, node.name):
            yield _renamed(obj, node.name, name)


def _copied_node(node: Node, name: str, labels: Mapping[str, str | None]) -> Node:
    own = {
        key: name if key == HOSTNAME or value == node.name else value
        for key, value in node.labels.items()
    } | dict(labels)
    metadata = ObjectMeta(
        name=name,
        labels={key: value for key, value in own.items() if value is not None},
        annotations=node.annotations,
    )
    passing = set(passing_taints(node.spec.taints))
    taints = tuple(taint for taint in node.spec.taints if taint not in passing)
    spec = msgspec.structs.replace(
        node.spec, provider_id="", unschedulable=False, taints=taints
    )
    status = msgspec.structs.replace(
        node.status, conditions=(), volumes_in_use=(), volumes_attached=()
    )
    return Node(metadata=metadata, spec=spec, status=status)


def _belongs(obj: ApiObject, node_name: str) -> bool:
    """Whether an object describes a node: it has its name, or its spec names it.

    Examples are CSINodes, NodeResourceTopologies, and ResourceSlices.
    """
    if obj.namespaced:
        return False
    spec = getattr(obj, "spec", None)
    return obj.name == node_name or getattr(spec, "node_name", None) == node_name


def _renamed(obj: ApiObject, old: str, new: str) -> ApiObject:
    tree = _replaced(to_wire(obj), old, new)
    metadata: dict[str, Any] = tree["metadata"]
    for field in ("uid", "resourceVersion", "creationTimestamp", "ownerReferences"):
        metadata.pop(field, None)
    if metadata["name"] == obj.name:
        metadata["name"] = f"{obj.name}-{new}"
    pool = tree["spec"].get("pool") if isinstance(obj, ResourceSlice) else None
    if pool and pool["name"] != new:
        pool["name"] = f"{pool['name']}-{new}"
    return from_wire(tree, type(obj))


def _replaced(value: Json, old: str, new: str) -> Json:
    """Return a tree in which every text that equals one name is replaced."""
    if isinstance(value, dict):
        return {key: _replaced(each, old, new) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, old, new) for each in value]
    return new if value == old else value
