"""A pod that failed by a draw among equal zones gets another draw."""

import attrs
import pytest

from tests.kit.internals.karpenter import (
    ClusterState,
    InstanceType,
    pods_to_schedule,
    solve,
)
from tests.kit.karpenter import (
    OPTIONS,
    TYPES,
    ZONE,
    make_pod,
    make_pool,
    spread_of,
)


def offered_only_in(zone: str, instance_type: InstanceType) -> InstanceType:
    offerings = [each for each in instance_type.offerings if each.zone == zone]
    return attrs.evolve(instance_type, offerings=offerings)


@pytest.mark.parametrize("others", [1, 2, 3])
def test_the_next_attempt_takes_the_next_zone(others: int) -> None:
    spread = [spread_of(ZONE, "web")]
    large = make_pod("p", "6", labels={"app": "web"}, topologySpreadConstraints=spread)
    small = [make_pod(f"q{number}", "1") for number in range(others)]
    types = [*TYPES[:2], offered_only_in("zone-b", TYPES[2])]
    state = ClusterState.from_objects([make_pool(), large, *small], types, now=0.0)
    result = solve(state, pods_to_schedule(state, OPTIONS).all_pods, OPTIONS)
    assert not result.errors
    [claim] = [c for c in result.new_claims if large in c.pods]
    assert claim.requirements.get(ZONE).values == {"zone-b"}


def test_the_next_solve_for_a_lone_pod_takes_the_next_zone() -> None:
    spread = [spread_of(ZONE, "web")]
    large = make_pod("p", "6", labels={"app": "web"}, topologySpreadConstraints=spread)
    types = [*TYPES[:2], offered_only_in("zone-b", TYPES[2])]
    state = ClusterState.from_objects([make_pool(), large], types, now=0.0)
    first = solve(state, [large], OPTIONS)
    assert first.errors
    assert first.draws == 2
    second = solve(state, [large], OPTIONS, failed_draws=1)
    assert not second.errors
    assert second.draws == 1
