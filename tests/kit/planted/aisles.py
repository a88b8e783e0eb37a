"""A plugin that places groups in aisles, and mistakes in it."""

from collections.abc import Sequence

import numpy as np

from quaymaster import Handle, NodeTable, hookimpl
from quaymaster.hookspecs import PodGroupAssignments, PodGroupPlacement
from quaymaster.testing import clusters, nodes
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["AISLE_MISTAKES", "OWN", "Aisles"]

AISLE = "example.com/aisle"


class Aisles(Plugin):
    """Correct: a placement for each aisle, in the order of their names."""

    def names(self, names: Sequence[str]) -> Sequence[str]:
        """Return the aisles of some nodes."""
        return sorted(set(names))

    @hookimpl
    def placement_generate(
        self, nodes: NodeTable, parent: PodGroupPlacement
    ) -> Sequence[PodGroupPlacement]:
        rows = nodes.row_numbers(parent.rows)
        infos = nodes.infos_at(rows)
        aisles = np.array([info.labels.get(AISLE, "") for info in infos])
        return [
            PodGroupPlacement(f"aisle {name}", rows[aisles == name])
            for name in self.names(aisles.tolist())
        ]

    @hookimpl
    def placement_score(
        self, nodes: NodeTable, assignments: PodGroupAssignments
    ) -> int:
        rows = nodes.rows_of([each.node_name for each in assignments.attempts])
        return 100 // max(1, len(np.unique(nodes.label(AISLE).codes[rows])))


class OrdersAislesByASet(Aisles):
    def names(self, names: Sequence[str]) -> Sequence[str]:
        return list(set(names))  # the mistake: nothing sorts them


class SkipsAislesByHash(Aisles):
    def names(self, names: Sequence[str]) -> Sequence[str]:
        *others, last = super().names(names)
        return [*others, last] if hash(last) % 2 else others or [last]


class ScoresTheFirstPod(Aisles):
    @hookimpl
    def placement_score(
        self, nodes: NodeTable, assignments: PodGroupAssignments
    ) -> int:
        first = [each.node_name for each in assignments.attempts][:1]
        return int(nodes.rows_of(first).sum())


class CountsItsCalls(Aisles):
    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.calls = 0

    @hookimpl
    def placement_score(
        self, nodes: NodeTable, assignments: PodGroupAssignments
    ) -> int:
        self.calls += 1
        return self.calls % 100


OWN = clusters(
    nodes=nodes(*({"labels": {AISLE: name}} for name in ("north", "south", "east")))
)
AISLE_MISTAKES: Sequence[Mistake] = (
    Mistake(OrdersAislesByASet, ["other process"], OWN),
    Mistake(SkipsAislesByHash, ["other process"], OWN),
    Mistake(ScoresTheFirstPod, ["placement scores"], OWN),
    Mistake(CountsItsCalls, ["placement scores"], OWN),
)
