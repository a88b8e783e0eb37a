"""Draws the results of a sweep: means over seeds, with confidence intervals."""

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import attrs
import numpy as np
from matplotlib.axes import Axes as PlotAxes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from quaymaster._base.files import write_whole
from quaymaster._studies.comparing.estimates import Estimate, estimate
from quaymaster._studies.experiments.column_units import Axes
from quaymaster._studies.experiments.experiment import Cell
from quaymaster._studies.experiments.running import RunResult
from quaymaster._studies.perf.plot import metadata_of, style

__all__ = ["Drawn", "draw_sweep", "panels_of"]

_COLUMNS: Final = 3
_PANEL_INCHES: Final = (4.6, 3.3)
_COLOURS: Final = (
    *("#1f6f8b", "#c8553d", "#588157", "#8a5a9e", "#d4a017"),
    *("#4a4e69", "#e07a9a", "#2a9d8f"),
)

_NOTES: Final = {
    "lines and bands": "lines: means over n runs (seeds and repetitions); "
    "bands: 95 % confidence intervals of the means (Student's t)",
    "bars": "points: means over n runs (seeds and repetitions); "
    "bars: 95 % confidence intervals of the means (Student's t)",
}

Key: TypeAlias = tuple[str, str]


@attrs.frozen(kw_only=True, eq=False)
class Drawn:
    """A panel: lines over x, or one point for each configuration.

    Attributes:
        title: The input, with its parameters.
        name: The curve, or the column.
        lines: Configuration -> the x values, and the estimates there. The only x of a
            column is 0.
        counts: Configuration -> the number of runs.
        is_curve: Whether it is a curve.
    """

    title: str
    name: str
    lines: Mapping[str, tuple[Sequence[float], Sequence[Estimate]]]
    counts: Mapping[str, int]
    is_curve: bool


def draw_sweep(
    rows: Sequence[tuple[Cell, RunResult]],
    path: Path,
    axes: Mapping[str, Axes] | None = None,
) -> None:
    """Draw a panel for each input and each curve, or each column without curves.

    A line is the mean over seeds and repetitions; the band is its 95 % confidence
    interval, by Student's t.

    Args:
        rows: The runs.
        path: The file of the picture; its suffix selects the format.
        axes: Column or curve -> its x and its unit, where they are defined.

    Raises:
        OSError: The file cannot be written.
    """
    panels = panels_of(rows)
    columns = max(1, min(_COLUMNS, len(panels)))
    lines = max(1, math.ceil(len(panels) / columns))
    width, height = _PANEL_INCHES
    with style():
        figure = Figure(figsize=(width * columns, height * lines), layout="constrained")
        FigureCanvasAgg(figure)
        figure.subplots(lines, columns, squeeze=False)
        for panel, ax in zip(panels, figure.axes, strict=False):
            (_draw_curve if panel.is_curve else _draw_column)(ax, panel)
            _label(ax, panel, (axes or {}).get(panel.name, ("x", "")))
        for ax in figure.axes[len(panels) :]:
            ax.set_axis_off()
        kind = "lines and bands" if any(each.is_curve for each in panels) else "bars"
        figure.supxlabel(_NOTES[kind], fontsize=8, color="#5a646b")
        picture = io.BytesIO()
        form = path.suffix.removeprefix(".").lower() or None
        figure.savefig(picture, dpi=150, metadata=metadata_of(path), format=form)
    write_whole(path, picture.getvalue())


def panels_of(rows: Sequence[tuple[Cell, RunResult]]) -> Sequence[Drawn]:
    """Sort the results of runs into panels, in the order of the runs."""
    has_curves = any(result.curves for _, result in rows)
    panels: dict[Key, dict[str, list[_Points]]] = {}
    for cell, result in rows:
        title = _named(cell.input.name, cell.input.values)
        line = _named(cell.profile.name, cell.profile.values)
        for name, points in _points(result, has_curves):
            panels.setdefault((title, name), {}).setdefault(line, []).append(points)
    return [
        Drawn(
            title=title,
            name=name,
            lines={line: _estimates(runs) for line, runs in lines.items()},
            counts={line: len(runs) for line, runs in lines.items()},
            is_curve=has_curves,
        )
        for (title, name), lines in panels.items()
    ]


_Points: TypeAlias = tuple[Sequence[float], Sequence[float]]


def _points(result: RunResult, has_curves: bool) -> Sequence[tuple[str, _Points]]:
    """Return the numbers of a run: of its curves, or of its columns."""
    if not has_curves:
        return [
            (name, ((0.0,), (float(value),)))
            for name, value in result.values.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        ]
    curves = [
        (name, [(x, y) for x, y in zip(xs, ys, strict=True) if y is not None])
        for name, (xs, ys) in result.curves.items()
    ]
    return [
        (name, ([x for x, _ in points], [y for _, y in points]))
        for name, points in curves
        if points
    ]


def _estimates(runs: Sequence[_Points]) -> tuple[Sequence[float], Sequence[Estimate]]:
    """Estimate the mean at each place that all runs reach.

    The values of a run between its points are interpolated.
    """
    first = max(min(x) for x, _ in runs)
    last = min(max(x) for x, _ in runs)
    places = sorted({place for x, _ in runs for place in x if first <= place <= last})
    values = [np.interp(places, x, y) for x, y in runs]
    return places, [estimate(column) for column in np.transpose(values).tolist()]


def _named(name: str, values: Mapping[str, object]) -> str:
    text = ", ".join(f"{key} {value}" for key, value in values.items())
    return f"{name} ({text})" if text else name


def _draw_curve(ax: PlotAxes, panel: Drawn) -> None:
    for number, (line, (places, estimates)) in enumerate(panel.lines.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        means = np.array([estimate.mean for estimate in estimates])
        widths = np.array([estimate.half_width or 0.0 for estimate in estimates])
        ax.fill_between(
            places, means - widths, means + widths, color=colour, alpha=0.2, linewidth=0
        )
        label = f"{line} (n = {panel.counts[line]})"
        ax.plot(places, means, color=colour, linewidth=1.4, label=label)
    _title(ax, panel)
    ax.legend(frameon=False, fontsize=8)


def _draw_column(ax: PlotAxes, panel: Drawn) -> None:
    for number, (_, estimates) in enumerate(panel.lines.values()):
        [estimate] = estimates
        ax.errorbar(
            [number],
            [estimate.mean],
            yerr=[estimate.half_width or 0.0],
            fmt="o",
            capsize=4,
            color=_COLOURS[number % len(_COLOURS)],
        )
    _title(ax, panel)
    names = [f"{line}\n(n = {panel.counts[line]})" for line in panel.lines]
    ax.set_xticks(range(len(names)), names, rotation=20, ha="right")
    ax.margins(x=0.2)


def _label(ax: PlotAxes, panel: Drawn, axes: Axes) -> None:
    """Label the axes."""
    over, unit = axes
    ax.set_ylabel(f"{panel.name} ({unit})" if unit else panel.name, fontsize=9)
    ax.set_xlabel(over if panel.is_curve else "profile", fontsize=9)


def _title(ax: PlotAxes, panel: Drawn) -> None:
    ax.set_title(panel.name, loc="left", fontweight="bold", fontsize=10)
    ax.set_title(panel.title, loc="right", fontsize=9, color="#5a646b")
