"""The nodes of an autoscaler over time, as columns for charts."""

from collections.abc import Sequence

from quaymaster._studies.simulation.autoscaler import AutoscaledNode

__all__ = ["scaled_columns"]


def scaled_columns(nodes: Sequence[AutoscaledNode]) -> list[dict[str, object]]:
    """Return the number and the price of nodes over time, for each group.

    Args:
        nodes: The nodes; a node counts from its order to its deletion.
    """
    groups = dict.fromkeys(node.group for node in nodes)
    return [
        _columns(group, [node for node in nodes if node.group == group])
        for group in groups
    ]


def _columns(group: str, nodes: Sequence[AutoscaledNode]) -> dict[str, object]:
    steps: dict[float, list[tuple[int, float]]] = {0.0: []}
    for node in nodes:
        price = node.price or 0.0
        steps.setdefault(node.ordered or 0.0, []).append((1, price))
        if node.removed is not None:
            steps.setdefault(node.removed, []).append((-1, -price))
    steps.setdefault(max(node.until for node in nodes), [])
    counts, prices, count, total = [], [], 0, 0.0
    for time in sorted(steps):
        for more, price in steps[time]:
            count += more
            total += price
        counts.append(count)
        prices.append(round(total, 9))
    has_prices = all(node.price is not None for node in nodes)
    return {
        "name": group,
        "at": sorted(steps),
        "nodes": counts,
        "price": prices if has_prices else None,
    }
