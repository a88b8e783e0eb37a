"""One attempt to find a node for a pod, as it goes from station to station."""

import msgspec

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Attempt"]


class Attempt(msgspec.Struct, eq=False):
    """What a station that looks at many nodes is given.

    Whoever looks at one node takes what the hook takes instead: state, pod, node.

    Attributes:
        state: The pod's scratch space.
        pod: The pod that a node is sought for.
        nodes: The columns of all nodes.
        diagnosis: Takes the rejections.
        rows: The rows of all nodes, as the columns have them.
        is_sampled: Whether the search ends as soon as it has found enough nodes.
    """

    state: CycleState
    pod: Pod
    nodes: NodeTable
    diagnosis: Diagnosis
    rows: Rows
    is_sampled: bool = False

    @classmethod
    def begin(cls, state: CycleState, pod: Pod, nodes: NodeTable) -> "Attempt":
        """Begin an attempt with an empty diagnosis."""
        return cls(state, pod, nodes, Diagnosis(nodes), nodes.rows)

    def on(self, nodes: NodeTable) -> "Attempt":
        """Return the same attempt on other nodes, such as imagined ones."""
        return Attempt(
            self.state, self.pod, nodes, self.diagnosis, nodes.rows, self.is_sampled
        )

    def with_own_diagnosis(self) -> "Attempt":
        """Return the same attempt with an empty diagnosis that nobody else reads."""
        return Attempt.begin(self.state, self.pod, self.nodes)
