"""An observed simulation returns samples and attempts."""

import pytest

from quaymaster import Pod
from quaymaster.config import default_config
from quaymaster.inmemory import RUN_SECONDS_ANNOTATION, InMemoryCluster
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import ObservedRun, Simulation, simulate
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.simulation import JUDGED_AT_FIRST, MOST_SAMPLES

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
SMALL = {"cpu": "1", "memory": "1Gi"}


def make_jobs(count: int, seconds: int = 10) -> list[Pod]:
    runs = {RUN_SECONDS_ANNOTATION: str(seconds)}
    return [
        make_pod(name=f"job-{number:04}", requests={"cpu": "1"}, annotations=runs)
        for number in range(count)
    ]


def observed(*objects: object) -> ObservedRun:
    cluster = InMemoryCluster(VirtualClock())
    cluster.load(objects)  # type: ignore[arg-type]  # nodes and pods
    with Simulation(
        cluster, config=CONFIG, registry=REGISTRY, observe=True
    ) as simulation:
        simulation.settle()
        return simulation.observed("run")


def test_samples_contain_requested_amounts_and_pending_pods() -> None:
    run = observed(make_node(name="n", capacity=SMALL), *make_jobs(2))
    first, *_, last = run.samples
    assert (first.at, first.active, first.placed, first.requested["cpu"]) == (
        0,
        2,
        0,
        0,
    )
    assert first.allocatable["cpu"] == 1000
    busy = [sample for sample in run.samples if sample.requested["cpu"]]
    assert {(sample.placed, sample.pending) for sample in busy} >= {(1, 1), (2, 0)}
    assert (last.placed, last.pending, last.requested["cpu"]) == (2, 0, 0)


def test_pods_that_end_while_none_waits_are_seen_at_their_time() -> None:
    run = observed(make_node(name="n"), *make_jobs(1, seconds=30))
    assert {sample.at: sample.pods for sample in run.samples}.get(30.0) == 0


@pytest.mark.long
def test_samples_stay_few_however_many_attempts_there_are() -> None:
    roomy = make_node(name="n", capacity={"cpu": "9999", "pods": "9999"})
    run = observed(roomy, *make_jobs(MOST_SAMPLES + 500))
    assert MOST_SAMPLES / 2 < len(run.samples) <= MOST_SAMPLES + 1
    assert sorted(run.samples, key=lambda sample: sample.attempts) == list(run.samples)


@pytest.mark.long
def test_long_states_are_sampled_even_after_many_attempts() -> None:
    roomy = make_node(name="n", capacity={"cpu": "9999", "pods": "9999"})
    jobs = make_jobs(MOST_SAMPLES + 500, seconds=30)
    *_, resting = (
        sample for sample in observed(roomy, *jobs).samples if sample.at == 0
    )
    assert (resting.placed, resting.pending) == (len(jobs), 0)


@pytest.mark.long
def test_of_many_moments_those_that_lasted_the_longest_are_kept() -> None:
    roomy = make_node(name="n", capacity={"cpu": "9999", "pods": "9999"})
    ends = [*range(1, MOST_SAMPLES + 500), 10**6]
    jobs = [
        make_pod(name=f"job-{end}", annotations={RUN_SECONDS_ANNOTATION: str(end)})
        for end in ends
    ]
    samples = observed(roomy, *jobs).samples
    assert len(samples) <= MOST_SAMPLES + 1
    for sample in samples:
        if sample.at:
            left = sum(end > sample.at for end in ends)
            assert sample.pods == left
    [*_, before, _] = samples
    assert (before.at, before.pods) == (ends[-2], 1)


def test_observation_changes_no_decision() -> None:
    nodes = [make_node(name=f"n{number}", capacity=SMALL) for number in range(5)]
    objects = [*nodes, *make_jobs(12)]
    assert observed(*objects).result == simulate(
        objects, config=CONFIG, registry=REGISTRY
    )


def test_every_attempt_of_a_small_run_is_explained() -> None:
    small = make_node(name="small", capacity={"cpu": "100m"})
    large = make_node(name="large", capacity={"cpu": "8"})
    [attempt] = observed(small, large, *make_jobs(1)).attempts
    assert (attempt.outcome, attempt.node) == ("scheduled", "large")
    assert (attempt.number, attempt.feasible) == (1, 1)
    [scores] = attempt.scores
    assert scores.total == sum(plugin.weighted for plugin in scores.plugins.values())
    [rejected] = attempt.rejected
    assert rejected.plugin == "NodeResourcesFit"
    assert (rejected.nodes, rejected.such_as) == (1, ("small",))
    assert rejected.reasons == ("Insufficient cpu",)


def test_the_node_that_was_picked_comes_first_of_equally_good_ones() -> None:
    nodes = [make_node(name=f"n{number:02}") for number in range(40)]
    for attempt in observed(*nodes, *make_jobs(10)).attempts:
        assert attempt.scores[0].node == attempt.node
        assert len(attempt.scores) == 10


def test_attempts_of_a_pod_that_fits_nowhere_have_reasons() -> None:
    huge = make_pod(name="huge", requests={"cpu": "64"})
    run = observed(make_node(name="n"), huge)
    assert {attempt.outcome for attempt in run.attempts} == {"unschedulable"}
    assert run.attempts[0].message == run.result.unscheduled[0].message
    assert run.attempts[0].scores == ()


def test_each_workload_keeps_some_attempts_of_a_large_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(JUDGED_AT_FIRST, 0)
    jobs = make_jobs(100)
    late_pod = make_pod(name="alone")
    run = observed(
        make_node(name="n", capacity={"cpu": "500", "pods": "500"}), *jobs, late_pod
    )
    taken = [attempt.pod.partition("/")[2] for attempt in run.attempts]
    assert taken[:7] == [f"job-{number - 1:04}" for number in (1, 2, 4, 8, 16, 32, 64)]
    assert taken[7:] == ["alone"]
