"""The study on an excerpt: decisions, figures, and error messages."""

import csv
import gzip
import io
import shutil
from pathlib import Path

import pytest
from quaymaster.experiments import load_tuning, run_cell

from quaymaster_openb.command import main
from quaymaster_openb.data import DataError, arrivals_of, nodes_of, pods_of
from quaymaster_openb.policies import POLICIES, Policy, experiment

DATA = Path(__file__).parent / "data"
PACKAGE = Path(__file__).parents[1]
SINGLE_RUN = ["--data", str(DATA), "--workloads", "default", "--seeds", "42"]


def published(policy: Policy) -> list[list[str]]:
    text = gzip.decompress((DATA / "trace.csv.gz").read_bytes()).decode()
    rows = csv.reader(io.StringIO(text))
    return [row for row in rows if row[0] in ("policy", policy.published)]


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES[1:], ids=lambda policy: policy.name)
def test_decisions_are_the_published_ones(policy: Policy) -> None:
    """Nodes and scores, for all policies but the one that draws lots."""
    made = experiment(
        DATA,
        workloads=["default"],
        policies=[policy],
        seeds=[42],
        with_decisions=True,
    )
    result = run_cell(made, made.cells[0])
    _, nodes = result.curves["decisions.node"]
    _, scores = result.curves["decisions.score"]
    _, *rows = published(policy)
    assert nodes == [int(row[3].removeprefix("openb-node-")) for row in rows]
    assert scores == [int(row[5]) for row in rows]


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_decisions_are_the_same_without_twins_and_memory(policy: Policy) -> None:
    made = experiment(DATA, workloads=["default"], policies=[policy], seeds=[42])
    result = run_cell(made, made.cells[0], verify=80)
    assert result.values["openb.failed"] == 0
    assert result.curves["openb.frag"][1][0] == pytest.approx(13.9, abs=0.5)


@pytest.mark.long
def test_the_tuning_finds_its_experiment_and_the_lists_beside_it(
    tmp_path: Path,
) -> None:
    for name in ("mix.yaml", "tuning.yaml"):
        shutil.copy(PACKAGE / name, tmp_path)
    (tmp_path / "src").symlink_to(PACKAGE / "src")
    (tmp_path / "data").symlink_to(DATA)
    tuning = load_tuning(tmp_path / "tuning.yaml")
    [first, *_] = tuning.experiment.cells
    assert run_cell(tuning.experiment, first).values["openb.failed"] == 0


@pytest.mark.long
def test_the_front_writes_figures_and_each_decision(tmp_path: Path) -> None:
    out, trace = tmp_path / "figures.csv", tmp_path / "trace.csv"
    files = ["--out", str(out), "--trace", str(trace)]
    assert main([*SINGLE_RUN, "--policies", "06", "--workers", "1", *files]) == 0
    with trace.open(newline="") as file:
        assert list(csv.reader(file)) == published(POLICIES[-1])
    with out.open(newline="") as file:
        figures = list(csv.DictReader(file))
    assert [row["step"] for row in figures] == list("012345")
    first = figures[0]
    assert (first["workload"], first["policy"]) == ("default", "06-FGD")
    assert float(first["alloc_pct"]) <= 0.5
    assert 13 < float(first["frag_pct"]) < 14.5


@pytest.mark.long
def test_a_policy_that_draws_lots_has_no_scores(tmp_path: Path) -> None:
    out, trace = tmp_path / "figures.csv", tmp_path / "trace.csv"
    files = ["--out", str(out), "--trace", str(trace)]
    assert main([*SINGLE_RUN, "--policies", "01", "--workers", "1", *files]) == 0
    with trace.open(newline="") as file:
        _, *rows = csv.reader(file)
    assert {row[5] for row in rows} == {""}
    assert all(row[3].startswith("openb-node-") for row in rows)


@pytest.mark.long
def test_runs_that_fail_are_told_with_their_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(DATA, tmp_path / "data")
    pods = tmp_path / "data" / "openb_pod_list_default.csv.gz"
    pods.write_bytes(gzip.compress(b"name,cpu_milli\np,1\n"))
    given = ["--data", str(tmp_path / "data"), *SINGLE_RUN[2:], "--policies", "06"]
    out = ["--workers", "1", "--out", str(tmp_path / "figures.csv")]
    assert main([*given, *out]) == 1
    message = capsys.readouterr().err
    assert "failed: input default" in message
    assert "csv.gz:1: expected a column memory_mib, got name, cpu_milli" in message


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        (["--policies", "07"], "expected some of 01, 02, 03"),
        (["--workloads", "defalt"], "expected some of default, cpu050"),
        (["--seeds", "x"], "expected some of 0, 1, 2"),
    ],
)
def test_a_wrong_choice_is_told(
    changed: list[str],
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main([*SINGLE_RUN, *changed, "--out", str(tmp_path / "out.csv")])
    assert expected in capsys.readouterr().err


def test_a_folder_without_lists_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["--data", str(tmp_path), "--out", str(tmp_path / "out.csv")])
    assert code == 2
    assert "arrivals/default.csv.gz: no such file" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


def test_a_seed_without_arrivals_is_told() -> None:
    with pytest.raises(DataError, match=r"for seed 7, got none \(seeds: 42\)"):
        arrivals_of(DATA, "default", 7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "sn,cpu_milli\nn0,1\n",
            r":1: expected a column memory_mib, got sn, cpu_milli",
        ),
        (
            "sn,cpu_milli,memory_mib,gpu,model\nn0,8,x,2,T4\n",
            ":2: memory_mib: expected",
        ),
    ],
)
def test_a_broken_list_is_told_with_its_line(
    text: str, expected: str, tmp_path: Path
) -> None:
    file = tmp_path / "openb_node_list_gpu_node.csv.gz"
    file.write_bytes(gzip.compress(text.encode()))
    with pytest.raises(DataError, match=expected):
        nodes_of(tmp_path)
    shutil.copy(DATA / "SOURCE.txt", tmp_path / "openb_pod_list_default.csv.gz")
    with pytest.raises(DataError, match=r"openb_pod_list_default\.csv\.gz: Not a gzip"):
        pods_of(tmp_path, "default")
