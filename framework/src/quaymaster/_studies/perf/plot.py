"""Draws throughput over time."""

import io
import math
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from quaymaster._base.files import write_whole
from quaymaster._studies.perf.measurement import Measurement
from quaymaster._studies.perf.report import unfinished
from quaymaster._studies.perf.runner import Outcome

__all__ = ["draw", "metadata_of", "style"]

_COLUMNS: Final = 3
_PANEL_INCHES: Final = (4.6, 3.1)
_RATE: Final = "#1f6f8b"
_AVERAGE: Final = "#99a8b2"
_THRESHOLD: Final = "#c8553d"
_HEADROOM: Final = 1.25
_CHARACTERS_PER_INCH: Final = 17
"""How many characters fit into a line below the panels."""


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Draw one panel per measurement.

    Args:
        outcomes: The results, with at least one measurement with bound pods.
        path: The file of the picture; its suffix selects the format.

    Raises:
        OSError: The file cannot be written.
        ValueError: The format is not supported.
    """
    panels = [
        (outcome, measurement)
        for outcome in outcomes
        for measurement in outcome.measurements
        if measurement.throughput.rates
    ]
    columns = min(_COLUMNS, max(1, len(panels)))
    rows = max(1, math.ceil(len(panels) / columns))
    width, height = _PANEL_INCHES
    if len(panels) <= 1:
        width, height = width * 1.6, height * 1.4
    with style():
        figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
        FigureCanvasAgg(figure)
        figure.subplots(rows, columns, squeeze=False)
        for (outcome, measurement), ax in zip(panels, figure.axes, strict=False):
            _draw_panel(ax, outcome, measurement)
        for ax in figure.axes[len(panels) :]:
            ax.set_axis_off()
        _name_unfinished(figure, outcomes)
        picture = io.BytesIO()
        kind = path.suffix.removeprefix(".").lower() or None
        figure.savefig(picture, dpi=150, metadata=metadata_of(path), format=kind)
    write_whole(path, picture.getvalue())


def _name_unfinished(figure: Figure, outcomes: Sequence[Outcome]) -> None:
    """List below the panels the workloads that are not done, with reasons."""
    width = int(figure.get_figwidth() * _CHARACTERS_PER_INCH)
    lines = [
        line for text in unfinished(outcomes) for line in textwrap.wrap(text, width)
    ]
    if lines:
        figure.supxlabel(
            "\n".join(lines), x=0.01, ha="left", fontsize=8, color="#5a646b"
        )


def style() -> AbstractContextManager[None]:
    """Return the context with the style of all pictures."""
    return mpl.rc_context(
        {
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": "#8a949b",
            "xtick.color": "#5a646b",
            "ytick.color": "#5a646b",
            # Text stays text, and equal results give equal files.
            "svg.fonttype": "none",
            "svg.hashsalt": "quaymaster",
        }
    )


def _draw_panel(ax: Axes, outcome: Outcome, measurement: Measurement) -> None:
    rates = measurement.throughput.rates
    window = measurement.throughput.window_seconds
    # The rest after the last window belongs to that window.
    edges = [*(number * window for number in range(len(rates))), measurement.seconds]
    ax.stairs(rates, edges, baseline=0, fill=True, color=_RATE, alpha=0.18)
    ax.stairs(rates, edges, baseline=None, color=_RATE, linewidth=1.6)
    average = measurement.throughput.average
    ax.axhline(average, color=_AVERAGE, linewidth=1.2, linestyle=(0, (5, 3)))
    if outcome.threshold:
        ax.axhline(outcome.threshold, color=_THRESHOLD, linewidth=1.4)
        ratio = average / outcome.threshold
        text = f"threshold {outcome.threshold:g} (average is {ratio:.1f} times that)"
        ax.annotate(
            text,
            (0.99, outcome.threshold),
            xycoords=("axes fraction", "data"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="right",
            color=_THRESHOLD,
            fontsize=8,
            bbox={"facecolor": "white", "alpha": 0.6, "linewidth": 0, "pad": 0.8},
        )
    case, _, size = outcome.workload.partition("/")
    ax.set_title(f"{case}\n\n", loc="left", fontweight="bold", fontsize=10)
    pods, nodes = (
        _counted(measurement.scheduled, "pod"),
        _counted(measurement.nodes, "node"),
    )
    subtitle = ax.text(
        0,
        1.02,
        f"{size}\n{pods}, {nodes}, average {average:,.0f} per second",
        transform=ax.transAxes,
        color="#5a646b",
        linespacing=1.3,
    )
    # A long name must not narrow the panels.
    subtitle.set_in_layout(False)
    ax.set_xlim(0, measurement.seconds)
    ax.set_ylim(0, max(*rates, average, outcome.threshold) * _HEADROOM)
    ax.set_xlabel("seconds since the first measured pod was made")
    ax.set_ylabel("pods bound per second")
    ax.yaxis.set_major_formatter("{x:,.0f}")


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


_TIMES: Final[Mapping[str, dict[str, None]]] = {
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
"""Suffix -> the metadata that hold the time, with no value."""


def metadata_of(path: Path) -> dict[str, None] | None:
    """Return the metadata of a picture, without anything that differs each time."""
    return _TIMES.get(path.suffix.lower())
