"""Changes that add nodes: copies of nodes of the input with their driver objects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Final

from quaymaster._api.objects import Node
from quaymaster._studies.why.changes import (
    Candidate,
    ChangeKind,
    FieldChange,
    SuggestedChange,
    single,
)
from quaymaster._studies.why.label_families import (
    GROUP_LABELS,
    HOSTNAME,
    INSTANCE_TYPES,
    describes_machine,
    is_identity,
)
from quaymaster._studies.why.node_copies import copies
from quaymaster._studies.why.node_facts import is_control_plane, passing_taints
from quaymaster._studies.why.possible_nodes import (
    can_exist,
    consistent_labels,
    is_possible_model,
)

__all__ = ["added_nodes", "series_of_nodes"]

_SHAPES: Final = 8
"""How many kinds of nodes are tried as one more node."""
_SERIES: Final = 3
"""How many kinds of nodes are tried as several more nodes."""
_MOST: Final = 64
"""How many nodes are added at most."""


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
    names = (node.name, node.labels.get(HOSTNAME))
    labels = {
        key: value
        for key, value in node.labels.items()
        if value not in names and not is_identity(key)
    }
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
    differences = [
        (
            {key: each for key, each in labels.items() if node.labels.get(key) != each},
            labels,
        )
        for labels in alternatives
        if is_possible_model(node, labels, nodes)
    ]
    fewest, required = min(differences, key=lambda pair: len(pair[0]), default=({}, {}))
    if fewest and can_exist(fewest, nodes):
        yield _added(nodes, node, fewest, 1, required)


def _added(
    nodes: Sequence[Node],
    node: Node,
    labels: Mapping[str, str],
    count: int,
    required: Mapping[str, str] = MappingProxyType({}),
) -> SuggestedChange:
    """Return the change that adds copies of a node with some other labels.

    Args:
        nodes: The nodes of the input.
        node: The node.
        labels: The labels that differ.
        count: How many copies are added.
        required: All labels that the pods require.
    """
    taken = {each.name for each in nodes}
    names = _free_names(node.name, taken, count)
    consistent = consistent_labels(node, labels, required, nodes)
    where = "".join(f", with {key}={value}" for key, value in labels.items())
    amount = "one node" if count == 1 else f"{count} nodes"
    assumed = ""
    if any(key in GROUP_LABELS or describes_machine(key) for key in labels):
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
                for copied in copies(objects, node, name, consistent)
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
    for key in (*GROUP_LABELS, *INSTANCE_TYPES):
        if key in node.labels and key not in changes:
            return f" ({key}={node.labels[key]})"
    return ""
