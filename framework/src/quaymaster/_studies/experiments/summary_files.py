"""Writes the summary of a sweep as Markdown, LaTeX or CSV."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from quaymaster._base.files import write_whole
from quaymaster._studies.experiments.store import write_csv
from quaymaster._studies.experiments.summary import Difference, MeanOfRuns, Summary

__all__ = ["SUMMARY_FORMATS", "write_summary"]

_MEANS: Final = ("input", "profile", "column", "n", "mean", "deviation", "interval")
_DIFFERENCES: Final = (
    *("input", "profile", "other", "column", "n", "difference", "interval"),
    *("p", "p_holm"),
)
_NOTE: Final = (
    "Means over seeds and repetitions; deviation with n - 1; interval: 95 % confidence "
    "interval of the mean, by Student's t."
)
_PAIRS: Final = (
    "Differences profile - other on the same input, seed and repetition; p: paired t "
    "test, two-sided; p_holm: corrected by Holm's method for all comparisons of a "
    "column."
)
_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


def write_summary(summary: Summary, folder: Path, kind: str) -> Sequence[Path]:
    """Write a summary.

    Args:
        summary: The summary.
        folder: The folder of the files.
        kind: One of `SUMMARY_FORMATS`.

    Returns:
        The files.
    """
    return SUMMARY_FORMATS[kind](summary, folder)


def _write_markdown(summary: Summary, folder: Path) -> Sequence[Path]:
    means = _markdown(_MEANS, map(_mean_row, summary.means))
    lines = [*means, "", _NOTE]
    if summary.differences:
        rows = map(_difference_row, summary.differences)
        lines += ["", *_markdown(_DIFFERENCES, rows), "", _PAIRS]
    return [_written(folder / "summary.md", lines)]


def _write_latex(summary: Summary, folder: Path) -> Sequence[Path]:
    lines = _tabular(_MEANS, "lllrrrl", map(_mean_row, summary.means))
    lines += [f"% {_NOTE}"]
    if summary.differences:
        rows = map(_difference_row, summary.differences)
        lines += ["", *_tabular(_DIFFERENCES, "llllrrlrr", rows), f"% {_PAIRS}"]
    return [_written(folder / "summary.tex", lines)]


def _write_csv(summary: Summary, folder: Path) -> Sequence[Path]:
    files = [folder / "summary.csv", folder / "differences.csv"]
    _write_rows(files[0], MeanOfRuns, summary.means)
    _write_rows(files[1], Difference, summary.differences)
    return files


def _write_rows(file: Path, kind: type, rows: Sequence[object]) -> None:
    names = [field.name for field in attrs.fields(kind)]
    write_csv(file, names, ([getattr(row, name) for name in names] for row in rows))


def _mean_row(mean: MeanOfRuns) -> Sequence[str]:
    return (
        *(mean.input, mean.profile, mean.column, str(mean.n)),
        *(_text(mean.mean), _text(mean.deviation)),
        _interval(mean.mean, mean.half_width),
    )


def _difference_row(difference: Difference) -> Sequence[str]:
    return (
        *(difference.input, difference.profile, difference.other, difference.column),
        *(str(difference.n), _text(difference.mean)),
        _interval(difference.mean, difference.half_width),
        *(_text(difference.p), _text(difference.p_holm)),
    )


def _interval(mean: float, half_width: float | None) -> str:
    if half_width is None:
        return ""
    return f"{_text(mean - half_width)} to {_text(mean + half_width)}"


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _markdown(names: Sequence[str], rows: "map[Sequence[str]]") -> list[str]:
    rules = ["---"] * len(names)
    return [
        "| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |"
        for row in (names, rules, *rows)
    ]


def _tabular(
    names: Sequence[str], columns: str, rows: "map[Sequence[str]]"
) -> list[str]:
    def line(row: Sequence[str]) -> str:
        return " & ".join(cell.translate(_LATEX) for cell in row) + r" \\"

    return [
        rf"\begin{{tabular}}{{{columns}}}",
        *(r"\hline", line(names), r"\hline"),
        *map(line, rows),
        *(r"\hline", r"\end{tabular}"),
    ]


def _written(file: Path, lines: Sequence[str]) -> Path:
    write_whole(file, ("\n".join(lines) + "\n").encode())
    return file


SUMMARY_FORMATS: Final[Mapping[str, Callable[[Summary, Path], Sequence[Path]]]] = {
    "md": _write_markdown,
    "latex": _write_latex,
    "csv": _write_csv,
}
"""Format -> the function that writes it."""
