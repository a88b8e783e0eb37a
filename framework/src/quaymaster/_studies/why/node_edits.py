"""Changes of existing nodes: a node is uncordoned or gets a label."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import msgspec

from quaymaster._api.objects import (
    ApiObject,
    Node,
    NodeSelectorTerm,
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
    yaml_scalar,
)
from quaymaster._studies.why.label_families import HOSTNAME, ZONE_LABELS
from quaymaster._studies.why.node_facts import can_be_ignored, is_fact, is_protective

__all__ = ["labelled_nodes", "required_labels", "uncordoned_nodes", "zones_of_volumes"]

_TRIED: Final = 5
"""How many nodes are tried for the same label, or for being uncordoned."""
_UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"


def uncordoned_nodes(nodes: Iterable[Node]) -> Iterator[Candidate]:
    """Offer to uncordon each of some nodes."""
    usable = (node for node in nodes if not _is_protected(node))
    for node in islice(usable, _TRIED):
        yield single(
            SuggestedChange(
                kinds=(ChangeKind.UNCORDON,),
                text=f"let node {node.name} be used again, if its maintenance is over",
                fields=(_field(node, "spec.unschedulable", "true", "false"),),
                command=f"kubectl uncordon {node.name}",
                apply=_on_node(node.name, _uncordoned),
            )
        )


def _is_protected(node: Node) -> bool:
    """Whether a taint protects a node, other than that of cordoned nodes."""
    return any(
        is_protective(taint) and taint.key != _UNSCHEDULABLE
        for taint in node.spec.taints
    )


def _uncordoned(node: Node) -> Node:
    # The node lifecycle controller derives the taint from the field, so both go
    # together.
    taints = tuple(taint for taint in node.spec.taints if taint.key != _UNSCHEDULABLE)
    spec = msgspec.structs.replace(node.spec, unschedulable=False, taints=taints)
    return msgspec.structs.replace(node, spec=spec)


def labelled_nodes(spec: PodSpec, nodes: Iterable[Node]) -> Iterator[Candidate]:
    """Offer a label for nodes that lack only one of the labels that a pod requires.

    Labels that describe what a node is or that isolate workloads are never offered,
    and neither is another value for a label that a node has.
    """
    tried: dict[tuple[str, str], int] = {}
    for node in nodes:
        if _is_protected(node):
            continue
        missing = _missing_labels(spec, node)
        if len(missing) != 1:
            continue
        [(key, value)] = missing.items()
        if is_fact(key) or key in node.labels or not can_be_ignored(key, (value,)):
            continue
        count = tried[key, value] = tried.get((key, value), 0) + 1
        if count <= _TRIED:
            yield single(_labelled(node, key, value))


def _labelled(node: Node, key: str, value: str) -> SuggestedChange:
    def edit(node: Node) -> Node:
        labels = {**node.labels, key: value}
        metadata = msgspec.structs.replace(node.metadata, labels=labels)
        return msgspec.structs.replace(node, metadata=metadata)

    return SuggestedChange(
        kinds=(ChangeKind.LABEL_NODE,),
        text=f"label node {node.name} with {key}={value}, if that is true of it",
        fields=(_field(node, f"metadata.labels.{key}", "", yaml_scalar(value)),),
        command=f"kubectl label node {node.name} {key}={value}",
        apply=_on_node(node.name, edit),
    )


def _missing_labels(spec: PodSpec, node: Node) -> dict[str, str]:
    """Return the fewest labels that a pod requires and a node lacks."""
    missing = (
        {key: each for key, each in labels.items() if node.labels.get(key) != each}
        for labels in required_labels(spec, node)
    )
    return min(missing, key=len, default={})


def required_labels(spec: PodSpec, node: Node | None = None) -> list[dict[str, str]]:
    """Return the labels that a pod requires of a node, as alternatives.

    Args:
        spec: The spec of the pod.
        node: A node whose values are used where several values are possible.
    """
    rules = spec.affinity.node_affinity if spec.affinity else None
    required = (
        rules.required_during_scheduling_ignored_during_execution if rules else None
    )
    if required is None:
        return [dict(spec.node_selector)] if spec.node_selector else []
    terms = (_term_labels(term, node) for term in required.node_selector_terms)
    return [{**spec.node_selector, **term} for term in terms if term is not None]


def _term_labels(term: NodeSelectorTerm, node: Node | None) -> dict[str, str] | None:
    """Return the labels that a term requires; None if labels are not enough."""
    own = node.labels if node is not None else {}
    labels: dict[str, str] = {}
    for expression in term.match_expressions:
        key, values = expression.key, expression.values
        match expression.operator:
            case "In" if values:
                labels[key] = own[key] if own.get(key) in values else values[0]
            case "Exists":
                labels[key] = own.get(key, "true")
            case "NotIn" if own.get(key) not in values:
                pass
            case "DoesNotExist" if key not in own:
                pass
            case _:
                return None
    return None if term.match_fields else labels


def zones_of_volumes(volumes: Iterable[PersistentVolume]) -> dict[str, str]:
    """Return the labels that nodes need to reach some volumes, if one label does."""
    labels: dict[str, str] = {}
    for volume in volumes:
        for key in ZONE_LABELS:
            if key in volume.labels:
                labels.setdefault(key, volume.labels[key])
        affinity = volume.spec.node_affinity
        required = affinity.required if affinity is not None else None
        for term in required.node_selector_terms if required is not None else ():
            for match_expression in term.match_expressions:
                if (
                    match_expression.operator == "In"
                    # A local volume is on one machine: another node with its name would
                    # not help.
                    and match_expression.key != HOSTNAME
                ):
                    labels.setdefault(match_expression.key, match_expression.values[0])
    return labels


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
