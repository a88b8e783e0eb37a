"""Measures the room in a cluster, as the scheduler sees it."""

from collections.abc import Iterable, Sequence
from itertools import compress
from operator import not_

import attrs
import numpy as np

from quaymaster._base.natural_order import natural_key
from quaymaster._core.state.arrays import RowArray
from quaymaster._studies.capacity.columns import AmountColumns
from quaymaster._studies.capacity.figures import GroupRoom, NodeRoom, Room, TypicalPod
from quaymaster._studies.capacity.fragmentation import (
    FittingShape,
    Fragmentation,
    fitting_shapes,
)
from quaymaster._studies.capacity.grouping import default_labels, group_of
from quaymaster._studies.capacity.node_status import closed_nodes, kubectl_status
from quaymaster._studies.capacity.prices import Prices, total_price
from quaymaster._studies.simulation.run import Simulation

__all__ = ["RoomObserver", "measure_room"]


def measure_room(
    simulation: Simulation,
    *,
    by: Sequence[str] | None = None,
    prices: Prices | None = None,
    each_node: bool = True,
    fragmentation: bool = False,
) -> Room:
    """Measure the room in a simulated cluster as it is now.

    Nothing changes, and no time passes; nodes that do not answer are left out. 5,000
    nodes take some 80 milliseconds, most of it for the figures of each.

    Args:
        simulation: The simulation, which has been run.
        by: The labels to group nodes by; by default zone and instance type, if nodes
            have them.
        prices: Prices of nodes without an annotation.
        each_node: Whether to return figures of each node, and not only of groups.
        fragmentation: Whether to find where typical pods fit, which takes some
            milliseconds per kind of pods.

    Raises:
        AdmissionError: The annotation of a node is not a price.
    """
    columns = AmountColumns.of(simulation.scheduler.snapshot.nodes)
    nodes = [info.node for info in columns.infos]
    costs = (prices or Prices()).of_all(nodes)
    # These calls are hypothetical and must not be counted in the metrics of hooks.
    with simulation.scheduler.hooks_unobserved():
        shapes = fitting_shapes(simulation) if fragmentation else []
    lost = Fragmentation(columns, shapes)
    labels = tuple(default_labels(nodes) if by is None else by)
    keys = [group_of(node, labels) for node in nodes]
    silent = simulation.cluster.silent_nodes
    there = [place for place, node in enumerate(nodes) if node.name not in silent]
    shut = closed_nodes(nodes[place] for place in there)
    shut.sort(key=lambda node: natural_key(node.node))
    closed = frozenset(node.node for node in shut)

    def group(key: tuple[str, ...], places: Sequence[int]) -> GroupRoom:
        room = _group(key, columns, costs, lost, places)
        count = sum(nodes[place].name in closed for place in places)
        return attrs.evolve(room, closed=count) if count else room

    total = group((), there)
    is_closed = [nodes[place].name in closed for place in there]
    return Room(
        by=labels,
        total=total,
        groups=tuple(
            group(key, places) for key, places in _places(keys, there).items()
        ),
        nodes=tuple(_nodes(columns, keys, costs, there)) if each_node else (),
        typical=tuple(map(_typical, shapes)),
        open=group((), [*compress(there, map(not_, is_closed))]) if closed else None,
        closed=group((), [*compress(there, is_closed)]) if closed else None,
        closed_nodes=tuple(shut),
    )


class RoomObserver:
    """Measures the room that is left at the end of a simulation.

    A `quaymaster.simulation.SimulationObserver`. To find where typical pods fit, it
    calls Filter plugins; these calls are not reported to hook observers.

    Args:
        by: As for `measure_room`.
        prices: As for `measure_room`.

    Attributes:
        room: The room; None until the simulation has ended without an error.
    """

    def __init__(
        self, *, by: Sequence[str] | None = None, prices: Prices | None = None
    ) -> None:
        self._by = by
        self._prices = prices
        self.room: Room | None = None

    def begin(self, _simulation: Simulation, /) -> None:
        """Do nothing: the room is measured at the end."""

    def end(self, simulation: Simulation, error: BaseException | None, /) -> None:
        """Measure the room, unless an error has ended the simulation."""
        if error is None:
            self.room = measure_room(
                simulation, by=self._by, prices=self._prices, fragmentation=True
            )


def _typical(fitting: FittingShape) -> TypicalPod:
    return TypicalPod(
        pod=fitting.shape.pod.key,
        pods=fitting.shape.count,
        requests=fitting.shape.requests,
        nodes=int(fitting.fits.sum()),
    )


def _places(
    keys: Sequence[tuple[str, ...]], there: Iterable[int]
) -> dict[tuple[str, ...], list[int]]:
    """Return the indices of each group's nodes, sorted by group."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place in there:
        places.setdefault(keys[place], []).append(place)
    return dict(
        sorted(places.items(), key=lambda item: tuple(map(natural_key, item[0])))
    )


def _group(
    key: tuple[str, ...],
    columns: AmountColumns,
    costs: Sequence[float | None],
    lost: Fragmentation,
    places: Sequence[int],
) -> GroupRoom:
    at: RowArray = np.array(places, dtype=np.intp)
    prices = [costs[place] for place in places]
    return GroupRoom(
        group=key,
        nodes=len(places),
        pods=sum(len(columns.infos[place].pods) for place in places),
        resources=columns.sums(at),
        imbalance=columns.imbalance(at),
        price_per_hour=total_price(prices),
        unpriced=prices.count(None),
        fragmentation=lost.mean(at),
        stranded=lost.stranded(at),
    )


def _nodes(
    columns: AmountColumns,
    keys: Sequence[tuple[str, ...]],
    costs: Sequence[float | None],
    there: Iterable[int],
) -> Iterable[NodeRoom]:
    shown = set(there)
    rooms = [
        NodeRoom(
            node=info.name,
            group=keys[place],
            pods=len(info.pods),
            resources=resources,
            price_per_hour=costs[place],
            status=kubectl_status(info.node),
        )
        for place, (info, resources) in enumerate(
            zip(columns.infos, columns.each(), strict=True)
        )
        if place in shown
    ]
    return sorted(rooms, key=lambda room: natural_key(room.node))
