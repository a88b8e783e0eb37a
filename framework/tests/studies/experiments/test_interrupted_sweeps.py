"""A sweep that is killed, or loses workers, ends like an undisturbed one."""

import contextlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.kit.experiments import Ships
from tests.kit.sources import ROOT

RUNS = 100
TABLES = ("results.parquet", "curves.parquet", "results.csv", "curves.csv")


def written(folder: Path) -> Path:
    """Write an experiment of a hundred small runs."""
    path = folder / "voyages.yaml"
    path.write_text(
        "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Experiment\n"
        f"inputs: [{{name: ships, use: '{Ships.__module__}:Ships'}}]\n"
        "parameters:\n"
        "- {name: pods, input: pods, values: [2, 20, 40, 60]}\n"
        f"seeds: {list(range(RUNS // 4))}\n"
        "metrics: [{name: placed, parameters: {every: 5}}, {name: utilisation}]\n"
    )
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


def started(*words: str, folder: Path) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(
            words, cwd=folder, env=environment, stdout=log, stderr=log
        )


def sweep_of(file: Path, out: str, *more: str) -> "subprocess.Popen[bytes]":
    words = (sys.executable, "-m", "quaymaster", "sweep", file.name, "--out", out)
    return started(*words, "--workers", "2", *more, folder=file.parent)


def tables_in(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in TABLES]


def done_in(folder: Path) -> int:
    return len(list(folder.glob("done/*.json")))


def until(process: "subprocess.Popen[bytes]", is_so: Callable[[], bool]) -> None:
    """Wait until a condition is true or a process has ended."""
    while not is_so() and process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.01)


def kill_again_and_again(file: Path, *more: str) -> Path:
    """Run a sweep that is killed five times; return the folder with the results."""
    draw = random.Random(18)
    out = file.parent / "killed"
    for _ in range(5):
        target = done_in(out) + draw.randint(1, 12)
        process = sweep_of(file, out.name, *more)
        until(process, lambda: done_in(out) >= target)  # noqa: B023 - used at once
        assert process.poll() is None, "it was to be killed before its end"
        process.kill()
        process.wait()
    assert 5 <= done_in(out) < RUNS
    assert sweep_of(file, out.name, *more).wait() == 0
    return out


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Return the tables of a sweep that nothing interrupts."""
    file = written(tmp_path_factory.mktemp("undisturbed"))
    assert sweep_of(file, "alone").wait() == 0
    return tables_in(file.parent / "alone")


@pytest.mark.long
def test_killed_five_times_it_ends_with_the_same_tables(
    file: Path, undisturbed: list[bytes]
) -> None:
    out = kill_again_and_again(file)
    assert done_in(out) == RUNS
    assert tables_in(out) == undisturbed


class Dask:
    """A scheduler and its workers, as processes on this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self._dask = str(Path(sys.executable).with_name("dask"))
        self.workers: list[subprocess.Popen[bytes]] = []
        place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        self.scheduler = started(
            *(self._dask, "scheduler", *place, "--scheduler-file", str(self._file)),
            folder=folder,
        )
        until(self.scheduler, self._is_written)
        self.address: str = json.loads(self._file.read_text())["address"]

    def _is_written(self) -> bool:
        return self._file.exists() and self._file.read_text().endswith("}")

    def add_worker(self) -> "subprocess.Popen[bytes]":
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
        words = (self._dask, "worker", self.address, *options)
        self.workers.append(started(*words, folder=self._folder))
        return self.workers[-1]

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    cluster = Dask(tmp_path)
    try:
        for _ in range(2):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.close()


@pytest.mark.long
def test_on_dask_runs_of_a_lost_worker_are_repeated_by_another(
    file: Path, dask: Dask, undisturbed: list[bytes]
) -> None:
    process = sweep_of(file, "dask", "--scheduler", dask.address)
    out = file.parent / "dask"
    until(process, lambda: done_in(out) >= 20)
    assert process.poll() is None
    dask.workers[0].kill()
    assert process.wait() == 0
    assert done_in(out) == RUNS
    assert tables_in(out) == undisturbed


@pytest.mark.nightly
def test_on_dask_killed_five_times_it_ends_with_the_same_tables(
    file: Path, dask: Dask, undisturbed: list[bytes]
) -> None:
    out = kill_again_and_again(file, "--scheduler", dask.address)
    assert done_in(out) == RUNS
    assert tables_in(out) == undisturbed


@pytest.mark.long
def test_missing_dask_scheduler_is_an_error_and_finished_runs_are_kept(
    file: Path, dask: Dask, undisturbed: list[bytes]
) -> None:
    process = sweep_of(file, "dask", "--scheduler", dask.address)
    out = file.parent / "dask"
    until(process, lambda: done_in(out) >= 5)
    dask.scheduler.kill()
    assert process.wait() == 2
    assert b"the scheduler is gone" in (file.parent / "log").read_bytes()
    before = done_in(out)
    assert 5 <= before < RUNS
    assert sweep_of(file, "dask").wait() == 0
    assert tables_in(out) == undisturbed
