"""Empty nodes that no loop looks at are removed, or kept, like all others."""

import random
from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Node, Pod
from quaymaster.autoscaling import (
    ClusterAutoscalerController,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    GroupSettings,
)
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import NodeCondition, Quantity, Time
from quaymaster.simulation import Simulation
from quaymaster.testing import make_daemon_set, make_pod
from tests.kit.internals.autoscaling import (
    RemovalCandidates,
    Unremovable,
    UnremovableNodes,
    UnremovableReason,
)
from tests.kit.nightly import sampled

STEPS: Final = 40
DISABLED: Final = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
REASON: Final = Unremovable(UnremovableReason.NO_PLACE_TO_MOVE_PODS)


class EveryName(frozenset[str]):
    """Contains all names."""

    def __contains__(self, name: object) -> bool:
        return True


def setup_of(chance: random.Random) -> ClusterAutoscalerSetup:
    groups = [
        GroupSettings(
            name=name,
            min=chance.choice((0, 0, 2)),
            max=9,
            resources={"cpu": Quantity("2"), "memory": Quantity("8Gi")},
            zero_or_max=name == "whole" and chance.random() < 0.5,
        )
        for name in ("some", "whole")
    ]
    options = ClusterAutoscalerOptions(
        scale_down_unneeded_time=chance.choice((0, 20, 60)),
        scale_down_unready_time=chance.choice((20, 90)),
        scale_down_delay_after_add=chance.choice((0, 30)),
        scale_down_delay_after_delete=chance.choice((0, 30)),
        unremovable_node_recheck_timeout=chance.choice((20, 300)),
        max_scale_down_parallelism=chance.choice((1, 2, 10)),
        cores_total=chance.choice(((0, 320000), (6, 320000))),
        ok_total_unready_count=chance.choice((1, 3)),
        max_total_unready_percentage=10,
    )
    return ClusterAutoscalerSetup(groups=groups, options=options)


def change(cluster: InMemoryCluster, chance: random.Random, number: int) -> None:
    """Change pods and nodes as users and kubelets do."""
    for each in range(chance.choice((0, 0, 1, 6))):
        requests = {"cpu": chance.choice(("200m", "1200m"))}
        cluster.create(make_pod(name=f"p{number}-{each}", requests=requests))
    for pod in cluster.list(Pod).items:
        if pod.metadata.controller is None and chance.random() < 0.2:
            cluster.delete(Pod, pod.key, grace_period_seconds=0)
    for node in cluster.list(Node).items:
        if chance.random() < 0.04:
            value = chance.choice(("true", "false"))
            metadata = replace(node.metadata, annotations={DISABLED: value})
            cluster.update(replace(node, metadata=metadata))
        elif chance.random() < 0.04:
            now = Time(cluster.clock.now())
            status = chance.choice(("True", "True", "False"))
            ready = NodeCondition(type="Ready", status=status, last_transition_time=now)
            status_of_node = replace(node.status, conditions=(ready,))
            cluster.update(replace(node, status=status_of_node))


def course(seed: int) -> list[object]:
    """Return what each loop of a random cluster finds."""
    chance = random.Random(seed)
    setup, found = setup_of(chance), list[object]()
    pod = make_pod(requests={"cpu": "100m"})
    first = [make_daemon_set(name="agent", pod=pod)] if chance.random() < 0.3 else []
    with Simulation(first, autoscaler=setup, seed=seed) as simulation:
        controller = simulation.autoscaler
        assert isinstance(controller, ClusterAutoscalerController)
        autoscaler = controller.autoscaler
        for number in range(STEPS):
            change(simulation.cluster, chance, number)
            simulation.run_until(simulation.now + chance.choice((1, 7, 35)))
            down = autoscaler.down
            found += [
                [(each.name, each.since, each.end) for each in down.unneeded.values()],
                {name: each.reason for name, each in down.reasons.items()},
                {name: each.reason for name, each in down.unremovable.known.items()},
                autoscaler.next_change(),
            ]
        result = simulation.result()
        parts = [result.placements, result.unscheduled, controller.nodes()]
        return [*found, *parts, [str(event) for event in controller.events]]


def without_rest(update: Callable[..., bool]) -> Callable[..., bool]:
    """Return an update after which all nodes count as changed."""

    def updated(candidates: RemovalCandidates, *arguments: Any) -> bool:
        has_any = update(candidates, *arguments)
        candidates.changed = EveryName()
        return has_any

    return updated


@pytest.mark.long
@pytest.mark.parametrize("seed", sampled(range(60), step=6))
def test_course_is_the_same_if_each_loop_looks_at_all_unneeded_nodes(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_idle = course(seed)
    update = without_rest(RemovalCandidates.update)
    monkeypatch.setattr(RemovalCandidates, "update", update)
    assert course(seed) == with_idle


@pytest.mark.long
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 9), st.integers(0, 4)),
        max_size=30,
    )
)
def test_unremovable_nodes_are_looked_at_again_at_their_last_time(
    steps: Sequence[tuple[str, int, int]],
) -> None:
    nodes, now = UnremovableNodes(), 0.0
    until: dict[str, float] = {}
    for name, wait, passes in steps:
        until[name] = now + wait
        nodes.add(name, REASON, until[name])
        now += passes
        expired = {each for each, end in until.items() if end <= now}
        assert {*nodes.pop_expired(now)} == expired
        until = {each: end for each, end in until.items() if end > now}
        assert nodes.next_look() == min(until.values(), default=None)
        assert {each for each in "abc" if nodes.is_recent(each)} == until.keys()
