"""Metrics of autoscalers: hours of nodes, and evicted pods."""

from collections.abc import Iterable, Sequence
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
    """The number of pods that were evicted from their nodes.

    Preempted pods do not count, nor do the pods of DaemonSets.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(name="", unit="pods", formula="pods that were evicted from their nodes"),
    )

    _disruptions: Disruptions | None = attrs.field(init=False, default=None)

    def begin(self, run: Run) -> None:
        """Begin to count."""
        self._disruptions = Disruptions(run.cluster)

    def end(self, _run: Run) -> Measured:
        """Return the number."""
        assert self._disruptions is not None, "every run begins"
        count = len(self._disruptions.so_far())
        self._disruptions.close()
        return Measured(values={"": count})


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
