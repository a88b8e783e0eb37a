"""The results of an attempt: a node, or the reasons why there is none."""

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

__all__ = ["CLEAR_NOMINATION", "Decision", "Feasible", "FitError", "Unfit"]

CLEAR_NOMINATION = NominatingInfo("", NominatingMode.OVERRIDE)


class Feasible(msgspec.Struct, eq=False):
    """The nodes that a pod may run on.

    Attributes:
        rows: The rows of the nodes; at least one.
        count: The number of nodes.
        diagnosis: The reasons why the other nodes were rejected.
        via_nominated_node: Whether only the pod's own nominated node was tried.
        answered: The nodes in the form that extenders returned, which is scored. None
            if no extender returned nodes.
    """

    rows: Rows
    count: int
    diagnosis: Diagnosis
    via_nominated_node: bool = False
    answered: NodeTable | None = None


class Decision(msgspec.Struct, eq=False):
    """The node that an attempt found for a pod.

    Attributes:
        node: The chosen node; if only an extender has it, in the extender's form.
        feasible_nodes: The number of feasible nodes.
        evaluated_nodes: The number of nodes that were filtered.
        rows: The rows of the feasible nodes.
        diagnosis: The reasons why the other nodes were rejected.
    """

    node: NodeInfo
    feasible_nodes: int
    evaluated_nodes: int
    rows: Rows
    diagnosis: Diagnosis


class FitError(msgspec.Struct, frozen=True, eq=False, weakref=True):
    """An attempt found no node for a pod; equal attempts may share it.

    Attributes:
        status: Unschedulable, or the Error that ended the attempt.
        diagnosis: The reasons; None after an Error, or if the cluster has no nodes.
        nominating: The change of the pod's nomination.
        no_nodes: Whether the cluster has no nodes.
        post_filter: The result of the PostFilter plugins; None if none ran.
    """

    status: Status
    diagnosis: Diagnosis | None = None
    nominating: NominatingInfo | None = CLEAR_NOMINATION
    no_nodes: bool = False
    post_filter: PostFilterResult | None = None


class Unfit(msgspec.Struct, eq=False):
    """How attempts on all nodes end that have found none.

    Attributes:
        outcome: The outcome, with the result of the last PostFilter.
        revision: The revision of the node table; -1 if the outcome is not kept.
        skipped: The filters that skipped the pod.
        processed: The number of nodes that the attempts have tried.
        answers: What the PostFilter plugins have answered at this revision.
    """

    outcome: FitError
    revision: int = -1
    skipped: frozenset[str] = frozenset()
    processed: int = 0
    answers: list[PostFilterResult] = []
