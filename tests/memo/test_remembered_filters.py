"""A filter that signs pods is asked once per kind of pod and node, until that moves."""

from collections.abc import Callable, Hashable

import pytest
from msgspec.structs import replace

from quaymaster import (
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Scope,
    Status,
    hookimpl,
)
from quaymaster.scheduler import SchedulerOptions
from tests.kit.internals.cycle import FitError
from tests.kit.internals.memo import FEW_ROWS
from tests.memo.world import ALL, Asked, Full, World, kind

FEW = FEW_ROWS


class Tainted(Asked):
    """Rejects nodes with a label, whatever runs there."""

    pod_use = PodUse.NONE

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        self.asked.append(node.name)
        return Status.unresolvable("tainted") if "taint" in node.labels else None


class Twin(Asked):
    """Rejects nodes with a pod; all at once, if it can."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        self.asked.append(node.name)
        return Status.unschedulable("taken") if node.pods else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        self.note(nodes, rows)
        taken = nodes.pod_count[rows] > 0
        return NodeVerdicts.reject_where(taken, Status.unschedulable("taken"))


def names(count: int, start: int = 0) -> list[str]:
    return sorted(f"n{number}" for number in range(start, count))


def test_a_node_is_asked_about_once_for_pods_of_a_kind() -> None:
    world = World(Full, nodes=3)
    assert world.fits(kind("a")) == names(3)
    assert world.asked("Full") == names(3)
    assert world.fits(kind("a", name="another")) == names(3)
    assert world.asked("Full") == []


def test_only_nodes_that_moved_are_asked_about_again() -> None:
    world = World(Full, nodes=3)
    world.fits(kind("a"))
    world.asked("Full")
    world.bind("a", "n1")
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.asked("Full") == ["n1"]
    world.unbind("n1")
    assert world.fits(kind("a")) == names(3)
    assert world.asked("Full") == ["n1"]


def test_pods_of_another_signature_are_told_apart() -> None:
    world = World(Full, nodes=2)
    world.bind("a", "n0")
    assert world.fits(kind("a")) == ["n1"]
    assert world.fits(kind("b")) == names(2)
    assert world.asked("Full") == sorted(names(2) * 2)
    assert world.fits(kind("a")) == ["n1"]
    assert world.fits(kind("b")) == names(2)
    assert world.asked("Full") == []


def test_signatures_of_all_plugins_together_tell_pods_apart() -> None:
    class ByName(Tainted):
        @hookimpl
        def sign_pod(self, pod: Pod) -> str:
            return pod.labels.get("more", "")

    world = World(Full, ByName, nodes=2)
    world.fits(kind("a"))
    one = kind("a")
    one.labels["more"] = "yes"  # nobody has seen it yet
    world.asked("Full")
    world.fits(one)
    assert world.asked("Full") == names(2)


def test_pods_that_share_a_spec_but_not_their_labels_are_told_apart() -> None:
    world = World(Full, nodes=2)
    world.bind("a", "n0")
    pod = kind("a")
    other = replace(kind("b"), spec=pod.spec)
    assert world.fits(pod) == ["n1"]
    assert world.fits(other) == names(2)


def _none(pod: Pod) -> Hashable:
    return None


def _broken(pod: Pod) -> Hashable:
    raise RuntimeError("no idea")


def _unhashable(pod: Pod) -> Hashable:
    return [pod.name]  # type: ignore[return-value]  # what a plugin may do


@pytest.mark.parametrize("sign", [_none, _broken, _unhashable])
def test_a_plugin_that_does_not_sign_a_pod_is_asked_every_time(
    sign: Callable[[Pod], Hashable],
) -> None:
    class Silent(Full):
        @hookimpl
        def sign_pod(self, pod: Pod) -> Hashable:
            return sign(pod)

    world = World(Silent, Tainted, nodes=2)
    for _ in range(3):
        assert world.fits(kind("a")) == names(2)
        assert world.asked("Silent") == names(2)
    assert world.asked("Tainted") == names(2)  # which does


def test_a_plugin_may_sign_some_pods_only() -> None:
    class Some(Full):
        @hookimpl
        def sign_pod(self, pod: Pod) -> str | None:
            return "a" if pod.labels["kind"] == "a" else None

    world = World(Some, nodes=2)
    for _ in range(2):
        world.fits(kind("a"))
        world.fits(kind("b"))
    assert world.asked("Some") == sorted(names(2) * 3)


def test_errors_are_never_remembered() -> None:
    class Failing(Full):
        is_well = False

        @hookimpl
        def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
            self.asked.append(node.name)
            if node.name == "n1" and not type(self).is_well:
                raise RuntimeError("out of order")
            return None

    world = World(Failing, nodes=2)
    for _ in range(2):
        unfit = world.attempt(kind("a"))
        assert isinstance(unfit, FitError)
        assert "out of order" in unfit.status.message
        assert "n1" in world.asked("Failing")
    Failing.is_well = True
    assert world.fits(kind("a")) == names(2)
    world.asked("Failing")
    world.fits(kind("a"))
    assert world.asked("Failing") == []
    Failing.is_well = False
    world.bind("a", "n1")
    assert isinstance(world.attempt(kind("a")), FitError)
    Failing.is_well = True
    assert world.fits(kind("a")) == names(2)


# Where nothing can be remembered


class Wrapping(Asked):
    """Sees every call of a filter."""

    @hookimpl(wrapper=True)
    def filter(self, node: NodeInfo):  # type: ignore[no-untyped-def]  # noqa: ANN201  # pluggy's
        self.asked.append(node.name)
        return (yield)


class Adding(Full):
    @hookimpl
    def pre_filter(self) -> None:
        return None

    @hookimpl
    def add_pod(self) -> None:
        return None


class Removing(Full):
    @hookimpl
    def pre_filter(self) -> None:
        return None

    @hookimpl
    def remove_pod(self) -> None:
        return None


class Wide(Full):
    scope = Scope.CLUSTER


class AllNodes(Full):
    scope = Scope.NODES


@pytest.mark.parametrize("plugin", [Adding, Removing, Wide, AllNodes])
def test_what_looks_beyond_a_node_is_asked_every_time(plugin: type[Asked]) -> None:
    world = World(plugin, nodes=2)
    for _ in range(3):
        assert world.fits(kind("a")) == names(2)
        assert world.asked(plugin.__name__) == names(2)


def test_a_wrapper_sees_every_call() -> None:
    world = World(Full, Wrapping, nodes=2)
    for _ in range(2):
        world.fits(kind("a"))
        assert world.asked("Full") == names(2)
        assert world.asked("Wrapping") == names(2)


def test_whoever_looks_for_mutations_sees_every_call() -> None:
    world = World(Full, nodes=2, options=SchedulerOptions(check_mutations=True))
    for _ in range(2):
        world.fits(kind("a"))
        assert world.asked("Full") == names(2)


# Nodes


def test_nodes_that_come_are_asked_about_and_those_that_go_are_forgotten() -> None:
    world = World(Full, nodes=2)
    world.bind("a", "n0")
    assert world.fits(kind("a")) == ["n1"]
    world.asked("Full")
    world.set_node("n2")
    assert world.fits(kind("a")) == ["n1", "n2"]
    assert world.asked("Full") == ["n2"]
    world.remove_node("n1")
    assert world.fits(kind("a")) == ["n2"]
    assert world.asked("Full") == []


@pytest.mark.parametrize("plugin", [Full, Twin])
def test_a_row_that_is_used_again_is_another_node(plugin: type[Asked]) -> None:
    world = World(plugin, nodes=3)
    world.bind("a", "n1")
    assert world.fits(kind("a")) == ["n0", "n2"]
    world.remove_node("n1")
    world.set_node("new")
    assert world.snapshot.get("new").row == 1  # type: ignore[union-attr]  # it is there
    assert world.fits(kind("a")) == ["n0", "n2", "new"]
    world.bind("a", "new")
    world.bind("a", "n0")
    assert world.fits(kind("a")) == ["n2"]


@pytest.mark.parametrize("plugin", [Full, Twin, Tainted])
def test_a_table_that_grows_is_asked_about_anew(plugin: type[Asked]) -> None:
    world = World(plugin, nodes=60)
    assert world.fits(kind("a")) == names(60)
    room = len(world.snapshot.nodes.pod_count)
    for number in range(60, room + 10):
        world.set_node(f"n{number}")
    assert len(world.snapshot.nodes.pod_count) > room
    assert world.fits(kind("a")) == names(room + 10)
    world.set_node("n0", labels={"taint": "yes"})
    world.bind("a", "n0")
    assert world.fits(kind("a")) == names(room + 10, 1)


@pytest.mark.parametrize(
    "moved",
    [
        pytest.param(FEW, id="a few"),
        pytest.param(FEW + 1, id="more than a few"),
        pytest.param(40, id="more than a third"),
        pytest.param(100, id="all"),
    ],
)
@pytest.mark.parametrize("plugin", [Full, Twin])
def test_however_many_nodes_moved_all_of_them_are_asked_about(
    plugin: type[Asked], moved: int
) -> None:
    world = World(plugin, Tainted, nodes=101)
    world.fits(kind("a"))
    world.asked(plugin.__name__)
    world.asked("Tainted")
    for number in range(moved):
        world.bind("a", f"n{number}")
    assert world.fits(kind("a")) == names(101, moved)
    asked = world.asked(plugin.__name__)
    if asked != [ALL]:
        assert asked in (names(moved), names(101))
    assert world.asked("Tainted") == []
    for number in range(moved - 1):
        world.unbind(f"n{number}")
    expected = sorted([*names(moved - 1), *names(101, moved)])
    assert world.fits(kind("a")) == expected


def test_if_too_much_has_happened_everything_is_asked_about() -> None:
    world = World(Full, Tainted, nodes=3)
    world.fits(kind("a"))
    world.asked("Full")
    nodes = world.snapshot.nodes
    info = nodes.get("n2")
    assert info is not None
    before = nodes.changes.revision
    for _ in range(1 << 17):
        nodes.note_pod_change(info)
    assert nodes.changes.since(before) is None
    world.bind("a", "n0")
    assert world.fits(kind("a")) == ["n1", "n2"]
    assert world.asked("Full") == names(3)


def test_plugins_that_do_not_look_at_pods_hear_only_of_nodes() -> None:
    world = World(Tainted, nodes=3)
    world.fits(kind("a"))
    world.asked("Tainted")
    world.bind("a", "n0")
    world.fits(kind("a"))
    assert world.asked("Tainted") == []
    world.set_node("n1", labels={"taint": "yes"})
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.asked("Tainted") == ["n1"]
    world.set_node("n1")
    assert world.fits(kind("a")) == names(3)


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"labels": {"new": "label"}}, id="labels"),
        pytest.param({"taints": ["key=value:NoSchedule"]}, id="taints"),
        pytest.param({"allocatable": {"cpu": "9"}}, id="allocatable"),
        pytest.param({"unschedulable": True}, id="cordon"),
        pytest.param({"images": {"nginx": 5}}, id="images"),
        pytest.param({"annotations": {"a": "b"}}, id="annotations"),
    ],
)
def test_whatever_changes_about_a_node_it_is_asked_about_again(
    fields: dict[str, object],
) -> None:
    world = World(Full, Tainted, nodes=3)
    world.fits(kind("a"))
    world.asked("Full")
    world.asked("Tainted")
    world.set_node("n1", **fields)
    world.fits(kind("a"))
    assert world.asked("Full") == ["n1"]
    assert world.asked("Tainted") == ["n1"]
