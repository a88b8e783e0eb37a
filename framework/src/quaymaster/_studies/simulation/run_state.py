"""The state of a run: the cluster as columns, and numbers of pods."""

from typing import Final

import attrs
import numpy as np

from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.state.arrays import Int64Array, Rows, freeze
from quaymaster._core.state.node_table import NodeTable

__all__ = ["RunStateReader", "Standing"]

_FIRST: Final = ("cpu", "memory", "ephemeral-storage")
"""The resources that every node table has a row for, in that order."""


@attrs.frozen(kw_only=True, eq=False)
class Standing:
    """The state of a run, as a copy that later changes do not affect.

    ``N`` is the number of nodes and ``R`` that of resources. Amounts are millicores for
    CPU, bytes for memory and storage, and plain numbers for extended resources. Pods
    that wait on Permit or PreBind count as being on their node.

    Attributes:
        at: The time, in seconds since the run began.
        attempts: How many attempts there have been.
        placed: How many pods have been bound so far, including deleted ones.
        preempted: How many pods have been preempted so far.
        active: How many pods are ready to be tried.
        backoff: How many wait to be tried again, after a rejection or an error.
        unschedulable: How many wait for an event, gated ones included.
        waiting: How many wait on Permit.
        nodes: The names of the nodes, in the order of the columns.
        resources: The names of the resources, in the order of the first axis.
        allocatable: Shape ``(R, N)``, dtype int64: what nodes offer.
        requested: Shape ``(R, N)``, dtype int64: what pods on them request.
        allowed_pods: Shape ``(N,)``, dtype int64: how many pods nodes accept.
        pods: Shape ``(N,)``, dtype int64: how many pods are on them.
    """

    at: float
    attempts: int
    placed: int
    preempted: int
    active: int
    backoff: int
    unschedulable: int
    waiting: int
    nodes: tuple[str, ...] = attrs.field(repr=False)
    resources: tuple[str, ...] = attrs.field(repr=False)
    allocatable: Int64Array = attrs.field(repr=False)
    requested: Int64Array = attrs.field(repr=False)
    allowed_pods: Int64Array = attrs.field(repr=False)
    pods: Int64Array = attrs.field(repr=False)

    @property
    def free(self) -> Int64Array:
        """Free amounts, shape ``(R, N)``, dtype int64; may be below 0."""
        return self.allocatable - self.requested

    @property
    def pending(self) -> int:
        """How many pods have no node; pods that wait on Permit have one."""
        return self.active + self.backoff + self.unschedulable


@attrs.frozen(eq=False)
class _Nodes:
    """Columns of nodes, read again only after a node has changed."""

    revision: int
    names: tuple[str, ...]
    resources: tuple[str, ...]
    allocatable: Int64Array
    allowed_pods: Int64Array


class RunStateReader:
    """Reads the state of a scheduler.

    Args:
        scheduler: The scheduler.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._table = scheduler.snapshot.nodes
        self._nodes = _nodes_of(self._table)

    def read(self, at: float, attempts: int, placed: int, preempted: int) -> Standing:
        """Return the state; the arguments are attributes of `Standing`."""
        table, scheduler = self._table, self._scheduler
        # The first pod that requests a resource adds a row for it.
        lines = len(_FIRST) + len(table.resources())
        if (
            self._nodes.revision != table.node_changes.revision
            or len(self._nodes.resources) != lines
        ):
            self._nodes = _nodes_of(table)
        nodes, rows = self._nodes, table.rows
        lengths = scheduler.queue.lengths()
        return Standing(
            at=at,
            attempts=attempts,
            placed=placed,
            preempted=preempted,
            active=lengths.active,
            backoff=lengths.backoff,
            unschedulable=lengths.unschedulable,
            waiting=len(scheduler.waiting),
            nodes=nodes.names,
            resources=nodes.resources,
            allocatable=nodes.allocatable,
            requested=_lines(table.requested, lines, rows),
            allowed_pods=nodes.allowed_pods,
            pods=freeze(np.array(table.pod_count[rows])),
        )


def _nodes_of(table: NodeTable) -> _Nodes:
    resources = (*_FIRST, *table.resources())
    rows = table.rows
    return _Nodes(
        revision=table.node_changes.revision,
        names=tuple(table.names_at(rows)),
        resources=resources,
        allocatable=_lines(table.allocatable, len(resources), rows),
        allowed_pods=freeze(np.array(table.allowed_pods[rows])),
    )


def _lines(amounts: Int64Array, lines: int, rows: Rows) -> Int64Array:
    """Copy the rows of resources; the array may have spare rows."""
    return freeze(np.array(amounts[:lines, rows]))
