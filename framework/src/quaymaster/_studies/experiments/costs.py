"""The metric of the cost of nodes."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import ClassVar

import attrs
import numpy as np

from quaymaster._core.config.fields import duration
from quaymaster._studies.capacity.prices import Prices, total_price
from quaymaster._studies.experiments.metrics import Column, Measured, Metric, Value
from quaymaster._studies.experiments.scaling import nodes_over
from quaymaster._studies.simulation.autoscaled_figures import total_cost
from quaymaster._studies.simulation.driven import Run

__all__ = ["NodeCost"]

_SECONDS: float = 3600.0


@attrs.define(kw_only=True, eq=False)
class NodeCost(Metric):
    """The cost of the nodes, by their annotations or by their instance types.

    All columns are empty if no node has a price; a node without a price counts as 0.

    Attributes:
        prices: Instance type -> price per hour, for nodes without an annotation.
        over: The time for which the nodes of an autoscaler are paid, such as ``24h``,
            from the beginning of the run; by default the whole run. If the run ends
            before, its nodes stay until then.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="per_hour",
            unit="money per hour",
            formula="sum of the prices of all nodes, at the end",
        ),
        Column(
            name="used_per_hour",
            unit="money per hour",
            formula="sum of the prices of the nodes that have pods, at the end",
        ),
        Column(
            name="spent",
            unit="money",
            formula="per_hour, integrated over the virtual time of the run",
        ),
        Column(
            name="used_spent",
            unit="money",
            formula="used_per_hour, integrated over the virtual time of the run",
        ),
        Column(
            name="autoscaled",
            unit="money",
            formula="only with an autoscaler: cost of its nodes, by the prices in its "
            "file, from their orders on; empty if a price is unknown",
        ),
    )

    prices: Mapping[str, float] = attrs.field(factory=dict)
    over: timedelta | None = attrs.field(default=None, validator=duration(timedelta()))
    _spent: float = attrs.field(init=False, default=0.0)
    _used_spent: float = attrs.field(init=False, default=0.0)

    def time_passes(self, run: Run, seconds: float) -> None:
        """Add the cost of the passing time."""
        every, used = self._per_hour(run)
        self._spent += (every or 0.0) * seconds / _SECONDS
        self._used_spent += (used or 0.0) * seconds / _SECONDS

    def end(self, run: Run) -> Measured:
        """Return the cost."""
        every, used = self._per_hour(run)
        is_known = every is not None
        values: dict[str, Value] = {
            "per_hour": every,
            "used_per_hour": used,
            "spent": self._spent if is_known else None,
            "used_spent": self._used_spent if is_known else None,
        }
        nodes = nodes_over(run, self.over)
        if nodes is not None:
            values["autoscaled"] = total_cost(nodes)
        return Measured(values=values)

    def _per_hour(self, run: Run) -> tuple[float | None, float | None]:
        """Return the price of all nodes, and of those in use."""
        nodes = run.snapshot.nodes
        rows = nodes.row_numbers(nodes.rows)
        prices = Prices(per_instance_type=self.prices).of_all(
            [info.node for info in nodes.infos_at(rows)]
        )
        in_use = np.flatnonzero(nodes.pod_count[rows]).tolist()
        every = total_price(prices)
        used = total_price(prices[place] for place in in_use)
        return every, None if every is None else used or 0.0
