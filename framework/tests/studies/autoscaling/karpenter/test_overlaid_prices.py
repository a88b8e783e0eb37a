"""NodeOverlays change the prices of nodes that run, too, and not only of new ones."""

import attrs
import pytest

from quaymaster.objects import from_wire
from tests.kit.internals.karpenter import ClusterState, NodeOverlay
from tests.kit.internals.karpenter_disruption import CandidateFinder
from tests.kit.karpenter import CAPACITY_TYPE, OPTIONS, TYPES, ZONE, make_pool

LABELS = {
    "node.kubernetes.io/instance-type": "m-4",
    CAPACITY_TYPE: "on-demand",
    ZONE: "zone-a",
}


def overlay(pool: str, adjustment: str) -> NodeOverlay:
    requirement = {"key": "karpenter.sh/nodepool", "operator": "In", "values": [pool]}
    spec = {"requirements": [requirement], "priceAdjustment": adjustment}
    return from_wire({"metadata": {"name": pool}, "spec": spec}, NodeOverlay)


@pytest.mark.parametrize(
    ("is_on", "prices"), [(True, [0.3, 0.2]), (False, [0.2, 0.2])], ids=["on", "off"]
)
def test_price_of_a_node_is_that_of_the_overlay(
    is_on: bool, prices: list[float]
) -> None:
    options = attrs.evolve(OPTIONS, node_overlay=is_on)
    objects = [make_pool("a"), make_pool("b"), overlay("a", "+50%")]
    finder = CandidateFinder(
        ClusterState.from_objects(objects, TYPES, now=0.0), options
    )
    found = [finder.price_of(pool, LABELS) for pool in "ab"]
    assert found == pytest.approx(prices)


def test_changed_overlay_changes_the_price() -> None:
    options = attrs.evolve(OPTIONS, node_overlay=True)
    pool = make_pool("a")
    first = ClusterState.from_objects([pool, overlay("a", "+50%")], TYPES, now=0.0)
    assert CandidateFinder(first, options).price_of("a", LABELS) == pytest.approx(0.3)
    second = ClusterState.from_objects(
        [pool, overlay("a", "-50%")], TYPES, now=1.0, previous=first
    )
    assert CandidateFinder(second, options).price_of("a", LABELS) == pytest.approx(0.1)
