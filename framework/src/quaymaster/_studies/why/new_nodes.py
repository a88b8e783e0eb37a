"""Changes that add nodes: copies of nodes of the input with their driver objects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from types import MappingProxyType
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._studies.why.changes import (
    Candidate,
    ChangeKind,
    Effect,
    FieldChange,
    SuggestedChange,
    both,
    single,
)
from quaymaster._studies.why.label_families import (
    GROUP_LABELS,
    HOSTNAME,
    INSTANCE_TYPES,
    describes_machine,
    describes_place,
    is_identity,
)
from quaymaster._studies.why.node_copies import copies
from quaymaster._studies.why.node_facts import is_control_plane, passing_taints
from quaymaster._studies.why.possible_nodes import (
    can_exist,
    consistent_labels,
    is_possible_model,
)

__all__ = ["added_copies", "added_nodes", "kinds_of", "series_of_nodes"]

_SHAPES: Final = 8
"""How many kinds of nodes are tried as one more node."""
_SERIES: Final = 3
"""How many kinds of nodes are tried as several more nodes."""
_MOST: Final = 500
"""How many nodes are added at most."""
_PLAN: Final = "; 'quaymaster plan' looks for the cheapest nodes"


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
        yield single(added_copies(nodes, node, {}, 1))
    for node in shapes:
        yield from map(single, _with_labels(nodes, node, alternatives))
    yield from series_of_nodes(nodes, pending)


def series_of_nodes(nodes: Sequence[Node], pending: int) -> Iterator[Candidate]:
    """Offer several more nodes of each of the first kinds, then one kind everywhere.

    Args:
        nodes: The nodes of the input.
        pending: How many pods are pending: the most nodes that are offered.
    """
    most = min(pending, _MOST)
    if most < 2:
        return
    kinds = list(islice(_shapes(nodes), _SERIES))
    for node in kinds:
        yield _series(nodes, [node], most)
    for node in kinds[:1]:
        models = _in_each_place(nodes, node)
        if len(models) > 1:
            yield _series(nodes, models, -(-most // len(models)))


def _series(nodes: Sequence[Node], models: Sequence[Node], most: int) -> Candidate:
    """Offer copies of some nodes, of each the same number.

    Args:
        nodes: The nodes of the input.
        models: The nodes to copy.
        most: The most copies of each.
    """
    # A single node is offered before, by `added_nodes`.
    least = 2 if len(models) == 1 else 1
    return Candidate(
        kind=ChangeKind.ADD_NODE,
        effect=Effect.ADDS_ROOM,
        levels=max(1, most - least + 1),
        # The first level is the largest change, so the search goes towards fewer nodes.
        at=lambda level: _copied(nodes, models, max(least, most - level)),
    )


def _copied(
    nodes: Sequence[Node], models: Sequence[Node], count: int
) -> SuggestedChange:
    if len(models) == 1:
        return added_copies(nodes, models[0], {}, count)
    changes = [added_copies(nodes, node, {}, count) for node in models]
    whole = reduce(both, changes)
    names = ", ".join(node.name for node in models[:-1])
    text = (
        f"add {count * len(models)} nodes, {count} in each of {len(models)} places, "
        f"like {names} and {models[-1].name}{_group(models[0], {})}{_PLAN}"
    )
    return attrs.evolve(whole, kinds=(ChangeKind.ADD_NODE,), text=text)


def _in_each_place(nodes: Sequence[Node], model: Node) -> list[Node]:
    """Return a node of the same kind for each place, such as each zone."""
    kind = _shape(model, with_place=False)
    models: dict[object, Node] = {}
    for node in nodes:
        if not is_control_plane(node) and _shape(node, with_place=False) == kind:
            place = frozenset(
                (key, value)
                for key, value in node.labels.items()
                if describes_place(key)
            )
            models.setdefault(place, node)
    return list(models.values())


def kinds_of(nodes: Iterable[Node]) -> Iterator[object]:
    """Yield a key of each kind of node, without those of the control plane."""
    return map(_shape, _shapes(nodes))


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


def _shape(node: Node, *, with_place: bool = True) -> object:
    """Return a key that is equal for nodes that a scheduler treats as equal.

    Args:
        node: The node.
        with_place: Whether nodes of different zones and racks count as different.
    """
    names = (node.name, node.labels.get(HOSTNAME))
    labels = {
        key: value
        for key, value in node.labels.items()
        # A label with the name of the node, whatever its key, would make each node a
        # kind of its own.
        if value not in names
        and not is_identity(key)
        and (with_place or not describes_place(key))
    }
    offered = node.status.allocatable or node.status.capacity
    # A node that is not ready, or cordoned, is still of its kind.
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
        yield added_copies(nodes, node, fewest, 1, required)


def added_copies(
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
    plan = "" if count == 1 else _PLAN
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
