"""The learned order of jobs: what it sees, how it learns, and what it is worth."""

from pathlib import Path

import numpy as np
import pytest
from quaymaster.experiments import Arrival, SwfJob, read_swf
from quaymaster.gym import QueueObservation

from quaymaster_learned_policy.jobs import HELD_OUT, LENGTH, TRAINING, sequence
from quaymaster_learned_policy.judge_order import judge_orders, main
from quaymaster_learned_policy.order import (
    COLUMNS,
    ORDERS,
    columns,
    make_envs,
    slowdowns,
    weighted,
)
from quaymaster_learned_policy.train_order import learn_order

TRACE = Path(__file__).parent / "data" / "lublin_256.swf.gz"
JOBS = read_swf(TRACE).jobs


def seen(*jobs: tuple[float, float, float, float]) -> QueueObservation:
    """Make an observation: seconds waited, whether it fits, run time, share."""
    return {"pods": np.array([jobs], np.float32)}


# Jobs ---------------------------------------------------------------------------------


def test_a_sequence_begins_with_its_first_job() -> None:
    workload = sequence(JOBS, 1259, 3)
    arrivals = [part for part in workload.arrivals if isinstance(part, Arrival)]
    assert arrivals[0].at == 0
    assert [arrival.obj.name for arrival in arrivals] == [
        f"job-{number}" for number in (1260, 1261, 1262)
    ]


def test_no_job_is_both_for_training_and_for_judging() -> None:
    judged = {job for first in HELD_OUT for job in range(first, first + LENGTH)}
    trained = {job for begin, end in TRAINING for job in range(begin, end)}
    assert not judged & trained


# Orders -------------------------------------------------------------------------------


def test_columns_are_about_0_to_1() -> None:
    values = columns(seen((0, 1, 10, 1 / 256), (86400, 0, 160_000, 1)))
    assert values.shape == (1, 2, len(COLUMNS))
    assert values.min() >= 0
    assert values.max() < 1.01


def test_each_run_may_have_its_own_weights() -> None:
    view = {"pods": np.repeat(seen((0, 1, 9, 0.5), (5, 0, 99, 1))["pods"], 2, axis=0)}
    weights = np.zeros((2, len(COLUMNS)))
    weights[0, 0], weights[1, 0] = 1.0, -1.0
    assert weighted(weights)(view).argmax(axis=1).tolist() == [1, 0]


def test_orders_prefer_the_oldest_and_the_shortest() -> None:
    view = seen((9, 1, 50, 0.5), (5, 1, 10, 0.5))
    assert ORDERS["FCFS"](view).argmax() == 0
    assert ORDERS["SJF"](view).argmax() == 1


def test_the_whole_scheduler_plays_the_same_sequence() -> None:
    envs = make_envs(JOBS, 1, length=15, window=15, verify=1)
    assert slowdowns(envs, [6181], ORDERS["learned"]) > 0


# What it is worth ---------------------------------------------------------------------


@pytest.mark.long
def test_the_learned_order_beats_fcfs_and_sjf_on_held_out_jobs() -> None:
    judged = {name: float(bsld.mean()) for name, bsld in judge_orders(JOBS).items()}
    # The published simulator of RLScheduler has these means.
    assert judged["FCFS"] == pytest.approx(7909.35, abs=0.01)
    assert judged["SJF"] == pytest.approx(257.72, abs=0.01)
    assert judged["learned"] < 0.95 * judged["SJF"]


def test_jobs_that_never_wait_have_a_slowdown_of_1() -> None:
    jobs = [
        SwfJob(number=number, submitted=60 * number, run_seconds=5, allocated=1)
        for number in range(20)
    ]
    judged = judge_orders(jobs, {"SJF": ORDERS["SJF"]}, [0])
    assert (judged["SJF"] * LENGTH).tolist() == [20.0]


def test_judging_needs_a_trace(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])
    assert "required: trace" in capsys.readouterr().err


@pytest.mark.long
def test_the_same_seed_learns_the_same_order() -> None:
    first, other = (
        list(
            learn_order(
                JOBS, generations=2, orders=4, best=2, sequences=1, length=16, seed=3
            )
        )
        for _ in range(2)
    )
    assert [worth for worth, _ in first] == [worth for worth, _ in other]
    assert first[-1][1].tolist() == other[-1][1].tolist()
