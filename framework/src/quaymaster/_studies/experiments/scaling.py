"""Metrics of autoscalers: hours of nodes, and evicted pods."""

from collections.abc import Iterable, Sequence, Set
from datetime import timedelta
from typing import ClassVar

import attrs

from quaymaster._core.config.fields import duration
from quaymaster._studies.experiments.metrics import Column, Measured, Metric, Value
from quaymaster._studies.simulation.autoscaled_figures import clipped
from quaymaster._studies.simulation.autoscaler import AutoscaledNode
from quaymaster._studies.simulation.disruptions import Disruptions
from quaymaster._studies.simulation.driven import Run

__all__ = ["EvictedPods", "NodeHours", "nodes_over"]


@attrs.define(kw_only=True, eq=False)
class NodeHours(Metric):
    """The hours of the nodes of an autoscaler, from their orders on.

    All columns are empty without an autoscaler.

    Attributes:
        over: The time that counts, such as ``24h``, from the beginning of the run; by
            default the whole run. If the run ends before, its nodes stay until then.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="",
            unit="hours",
            formula="sum over the nodes of the autoscaler, from order to removal",
        ),
        Column(name="added", unit="nodes", formula="ordered nodes"),
        Column(name="removed", unit="nodes", formula="removed nodes"),
        Column(
            name="most", unit="nodes", formula="largest number of nodes at one time"
        ),
    )
    over: timedelta | None = attrs.field(default=None, validator=duration(timedelta()))

    def end(self, run: Run) -> Measured:
        """Return the hours."""
        nodes = nodes_over(run, self.over)
        if nodes is None:
            return Measured(values=dict.fromkeys(("", "added", "removed", "most")))
        values: dict[str, Value] = {
            "": sum(node.hours for node in nodes),
            "added": sum(node.ordered is not None for node in nodes),
            "removed": sum(node.removed is not None for node in nodes),
            "most": _most(nodes),
        }
        return Measured(values=values)


@attrs.define(kw_only=True, eq=False)
class EvictedPods(Metric):
    """The number of pods that were evicted from their nodes, and failures of nodes.

    Preempted pods do not count, nor do the pods of DaemonSets.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="",
            unit="pods",
            formula="pods that were evicted from their nodes, after the warm-up",
        ),
        Column(
            name="failed_nodes",
            unit="nodes",
            formula="failures of nodes after the warm-up; a node counts each time",
        ),
        Column(
            name="availability",
            unit="1",
            formula="1 - time of failed nodes / time of all nodes",
        ),
    )

    _disruptions: Disruptions | None = attrs.field(init=False, default=None)
    _from: float = attrs.field(init=False, default=0.0)
    _failed: Set[str] = attrs.field(init=False, factory=frozenset)
    _failures: int = attrs.field(init=False, default=0)
    _node_seconds: float = attrs.field(init=False, default=0.0)
    _failed_seconds: float = attrs.field(init=False, default=0.0)

    def begin(self, run: Run) -> None:
        """Begin to count."""
        self._disruptions = Disruptions(run.cluster)

    def time_passes(self, run: Run, seconds: float) -> None:
        """Count the nodes that have failed, for a period without changes."""
        lost = run.simulation.lost_nodes
        failed = lost.keys() | run.cluster.silent_nodes
        self._failures += len(failed - self._failed)
        self._failed = failed
        self._failed_seconds += seconds * len(failed)
        self._node_seconds += seconds * (len(run.snapshot.nodes) + len(lost))

    def warm_up_ended(self, run: Run, at: float) -> None:
        """Leave out what has happened before."""
        self._from = at
        self._failed = run.simulation.lost_nodes.keys() | run.cluster.silent_nodes

    def end(self, _run: Run) -> Measured:
        """Return the number."""
        assert self._disruptions is not None, "every run begins"
        evicted = self._disruptions.so_far()
        count = sum(eviction.at >= self._from for eviction in evicted)
        self._disruptions.close()
        availability = None
        if self._node_seconds:
            availability = 1 - self._failed_seconds / self._node_seconds
        return Measured(
            values={
                "": count,
                "failed_nodes": self._failures,
                "availability": availability,
            }
        )


def nodes_over(run: Run, over: timedelta | None) -> Sequence[AutoscaledNode] | None:
    """Return the nodes of the autoscaler of a run; None without one.

    Args:
        run: The run, at its end.
        over: The time that counts; None for the whole run.
    """
    worker = run.simulation.autoscaler
    if worker is None:
        return None
    nodes = worker.nodes()
    return nodes if over is None else clipped(nodes, over.total_seconds())


def _most(nodes: Iterable[AutoscaledNode]) -> int:
    """Return the largest number of nodes that exist at the same time."""
    nodes = list(nodes)
    orders = [(node.ordered or 0.0, 1) for node in nodes]
    removals = [(node.removed, -1) for node in nodes if node.removed is not None]
    size = most = 0
    for _, step in sorted((*orders, *removals)):
        size += step
        most = max(most, size)
    return most
