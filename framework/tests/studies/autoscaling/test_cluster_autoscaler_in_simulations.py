"""A simulated cluster grows for its pending pods, and shrinks when they are gone."""

import attrs
import pytest
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.autoscaling import (
    AutoscalerError,
    ClusterAutoscalerController,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.objects import Deployment, Quantity, Taint
from quaymaster.simulation import Simulation
from quaymaster.testing import make_deployment, make_node, make_pod

BOOT_SECONDS = 90
MEMBER = {"pool": "small"}


def small(least: int = 0, most: int = 10) -> GroupSettings:
    return GroupSettings(
        name="small",
        min=least,
        max=most,
        price=0.5,
        nodes=MEMBER,
        resources={"cpu": Quantity("2"), "memory": Quantity("8Gi")},
        labels=MEMBER,
    )


def atomic() -> GroupSettings:
    return attrs.evolve(small(most=4), zero_or_max=True)


def started(
    *groups: GroupSettings,
    nodes: int = 1,
    pods: int = 0,
    workload: Deployment | None = None,
    options: ClusterAutoscalerOptions | None = None,
) -> Simulation:
    """Make a simulation with nodes for two pods each."""
    capacity = {"cpu": "2", "memory": "8Gi"}
    objects = [
        make_node(name=f"old-{number}", labels=MEMBER, capacity=capacity)
        for number in range(nodes)
    ]
    pending = [
        make_pod(name=f"web-{number}", requests={"cpu": "900m"})
        for number in range(pods)
    ]
    setup = ClusterAutoscalerSetup(
        groups=groups or (small(),), options=options or ClusterAutoscalerOptions()
    )
    more = [workload] if workload is not None else []
    return Simulation([*objects, *pending, *more], autoscaler=setup)


def controller_of(simulation: Simulation) -> ClusterAutoscalerController:
    assert isinstance(simulation.autoscaler, ClusterAutoscalerController)
    return simulation.autoscaler


def nodes_of(simulation: Simulation) -> int:
    return len(simulation.cluster.list(Node).items)


@pytest.mark.long
def test_pending_pods_get_nodes_after_their_boot_time() -> None:
    with started(pods=6) as simulation:
        simulation.settle()
        placements = simulation.result().placements
    late = [placement for placement in placements if placement.node != "old-0"]
    assert len(placements) == 6
    assert len({placement.node for placement in late}) == 2
    assert all(placement.bound >= BOOT_SECONDS for placement in late)


@pytest.mark.long
def test_new_node_is_not_ready_until_its_kubelet_has_started() -> None:
    with started(pods=3) as simulation:
        simulation.run_until(80)
        taints = simulation.cluster.get(Node, "small-0").spec.taints
        simulation.run_until(120)
        later = simulation.cluster.get(Node, "small-0").spec.taints
    assert {taint.key for taint in taints} == {"node.kubernetes.io/not-ready"}
    assert later == ()


@pytest.mark.long
def test_group_never_grows_beyond_its_limit() -> None:
    with started(small(most=2), pods=9) as simulation:
        simulation.settle()
        result = simulation.result()
        events = [str(event) for event in simulation.cluster.events()]
        assert nodes_of(simulation) == 2
    assert len(result.unscheduled) == 5
    assert any("1 max node group size reached" in event for event in events)


def test_empty_nodes_are_removed_after_ten_minutes() -> None:
    with started(nodes=4) as simulation:
        simulation.run_until(500)
        before = nodes_of(simulation)
        simulation.settle()
        lives = controller_of(simulation).nodes()
        assert nodes_of(simulation) == 0
    assert before == 4
    assert all(600 < (life.removed or 0) < 700 for life in lives)
    assert {life.removed_for for life in lives} == {"empty"}


def test_node_with_a_startup_taint_waits_as_an_unready_one() -> None:
    options = ClusterAutoscalerOptions(
        startup_taints=("boot",),
        scale_down_unneeded_time=30,
        scale_down_unready_time=300,
    )
    node = make_node(
        name="old-0",
        labels=MEMBER,
        capacity={"cpu": "2", "memory": "8Gi"},
        taints=[Taint(key="boot", effect="NoSchedule")],
    )
    setup = ClusterAutoscalerSetup(groups=(small(),), options=options)
    with Simulation([node], autoscaler=setup) as simulation:
        simulation.settle()
        [life] = controller_of(simulation).nodes()
    assert life.removed is not None
    assert 300 < life.removed < 400


@pytest.mark.parametrize(
    ("is_enforced", "reasons"),
    [
        (False, {"MaxNodesTotalReached", "NotTriggerScaleUp"}),
        (True, {"MaxNodesTotalReached"}),
    ],
    ids=["each pod gets an event", "smallest sizes are enforced"],
)
def test_full_cluster_is_reported(is_enforced: bool, reasons: set[str]) -> None:
    options = ClusterAutoscalerOptions(
        max_nodes_total=1, enforce_node_group_min_size=is_enforced
    )
    with started(pods=3, options=options) as simulation:
        simulation.run_until(30)
        events = controller_of(simulation).events
    assert {event.reason for event in events} == reasons


@pytest.mark.parametrize(
    ("priorities", "reasons"),
    [
        (None, []),
        ({10: ["small"]}, []),
        (
            {10: ["large"]},
            ["PriorityConfigMapNotMatchedGroup", "PriorityConfigMapNoGroupMatched"],
        ),
    ],
    ids=["no priorities", "a priority", "a priority of other groups"],
)
def test_group_without_a_priority_is_reported(
    priorities: dict[int, list[str]] | None, reasons: list[str]
) -> None:
    setup = ClusterAutoscalerSetup(
        groups=(small(),),
        options=ClusterAutoscalerOptions(expander=("priority",)),
        priorities=priorities,
    )
    pod = make_pod(name="web", requests={"cpu": "900m"})
    with Simulation([pod], autoscaler=setup) as simulation:
        simulation.run_until(30)
        events = controller_of(simulation).events
    assert "TriggeredScaleUp" in {event.reason for event in events}
    warnings = [event.reason for event in events if event.type == "Warning"]
    assert warnings == reasons


def test_group_keeps_its_smallest_size() -> None:
    with started(small(least=2), nodes=4) as simulation:
        simulation.settle()
        assert nodes_of(simulation) == 2


def test_pods_are_moved_before_their_node_is_removed() -> None:
    web = make_deployment(
        name="web", replicas=4, pod=make_pod(requests={"cpu": "900m"})
    )
    with started(nodes=2, workload=web) as simulation:
        simulation.settle()
        stored = simulation.cluster.get(Deployment, web.key)
        smaller = replace(stored, spec=replace(stored.spec, replicas=1))
        simulation.cluster.update(smaller)
        simulation.settle()
        [pod] = simulation.cluster.list(Pod).items
        assert nodes_of(simulation) == 1
        assert pod.node_name


@pytest.mark.long
def test_group_that_scales_at_once_grows_to_its_maximum() -> None:
    with started(atomic(), nodes=0, pods=1) as simulation:
        simulation.run_until(120)
        assert nodes_of(simulation) == 4


@pytest.mark.long
def test_group_that_scales_at_once_goes_as_a_whole() -> None:
    with started(atomic(), nodes=4) as simulation:
        simulation.settle()
        lives = controller_of(simulation).nodes()
        assert nodes_of(simulation) == 0
    assert len({life.removed for life in lives}) == 1


@pytest.mark.long
def test_one_used_node_keeps_a_group_that_scales_at_once() -> None:
    with started(atomic(), nodes=4, pods=2) as simulation:
        simulation.run_until(3600)
        assert nodes_of(simulation) == 4


@pytest.mark.long
def test_node_that_is_deleted_by_others_does_not_keep_its_group() -> None:
    with started(atomic(), nodes=4) as simulation:
        at = 600
        while not simulation.cluster.get(Node, "old-1").spec.unschedulable:
            at += 1
            simulation.run_until(at)
        simulation.cluster.delete(Node, "old-1")
        simulation.settle()
        assert nodes_of(simulation) == 0


@pytest.mark.long
def test_cost_is_the_time_of_the_nodes_at_their_price() -> None:
    with started(pods=4) as simulation:
        simulation.settle()
        lives = controller_of(simulation).nodes()
        end = simulation.now
    new = [life for life in lives if life.ordered is not None]
    assert len(new) == 1
    assert new[0].ordered is not None
    assert new[0].cost == pytest.approx(0.5 * (end - new[0].ordered) / 3600)


@pytest.mark.long
def test_same_seed_has_the_same_nodes() -> None:
    def lives() -> list[object]:
        with started(pods=12) as simulation:
            simulation.settle()
            return [*controller_of(simulation).nodes()]

    assert lives() == lives()


def test_group_without_resources_needs_a_node_in_the_input() -> None:
    lonely = GroupSettings(name="gpu", max=3)
    with pytest.raises(AutoscalerError, match="the input has no node of the group"):
        started(lonely)


def test_group_without_resources_is_like_its_first_node() -> None:
    like = GroupSettings(name="any", max=3, nodes=MEMBER)
    with started(like, pods=4) as simulation:
        simulation.settle()
        new = simulation.cluster.get(Node, "any-0")
        assert new.status.allocatable["cpu"] == Quantity("2")
        assert new.labels["pool"] == "small"


@pytest.mark.long
def test_a_group_that_grows_in_vain_again_and_again_ends() -> None:
    capacity = {"cpu": "4", "memory": "16Gi"}
    nodes = [
        make_node(name=name, labels={"pool": "a", "zone": zone}, capacity=capacity)
        for name, zone in (("n-0", "one"), ("n-1", "two"))
    ]
    busy = make_pod(name="busy", node="n-1", requests={"cpu": "3"})
    pod = make_pod(requests={"cpu": "2"}, node_selector={"zone": "two"})
    # A new node copies n-0. The autoscaler tries the pod on a copy of n-1, on which it
    # fits, so it orders a node, removes it as empty, and orders one again.
    groups = [GroupSettings(name="a", max=3, nodes={"pool": "a"})]
    setup = ClusterAutoscalerSetup(groups=groups)
    with Simulation([*nodes, busy, pod], autoscaler=setup) as simulation:
        simulation.settle()
        result = simulation.result()
    assert [each.pod for each in result.unscheduled] == [pod.key]


def test_others_may_delete_a_node_that_is_being_removed() -> None:
    options = ClusterAutoscalerOptions(
        scale_down_unneeded_time=10, node_delete_delay_after_taint=60
    )
    with started(nodes=2, options=options) as simulation:
        simulation.run_until(40)
        assert not controller_of(simulation).autoscaler.is_idle
        simulation.cluster.delete(Node, "old-0")
        simulation.settle()
        lives = {life.node: life for life in controller_of(simulation).nodes()}
    assert lives["old-0"].removed_for == "it was deleted by others"
    assert lives["old-1"].removed_for == "empty"
