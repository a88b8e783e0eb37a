"""A what-if question changes a settled cluster in steps and compares the states."""

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod
from quaymaster.config import default_config, load_config
from quaymaster.inmemory import DEFAULT_POD_TIMES, InMemoryCluster
from quaymaster.objects import (
    PodFailurePolicy,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
)
from quaymaster.planning import (
    AddNodes,
    ClusterChange,
    ClusterState,
    Cordon,
    Drain,
    FailNodes,
    FailZone,
    Move,
    Prices,
    RemoveNodes,
    Repack,
    Scale,
    UseConfig,
    WhatIfResult,
    WhatIfStep,
    what_if,
)
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import PlacedPod, Simulation, WorkloadSpread
from quaymaster.testing import (
    make_daemon_set,
    make_deployment,
    make_job,
    make_node,
    make_pod,
    make_pod_disruption_budget,
    make_stateful_set,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
ZONE = "topology.kubernetes.io/zone"
TYPE = "node.kubernetes.io/instance-type"
NODES = [
    make_node(
        name=f"n{index}",
        capacity={"cpu": "4", "memory": "8Gi"},
        labels={ZONE: f"zone-{index}", TYPE: "small"},
    )
    for index in range(3)
]


def what_if_of(
    objects: list[ApiObject], *changes: ClusterChange, prices: Prices | None = None
) -> WhatIfResult:
    return what_if(
        [*NODES, *objects], changes, config=CONFIG, registry=REGISTRY, prices=prices
    )


def web(replicas: int, cpu: str = "1") -> ApiObject:
    return make_deployment(
        name="web", replicas=replicas, pod=make_pod(requests={"cpu": cpu})
    )


def pending(state: ClusterState) -> list[str]:
    return [pod.pod for pod in state.pending]


def test_nothing_changes_without_a_change() -> None:
    result = what_if_of([web(3)])
    assert result.before == result.after
    assert (result.steps, result.moved) == ((), ())
    assert (result.before.placed, result.before.nodes_used) == (3, 3)
    assert result.before.room.resources["cpu"].utilization == 0.25


def test_a_drained_node_is_empty_and_its_pods_have_moved() -> None:
    result = what_if_of([web(3)], Drain(nodes="n0"))
    [step] = result.steps
    assert isinstance(step, WhatIfStep)
    [move] = step.moved
    assert isinstance(move, Move)
    assert (move.workload, move.source) == ("deployment.apps/default/web", "n0")
    assert [eviction.pod for eviction in step.evicted] == [move.was]
    assert result.moved == (move,)
    assert (result.after.placed, result.after.nodes, result.after.nodes_used) == (
        3,
        3,
        2,
    )


def test_a_drain_in_a_question_equals_the_drain_of_a_simulation() -> None:
    budget = make_pod_disruption_budget(selector={"app": "web"}, max_unavailable=1)
    objects = [*NODES, web(6), budget, make_daemon_set(name="agent")]
    result = what_if(objects, [Drain(nodes="n1")], config=CONFIG, registry=REGISTRY)
    cluster = InMemoryCluster(VirtualClock(), times=DEFAULT_POD_TIMES)
    cluster.load(objects)
    with Simulation(cluster, config=CONFIG, registry=REGISTRY) as by_hand:
        by_hand.settle()
        before = {pod.key: pod.node_name for pod in cluster.list(Pod).items}
        effect = Drain(nodes="n1").apply(by_hand)
        by_hand.settle()
        after = {pod.key: pod.node_name for pod in cluster.list(Pod).items}
    [step] = result.steps
    assert list(step.evicted) == effect.evicted
    assert list(step.refused) == list(effect.refused.values())
    assert {move.pod for move in step.moved} == after.keys() - before.keys()
    assert all(after[move.pod] == move.target for move in step.moved)


@pytest.mark.long
def test_the_order_of_changes_counts() -> None:
    few, many = Scale.parse("deploy/web=1"), Scale.parse("deploy/web=30")
    grown = what_if_of([web(3)], AddNodes(spec="9:cpu=4,memory=8Gi"), many)
    assert pending(grown.after) == []
    late = what_if_of([web(3)], many, AddNodes(spec="9:cpu=4,memory=8Gi"))
    assert len(late.steps[0].pending) == 18
    assert late.steps[1].pending == ()
    assert pending(late.after) == []
    assert what_if_of([web(3)], many, few).after.placed == 1


def test_pods_that_lose_their_node_are_reported() -> None:
    result = what_if_of([web(3, cpu="3")], FailZone(zone="zone-1"))
    [step] = result.steps
    [left] = step.pending
    assert "2 Insufficient cpu" in left.message
    assert len(step.lost) == 1
    assert (result.after.placed, result.after.nodes) == (2, 2)


def test_a_drain_reports_the_pods_that_it_leaves_behind() -> None:
    budget = make_pod_disruption_budget(selector={"app": "web"}, max_unavailable=0)
    result = what_if_of([web(3), budget], Drain(nodes="n0", timeout_seconds=30))
    [step] = result.steps
    [refused] = result.refused
    assert result.left == (refused.pod,)
    assert step.ended - step.at == 30
    assert result.evicted == ()


def test_preempted_pods_are_reported_with_the_change_that_caused_it() -> None:
    important = make_stateful_set(
        name="db", replicas=3, pod=make_pod(requests={"cpu": "4"}, priority=100)
    )
    objects = [important, web(2, cpu="2")]
    nodes = AddNodes(spec="1:cpu=4,memory=8Gi,name=spare")
    result = what_if_of(objects, nodes, RemoveNodes(nodes="n0"))
    first, second = result.steps
    assert first.preempted == ()
    assert len(second.preempted) == 2
    assert result.preempted == second.preempted


def test_pods_that_keep_their_names_are_matched_by_name() -> None:
    result = what_if_of([make_stateful_set(name="db", replicas=3)], Drain(nodes="n2"))
    assert all(move.pod == move.was for move in result.moved)
    assert len(result.moved) == 1


def test_pods_that_come_back_to_their_node_have_not_moved() -> None:
    objects = [web(3), make_daemon_set(name="agent")]
    result = what_if_of(objects, Cordon(nodes="n1"), Repack())
    assert {move.source for move in result.moved} <= {"n0", "n1", "n2"}
    assert "n1" not in {move.target for move in result.moved}


def test_another_profile_may_use_fewer_nodes() -> None:
    packed = UseConfig(config=load_config("bin-packing", REGISTRY), name="bin-packing")
    result = what_if_of([web(3), make_daemon_set(name="agent")], packed, Repack())
    assert [step.change for step in result.steps] == ["config bin-packing", "repack"]
    assert result.steps[0].moved == ()
    assert (result.before.nodes_used, result.after.nodes_used) == (3, 1)


def test_cost_is_that_of_all_nodes() -> None:
    prices = Prices(per_instance_type={"small": 0.5})
    result = what_if_of([web(1)], RemoveNodes(nodes=f"{ZONE}=zone-0"), prices=prices)
    assert result.before.room.price_per_hour == 1.5
    assert result.after.room.price_per_hour == 1.0


def test_the_same_question_has_the_same_answer() -> None:
    changes: list[ClusterChange] = [
        Drain(nodes="n0"),
        Scale.parse("deploy/web=9"),
        Repack(),
    ]
    assert what_if_of([web(6)], *changes) == what_if_of([web(6)], *changes)


def test_a_step_lists_the_pods_that_it_placed_with_their_nodes() -> None:
    changes = (RemoveNodes(nodes="n2"), AddNodes(spec="1:cpu=4,memory=8Gi,name=new"))
    result = what_if_of([make_pod(name="p", requests={"cpu": "3"})] * 1, *changes)
    assert [step.placed for step in result.steps] == [(), ()]
    filling = [make_pod(name=f"p{index}", requests={"cpu": "3"}) for index in range(4)]
    [step] = what_if_of([*filling], AddNodes(spec="1:cpu=4,memory=8Gi")).steps
    [placed] = step.placed
    assert isinstance(placed, PlacedPod)
    assert (placed.workload, placed.pod) == ("pod/default/p3", "default/p3")
    assert placed.node not in {"n0", "n1", "n2"}


def test_a_step_counts_the_pods_of_a_workload_per_zone_before_and_after() -> None:
    [step] = what_if_of(
        [web(3)], Cordon(nodes="n0"), Scale.parse("deploy/web=5")
    ).steps[1:]
    [spread] = step.spread
    assert spread == WorkloadSpread(
        workload="deployment.apps/default/web",
        topology_key=ZONE,
        before={"zone-0": 1, "zone-1": 1, "zone-2": 1},
        after={"zone-0": 1, "zone-1": 2, "zone-2": 2},
    )


def test_a_zone_that_is_lost_counts_no_pods_afterwards() -> None:
    [step] = what_if_of([web(3)], FailZone(zone="zone-0")).steps
    [spread] = step.spread
    assert spread.before == {"zone-0": 1, "zone-1": 1, "zone-2": 1}
    assert (spread.after["zone-0"], sum(spread.after.values())) == (0, 3)


def test_a_pod_that_stays_pending_has_the_reason_of_its_last_attempt() -> None:
    pod = make_pod(name="big", requests={"cpu": "9"})
    cordons = (Cordon(nodes="n0"), Cordon(nodes="n1"), Cordon(nodes="n0"))
    first, second, third = what_if_of([pod], *cordons).steps
    assert [step.pending for step in (first, second, third)] == [(), (), ()]
    [still] = second.still_pending
    assert "2 node(s) were unschedulable" in still.message
    assert third.still_pending == ()


def training(*, ignores_disruptions: bool) -> ApiObject:
    job = make_job(
        name="training",
        parallelism=12,
        completions=12,
        pod=make_pod(requests={"cpu": "500m"}),
    )
    job = replace(job, spec=replace(job.spec, backoff_limit=1))
    if not ignores_disruptions:
        return job
    pattern = PodFailurePolicyOnPodConditionsPattern(type="DisruptionTarget")
    rule = PodFailurePolicyRule(action="Ignore", on_pod_conditions=(pattern,))
    policy = PodFailurePolicy(rules=(rule,))
    return replace(job, spec=replace(job.spec, pod_failure_policy=policy))


def test_a_job_counts_the_pods_of_a_lost_node_as_failed() -> None:
    result = what_if_of([training(ignores_disruptions=False)], FailNodes(nodes="n0"))
    [note] = result.steps[0].notes
    assert note.startswith(
        "job default/training failed and makes no more pods (Backoff"
    )
    assert (result.after.placed, result.after.pending) == (0, ())


def test_a_job_may_ignore_the_loss_of_a_node() -> None:
    result = what_if_of([training(ignores_disruptions=True)], FailNodes(nodes="n0"))
    assert result.steps[0].notes == ()
    assert result.after.placed == 12
