"""An attempt to find a node for a pod, passed from station to station."""

import msgspec
import numpy as np

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.state.arrays import RowArray, Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Attempt"]


# One is made for each attempt: a plain class takes three times as long to make.


class Attempt(msgspec.Struct, eq=False):
    """The input of stations that look at many nodes.

    A function for one node has the arguments of the hook instead: state, pod, node.

    Attributes:
        state: The pod's cycle state.
        pod: The pod to schedule.
        nodes: The columns of all nodes.
        diagnosis: The rejections of nodes.
        rows: The rows of all nodes: the table's own object.
        placement: The rows to which a placement of a group restricts the attempt, or
            None.
        is_sampled: Whether the search ends as soon as enough nodes are found.
    """

    state: CycleState
    pod: Pod
    nodes: NodeTable
    diagnosis: Diagnosis
    rows: Rows
    placement: RowArray | None = None
    is_sampled: bool = False

    @classmethod
    def begin(cls, state: CycleState, pod: Pod, nodes: NodeTable) -> "Attempt":
        """Begin an attempt with an empty diagnosis."""
        return cls(state, pod, nodes, Diagnosis(nodes), nodes.rows)

    @classmethod
    def within(
        cls, state: CycleState, pod: Pod, nodes: NodeTable, placement: RowArray | None
    ) -> "Attempt":
        """Begin an attempt that may be restricted to a placement."""
        diagnosis = Diagnosis(nodes, placement)
        return cls(state, pod, nodes, diagnosis, nodes.rows, placement)

    def includes(self, row: int) -> bool:
        """Return whether a row is one of those to which the attempt is restricted."""
        return self.placement is None or bool(np.any(self.placement == row))

    def on(self, nodes: NodeTable) -> "Attempt":
        """Return the same attempt on other nodes, such as imagined ones."""
        return Attempt(
            self.state,
            self.pod,
            nodes,
            self.diagnosis,
            nodes.rows,
            self.placement,
            self.is_sampled,
        )

    def with_own_diagnosis(self) -> "Attempt":
        """Return the same attempt with an empty diagnosis of its own."""
        return Attempt.begin(self.state, self.pod, self.nodes)
