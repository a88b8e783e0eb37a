"""Summaries have means, intervals and paired differences of profiles."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from quaymaster.experiments import Cell, Part, RunResult
from tests.kit.internals.experiments import (
    Summary,
    summarise,
    t_quantile,
    two_sided_p,
    write_summary,
)

INPUT = Part(name="trace", values={})


def runs_of(values: Mapping[str, Sequence[float]]) -> list[tuple[Cell, RunResult]]:
    """Return runs: profile -> the number of each seed."""
    return [
        (
            Cell(
                input=INPUT,
                profile=Part(name=profile, values={}),
                seed=seed,
                repetition=0,
            ),
            RunResult(values={"wait": value, "note": "text"}, curves={}),
        )
        for profile, numbers in values.items()
        for seed, value in enumerate(numbers)
    ]


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [
        (1, 12.706204736174694),
        (2, 4.302652729749462),
        (4, 2.7764451051977943),
        (30, 2.0422724563012373),
        (1000, 1.9623390808264074),
    ],
)
def test_quantiles_are_those_of_student(degrees: int, quantile: float) -> None:
    assert t_quantile(0.95, degrees) == pytest.approx(quantile, rel=1e-9)
    assert two_sided_p(quantile, degrees) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 4.0, 50.0])
def test_probabilities_are_those_of_closed_forms(t: float) -> None:
    cauchy = 1 - 2 / math.pi * math.atan(t)
    assert two_sided_p(t, 1) == pytest.approx(cauchy, abs=1e-12)
    assert two_sided_p(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), abs=1e-12)
    assert two_sided_p(-t, 2) == two_sided_p(t, 2)


def test_means_have_deviation_and_interval() -> None:
    [mean] = summarise(runs_of({"a": [1.0, 2.0, 3.0, 4.0]})).means
    assert (mean.column, mean.n, mean.mean) == ("wait", 4, 2.5)
    assert mean.deviation == pytest.approx(1.2909944487)
    assert mean.half_width == pytest.approx(3.1824463053 * 1.2909944487 / 2)


def test_profiles_are_compared_on_the_seeds_that_both_have() -> None:
    summary = summarise(
        runs_of({"a": [1.0, 2.0, 3.0, 4.0, 5.0], "b": [2.0, 2.0, 5.0, 4.0, 7.0, 99.0]})
    )
    [difference] = summary.differences
    assert (difference.profile, difference.other, difference.n) == ("b", "a", 5)
    assert difference.mean == 1.0
    # The deviation of 1, 0, 2, 0, 2 is 1, so t is the root of 5, with 4 degrees.
    assert difference.p == pytest.approx(0.0890, abs=1e-4)
    assert difference.p_holm == difference.p


def test_several_comparisons_are_corrected_by_holms_method() -> None:
    numbers = {
        "a": [1.0, 2.0, 3.0, 4.0],
        "b": [1.5, 2.1, 3.9, 4.2],
        "c": [9.0, 9.5, 11.8, 12.1],
    }
    differences = summarise(runs_of(numbers)).differences
    plain = [float(each.p or 0) for each in differences]
    ranked = sorted(range(3), key=plain.__getitem__)
    expected = [0.0] * 3
    for rank, place in enumerate(ranked):
        smaller = [plain[ranked[k]] * (3 - k) for k in range(rank + 1)]
        expected[place] = min(1.0, max(smaller))
    assert [each.p_holm for each in differences] == pytest.approx(expected)


def test_equal_differences_are_certain_and_single_runs_are_not() -> None:
    [difference] = summarise(runs_of({"a": [1.0, 2.0], "b": [2.0, 3.0]})).differences
    assert (difference.half_width, difference.p) == (0.0, 0.0)
    [same] = summarise(runs_of({"a": [1.0, 2.0], "b": [1.0, 2.0]})).differences
    assert same.p == 1.0
    single = summarise(runs_of({"a": [1.0], "b": [2.0]}))
    assert single.means[0].half_width is None
    assert (single.differences[0].p, single.differences[0].p_holm) == (None, None)


@pytest.fixture
def summary() -> Summary:
    return summarise(runs_of({"a_1": [1.0, 2.0], "b|2": [2.0, 4.0]}))


def test_markdown_has_a_row_for_each_mean_and_difference(
    summary: Summary, tmp_path: Path
) -> None:
    [file] = write_summary(summary, tmp_path, "md")
    lines = file.read_text().splitlines()
    assert file.name == "summary.md"
    assert lines[0] == "| input | profile | column | n | mean | deviation | interval |"
    assert lines[2].startswith("| trace | a_1 | wait | 2 | 1.5 | 0.70711 | -4.8531 to ")
    assert any(line.startswith(r"| trace | b\|2 | a_1 | wait | 2 ") for line in lines)


def test_latex_escapes_its_signs(summary: Summary, tmp_path: Path) -> None:
    [file] = write_summary(summary, tmp_path, "latex")
    text = file.read_text()
    assert r"trace & a\_1 & wait & 2 & 1.5 & 0.70711 & -4.8531 to 7.8531 \\" in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 2


def test_csv_has_all_digits(summary: Summary, tmp_path: Path) -> None:
    means, differences = write_summary(summary, tmp_path, "csv")
    assert (
        means.read_text()
        .splitlines()[1]
        .startswith("trace,a_1,wait,2,1.5,0.7071067811865476,")
    )
    assert (
        differences.read_text().splitlines()[1].startswith("trace,b|2,a_1,wait,2,1.5,")
    )
