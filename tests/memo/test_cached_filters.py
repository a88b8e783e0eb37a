"""A filter that signs pods is called once per kind of pod and version of a node."""

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
from tests.memo.world import ALL, Full, Recording, World, kind

FEW = FEW_ROWS


class Tainted(Recording):
    """Rejects nodes with a label; ignores the pods there."""

    pod_use = PodUse.NONE

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        self.calls.append(node.name)
        return Status.unresolvable("tainted") if "taint" in node.labels else None


class Twin(Recording):
    """Rejects nodes with a pod; its batch twin judges all nodes at once."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        self.calls.append(node.name)
        return Status.unschedulable("taken") if node.pods else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        self.note(nodes, rows)
        taken = nodes.pod_count[rows] > 0
        return NodeVerdicts.reject_where(taken, Status.unschedulable("taken"))


def names(count: int, start: int = 0) -> list[str]:
    return sorted(f"n{number}" for number in range(start, count))


def test_a_filter_is_called_once_per_node_for_pods_of_a_kind() -> None:
    world = World(Full, nodes=3)
    assert world.fits(kind("a")) == names(3)
    assert world.calls("Full") == names(3)
    assert world.fits(kind("a", name="another")) == names(3)
    assert world.calls("Full") == []


def test_a_filter_is_called_again_only_for_nodes_that_changed() -> None:
    world = World(Full, nodes=3)
    world.fits(kind("a"))
    world.calls("Full")
    world.bind("a", "n1")
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.calls("Full") == ["n1"]
    world.unbind("n1")
    assert world.fits(kind("a")) == names(3)
    assert world.calls("Full") == ["n1"]


def test_pods_with_another_signature_have_their_own_results() -> None:
    world = World(Full, nodes=2)
    world.bind("a", "n0")
    assert world.fits(kind("a")) == ["n1"]
    assert world.fits(kind("b")) == names(2)
    assert world.calls("Full") == sorted(names(2) * 2)
    assert world.fits(kind("a")) == ["n1"]
    assert world.fits(kind("b")) == names(2)
    assert world.calls("Full") == []


def test_signatures_of_all_plugins_together_distinguish_pods() -> None:
    class ByName(Tainted):
        @hookimpl
        def sign_pod(self, pod: Pod) -> str:
            return pod.labels.get("more", "")

    world = World(Full, ByName, nodes=2)
    world.fits(kind("a"))
    pod = kind("a")
    pod.labels["more"] = "yes"  # the pod has not been seen yet
    world.calls("Full")
    world.fits(pod)
    assert world.calls("Full") == names(2)


def test_pods_with_one_spec_and_different_labels_have_their_own_results() -> None:
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
def test_a_plugin_that_does_not_sign_a_pod_is_called_every_time(
    sign: Callable[[Pod], Hashable],
) -> None:
    class Silent(Full):
        @hookimpl
        def sign_pod(self, pod: Pod) -> Hashable:
            return sign(pod)

    world = World(Silent, Tainted, nodes=2)
    for _ in range(3):
        assert world.fits(kind("a")) == names(2)
        assert world.calls("Silent") == names(2)
    assert world.calls("Tainted") == names(2)  # this plugin signs pods


def test_a_plugin_may_sign_some_pods_only() -> None:
    class Some(Full):
        @hookimpl
        def sign_pod(self, pod: Pod) -> str | None:
            return "a" if pod.labels["kind"] == "a" else None

    world = World(Some, nodes=2)
    for _ in range(2):
        world.fits(kind("a"))
        world.fits(kind("b"))
    assert world.calls("Some") == sorted(names(2) * 3)


def test_errors_are_never_cached() -> None:
    class Failing(Full):
        is_well = False

        @hookimpl
        def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
            self.calls.append(node.name)
            if node.name == "n1" and not type(self).is_well:
                raise RuntimeError("out of order")
            return None

    world = World(Failing, nodes=2)
    for _ in range(2):
        unfit = world.attempt(kind("a"))
        assert isinstance(unfit, FitError)
        assert "out of order" in unfit.status.message
        assert "n1" in world.calls("Failing")
    Failing.is_well = True
    assert world.fits(kind("a")) == names(2)
    world.calls("Failing")
    world.fits(kind("a"))
    assert world.calls("Failing") == []
    Failing.is_well = False
    world.bind("a", "n1")
    assert isinstance(world.attempt(kind("a")), FitError)
    Failing.is_well = True
    assert world.fits(kind("a")) == names(2)


# Where nothing can be cached


class Wrapping(Recording):
    """Wraps every call of a filter."""

    @hookimpl(wrapper=True)
    def filter(self, node: NodeInfo):  # type: ignore[no-untyped-def]  # noqa: ANN201  # pluggy's
        self.calls.append(node.name)
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
def test_a_plugin_that_looks_beyond_a_node_is_called_every_time(
    plugin: type[Recording],
) -> None:
    world = World(plugin, nodes=2)
    for _ in range(3):
        assert world.fits(kind("a")) == names(2)
        assert world.calls(plugin.__name__) == names(2)


def test_a_wrapper_sees_every_call() -> None:
    world = World(Full, Wrapping, nodes=2)
    for _ in range(2):
        world.fits(kind("a"))
        assert world.calls("Full") == names(2)
        assert world.calls("Wrapping") == names(2)


def test_the_check_for_mutations_sees_every_call() -> None:
    world = World(Full, nodes=2, options=SchedulerOptions(check_mutations=True))
    for _ in range(2):
        world.fits(kind("a"))
        assert world.calls("Full") == names(2)


# Nodes


def test_new_nodes_are_judged_and_removed_ones_are_dropped() -> None:
    world = World(Full, nodes=2)
    world.bind("a", "n0")
    assert world.fits(kind("a")) == ["n1"]
    world.calls("Full")
    world.set_node("n2")
    assert world.fits(kind("a")) == ["n1", "n2"]
    assert world.calls("Full") == ["n2"]
    world.remove_node("n1")
    assert world.fits(kind("a")) == ["n2"]
    assert world.calls("Full") == []


@pytest.mark.parametrize("plugin", [Full, Twin])
def test_a_row_that_is_used_again_is_another_node(plugin: type[Recording]) -> None:
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
def test_a_table_that_grows_is_judged_again(plugin: type[Recording]) -> None:
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
def test_all_changed_nodes_are_judged_again_whatever_their_number(
    plugin: type[Recording], moved: int
) -> None:
    world = World(plugin, Tainted, nodes=101)
    world.fits(kind("a"))
    world.calls(plugin.__name__)
    world.calls("Tainted")
    for number in range(moved):
        world.bind("a", f"n{number}")
    assert world.fits(kind("a")) == names(101, moved)
    calls = world.calls(plugin.__name__)
    if calls != [ALL]:
        assert calls in (names(moved), names(101))
    assert world.calls("Tainted") == []
    for number in range(moved - 1):
        world.unbind(f"n{number}")
    expected = sorted([*names(moved - 1), *names(101, moved)])
    assert world.fits(kind("a")) == expected


def test_after_too_many_changes_all_nodes_are_judged_again() -> None:
    world = World(Full, Tainted, nodes=3)
    world.fits(kind("a"))
    world.calls("Full")
    nodes = world.snapshot.nodes
    info = nodes.get("n2")
    assert info is not None
    before = nodes.changes.revision
    for _ in range(1 << 17):
        nodes.note_pod_change(info)
    assert nodes.changes.since(before) is None
    world.bind("a", "n0")
    assert world.fits(kind("a")) == ["n1", "n2"]
    assert world.calls("Full") == names(3)


def test_plugins_that_do_not_look_at_pods_are_called_again_for_changed_nodes_only() -> (
    None
):
    world = World(Tainted, nodes=3)
    world.fits(kind("a"))
    world.calls("Tainted")
    world.bind("a", "n0")
    world.fits(kind("a"))
    assert world.calls("Tainted") == []
    world.set_node("n1", labels={"taint": "yes"})
    assert world.fits(kind("a")) == ["n0", "n2"]
    assert world.calls("Tainted") == ["n1"]
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
def test_any_change_of_a_node_makes_it_judged_again(
    fields: dict[str, object],
) -> None:
    world = World(Full, Tainted, nodes=3)
    world.fits(kind("a"))
    world.calls("Full")
    world.calls("Tainted")
    world.set_node("n1", **fields)
    world.fits(kind("a"))
    assert world.calls("Full") == ["n1"]
    assert world.calls("Tainted") == ["n1"]
