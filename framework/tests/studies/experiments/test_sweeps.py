"""Sweeps make each run once, whatever happens, and write tables."""

import csv
import json
from pathlib import Path

import pytest
from pyarrow import parquet  # type: ignore[import-untyped]  # it has no stubs

from quaymaster.experiments import (
    SweepProgress,
    SweepResult,
    experiment_schema,
    load_experiment,
    sweep,
)
from tests.kit.experiments import Ships, StormyShips
from tests.kit.programs import run_program

HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
metrics: [{name: placed, parameters: {every: 1}}, {name: preemptions}]
"""


def ships(**harm: str) -> str:
    """Return an input of ships; the parameter ``harm`` selects a failure."""
    kind = StormyShips if harm else Ships
    return f"{{name: ships, use: '{kind.__module__}:{kind.__name__}'}}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return an experiment of four runs."""
    found = tmp_path / "voyages.yaml"
    found.write_text(
        f"{HEAD}inputs: [{ships()}]\nseeds: [1, 2]\n"
        "parameters: [{name: pods, input: pods, values: [1, 3]}]\n"
    )
    return found


def stormy(folder: Path, *harm: str) -> Path:
    """Return an experiment with a run for each kind of harm."""
    found = folder / "storm.yaml"
    found.write_text(
        f"{HEAD}inputs: [{ships(harm='any')}]\n"
        f"parameters: [{{name: harm, input: harm, values: {list(harm)}}}]\n"
    )
    return found


def swept(
    file: Path, *, workers: int = 1, stop_at_failure: bool = False
) -> SweepResult:
    return sweep(
        load_experiment(file),
        file.parent / "out",
        workers=workers,
        stop_at_failure=stop_at_failure,
    )


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.long
def test_tables_have_a_row_for_each_run_and_for_each_point(file: Path) -> None:
    result = swept(file)
    assert (result.total, result.made, result.failed) == (4, 4, ())
    assert parquet.read_table(result.folder / "results.parquet").to_pylist() == [
        {
            "input": "ships",
            "profile": "default",
            "pods": pods,
            "seed": seed,
            "repetition": 0,
            "placed": min(pods, 2),
            "placed.arrivals": pods,
            "placed.pods": pods,
            "placed.pending": max(pods - 2, 0),
            "placed.standing": min(pods, 2),
            "placed.completed": 0,
            "placed.lost": 0,
            "preemptions": 0,
        }
        for pods in (1, 3)
        for seed in (1, 2)
    ]
    schema = parquet.read_schema(result.folder / "results.parquet")
    assert schema.metadata[b"quaymaster.experiment"] == b"voyages"
    points = parquet.read_table(result.folder / "curves.parquet").to_pylist()
    assert [
        (point["pods"], point["seed"], point["x"], point["y"]) for point in points
    ] == [
        (1, 1, 1.0, 1.0),
        (1, 2, 1.0, 1.0),
        *((3, seed, x, min(x, 2.0)) for seed in (1, 2) for x in (1.0, 2.0, 3.0)),
    ]
    assert [row["placed"] for row in rows_of(result.folder / "results.csv")] == [
        *("1", "1", "2", "2")
    ]


@pytest.mark.long
def test_number_of_processes_does_not_change_the_results(file: Path) -> None:
    alone = swept(file).folder / "results.parquet"
    before = alone.read_bytes()
    alone.unlink()
    for path in (file.parent / "out" / "done").iterdir():
        path.unlink()
    assert swept(file, workers=3).made == 4
    assert alone.read_bytes() == before


@pytest.mark.long
def test_finished_runs_are_not_repeated(file: Path) -> None:
    swept(file)
    again = swept(file)
    assert (again.total, again.made) == (4, 0)
    file.write_text(file.read_text().replace("seeds: [1, 2]", "seeds: [2, 3]"))
    more = swept(file)
    assert (more.total, more.made) == (4, 2)
    assert {row["seed"] for row in rows_of(more.folder / "results.csv")} == {"2", "3"}


@pytest.mark.long
def test_runs_whose_code_or_configuration_changed_are_repeated(tmp_path: Path) -> None:
    (tmp_path / "pods.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
        "spec: {containers: [{name: c, image: i}]}\n"
    )
    profile = tmp_path / "mine.yaml"
    profile.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    )
    file = tmp_path / "experiment.yaml"
    file.write_text(
        f"{HEAD}inputs: [{{name: a, parameters: {{nodes: ['1:cpu=1,memory=1Gi'], "
        "files: [pods.yaml]}}]\nprofiles: [{name: mine, config: mine.yaml}]\n"
    )
    assert swept(file).made == 1
    profile.write_text(profile.read_text() + "podMaxBackoffSeconds: 20\n")
    assert swept(file).made == 1
    pods = tmp_path / "pods.yaml"
    pods.write_text(pods.read_text().replace("name: a", "name: b"))
    assert swept(file).made == 1
    assert swept(file).made == 0


@pytest.mark.long
def test_a_failed_run_is_reported_and_stops_no_other(tmp_path: Path) -> None:
    result = swept(stormy(tmp_path, "raise", "none"))
    [failed] = result.failed
    assert failed.cell.labels["harm"] == "raise"
    assert failed.cause.startswith("LookupError: no berth is left (")
    assert "Traceback" in failed.traceback
    [row] = rows_of(result.folder / "results.csv")
    assert row["harm"] == "none"
    first, second = rows_of(result.folder / "runs.csv")
    assert (first["status"], first["cause"]) == ("failed", failed.cause)
    assert second["status"] == "done"


