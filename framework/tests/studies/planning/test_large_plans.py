"""Plans for hundreds of pods, of which only a few can be tried."""

from decimal import Decimal

import pytest

from quaymaster.config import default_config, load_config
from quaymaster.planning import Plan, parse_node_group, plan
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import (
    make_daemon_set,
    make_deployment,
    make_pod,
    make_spread_constraint,
)

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
GROUPS = [
    parse_node_group(group)
    for group in (
        "name=small,cpu=4,memory=16Gi,zones=3,price=0.20",
        "name=large,cpu=16,memory=64Gi,zones=3,price=0.75",
        "name=huge,cpu=32,memory=256Gi,zones=3,price=1.60",
    )
]
BIN_PACKING = load_config("bin-packing", registry=REGISTRY)
PODS = [(240, "500m"), (120, "250m"), (80, "1500m"), (40, "500m"), (80, "2")]
"""How many pods of each size: as they come, they do not fill large nodes."""


@pytest.mark.long
def test_a_plan_is_grown_and_varied_if_not_all_can_be_tried() -> None:
    spread = make_spread_constraint(
        topology_key="topology.kubernetes.io/zone", selector={"spread": "zones"}
    )
    pods = [
        make_pod(
            labels={"app": f"app-{index}"} | ({} if index else {"spread": "zones"}),
            requests={"cpu": cpu, "memory": "1Gi"},
            spread=[] if index else [spread],
        )
        for index, (_, cpu) in enumerate(PODS)
    ]
    objects = [
        make_deployment(name=f"app-{index}", replicas=replicas, pod=pod)
        for index, ((replicas, _), pod) in enumerate(zip(PODS, pods, strict=True))
    ]
    numbers: list[int] = []
    found = plan(
        objects,
        groups=GROUPS,
        config=CONFIG,
        registry=REGISTRY,
        max_trials=40,
        on_progress=lambda tried, most: numbers.append(tried),
    )
    assert numbers == [*range(found.tried)], "a plan was tried twice"
    only_large = Decimal("22.50")
    assert found.cost is not None
    assert found.lower_bound <= found.cost < only_large


def crowded(priority: int) -> Plan:
    """Plan pods at once that are packed onto nodes beside daemons of a priority.

    The daemons come in order, as in clusters.
    """
    daemon = make_pod(requests={"cpu": "100m"}, priority=priority)
    pods = make_pod(requests={"cpu": "1"})
    return plan(
        [
            make_deployment(name="web", replicas=15, pod=pods),
            make_daemon_set(name="agent", pod=daemon),
        ],
        groups=GROUPS[:1],
        config=BIN_PACKING,
        registry=REGISTRY,
        in_rounds=False,
        daemon_sets_first=False,
    )


@pytest.mark.long
def test_preempted_daemons_are_reported_after_few_plans() -> None:
    found = crowded(priority=0)
    assert not found.is_found
    assert "all of DaemonSets; a higher priority keeps room" in found.obstacle
    assert found.tried < 50
    assert (len(crowded(priority=9).nodes), crowded(priority=9).is_final) == (5, True)
