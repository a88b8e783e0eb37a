"""The arrivals that are drawn by Go's generator, on an excerpt of the lists.

On the published lists they are the study's, number by number.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from quaymaster_openb.data import Arrivals, PodRow, arrivals_of, nodes_of, pods_of

DATA = Path(__file__).parent / "data"
DRAW = Path(__file__).parents[1] / "arrivals.go"
SEEDS = range(42, 52)
REQUESTED = 1.3  # of all GPUs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the lists, and the arrivals that were drawn."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("needs Go")
    folder = tmp_path_factory.mktemp("lists")
    for path in DATA.glob("*.csv.gz"):
        shutil.copy(path, folder)
    subprocess.run([go, "run", str(DRAW), str(folder)], check=True, timeout=300)
    return folder


def drawn(folder: Path, seed: int) -> Arrivals:
    return arrivals_of(folder, "default", seed)


def requested_gpus(pods: list[PodRow]) -> int:
    return sum(pod.gpus * pod.milli for pod in pods)


@pytest.mark.long
def test_every_seed_draws_others(folder: Path) -> None:
    coming = {tuple(drawn(folder, seed).pods) for seed in SEEDS}
    assert len(coming) == len(SEEDS)


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_all_pods_come_once_and_then_some_again_until_enough_is_asked_for(
    folder: Path, seed: int
) -> None:
    pods, nodes = pods_of(folder, "default"), nodes_of(folder)
    goal = REQUESTED * 1000 * sum(node.gpus for node in nodes)
    rows = drawn(folder, seed).pods
    assert sorted(rows[: len(pods)]) == list(range(len(pods)))
    assert list(rows[: len(pods)]) != sorted(rows[: len(pods)])
    most = max(pod.gpus * pod.milli for pod in pods)
    assert goal - most <= requested_gpus([pods[row] for row in rows]) <= goal + most


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_each_node_has_a_rank_of_its_own(folder: Path, seed: int) -> None:
    nodes = nodes_of(folder)
    assert sorted(drawn(folder, seed).ranks) == list(range(len(nodes)))
