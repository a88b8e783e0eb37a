"""The study RLScheduler (SC '20): starts equal the published simulator's."""

import csv
import functools
import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from quaymaster.experiments import run_cell

from quaymaster_order.rlscheduler import POLICIES, SEQUENCES, experiment
from quaymaster_order.rlscheduler.command import main

DATA: Final = Path(__file__).parent / "data"
TRACE: Final = DATA / "lublin_256.swf.gz"


@functools.cache
def submitted() -> Mapping[int, int]:
    """When each job of the trace was submitted."""
    with gzip.open(TRACE, "rt") as file:
        rows = [line.split() for line in file if not line.startswith(";")]
    return {int(row[0]): int(row[1]) for row in rows}


def published(file: str, sequence: int, policy: str) -> tuple[dict[int, int], float]:
    """When the published simulator starts each job, and its mean bounded slowdown."""
    with gzip.open(DATA / file, "rt", newline="") as opened:
        rows = [
            row
            for row in csv.DictReader(opened)
            if int(row["iter"]) == sequence and row["policy"] == policy.lower()
        ]
    starts = {int(row["job"]): int(row["started"]) for row in rows}
    return starts, float(rows[0]["bsld"])


def check(sequence: int, policy: str, *, backfilling: bool = False) -> None:
    made = experiment(
        TRACE,
        policies=[policy],
        sequences=[SEQUENCES[sequence]],
        backfilling=backfilling,
    )
    [cell] = made.cells
    result = run_cell(made, cell)
    file = "starts_easy_backfilling.csv.gz" if backfilling else "starts.csv.gz"
    starts, slowdown = published(file, sequence, policy)
    numbers, seconds = result.curves["starts"]
    first = submitted()[SEQUENCES[sequence] + 1]
    reproduced = {
        int(number): first + second
        for number, second in zip(numbers, seconds, strict=True)
        if second is not None
    }
    assert reproduced == starts
    assert result.values["slowdown.bounded.mean"] == pytest.approx(slowdown, rel=1e-12)
    assert result.values["slowdown.censored"] == 0
    assert result.warnings == ()


@pytest.mark.long
def test_starts_of_shortest_jobs_first_are_the_published_ones() -> None:
    check(1, "SJF")


@pytest.mark.long
def test_starts_with_backfilling_are_the_published_ones() -> None:
    check(1, "FCFS", backfilling=True)


def test_published_orders_are_those_of_the_program() -> None:
    assert list(POLICIES) == ["FCFS", "WFP3", "UNICEP", "SJF", "F1"]
    made = experiment(TRACE, policies=["WFP3", "UNICEP"], sequences=[0])
    assert len(made.cells) == 2


@pytest.mark.long
def test_command_prints_the_mean_of_each_policy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["--policies", "SJF", "--sequences", "1", "--workers", "1"]
    assert main(["--trace", str(TRACE), "--out", str(tmp_path), *arguments]) == 0
    header, line, _ = capsys.readouterr().out.splitlines()
    assert header.split() == ["policy", "reproduced"]
    assert line.split() == ["SJF", "251.76"]


def test_command_rejects_an_unknown_policy(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--trace", str(TRACE), "--policies", "LIFO"])
    assert "got 'LIFO'" in capsys.readouterr().err


def test_command_reports_a_missing_trace(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["--trace", str(tmp_path / "none.swf"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert "none.swf" in capsys.readouterr().err
