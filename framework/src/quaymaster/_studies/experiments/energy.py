"""The metric of energy, and of the carbon dioxide that it causes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import ClassVar

import attrs
import numpy as np

from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import duration, non_empty
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._studies.experiments.metrics import Column, Measured, Metric
from quaymaster._studies.simulation.driven import Run

__all__ = ["Energy"]

_JOULES_PER_KWH = 3.6e6
_GRAMS_PER_KG = 1000.0
_OTHERS = ""
_ALL = ""


@attrs.define(kw_only=True, eq=False)
class Energy(Metric):
    """The energy that nodes use, by power curves.

    A curve lists watts at equal steps of utilisation, from an empty node to a full one;
    in between, the power is interpolated.

    Attributes:
        watts: Value of the label -> the curve of nodes with it. The empty text is for
            all other nodes.
        label: The node label that selects the curve.
        resource: The resource whose requests are the utilisation.
        carbon: The intensity of the energy in grams of CO2 per kWh, one value for each
            interval; the series begins again after its end.
        carbon_interval: How long each value of ``carbon`` holds.
        by: A label of nodes. Each column then occurs once for all nodes and once for
            the nodes with each value, as ``VALUE.COLUMN``.
    """

    columns: ClassVar[Sequence[Column]] = (
        Column(
            name="kwh",
            unit="kWh",
            formula="power of all nodes, integrated over virtual time",
        ),
        Column(
            name="watts.mean",
            unit="W",
            formula="power of all nodes, mean over virtual time",
        ),
        Column(
            name="carbon.kg",
            unit="kg of CO2",
            formula="power times intensity, integrated; only with carbon",
        ),
        Column(
            name="nodes_without_curve",
            unit="nodes",
            formula="nodes at the end that count as 0 watts",
        ),
    )
    watts: Mapping[str, tuple[float, ...]]
    label: str = attrs.field(
        default="node.kubernetes.io/instance-type", validator=non_empty()
    )
    resource: str = attrs.field(default="cpu", validator=non_empty())
    carbon: tuple[float, ...] = ()
    carbon_interval: timedelta = attrs.field(
        default=timedelta(hours=1), validator=duration(timedelta(seconds=1))
    )
    by: str = ""
    _seconds: float = attrs.field(init=False, default=0.0)
    # Group of nodes -> amount; the empty text is the group of all.
    _joules: dict[str, float] = attrs.field(init=False, factory=dict)
    _grams: dict[str, float] = attrs.field(init=False, factory=dict)
    _from: float = attrs.field(init=False, default=0.0)
    # Node -> generation of its information, and power.
    _powers: dict[str, tuple[int, float]] = attrs.field(init=False, factory=dict)

    def validate(self) -> Iterator[ArgsError]:
        """Check that curves have points, and that no number is negative."""
        for name, curve in self.watts.items():
            if not curve or not all(0 <= point < math.inf for point in curve):
                message = "expected one or more numbers from 0"
                yield ArgsError(f"watts.{name}", message)
        if not all(0 <= grams < math.inf for grams in self.carbon):
            yield ArgsError("carbon", "expected numbers from 0")

    def warm_up_ended(self, _run: Run, at: float) -> None:
        """Note when energy begins to count."""
        self._from = at

    def time_passes(self, run: Run, seconds: float) -> None:
        """Add the energy of a period without changes."""
        self._seconds += seconds
        intensity = 0.0
        if self.carbon:
            # Of a period across the end of the warm-up, only the part after it is in
            # `seconds`.
            intensity = self._weighted(max(run.now, self._from), seconds)
        for group, watts in self._watts_by_group(run).items():
            self._joules[group] = self._joules.get(group, 0.0) + watts * seconds
            grams = watts / _JOULES_PER_KWH * intensity
            self._grams[group] = self._grams.get(group, 0.0) + grams

    def end(self, run: Run) -> Measured:
        """Return the energy and the emissions."""
        uncovered: dict[str, int] = {}
        for node in run.snapshot.nodes:
            for group in self._groups_of(node):
                uncovered.setdefault(group, 0)
                # Identity: an empty curve is a mistake that `validate` reports.
                uncovered[group] += self._curve_of(node) is None
        values: dict[str, float | int | None] = {}
        groups = {_ALL: None, **dict.fromkeys(sorted({*self._joules, *uncovered}))}
        for group in groups:
            prefix = f"{group}." if group else ""
            joules = self._joules.get(group, 0.0)
            values |= {
                f"{prefix}kwh": joules / _JOULES_PER_KWH,
                f"{prefix}watts.mean": joules / self._seconds
                if self._seconds
                else None,
                f"{prefix}nodes_without_curve": uncovered.get(group, 0),
            }
            if self.carbon:
                grams = self._grams.get(group, 0.0)
                values[f"{prefix}carbon.kg"] = grams / _GRAMS_PER_KG
        return Measured(values=values)

    def _watts_by_group(self, run: Run) -> Mapping[str, float]:
        if not self.by:
            return {_ALL: sum(map(self._power_of, run.snapshot.nodes))}
        watts: dict[str, float] = {}
        for node in run.snapshot.nodes:
            for group in self._groups_of(node):
                watts[group] = watts.get(group, 0.0) + self._power_of(node)
        return watts

    def _groups_of(self, node: NodeInfo) -> Sequence[str]:
        value = node.labels.get(self.by) if self.by else None
        return (_ALL, value) if value else (_ALL,)

    def _curve_of(self, node: NodeInfo) -> Sequence[float] | None:
        value = node.labels.get(self.label, _OTHERS)
        return self.watts.get(value) or self.watts.get(_OTHERS)

    def _power_of(self, node: NodeInfo) -> float:
        entry = self._powers.get(node.name)
        # Time passes after almost every event, and few nodes change in between.
        if entry is not None and entry[0] == node.generation:
            return entry[1]
        power = self._computed_power(node)
        self._powers[node.name] = node.generation, power
        return power

    def _computed_power(self, node: NodeInfo) -> float:
        curve = self._curve_of(node)
        if curve is None:
            return 0.0
        offered = node.allocatable.get(self.resource)
        share = node.requested.get(self.resource) / offered if offered else 0.0
        # A single point is the power at any utilisation.
        steps = np.linspace(0.0, 1.0, len(curve)) if len(curve) > 1 else np.zeros(1)
        return float(np.interp(min(share, 1.0), steps, np.asarray(curve, dtype=float)))

    def _weighted(self, begin: float, seconds: float) -> float:
        """Return the intensity, integrated over a period, in g/kWh times seconds."""
        step, end, total = self.carbon_interval.total_seconds(), begin + seconds, 0.0
        while begin < end:
            index = math.floor(begin / step)
            until = min(end, (index + 1) * step)
            total += self.carbon[index % len(self.carbon)] * (until - begin)
            begin = until
        return total
