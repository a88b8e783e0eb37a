"""What the nodes of an autoscaler cost, in figures."""

from collections.abc import Iterable, Mapping, Sequence

import attrs

from quaymaster._studies.simulation.autoscaler import AutoscaledNode

__all__ = ["autoscaled_figures", "clipped", "total_cost", "until"]


def autoscaled_figures(nodes: Sequence[AutoscaledNode]) -> Mapping[str, float]:
    """Return the figures of an autoscaler's nodes by name.

    Args:
        nodes: The nodes that it ever had.

    Returns:
        The figures. The cost is missing if a price is unknown.
    """
    figures: dict[str, float] = {
        "nodes_added": sum(node.ordered is not None for node in nodes),
        "nodes_removed": sum(node.removed is not None for node in nodes),
        "node_hours": sum(node.hours for node in nodes),
    }
    cost = total_cost(nodes)
    if cost is not None:
        figures["cost"] = cost
    return figures


def clipped(nodes: Iterable[AutoscaledNode], end: float) -> Sequence[AutoscaledNode]:
    """Return nodes as they were, or will be, at a time; later ones are left out.

    Args:
        nodes: The nodes; those that exist at the end of the simulation stay.
        end: The time, in seconds since the beginning.
    """
    return [
        attrs.evolve(
            node,
            until=end,
            removed=None
            if node.removed is None or node.removed > end
            else node.removed,
        )
        for node in nodes
        if (node.ordered or 0.0) <= end
    ]


def total_cost(nodes: Iterable[AutoscaledNode]) -> float | None:
    """Return what nodes cost together; None if a price is unknown."""
    total = 0.0
    for node in nodes:
        if node.cost is None:
            return None
        total += node.cost
    return total


def until(nodes: Iterable[AutoscaledNode], end: float) -> Sequence[AutoscaledNode]:
    """Return nodes as they are at a later time, if nothing changes until then.

    Simulations settle at different times. Their costs can be compared only over the
    same time.

    Args:
        nodes: The nodes.
        end: The time, in seconds since the beginning.
    """
    return [attrs.evolve(node, until=max(end, node.until)) for node in nodes]
