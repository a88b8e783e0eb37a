"""Mistakes of plugins are found when a profile is built; wrappers see every call."""

from collections.abc import Generator
from typing import Any, ClassVar

import pytest

from quaymaster import (
    CycleState,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    Rows,
    Status,
    hookimpl,
)
from quaymaster.errors import ProfileError
from quaymaster.testing import (
    ContractError,
    PluginHarness,
    SchedulerHarness,
    make_node,
    make_pod,
)
from tests.kit.documents import HEADER


class Plugin:
    """Base of the plugins here."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.args = args
        self.handle = handle


class WithoutState(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return Status.unschedulable("never") if node.name == "bad" else None


class MisspeltHook(Plugin):
    @hookimpl
    def filters(self, node: NodeInfo) -> None: ...


class UnknownArgument(Plugin):
    @hookimpl
    def filter(self, nodes: NodeInfo) -> None: ...


class TwinAlone(Plugin):
    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> None: ...


class Broken(Plugin):
    def __init__(self, args: object, handle: Handle) -> None:
        raise RuntimeError("no licence")

    @hookimpl
    def filter(self, node: NodeInfo) -> None: ...


class DisagreeingTwin(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> None: ...

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> Status:
        return Status.unschedulable("all of them")


def test_hook_gets_only_the_arguments_that_it_names() -> None:
    harness = PluginHarness(WithoutState, nodes=[make_node(name="bad"), make_node()])
    rejected = harness.filter(make_pod())
    assert rejected == {"bad": Status.unschedulable("never")}


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        pytest.param(MisspeltHook, "unknown hook 'filters'", id="misspelt hook"),
        pytest.param(UnknownArgument, "nodes", id="argument that the hook has not"),
        pytest.param(
            TwinAlone, "has 'filter_nodes' without 'filter'", id="twin without scalar"
        ),
        pytest.param(
            Broken, "could not be built: RuntimeError: no licence", id="constructor"
        ),
    ],
)
def test_broken_plugin_stops_the_profile(plugin: type, message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        PluginHarness(plugin)
    assert plugin.__name__ in str(caught.value)


def test_profile_error_names_profile_and_plugin() -> None:
    with pytest.raises(ProfileError) as caught:
        PluginHarness(Broken)
    assert caught.value.profile == "default-scheduler"
    assert "Broken" in caught.value.plugin


def test_twin_that_disagrees_is_found_by_the_harness() -> None:
    with pytest.raises(ContractError, match="filter and filter_nodes differ on node"):
        PluginHarness(DisagreeingTwin, nodes=[make_node()]).filter(make_pod())


class Watcher(Plugin):
    """Records and replaces the answers of other Filter plugins."""

    seen: ClassVar[list[tuple[str, Status | None]]] = []

    @hookimpl(wrapper=True)
    def filter(self, node: NodeInfo) -> Generator[None, Status | None, Status | None]:
        answer = yield
        self.seen.append((node.name, answer))
        return answer


class Rejecting(Plugin):
    """Rejects everything, by a scalar hook and a twin."""

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return Status.unschedulable("one by one")

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts | Status:
        return Status.unschedulable("all at once")


def config_with(*names: str) -> dict[str, Any]:
    enabled = [{"name": name} for name in ("PrioritySort", "DefaultBinder", *names)]
    plugins = {"multiPoint": {"disabled": [{"name": "*"}], "enabled": enabled}}
    return {
        **HEADER,
        "profiles": [{"plugins": plugins}],
    }


def test_wrapper_sees_each_plugins_answer_and_turns_its_twin_off() -> None:
    Watcher.seen.clear()
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        plugins={"Watcher": Watcher, "Rejecting": Rejecting},
        config=config_with("Watcher", "Rejecting"),
    )
    harness.schedule_one()
    assert Watcher.seen == [("a", Status.unschedulable("one by one"))]
    assert "1 one by one" in harness.message("p")


def test_without_wrapper_the_twin_is_called() -> None:
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        plugins={"Rejecting": Rejecting},
        config=config_with("Rejecting"),
    )
    harness.schedule_one()
    assert "1 all at once" in harness.message("p")


def test_wrong_return_type_is_an_error_that_names_plugin_and_hook() -> None:
    class Truthful(Plugin):
        @hookimpl
        def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> bool:
            return True

    harness = SchedulerHarness(
        [make_node(), make_pod(name="p")],
        plugins={"Truthful": Truthful},
        config=config_with("Truthful"),
    )
    harness.schedule_one()
    assert harness.message("p") == (
        "plugin 'Truthful': filter returned bool, expected Status or None"
    )