@pytest.mark.long
def test_a_sweep_may_stop_at_the_first_failure(tmp_path: Path) -> None:
    result = swept(stormy(tmp_path, "raise", "none"), stop_at_failure=True)
    assert (len(result.failed), result.missing) == (1, 1)


@pytest.mark.long
def test_a_process_that_dies_is_replaced_and_its_run_repeated(tmp_path: Path) -> None:
    result = swept(stormy(tmp_path, "none", "die once", "also none"))
    assert (result.made, result.failed) == (3, ())


@pytest.mark.long
def test_a_run_that_kills_its_process_each_time_is_a_failure(tmp_path: Path) -> None:
    result = swept(stormy(tmp_path, "die", "none"))
    [failed] = result.failed
    assert failed.cause == "its process ended 3 times, at last with exit code -9"
    assert result.made == 1


@pytest.mark.long
def test_progress_has_the_finished_runs_and_the_remaining_time(
    file: Path,
) -> None:
    reports: list[SweepProgress] = []
    folder = file.parent / "out"
    sweep(load_experiment(file), folder, workers=1, on_progress=reports.append)
    assert [(report.done, report.failed, report.total) for report in reports] == [
        (done, 0, 4) for done in range(5)
    ]
    assert reports[0].seconds_left is None
    assert reports[1].seconds_left is not None
    assert reports[1].seconds_left > 0
    assert reports[4].seconds_left == 0


@pytest.mark.long
def test_results_have_their_provenance(file: Path) -> None:
    folder = swept(file).folder
    provenance = json.loads((folder / "provenance.json").read_text())
    assert provenance["runs"] == 4
    assert provenance["kubernetes"] == "1.37"
    assert {"quaymaster", "quaymaster-node-resources-fit"} <= set(
        provenance["distributions"]
    )
    assert {"quaymaster", "quaymaster_node_resources_fit", "tests"} <= set(
        provenance["code"]
    )
    assert provenance["configurations"][0]["profile"] == "default"
    assert len(provenance["configurations"][0]["sha256"]) == 64
    assert provenance["cpuSeconds"] > 0


@pytest.mark.long
def test_the_command_prints_the_number_of_runs_and_their_folder(file: Path) -> None:
    program = run_program(["quaymaster", "sweep", file.name], file.parent, file.parent)
    assert program.code == 0
    assert program.errors == (
        "input ships, profile default, pods 3, seed 1, repetition 0 and 1 more run: "
        "2 pods still waited at the end: the metric wait counts how long\n"
    )
    assert program.output == (
        "4 runs: 4 made, 0 done before, 0 failed\nresults: voyages-results\n"
    )


@pytest.mark.long
def test_the_command_prints_failures_and_exits_with_1(tmp_path: Path) -> None:
    words = ["quaymaster", "sweep", stormy(tmp_path, "raise", "none").name]
    program = run_program([*words, "--out", "mine"], tmp_path, tmp_path)
    assert program.code == 1
    assert program.errors.startswith(
        "failed: input ships, profile default, harm raise,"
    )
    assert program.output == (
        "2 runs: 1 made, 0 done before, 1 failed\nresults: mine\n"
    )


@pytest.mark.long
def test_the_command_lists_runs(file: Path) -> None:
    program = run_program(
        ["quaymaster", "sweep", file.name, "--list"], file.parent, file.parent
    )
    first, *others = program.output.splitlines()
    assert first == "input ships, profile default, pods 1, seed 1, repetition 0"
    assert len(others) == 3
    assert [path.name for path in file.parent.iterdir()] == [file.name]


@pytest.mark.long
def test_the_command_draws_means_with_their_confidence(file: Path) -> None:
    words = ["quaymaster", "sweep", file.name, "--workers", "1", "--plot", "out.svg"]
    done = run_program(words, file.parent, file.parent)
    assert done.code == 0, done.errors
    picture = (file.parent / "out.svg").read_text()
    # Curves are drawn rather than columns; each profile is a line.
    assert ">placed<" in picture
    assert ">preemptions<" not in picture
    assert ">ships (pods 3)<" in picture
    assert ">default (n = 2)<" in picture
    assert ">placed (pods)<" in picture
    assert ">arrivals (objects)<" in picture
    assert "95 % confidence intervals of the means" in picture


@pytest.mark.long
@pytest.mark.parametrize(
    ("plot", "expected"),
    [
        ("out.gif", "--plot out.gif: expected a file that ends in .png, .svg or .pdf"),
        ("no/out.png", "no/out.png"),
    ],
)
def test_a_plot_that_cannot_be_drawn_is_an_error(
    file: Path, plot: str, expected: str
) -> None:
    words = ["quaymaster", "sweep", file.name, "--workers", "1", "--plot", plot]
    done = run_program(words, file.parent, file.parent)
    assert done.code != 0
    assert expected in done.errors


@pytest.mark.long
def test_the_command_prints_the_schema(tmp_path: Path) -> None:
    done = run_program(["quaymaster", "sweep", "--schema"], tmp_path, tmp_path)
    schema = json.loads(done.output)
    assert schema == experiment_schema()
    assert {"inputs", "metrics"} <= set(schema["$defs"]["Document"]["required"])
