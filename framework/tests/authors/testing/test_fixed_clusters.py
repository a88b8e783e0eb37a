"""Checks that few clusters exercise also try the clusters of ``plugins check``."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from quaymaster import Handle, NodeInfo, Status, hookimpl
from quaymaster.testing import SmallCluster, check_plugin, clusters
from tests.kit.internals.testing import CHECKS

RANDOM = settings(settings.get_profile("default"), max_examples=12, database=None)


class Accepts:
    """Accepts all nodes."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return None


@pytest.fixture
def profile(request: pytest.FixtureRequest) -> Iterator[None]:
    """Load a profile that draws other clusters in each run, or the same ones."""
    settings.register_profile("drawn", RANDOM, derandomize=request.param)
    before = settings.get_current_profile_name()
    settings.load_profile("drawn")
    yield
    settings.load_profile(before)


@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize(
    ("check", "profile", "runs"),
    [
        ("events", False, 2),
        ("events", True, 1),
        ("purity", False, 1),
    ],
    indirect=["profile"],
)
def test_fixed_clusters_are_tried_after_random_ones(check: str, runs: int) -> None:
    drawn: list[SmallCluster] = []

    def note(cluster: SmallCluster) -> SmallCluster:
        drawn.append(cluster)
        return cluster

    others = {name: "not asked here" for name in CHECKS if name != check}
    check_plugin(Accepts, clusters=clusters().map(note), opt_outs=others)
    each = 2 if CHECKS[check].needs_other else 1
    assert len(drawn) == RANDOM.max_examples // 4 * each * runs
