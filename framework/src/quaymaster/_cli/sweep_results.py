"""Prints the result of a sweep."""

from collections.abc import Iterator, Sequence
from typing import Final

from quaymaster._base.errors import counted
from quaymaster._cli.csv_rows import print_csv
from quaymaster._cli.output import print_line, print_table, warn
from quaymaster._studies.experiments.experiment import Cell
from quaymaster._studies.experiments.sweeping import SweepResult

__all__ = ["print_runs", "print_runs_csv", "print_sweep"]

_SHOWN: Final = 5
"""How many failures and warnings are printed."""


def print_sweep(result: SweepResult) -> None:
    """Print how many runs were made, and warnings about them."""
    for run in result.failed[:_SHOWN]:
        warn(f"failed: {run.cell}: {run.cause}")
    if len(result.failed) > _SHOWN:
        warn(f"{len(result.failed) - _SHOWN} more failed: see {result.folder}/runs.csv")
    _warn_of_inputs(result)
    _warn_of_waiting_pods(result)
    earlier = result.total - result.made - len(result.failed) - result.missing
    print_line(
        f"{counted(result.total, 'run')}: {result.made} made, {earlier} done before, "
        f"{len(result.failed)} failed"
    )
    print_line(f"results: {result.folder}")


def _warn_of_inputs(result: SweepResult) -> None:
    """Print each warning of runs once, with the first run that has it."""
    runs: dict[str, list[Cell]] = {}
    for cell, run in result.runs:
        for warning in run.warnings:
            runs.setdefault(warning, []).append(cell)
    for warning, cells in list(runs.items())[:_SHOWN]:
        warn(f"{_first(cells)}: {warning}")
    if len(runs) > _SHOWN:
        warn(f"{counted(len(runs) - _SHOWN, 'more warning')} about the inputs")


def _warn_of_waiting_pods(result: SweepResult) -> None:
    """Print how many pods still waited at the end of runs, and what that means."""
    waiting = [(cell, run.waiting) for cell, run in result.runs if run.waiting]
    if not waiting:
        return
    pods = sum(count for _, count in waiting)
    partial = result.partial_metrics
    meaning = (
        f"statistics of {', '.join(partial)} leave such pods out"
        if partial
        else "the metric wait counts how long"
    )
    cells = [cell for cell, _ in waiting]
    warn(f"{_first(cells)}: {counted(pods, 'pod')} still waited at the end: {meaning}")


def _first(cells: Sequence[Cell]) -> str:
    """Return the first of some runs, and how many more there are."""
    more = f" and {counted(len(cells) - 1, 'more run')}" if len(cells) > 1 else ""
    return f"{cells[0]}{more}"


def print_runs(result: SweepResult) -> None:
    """Print a row for each run: its labels and the values of metrics."""
    rows = list(_rows(result))
    keys = _keys(result)
    if rows:
        cells = [[_text(row.get(key)) for key in keys] for row in rows]
        print_table(keys, cells)
        print_line()


def print_runs_csv(result: SweepResult) -> None:
    """Print a line of CSV for each run, as ``results.csv`` has it."""
    print_csv(list(_rows(result)), _keys(result))


def _rows(result: SweepResult) -> Iterator[dict[str, object]]:
    for cell, run in result.runs:
        yield {**cell.labels, **run.values}


def _keys(result: SweepResult) -> list[str]:
    labels = [name for cell, _ in result.runs for name in cell.labels]
    values = [name for _, run in result.runs for name in run.values]
    return list(dict.fromkeys((*labels, *values)))


def _text(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
