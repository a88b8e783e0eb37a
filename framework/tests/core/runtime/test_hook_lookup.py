"""Hooks are found where pluggy finds them, and nothing else is looked at."""

from typing import Any

import attrs
import pytest

from quaymaster import Handle, NodeInfo, Pod, Status, hookimpl
from quaymaster.errors import ProfileError
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.documents import HEADER

NEVER = Status.unschedulable("never")


class Method:
    """Has a hook as most plugins have it."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.args = args

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return NEVER


class Inherited(Method):
    """Has a hook from its base."""


class StaticMethod:
    """Has a hook that is a static method."""

    def __init__(self, args: object, handle: Handle) -> None: ...

    @staticmethod
    @hookimpl
    def filter(node: NodeInfo) -> Status:
        return NEVER


class ClassMethod:
    """Has a hook that is a class method."""

    def __init__(self, args: object, handle: Handle) -> None: ...

    @classmethod
    @hookimpl
    def filter(cls, node: NodeInfo) -> Status:
        return NEVER


@attrs.define
class Slotted:
    """Has no ``__dict__``."""

    args: object
    handle: object

    @hookimpl
    def filter(self, node: NodeInfo) -> Status:
        return NEVER


class Replaced(Method):
    """Replaces its hook by another function."""

    def __init__(self, args: object, handle: Handle) -> None:
        @hookimpl
        def refuse(node: NodeInfo) -> Status:
            return NEVER

        vars(self)["filter"] = refuse

    @hookimpl
    def filter(self, node: NodeInfo) -> None:
        raise AssertionError("it has been replaced")


class Delegating(Replaced):
    """Replaces its hook by the method of another plugin."""

    def __init__(self, args: object, handle: Handle) -> None:
        vars(self)["filter"] = Method(args, handle).filter


class Licensed(Method):
    """Has a property that must not be looked at."""

    @property
    def licence(self) -> str:
        raise RuntimeError("none")


@pytest.mark.parametrize(
    "plugin",
    [
        Method,
        Inherited,
        StaticMethod,
        ClassMethod,
        Slotted,
        Replaced,
        Delegating,
        Licensed,
    ],
)
def test_hook_is_found(plugin: type) -> None:
    assert message({"Refusing": plugin}) == "0/1 nodes are available: 1 never."


class Hidden(Method):
    """Hides its hook behind an attribute of its own."""

    def __init__(self, args: object, handle: Handle) -> None:
        vars(self)["filter"] = None


def test_hook_that_a_plugin_hides_is_ignored() -> None:
    with pytest.raises(ProfileError, match="is enabled at filter but has no hook"):
        message({"Hidden": Hidden})


class Growing(Method):
    """Gets another hook later."""


def test_method_that_becomes_a_hook_is_found_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert message({"Growing": Growing}) == "0/1 nodes are available: 1 never."

    @hookimpl
    def pre_filter(_self: Growing, pod: Pod) -> Status:
        return Status.unschedulable("too early")

    monkeypatch.setattr(Growing, "pre_filter", pre_filter, raising=False)
    assert "too early" in message({"Growing": Growing})


@attrs.define(slots=False)
class Equal:
    """Any two of these are equal."""

    args: object = attrs.field(eq=False)
    handle: object = attrs.field(eq=False)

    @hookimpl
    def filter(self, node: NodeInfo) -> Status:
        return NEVER


def test_plugins_that_are_equal_are_still_two() -> None:
    expected = "0/1 nodes are available: 1 never."
    assert message({"First": Equal, "Second": Equal}) == expected


def message(plugins: dict[str, Any]) -> str:
    """Return the message of a pod whose only node these plugins filter."""
    enabled = [{"name": name} for name in ("PrioritySort", "DefaultBinder", *plugins)]
    multi_point = {"disabled": [{"name": "*"}], "enabled": enabled}
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        plugins=plugins,
        config={
            **HEADER,
            "profiles": [{"plugins": {"multiPoint": multi_point}}],
        },
    )
    harness.schedule_one()
    return harness.message("p")
