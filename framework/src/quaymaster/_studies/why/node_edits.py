"""Changes of nodes: one is used again, one gets a label, one more is there."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec

from quaymaster._api.objects import (
    ApiObject,
    Node,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PodSpec,
)
from quaymaster._studies.why.changes import (
    Apply,
    Candidate,
    ChangeKind,
    FieldChange,
    SuggestedChange,
    single,
)

__all__ = ["added_nodes", "labelled_nodes", "uncordoned_nodes", "zones_of_volumes"]

_TRIED: Final = 5
"""So many nodes are tried that could get the same label, or be used again."""
_SHAPES: Final = 8
"""So many kinds of nodes are tried as one more node."""
_HOSTNAME: Final = "kubernetes.io/hostname"
_ZONES: Final = (
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
)
# What people call their groups of nodes by, the most telling first.
_GROUPS: Final = (
    "karpenter.sh/nodepool",
    "eks.amazonaws.com/nodegroup",
    "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool",
    "node.kubernetes.io/instance-type",
)


def uncordoned_nodes(nodes: Iterable[Node]) -> Iterator[Candidate]:
    """Offer to use each of some cordoned nodes again."""
    for node in islice(nodes, _TRIED):
        yield single(
            SuggestedChange(
                kinds=(ChangeKind.UNCORDON,),
                text=f"let node {node.name} be used again",
                fields=(_field(node, "spec.unschedulable", "true", "false"),),
                command=f"kubectl uncordon {node.name}",
                apply=_on_node(node.name, _uncordoned),
            )
        )


def _uncordoned(node: Node) -> Node:
    taints = tuple(
        taint
        for taint in node.spec.taints
        if taint.key != "node.kubernetes.io/unschedulable"
    )
    spec = msgspec.structs.replace(node.spec, unschedulable=False, taints=taints)
    return msgspec.structs.replace(node, spec=spec)


def labelled_nodes(spec: PodSpec, nodes: Iterable[Node]) -> Iterator[Candidate]:
    """Offer a label to nodes that lack only one of those that a pod asks for."""
    tried: dict[tuple[str, str], int] = {}
    for node in nodes:
        missing = _missing_labels(spec, node)
        if missing is None or len(missing) != 1:
            continue
        [(key, value)] = missing.items()
        count = tried[key, value] = tried.get((key, value), 0) + 1
        if count <= _TRIED:
            yield single(_labelled(node, key, value))


def _labelled(node: Node, key: str, value: str) -> SuggestedChange:
    def edit(node: Node) -> Node:
        labels = {**node.labels, key: value}
        metadata = msgspec.structs.replace(node.metadata, labels=labels)
        return msgspec.structs.replace(node, metadata=metadata)

    old = node.labels.get(key, "")
    again = " --overwrite" if key in node.labels else ""
    return SuggestedChange(
        kinds=(ChangeKind.LABEL_NODE,),
        text=f"label node {node.name} with {key}={value}",
        fields=(_field(node, f"metadata.labels.{key}", old, value),),
        command=f"kubectl label node {node.name} {key}={value}{again}",
        apply=_on_node(node.name, edit),
    )


def _missing_labels(spec: PodSpec, node: Node) -> dict[str, str] | None:
    """The labels that a pod asks for and a node lacks; None if labels do not do."""
    labels = node.labels
    missing = {
        key: value
        for key, value in spec.node_selector.items()
        if labels.get(key) != value
    }
    rules = spec.affinity.node_affinity if spec.affinity else None
    required = (
        rules.required_during_scheduling_ignored_during_execution if rules else None
    )
    if required is not None:
        terms = [_term_labels(term, labels) for term in required.node_selector_terms]
        found = [term for term in terms if term is not None]
        if not found:
            return None
        _, _, fewest = min((len(one), place, one) for place, one in enumerate(found))
        missing.update(fewest)
    return None if _HOSTNAME in missing else missing


def _term_labels(
    term: NodeSelectorTerm, labels: Mapping[str, str]
) -> dict[str, str] | None:
    missing: dict[str, str] = {}
    for one in term.match_expressions:
        if one.operator == "In":
            if labels.get(one.key) not in one.values:
                missing[one.key] = one.values[0]
        elif one.operator == "Exists":
            if one.key not in labels:
                missing[one.key] = "true"
        else:
            return None
    return None if term.match_fields else missing


def added_nodes(nodes: Sequence[Node], zones: Mapping[str, str]) -> Iterator[Candidate]:
    """Offer one more node like each kind of node that there is.

    Args:
        nodes: The nodes of the input.
        zones: Labels that a new node has instead, if some volume needs them.
    """
    names = {node.name for node in nodes}
    shapes: dict[object, Node] = {}
    for node in nodes:
        shapes.setdefault(_shape(node), node)
    for node in islice(shapes.values(), _SHAPES):
        yield single(_one_more(node, _free_name(node.name, names), {}))
        other = {key: zones[key] for key in zones if node.labels.get(key) != zones[key]}
        if other:
            yield single(_one_more(node, _free_name(node.name, names), other))


def _shape(node: Node) -> object:
    """What two nodes have to have in common to be alike for a scheduler."""
    labels = {k: v for k, v in node.labels.items() if v != node.name and k != _HOSTNAME}
    offered = node.status.allocatable or node.status.capacity
    return (
        frozenset(labels.items()),
        frozenset((name, amount.nanos) for name, amount in offered.items()),
        frozenset((one.key, one.value, one.effect) for one in node.spec.taints),
        node.spec.unschedulable,
    )


def _free_name(name: str, names: "set[str]") -> str:
    number = 1
    while f"{name}-more-{number}" in names:
        number += 1
    return f"{name}-more-{number}"


def _one_more(node: Node, name: str, labels: Mapping[str, str]) -> SuggestedChange:
    own = {
        key: name if key == _HOSTNAME or value == node.name else value
        for key, value in node.labels.items()
    }
    metadata = ObjectMeta(
        name=name, labels={**own, **labels}, annotations=node.annotations
    )
    spec = msgspec.structs.replace(node.spec, provider_id="")
    status = msgspec.structs.replace(
        node.status, volumes_in_use=(), volumes_attached=()
    )
    new = Node(metadata=metadata, spec=spec, status=status)
    where = "".join(f", with {key}={value}" for key, value in labels.items())
    return SuggestedChange(
        kinds=(ChangeKind.ADD_NODE,),
        text=f"add one node like {node.name}{_group(node)}{where}",
        fields=(
            FieldChange(
                object=f"node/{name}",
                namespace="",
                path="",
                old="",
                new=f"a copy of {node.name}{where}",
            ),
        ),
        apply=lambda objects: [*objects, new],
    )


def _group(node: Node) -> str:
    for key in _GROUPS:
        if key in node.labels:
            return f" ({key}={node.labels[key]})"
    return ""


def zones_of_volumes(volumes: Iterable[PersistentVolume]) -> dict[str, str]:
    """Return the labels that nodes need to reach some volumes, as far as one does."""
    found: dict[str, str] = {}
    for volume in volumes:
        for key in _ZONES:
            if key in volume.labels:
                found.setdefault(key, volume.labels[key])
        affinity = volume.spec.node_affinity
        required = affinity.required if affinity is not None else None
        for term in required.node_selector_terms if required is not None else ():
            for one in term.match_expressions:
                if one.operator == "In" and one.key != _HOSTNAME:
                    found.setdefault(one.key, one.values[0])
    return found


def _field(node: Node, path: str, old: str, new: str) -> FieldChange:
    name = f"node/{node.name}"
    return FieldChange(object=name, namespace="", path=path, old=old, new=new)


def _on_node(name: str, edit: Callable[[Node], Node]) -> Apply:
    def apply(objects: Sequence[ApiObject]) -> list[ApiObject]:
        return [
            edit(obj) if isinstance(obj, Node) and obj.name == name else obj
            for obj in objects
        ]

    return apply
