"""Which labels a new node can have at the same time."""

from collections.abc import Iterable, Mapping

from quaymaster._api.objects import Node
from quaymaster._studies.why.label_families import (
    ARCHITECTURES,
    GROUP_LABELS,
    HOSTNAME,
    REGIONS,
    SYSTEMS,
    TWINS,
    ZONE_LABELS,
    describes_machine,
    describes_place,
    is_identity,
    is_lifecycle,
)

__all__ = ["can_exist", "consistent_labels", "is_possible_model"]


def can_exist(labels: Mapping[str, str], nodes: Iterable[Node]) -> bool:
    """Return whether a new node may get some labels.

    It cannot be another node, and two labels must not contradict each other, as two
    zones would.

    Args:
        labels: The labels.
        nodes: The nodes of the input.
    """
    if any(is_identity(key) for key in labels):
        return False
    if any(_names_node(node, key, labels) for node in nodes for key in labels):
        return False
    return all(
        len({labels[key] for key in twins if key in labels}) <= 1 for twins in TWINS
    )


def _names_node(node: Node, key: str, labels: Mapping[str, str]) -> bool:
    """Whether a label holds the names of nodes."""
    names = (node.name, node.labels.get(HOSTNAME, node.name))
    return labels[key] in names or node.labels.get(key) in names


def is_possible_model(
    model: Node, required: Mapping[str, str], nodes: Iterable[Node]
) -> bool:
    """Return whether a node may be copied for pods that require some labels.

    If another node is of the required machine or group, the size of this one is wrong.

    Args:
        model: The node.
        required: The labels that the pods require.
        nodes: The nodes of the input.
    """
    kinds = [
        (key, value)
        for key, value in required.items()
        if describes_machine(key) or key in GROUP_LABELS
    ]
    wrong = [(key, value) for key, value in kinds if model.labels.get(key) != value]
    return not any(
        node.labels.get(key) == value for node in nodes for key, value in wrong
    )


def consistent_labels(
    model: Node,
    changed: Mapping[str, str],
    required: Mapping[str, str],
    nodes: Iterable[Node],
) -> dict[str, str | None]:
    """Return the labels that a copy of a node must change when some are changed.

    For example, all labels that name the zone get the same value. Another architecture
    is another instance type and another node group, whose names are unknown.

    Args:
        model: The node.
        changed: The labels that are changed.
        required: All labels that the pods require.
        nodes: The nodes of the input.

    Returns:
        The labels with their new values; None for labels that the copy lacks.
    """
    changes: dict[str, str | None] = {
        key: None for key in _dependent(model, changed) if key not in required
    }
    changes |= changed
    for twins in TWINS:
        value = next((changed[key] for key in twins if key in changed), None)
        if value is not None:
            changes |= {key: value for key in twins if key in model.labels}
    zone = next((changed[key] for key in ZONE_LABELS if key in changed), None)
    if zone is not None:
        changes |= _places(model, zone, {*changed, *ZONE_LABELS}, nodes)
    return changes


def _dependent(model: Node, changed: Iterable[str]) -> set[str]:
    """Return the labels of a node that have no meaning once others are changed."""
    is_other_group = any(key in GROUP_LABELS for key in changed)
    is_other_machine = any(map(describes_machine, changed))
    is_other_price = any(map(is_lifecycle, changed))
    images = {*ARCHITECTURES, *SYSTEMS}
    return {
        key
        for key in model.labels
        if (key in GROUP_LABELS and (is_other_machine or is_other_group))
        or (key in GROUP_LABELS[1:] and is_other_price)
        or (is_lifecycle(key) and (is_other_price or is_other_group))
        or (describes_machine(key) and key not in images and is_other_group)
        or (describes_machine(key) and key not in images and is_other_machine)
    }


def _places(
    model: Node, zone: str, settled: Iterable[str], nodes: Iterable[Node]
) -> dict[str, str | None]:
    """Return the other labels of a place in a zone; None for those that are unknown."""
    own = [key for key in model.labels if describes_place(key)]
    there = next(
        (node for node in nodes if zone in map(node.labels.get, ZONE_LABELS)), None
    )
    places: dict[str, str | None] = {}
    for key in own:
        if key in settled:
            continue
        if there is not None:
            places[key] = there.labels.get(key)
        elif not (key in REGIONS and zone.startswith(model.labels[key])):
            places[key] = None
    return places
