"""The order of nodes in ``capacity``, and how many of them are shown."""

from collections.abc import Callable
from operator import attrgetter
from typing import Final

import attrs
import click

from quaymaster._base.natural_order import natural_key
from quaymaster._base.suggestions import did_you_mean
from quaymaster._studies.capacity.figures import NodeRoom, ResourceRoom, Room

__all__ = ["ordered"]

_NAME: Final = "name"
_PRICE: Final = "price"
_UTILIZATION: Final = "utilization"
_FIGURES: Final = ("allocatable", "requested", "free", _UTILIZATION)

_Figure = Callable[[NodeRoom], float | None]


def ordered(room: Room, sort_by: str, top: int) -> Room:
    """Return the room with its nodes in an order: by name, or the largest figure first.

    Nodes without the figure are the last; equal ones are in the order of their names.

    Args:
        room: The room.
        sort_by: ``name``, ``price``, the name of a resource, or such a name and
            one of its figures: ``memory.free``. A resource alone is its utilization.
        top: How many nodes to keep; 0: all.

    Raises:
        BadParameter: No node has such a figure.
    """
    nodes = sorted(room.nodes, key=lambda node: natural_key(node.node))
    if sort_by != _NAME:
        figure = _figure(room, sort_by)
        nodes.sort(key=lambda node: _largest_first(figure(node)))
    return attrs.evolve(room, nodes=tuple(nodes[:top] if top else nodes))


def _largest_first(figure: float | None) -> tuple[bool, float]:
    return figure is None, -(figure or 0.0)


def _figure(room: Room, sort_by: str) -> _Figure:
    """Return the function that returns the figure of a node."""
    if sort_by == _PRICE:
        return attrgetter("price_per_hour")
    resources = room.total.resources
    name, _, figure = sort_by.rpartition(".")
    if name not in resources or figure not in _FIGURES:
        name, figure = sort_by, _UTILIZATION
    if name not in resources:
        names = (_NAME, _PRICE, *resources)
        figures = ", ".join(_FIGURES)
        message = (
            f"expected {', '.join(names)}, or a resource and its figure ({figures}), "
            f"such as memory.free; got {sort_by!r}{did_you_mean(sort_by, names)}"
        )
        raise click.BadParameter(message, param_hint="--sort-by")

    def of(node: NodeRoom) -> float | None:
        amounts: ResourceRoom | None = node.resources.get(name)
        return None if amounts is None else getattr(amounts, figure)

    return of
