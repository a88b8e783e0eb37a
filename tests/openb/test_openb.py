"""A published experiment on GPU sharing, repeated decision by decision."""

import functools
import gzip
import itertools
import shutil
from pathlib import Path
from random import Random

import attrs
import numpy as np
import pytest

from quaymaster.scheduler import SchedulerOptions
from tests.openb.__main__ import main
from tests.openb.fragmentation import Fragmentation
from tests.openb.gpus import WHOLE, Demand, GpuColumns, GpuNode, suiting_devices
from tests.openb.policies import POLICIES, make_policy
from tests.openb.replay import Difference, differences
from tests.openb.trace import (
    DATA,
    FILES,
    Arrival,
    Decision,
    Experiment,
    read_experiment,
)

_DEMANDS = (
    Demand(8000, 0, 0),
    Demand(4000, 1, 230),
    Demand(3152, 1, 810),
    Demand(11400, 1, WHOLE),
    Demand(16000, 2, WHOLE),
)


@functools.cache
def _experiment() -> Experiment:
    return read_experiment()


def _first(arrivals: int) -> Experiment:
    return attrs.evolve(_experiment(), arrivals=_experiment().arrivals[:arrivals])


@pytest.mark.long
def test_3000_decisions_of_fragmentation_gradient_descent_are_repeated() -> None:
    assert len(_experiment().arrivals) == 3000
    assert list(differences(_experiment(), "06-FGD")) == []


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES)
def test_first_decisions_are_repeated_and_the_slow_way_agrees(policy: str) -> None:
    options = SchedulerOptions(verify=100)
    assert list(differences(_first(400), policy, options=options)) == []


@pytest.mark.long
def test_decision_that_differs_is_told() -> None:
    experiment = _first(3)
    *others, last = experiment.arrivals
    ours = last.decisions["06-FGD"]
    assert ours is not None
    theirs = attrs.evolve(ours, score=ours.score + 1)
    changed = attrs.evolve(last, decisions={"06-FGD": theirs})
    experiment = attrs.evolve(experiment, arrivals=(*others, changed))
    assert list(differences(experiment, "06-FGD")) == [
        Difference(arrival=2, pod=last.name, expected=theirs, decided=ours)
    ]


def test_pod_that_fits_nowhere_gets_one_attempt_and_is_deleted() -> None:
    machine = _experiment().machines[0]
    both = Decision(node=machine.name, devices=(0, 1), score=31)
    pods = _wanting(2, both), _wanting(1, None), _wanting(1, None)
    small = attrs.evolve(_experiment(), machines=(machine,), arrivals=pods)
    assert list(differences(small, "04-GpuPacking")) == []


def test_fragmentation_of_the_empty_cluster_is_the_published_one() -> None:
    fragmentation = Fragmentation(_experiment().typical_pods)
    machines = _experiment().machines
    whole = [
        fragmentation.of(machine.cpu_milli, [WHOLE] * machine.gpus)
        for machine in machines
    ]
    share = 100 * sum(whole) / (WHOLE * sum(machine.gpus for machine in machines))
    assert round(share, 2) == 13.94


@pytest.mark.parametrize("wanted", _DEMANDS, ids=str)
@pytest.mark.parametrize("policy", POLICIES)
def test_many_nodes_at_once_are_rated_like_one_by_one(
    policy: str, wanted: Demand
) -> None:
    rater = make_policy(policy, _experiment().typical_pods)
    nodes = [node for node in _some_nodes() if _has_room(node, wanted)]
    one_by_one = [rater.score(node, wanted) for node in nodes]
    assert len(set(one_by_one)) > 1 or not wanted.count
    assert rater.score_nodes(_columns(nodes), wanted).tolist() == one_by_one


@pytest.mark.long
def test_main_tells_what_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for file in FILES:
        shutil.copy(DATA / file, tmp_path)
    with gzip.open(DATA / "arrivals.csv.gz", "rt") as lines:
        header, first, second = itertools.islice(lines, 3)
    with gzip.open(tmp_path / "arrivals.csv.gz", "wt") as changed:
        changed.write(header + first + second.replace(":60", ":61"))
    assert main([str(tmp_path), "--policy", "06-FGD"]) == 1
    assert "06-FGD: 1 of 2 decisions differ" in capsys.readouterr().out


def _wanting(num_gpu: int, decision: Decision | None) -> Arrival:
    return Arrival(
        name="pod",
        cpu_milli=1000,
        memory_mib=1,
        num_gpu=num_gpu,
        gpu_milli=WHOLE,
        decisions={"04-GpuPacking": decision},
    )


def _some_nodes() -> list[GpuNode]:
    """Nodes of 1 to 8 devices, full to empty."""
    random = Random(42)
    lefts = (0, 190, 530, 770, WHOLE, WHOLE)
    return [
        GpuNode(
            cpu=random.randrange(0, 128_000, 100),
            left=tuple(random.choices(lefts, k=random.choice((1, 2, 4, 8)))),
            tags=random.choice((0, 1, 2, 3, 4)),
        )
        for _ in range(300)
    ]


def _has_room(node: GpuNode, wanted: Demand) -> bool:
    suiting = list(suiting_devices(node, wanted))
    return node.cpu >= wanted.cpu and len(suiting) >= wanted.count


def _columns(nodes: list[GpuNode]) -> GpuColumns:
    padded = [node.left + (0,) * (8 - len(node.left)) for node in nodes]
    return GpuColumns(
        cpu=np.array([node.cpu for node in nodes]),
        left=np.array(padded),
        count=np.array([len(node.left) for node in nodes]),
        tags=np.array([node.tags for node in nodes]),
    )
