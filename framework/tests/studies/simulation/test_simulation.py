"""Simulations and explanations from Python."""

from typing import Any

import msgspec
import pytest

from quaymaster import ApiObject
from quaymaster.config import default_config, parse_config
from quaymaster.manifests import NoticeReason
from quaymaster.objects import PodSchedulingGate, Time
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import (
    ExplainedPod,
    PodNotFoundError,
    SimulationResult,
    explain_pod,
    simulate,
)
from quaymaster.testing import make_node, make_pod
from tests.kit.documents import HEADER

REGISTRY = PluginRegistry.discover()


def run(*objects: ApiObject, config: dict[str, Any] | None = None) -> SimulationResult:
    chosen = parse_config(config, REGISTRY) if config else default_config(REGISTRY)
    return simulate(objects, config=chosen, registry=REGISTRY)


def why(pod: str, *objects: ApiObject) -> ExplainedPod:
    config = default_config(REGISTRY)
    return explain_pod(pod, objects, config=config, registry=REGISTRY)


def gated(name: str) -> ApiObject:
    pod = make_pod(name=name)
    gates = (PodSchedulingGate(name="a"), PodSchedulingGate(name="b"))
    return msgspec.structs.replace(
        pod, spec=msgspec.structs.replace(pod.spec, scheduling_gates=gates)
    )


def test_placements_are_listed_in_the_order_of_the_decisions() -> None:
    result = run(
        make_node(name="n"), make_pod(name="a"), make_pod(name="b", priority=5)
    )
    assert [placement.pod for placement in result.placements] == [
        "default/b",
        "default/a",
    ]
    assert (result.pods, result.nodes) == (2, 1)


def test_bound_pods_take_room_but_are_not_placements() -> None:
    result = run(
        make_node(name="n", capacity={"cpu": "2"}),
        make_pod(name="there", node="n", requests={"cpu": "2"}),
        make_pod(name="new", requests={"cpu": "1"}),
    )
    assert result.placements == ()
    assert [pod.pod for pod in result.unscheduled] == ["default/new"]
    assert result.pods == 1


def test_message_of_a_gated_pod_names_its_gates() -> None:
    [left] = run(make_node(), gated("p")).unscheduled
    assert left.reason == "SchedulingGated"
    assert left.message == "waiting for scheduling gates: [a b]"
    assert left.plugins == ("SchedulingGates",)


def test_message_of_a_pod_of_an_unknown_scheduler_lists_the_profiles() -> None:
    [left] = run(make_node(), make_pod(name="p", scheduler_name="mine")).unscheduled
    assert left.reason == "NoProfile"
    assert left.message == (
        "no profile has the scheduler name 'mine' (profiles: default-scheduler)"
    )


def test_each_pod_is_placed_by_the_profile_that_it_names() -> None:
    config = {
        **HEADER,
        "profiles": [{"schedulerName": "one"}, {"schedulerName": "two"}],
    }
    pods = [make_pod(name=name, scheduler_name=name) for name in ("two", "one")]
    result = run(make_node(), *pods, config=config)
    assert {
        (placement.pod, placement.scheduler) for placement in result.placements
    } == {
        ("default/one", "one"),
        ("default/two", "two"),
    }


def test_pods_that_run_on_missing_nodes_stay_there_and_get_a_notice() -> None:
    result = run(make_pod(name="a", node="x"), make_pod(name="b", node="y"))
    assert result.pods == 0
    (notice,) = result.notices
    assert notice.reason is NoticeReason.STRAY_PODS
    assert notice.message == (
        "2 pods are on nodes that the input does not have, and kept there: "
        "default/a on x, default/b on y"
    )


