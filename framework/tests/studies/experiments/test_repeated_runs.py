"""A result that is not a function of the seed is reported."""

from pathlib import Path

import pytest

from quaymaster.experiments import Experiment, check_first_run, parse_experiment, sweep
from tests.kit.unsteady import Unsteady

HEAD = "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Experiment\n"


def experiment_by(by: str, folder: Path, extra: str = "") -> Experiment:
    return parse_experiment(
        f"{HEAD}inputs: [{{name: u, use: '{Unsteady.__module__}:Unsteady', "
        f"parameters: {{by: '{by}'}}}}]\n"
        f"metrics: [{{name: utilisation}}, {{name: time}}]\n{extra}",
        file=str(folder / "study.yaml"),
    )


@pytest.mark.long
def test_repetitions_that_differ_fail_the_sweep(tmp_path: Path) -> None:
    experiment = experiment_by("random", tmp_path, "repetitions: 3\n")
    result = sweep(experiment, tmp_path / "out", workers=1)
    assert [run.cell.repetition for run in result.failed] == [1, 2]
    cause = result.failed[0].cause
    assert cause.startswith("differs from repetition 0, though all but times depends")
    assert "utilisation.cpu is " in cause
    assert "time." not in cause
    assert [cell.repetition for cell, _ in result.runs] == [0]
    # A run counts once: as made, or as failed.
    assert (result.total, result.made, result.missing) == (3, 1, 0)
    again = sweep(experiment, tmp_path / "out", workers=1)
    assert (again.made, len(again.failed), again.missing) == (0, 2, 0)


@pytest.mark.long
def test_repetitions_that_differ_in_times_only_are_the_same(tmp_path: Path) -> None:
    experiment = experiment_by("", tmp_path, "repetitions: 2\n")
    assert sweep(experiment, tmp_path / "out", workers=1).failed == ()


@pytest.mark.long
@pytest.mark.parametrize(
    ("by", "cause"),
    [
        ("", ""),
        ("hash", "order of sets or on hashes of texts"),
        ("random", "draws from random or numpy.random without a seed"),
    ],
    ids=["a steady run", "hashes", "draws"],
)
def test_a_run_that_is_made_twice_reports_what_differs(
    tmp_path: Path, by: str, cause: str
) -> None:
    check = check_first_run(experiment_by(by, tmp_path))
    assert check.is_same == (not by)
    assert cause in check.cause
    columns = {text.partition(" ")[0] for text in check.differences}
    assert ("utilisation.cpu" in columns) == bool(by)
