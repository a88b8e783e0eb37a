"""Results that depend on nodes only are shared by pods that differ in other fields."""

from collections.abc import Hashable

import pytest

from quaymaster import Handle, NodeInfo, Pod, PodUse, Status, hookimpl
from tests.kit.internals.cycle import FitError
from tests.memo.world import Full, Recording, World, kind

NODES = ["n0", "n1", "n2"]


class ByZone(Recording):
    """Its results depend on nodes only; its signature is a pod's label ``zone``."""

    pod_use = PodUse.NONE

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.handle = handle

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod.labels.get("zone", "")


class Zoned(ByZone):
    """Rejects nodes outside the zone of a pod."""

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        self.calls.append(node.name)
        zone = pod.labels.get("zone", "")
        return (
            Status.unresolvable("far") if node.labels.get("zone", "") != zone else None
        )


class Near(ByZone):
    """Scores nodes by their label ``near``."""

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        self.calls.append(node.name)
        return int(node.labels.get("near", "0"))


def zoned(name: str, zone: str) -> Pod:
    """Return a pod of a kind in a zone."""
    pod = kind(name)
    pod.labels["zone"] = zone  # the pod has not been seen yet
    return pod


@pytest.mark.parametrize("plugin", [Zoned, Near])
def test_pods_with_equal_fragments_of_a_plugin_share_what_it_says(
    plugin: type[ByZone],
) -> None:
    world = World(plugin, Full, nodes=3)
    world.bind("a", "n1")
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.calls(plugin.__name__) == NODES
    assert world.fits(kind("b")) == NODES
    assert world.calls(plugin.__name__) == []
    assert world.fits(kind("a")) == ["n0", "n2"]


def test_pods_with_other_fragments_share_nothing() -> None:
    world = World(Zoned, nodes=3)
    world.set_node("n1", labels={"zone": "east"})
    assert world.fits(zoned("a", "east")) == ["n1"]
    assert world.fits(zoned("b", "")) == ["n0", "n2"]
    assert world.calls("Zoned") == sorted(NODES * 2)


def test_scores_are_shared_only_among_pods_that_may_go_to_the_same_nodes() -> None:
    """Score plugins are called for feasible nodes only."""

    class Rating(Near):
        @hookimpl
        def sign_pod(self, pod: Pod) -> Hashable:
            return ()

    world = World(Zoned, Rating, nodes=3)
    for name, near in (("n0", "1"), ("n1", "5"), ("n2", "2")):
        world.set_node(name, labels={"zone": "", "near": near})
    world.set_node("n1", labels={"zone": "east", "near": "5"})
    world.set_node("n3", labels={"zone": "east", "near": "3"})
    assert world.fits(zoned("a", "")) == ["n2"]
    assert world.calls("Rating") == ["n0", "n2"]
    assert world.fits(zoned("a", "east")) == ["n1"]
    assert world.calls("Rating") == ["n1", "n3"]
    assert world.fits(zoned("b", "east")) == ["n1"]
    assert world.calls("Rating") == []


@pytest.mark.parametrize("plugin", [Zoned, Near])
def test_a_changed_node_is_judged_once_for_all_pods_that_share_results(
    plugin: type[ByZone],
) -> None:
    world = World(plugin, Full, nodes=3)
    world.fits(kind("a"))
    world.fits(kind("b"))
    world.calls(plugin.__name__)
    world.set_node("n1", labels={"zone": "east", "near": "7"})
    expected = ["n1"] if plugin is Near else ["n0", "n2"]
    assert world.fits(kind("a")) == expected
    assert world.calls(plugin.__name__) != []
    assert world.fits(kind("b")) == expected
    assert world.calls(plugin.__name__) == []


def test_the_diagnosis_of_an_earlier_pod_stays_when_shared_verdicts_change() -> None:
    world = World(Zoned, Full, nodes=1)
    world.set_node("n0", labels={"zone": "east"})
    earlier = world.attempt(kind("a"))
    assert isinstance(earlier, FitError)
    assert earlier.diagnosis is not None
    world.set_node("n0", labels={})
    assert world.fits(kind("b")) == ["n0"]
    assert earlier.diagnosis.message() == "0/1 nodes are available: 1 far."


def test_nothing_is_shared_any_more_once_data_from_outside_have_changed() -> None:
    world = World(Zoned, nodes=2)
    world.fits(kind("a"))
    assert world.calls("Zoned") == ["n0", "n1"]
    plugin = world.plugin("Zoned")
    assert isinstance(plugin, Zoned)
    plugin.handle.changed()
    world.fits(kind("b"))
    assert world.calls("Zoned") == ["n0", "n1"]
