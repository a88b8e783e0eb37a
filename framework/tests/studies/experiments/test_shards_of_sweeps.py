"""Shards of a sweep share a folder, and none makes a run of another."""

import os
from pathlib import Path

import pytest

from quaymaster.experiments import SweepProgress, load_experiment, sweep
from tests.kit.experiments import Ships
from tests.kit.internals.cli import lines_of_progress
from tests.kit.internals.experiments import Claims

EXPERIMENT = (
    "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Experiment\n"
    f"inputs: [{{name: ships, use: '{Ships.__module__}:Ships'}}]\n"
    "seeds: [1, 2, 3, 4, 5]\nmetrics: [{name: placed}]\n"
)


@pytest.mark.long
def test_shards_make_all_runs_together(tmp_path: Path) -> None:
    file = tmp_path / "voyages.yaml"
    file.write_text(EXPERIMENT)
    experiment, out = load_experiment(file), tmp_path / "out"
    first = sweep(experiment, out, workers=1, shard=(1, 2))
    assert (first.made, first.missing) == (3, 2)
    second = sweep(experiment, out, workers=1, shard=(2, 2))
    assert (second.made, second.missing) == (2, 0)
    assert [cell.seed for cell, _ in second.runs] == [1, 2, 3, 4, 5]
    assert list(out.glob("done/*.claim")) == []


def test_a_shard_has_a_number_that_exists(tmp_path: Path) -> None:
    file = tmp_path / "voyages.yaml"
    file.write_text(EXPERIMENT)
    with pytest.raises(ValueError, match="expected a number from 1 to 2, got 3"):
        sweep(load_experiment(file), tmp_path / "out", shard=(3, 2))


def test_a_claimed_run_is_left_to_the_process_that_makes_it(tmp_path: Path) -> None:
    mine, theirs = Claims(tmp_path), Claims(tmp_path)
    assert mine.take("a")
    assert not theirs.take("a")
    mine.release("a")
    assert theirs.take("a")
    theirs.close()
    assert mine.take("a")
    mine.close()
    assert list(tmp_path.iterdir()) == []


def test_the_claim_of_a_dead_process_ends_after_five_minutes(tmp_path: Path) -> None:
    clock = [1000.0]
    (tmp_path / "a.claim").touch()
    os.utime(tmp_path / "a.claim", (1000.0, 1000.0))
    claims = Claims(tmp_path, now=lambda: clock[0])
    assert not claims.take("a")
    clock[0] += 301.0
    assert claims.take("a")
    claims.close()


def test_a_log_has_a_line_every_thirty_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = [0.0]
    update = lines_of_progress(lambda: clock[0])
    for seconds, done, failed in (
        (10.0, 1, 0),
        (31.0, 3, 0),
        (40.0, 4, 0),
        (62.0, 6, 1),
    ):
        clock[0] = seconds
        update(SweepProgress(done=done, failed=failed, total=50, seconds_left=200.0))
    assert capsys.readouterr().err.splitlines() == [
        "3 of 50 runs done, 3 min 20 s left",
        "6 of 50 runs done, 1 failed, 3 min 20 s left",
    ]


def test_only_one_process_takes_the_claim_of_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.claim").touch()
    os.utime(tmp_path / "a.claim", (1000.0, 1000.0))
    faster, slower = Claims(tmp_path), Claims(tmp_path)
    stat = Path.stat

    def look_and_be_overtaken(path: Path) -> os.stat_result:
        seen = stat(path)
        monkeypatch.undo()
        assert faster.take("a")
        return seen

    monkeypatch.setattr(Path, "stat", look_and_be_overtaken)
    assert not slower.take("a")
    assert [file.name for file in tmp_path.iterdir()] == ["a.claim"]
    slower.close()
    faster.close()
    assert list(tmp_path.iterdir()) == []
