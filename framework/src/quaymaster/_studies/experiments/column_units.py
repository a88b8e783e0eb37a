"""Finds the units of the columns of an experiment, and the x of its curves."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from quaymaster._studies.experiments.experiment import Experiment
from quaymaster._studies.experiments.offers import METRICS

__all__ = ["Axes", "axes_of"]

Axes: TypeAlias = tuple[str, str]
"""The x of a curve with its unit, and the unit of its y; empty if not defined."""


def axes_of(experiment: Experiment, names: Iterable[str]) -> Mapping[str, Axes]:
    """Return the axes of columns and curves, as far as their metrics define them.

    Args:
        experiment: The experiment, with its metrics.
        names: The names of columns and curves.
    """
    axes: dict[str, Axes] = {}
    for name in names:
        for metric, used in experiment.metrics.items():
            if name != metric and not name.startswith(f"{metric}."):
                continue
            inner = name.removeprefix(metric).removeprefix(".")
            columns = METRICS.columns(used)
            units = [column.unit for column in columns if column.is_named(inner)]
            axes[name] = METRICS.curves_over(used), units[0] if units else ""
    return axes
