"""Checks that few clusters exercise also try the clusters of ``plugins check``."""

import pytest
from hypothesis import settings

from quaymaster import Handle, NodeInfo, Status, hookimpl
from quaymaster.testing import SmallCluster, check_plugin, clusters
from tests.kit.internals.testing import CHECKS


class Accepts:
    """Accepts all nodes."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return None


def drawn_for(check: str) -> int:
    """Return how many pairs of clusters a check gets."""
    drawn: list[SmallCluster] = []

    def note(cluster: SmallCluster) -> SmallCluster:
        drawn.append(cluster)
        return cluster

    others = {name: "not asked here" for name in CHECKS if name != check}
    check_plugin(Accepts, clusters=clusters().map(note), opt_outs=others)
    return len(drawn) // 2


@pytest.mark.usefixtures("random_examples")
def test_fixed_clusters_are_tried_after_random_ones() -> None:
    few, many = drawn_for("purity"), drawn_for("events")
    assert few == settings().max_examples // 4
    assert many == 2 * few


def test_clusters_that_are_fixed_already_are_tried_once() -> None:
    assert drawn_for("events") == settings().max_examples // 4
