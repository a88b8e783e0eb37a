"""The statuses of rejected nodes, cached or not."""

import pytest

from quaymaster import NodeInfo, Pod, PodUse, Status, hookimpl
from tests.kit.internals.cycle import Decision, FitError
from tests.kit.internals.memo import FEW_ROWS
from tests.memo.world import Full, Recording, World, kind

FEW = FEW_ROWS


def _rejecting(name: str, **parts: object) -> type[Recording]:
    """Make a filter that rejects the nodes with its name as a label."""

    @hookimpl
    def reject(self: Recording, node: NodeInfo) -> Status | None:
        rejected = Status.unschedulable(f"{name} says no")
        return rejected if name in node.labels else None

    return type(name, (Recording,), {"filter": reject, **parts})


@hookimpl
def _sign_nothing(self: Recording, pod: Pod) -> None:
    return None


LIVE = {"sign_pod": _sign_nothing}
STILL = {"pod_use": PodUse.NONE}


@pytest.mark.parametrize(
    "plugins",
    [
        pytest.param(({}, {}, {}), id="all remembered"),
        pytest.param(({}, LIVE, {}), id="a live one between"),
        pytest.param((LIVE, {}, LIVE), id="a remembered one between"),
        pytest.param((STILL, {}, STILL), id="of both kinds"),
        pytest.param(({}, STILL, LIVE), id="of all kinds"),
    ],
)
def test_a_node_is_rejected_by_the_first_plugin_in_profile_order(
    plugins: tuple[dict[str, object], ...],
) -> None:
    made = [
        _rejecting(name, **parts)
        for name, parts in zip(("First", "Second", "Third"), plugins, strict=True)
    ]
    world = World(*made, nodes=0)
    world.set_node("x", labels={"Second": "", "Third": ""})
    world.set_node("y", labels={"First": "", "Second": "", "Third": ""})
    world.set_node("z", labels={"Third": ""})
    for _ in range(3):
        assert world.message(kind("a")) == (
            "0/3 nodes are available: "
            "1 First says no, 1 Second says no, 1 Third says no."
        )
    world.set_node("x", labels={"Third": ""})
    assert world.message(kind("a")) == (
        "0/3 nodes are available: 1 First says no, 2 Third says no."
    )
    world.set_node("y", labels={})
    assert world.fits(kind("a")) == ["y"]


@pytest.mark.parametrize("moved", [1, FEW + 1, 40])
def test_a_diagnosis_does_not_change_when_the_nodes_do(moved: int) -> None:
    world = World(Full, nodes=80)
    for number in range(80):
        world.bind("a", f"n{number}")
    unfit = world.attempt(kind("a"))
    assert isinstance(unfit, FitError)
    diagnosis = unfit.diagnosis
    assert diagnosis is not None
    for number in range(moved):
        world.unbind(f"n{number}")
    assert world.fits(kind("a")) == sorted(f"n{number}" for number in range(moved))
    assert diagnosis.message() == "0/80 nodes are available: 80 has a."
    assert diagnosis["n0"].reasons == ("has a",)
    assert diagnosis.processed() == 80


@pytest.mark.parametrize("moved", [1, FEW + 1])
def test_a_diagnosis_stays_when_no_node_is_rejected_and_then_others_are(
    moved: int,
) -> None:
    world = World(Full, nodes=4 * moved + 8)
    first = [f"n{number}" for number in range(moved)]
    then = [f"n{number}" for number in range(moved, 2 * moved)]
    for name in first:
        world.bind("a", name)
    decision = world.attempt(kind("a"))
    assert isinstance(decision, Decision)
    for name in first:
        world.unbind(name)
    assert len(world.fits(kind("a"))) == 4 * moved + 8
    for name in then:
        world.bind("a", name)
    assert world.fits(kind("a"))
    for name in first:
        assert decision.diagnosis[name].reasons == ("has a",)
    assert decision.diagnosis.processed() == moved


def test_nominated_pods_are_imagined_before_anything_is_cached() -> None:
    class Crowded(Full):
        @hookimpl
        def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
            return Status.unschedulable("crowded") if node.pods else None

    world = World(Crowded, nodes=3)
    world.fits(kind("a"))
    world.nominate("b", "n1")
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.fits(kind("a")) == ["n0", "n2"]
