"""The results of an attempt: a node, or the reasons why there is none."""

import attrs
import msgspec

from quaymaster._core.contract.results import (
    NominatingInfo,
    NominatingMode,
    PostFilterResult,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.diagnosis import Diagnosis
from quaymaster._core.state.arrays import Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = ["CLEAR_NOMINATION", "Decision", "Feasible", "FitError"]

CLEAR_NOMINATION = NominatingInfo("", NominatingMode.OVERRIDE)


class Feasible(msgspec.Struct, eq=False):
    """The nodes that a pod may run on.

    Attributes:
        rows: Their rows; at least one.
        count: How many they are.
        diagnosis: Why the others were rejected.
        via_nominated_node: Whether only the pod's own nominated node was looked at.
        answered: The nodes as extenders sent them back, which is how they are scored;
            None if none did.
    """

    rows: Rows
    count: int
    diagnosis: Diagnosis
    via_nominated_node: bool = False
    answered: NodeTable | None = None


class Decision(msgspec.Struct, eq=False):
    """The node that an attempt found for a pod.

    Attributes:
        node: The chosen node; if an extender made it up, as it described it.
        feasible_nodes: How many nodes would have done.
        evaluated_nodes: How many nodes were looked at.
        rows: The rows of the nodes that would have done.
        diagnosis: Why the others would not.
    """

    node: NodeInfo
    feasible_nodes: int
    evaluated_nodes: int
    rows: Rows
    diagnosis: Diagnosis


@attrs.frozen(eq=False)
class FitError:
    """An attempt found no node for a pod.

    Attributes:
        status: Unschedulable, or the Error that ended the attempt.
        diagnosis: Why; None after an Error, or when there are no nodes at all.
        nominating: What happens to the pod's nomination.
        no_nodes: Whether the cluster has no nodes at all.
        post_filter: What the PostFilter plugins said together; None if none ran.
    """

    status: Status
    diagnosis: Diagnosis | None = None
    nominating: NominatingInfo | None = CLEAR_NOMINATION
    no_nodes: bool = False
    post_filter: PostFilterResult | None = None
