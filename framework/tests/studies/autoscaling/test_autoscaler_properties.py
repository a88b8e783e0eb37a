"""Laws of autoscaled clusters, with random groups and workloads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Node, Pod
from quaymaster.autoscaling import (
    ClusterAutoscalerController,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.objects import Deployment, PodDisruptionBudget, Quantity
from quaymaster.simulation import Simulation
from quaymaster.testing import make_deployment, make_pod, make_pod_disruption_budget

pytestmark = pytest.mark.long

SIZES = (1, 2, 4, 8)


@st.composite
def groups(draw: st.DrawFn) -> list[GroupSettings]:
    count = draw(st.integers(1, 3))
    return [
        GroupSettings(
            name=f"g{number}",
            min=(least := draw(st.integers(0, 2))),
            max=least + draw(st.integers(0, 4)),
            price=draw(st.sampled_from((0.1, 0.5, 2.0))),
            resources={
                "cpu": Quantity(draw(st.sampled_from(SIZES))),
                "memory": Quantity("32Gi"),
            },
        )
        for number in range(count)
    ]


@st.composite
def workloads(draw: st.DrawFn) -> list[Deployment]:
    return [
        make_deployment(
            name=f"w{number}",
            replicas=draw(st.integers(1, 8)),
            pod=make_pod(requests={"cpu": f"{draw(st.integers(1, 30))}00m"}),
        )
        for number in range(draw(st.integers(1, 3)))
    ]


def controller_of(simulation: Simulation) -> ClusterAutoscalerController:
    assert isinstance(simulation.autoscaler, ClusterAutoscalerController)
    return simulation.autoscaler


def started(own: list[GroupSettings], *objects: Deployment) -> Simulation:
    options = ClusterAutoscalerOptions(enforce_node_group_min_size=True)
    setup = ClusterAutoscalerSetup(groups=own, options=options)
    return Simulation(objects, autoscaler=setup)


@given(groups(), workloads())
def test_groups_stay_within_their_limits(
    own: list[GroupSettings], objects: list[Deployment]
) -> None:
    with started(own, *objects) as simulation:
        for _ in range(12):
            simulation.run_until(simulation.now + 30)
            sizes = controller_of(simulation).cloud.sizes
            assert all(sizes[group.name] <= group.max for group in own)
        simulation.settle()
        sizes = controller_of(simulation).cloud.sizes
        assert all(group.min <= sizes[group.name] <= group.max for group in own)


@given(groups(), workloads())
def test_pod_that_fits_a_group_with_room_is_not_pending_for_ever(
    own: list[GroupSettings], objects: list[Deployment]
) -> None:
    with started(own, *objects) as simulation:
        simulation.settle()
        sizes = controller_of(simulation).cloud.sizes
        pending = [
            pod for pod in simulation.cluster.list(Pod).items if not pod.node_name
        ]
        for pod in pending:
            cpu = pod.spec.containers[0].resources.requests["cpu"]
            for group in own:
                fits = cpu <= group.resources["cpu"]
                assert not (fits and sizes[group.name] < group.max)


@given(groups(), workloads())
def test_cost_is_price_times_hours(
    own: list[GroupSettings], objects: list[Deployment]
) -> None:
    prices = {group.name: group.price for group in own}
    with started(own, *objects) as simulation:
        simulation.settle()
        for life in controller_of(simulation).nodes():
            end = simulation.now if life.removed is None else life.removed
            hours = (end - (life.ordered or 0.0)) / 3600
            price = prices[life.group]
            assert price is not None
            assert life.cost == pytest.approx(price * hours, abs=1e-6)


@given(workloads(), st.integers(0, 2))
def test_removal_of_nodes_loses_no_pod_and_keeps_budgets(
    objects: list[Deployment], kept: int
) -> None:
    group = GroupSettings(
        name="g",
        max=12,
        resources={"cpu": Quantity(4), "memory": Quantity("32Gi")},
    )
    with started([group], *objects) as simulation:
        simulation.settle()
        for owner in simulation.cluster.list(Deployment).items:
            budget = make_pod_disruption_budget(
                name=owner.name,
                selector=owner.spec.template.metadata.labels,
                min_available=kept,
            )
            simulation.cluster.create(budget)
        while not controller_of(simulation).is_settled:
            simulation.run_until(simulation.now + 30)
            for budget in simulation.cluster.list(PodDisruptionBudget).items:
                assert budget.status.disruptions_allowed >= 0
        replicas = sum(owner.spec.replicas or 0 for owner in objects)
        pods = simulation.cluster.list(Pod).items
        nodes = {node.name for node in simulation.cluster.list(Node).items}
        assert len(pods) == replicas
        assert all(pod.node_name in nodes for pod in pods if pod.node_name)