def test_progress_ends_with_all_pods() -> None:
    seen: list[tuple[int, int]] = []
    simulate(
        [make_node(), make_pod(name="a"), make_pod(name="b")],
        config=default_config(REGISTRY),
        registry=REGISTRY,
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[0] == (0, 2)
    assert seen[-1] == (2, 2)


def test_explanations_report_their_progress_too() -> None:
    seen: list[tuple[int, int]] = []
    explain_pod(
        "a",
        [make_node(), make_pod(name="a"), make_pod(name="b")],
        config=default_config(REGISTRY),
        registry=REGISTRY,
        on_progress=lambda done, total: seen.append((done, total)),
    )
    assert (seen[0], seen[-1]) == ((0, 2), (2, 2))


def test_explanation_is_of_the_last_attempt() -> None:
    """A pod that has to wait is explained as it was when it got its node."""
    run_90 = {"simulation.quaymaster.io/run-seconds": "90"}
    explained = why(
        "second",
        make_node(name="n", capacity={"cpu": "1", "memory": "1Gi", "pods": "9"}),
        make_pod(name="first", requests={"cpu": "1"}, annotations=run_90, priority=1),
        make_pod(name="second", requests={"cpu": "1"}),
    )
    assert (explained.outcome, explained.node) == ("scheduled", "n")
    assert explained.explanation is not None
    assert [score.node for score in explained.explanation.scores] == ["n"]
    assert explained.explanation.rejections == ()


def test_explanation_names_the_first_plugin_that_rejects_each_node() -> None:
    explained = why(
        "p",
        make_node(name="tainted", taints=["k=v:NoSchedule"], capacity={"cpu": "1"}),
        make_node(name="small", capacity={"cpu": "1", "pods": "9"}),
        make_pod(name="p", requests={"cpu": "2"}),
    )
    assert explained.outcome == "unschedulable"
    assert explained.explanation is not None
    assert {
        rejection.node: rejection.plugin
        for rejection in explained.explanation.rejections
    } == {
        "tainted": "TaintToleration",
        "small": "NodeResourcesFit",
    }
    assert explained.message.startswith("0/2 nodes are available: ")


@pytest.mark.parametrize(
    ("objects", "outcome"),
    [
        pytest.param([gated("p")], "gated", id="gated"),
        pytest.param([make_pod(name="p", node="n")], "bound", id="bound before"),
        pytest.param(
            [make_pod(name="p", scheduler_name="mine")], "ignored", id="ignored"
        ),
    ],
)
def test_pod_without_an_attempt_has_an_outcome(
    objects: list[ApiObject], outcome: str
) -> None:
    explained = why("p", make_node(name="n"), *objects)
    assert explained.outcome == outcome
    assert explained.explanation is None


def test_name_that_several_namespaces_have_must_be_given_whole() -> None:
    pods = [make_pod(name="p", namespace=name) for name in ("blue", "red")]
    with pytest.raises(PodNotFoundError, match="2 pods match: blue/p, red/p; give"):
        why("p", make_node(), *pods)
    assert why("red/p", make_node(), *pods).pod == "red/p"


def test_each_placement_has_its_times_in_seconds_since_the_beginning() -> None:
    run_90 = {"simulation.quaymaster.io/run-seconds": "90"}
    result = run(
        make_node(name="n", capacity={"cpu": "1", "pods": "9"}),
        make_pod(name="first", requests={"cpu": "1"}, annotations=run_90, priority=1),
        make_pod(name="second", requests={"cpu": "1"}, annotations=run_90),
    )
    first, second = result.placements
    assert (first.created, first.bound, first.finished) == (0.0, 0.0, 90.0)
    assert (second.created, second.bound, second.finished) == (0.0, 90.0, 180.0)
    assert (first.attempts, second.attempts) == (1, 2)
    assert result.makespan == 180.0
    assert result.started == 1767225600.0  # 2026-01-01T00:00:00Z


def test_pod_that_runs_on_has_no_end() -> None:
    result = run(make_node(), make_pod(name="p"))
    [placement] = result.placements
    assert placement.finished is None
    assert result.makespan == 0.0


def test_loaded_pods_exist_from_the_beginning_whatever_their_creation_time() -> None:
    pod = make_pod(name="p")
    metadata = msgspec.structs.replace(pod.metadata, creation_timestamp=Time(2e9))
    result = run(make_node(), msgspec.structs.replace(pod, metadata=metadata))
    assert result.placements[0].created == 0.0


def test_reasons_are_counted_by_pods_the_most_frequent_first() -> None:
    large = [make_pod(name=f"large-{n}", requests={"cpu": "9"}) for n in range(3)]
    result = run(
        make_node(name="tainted", taints=["k=v:NoSchedule"]),
        make_node(name="small", capacity={"cpu": "1", "pods": "9"}),
        make_pod(name="picky", node_selector={"disk": "ssd"}),
        gated("held"),
        *large,
    )
    untolerated = "node(s) had untolerated taint(s)"
    assert result.reasons() == [
        (("Insufficient cpu", untolerated), 3),
        (("node(s) didn't match Pod's node affinity/selector", untolerated), 1),
        (("waiting for scheduling gates: [a b]",), 1),
    ]


def test_preemption_has_its_time() -> None:
    run_60 = {"simulation.quaymaster.io/run-seconds": "60"}
    result = run(
        make_node(name="n", capacity={"cpu": "2", "pods": "9"}),
        make_pod(name="short", requests={"cpu": "1"}, priority=9, annotations=run_60),
        make_pod(name="wide", requests={"cpu": "2"}, priority=5),
        make_pod(name="low", requests={"cpu": "1"}, priority=1),
    )
    [preemption] = result.preempted
    assert (preemption.pod, preemption.at) == ("default/low", 60.0)
