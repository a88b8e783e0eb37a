"""Deprecated hooks are still called, and their plugins get a warning."""

import inspect
import re
import warnings
from collections.abc import Generator, Sequence
from importlib import metadata
from typing import Any

import pluggy
import pytest

from quaymaster import Handle, NodeInfo, Status, hookimpl
from quaymaster.hookspecs import (
    EXTENSION_POINTS,
    DeprecatedHookWarning,
    Deprecation,
    ExtensionPoint,
    HookAge,
)
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config
from tests.kit.internals.runtime import HookManager, Implementations, unguarded

HOOKS = [(point, hook) for point in EXTENSION_POINTS for hook in point.hooks]
each_hook = pytest.mark.parametrize(
    ("point", "hook"), [pytest.param(*hook, id=hook[1]) for hook in HOOKS]
)
GOING = Deprecation(since="0.3", until="0.5", instead="use 'sieve'")


class Plugin:
    def __init__(self, args: object, handle: Handle) -> None:
        pass


class Racks(Plugin):
    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return None if node.name == "b" else Status.unschedulable("is not b")


class Wrapping(Plugin):
    @hookimpl(wrapper=True)
    def filter(self) -> Generator[None, Status | None, Status | None]:
        return (yield)


def scheduled_with(*plugins: type) -> str:
    """Return the node that a pod gets."""
    harness = SchedulerHarness(
        [make_node(name="a"), make_node(name="b"), make_pod(name="p")],
        plugins={plugin.__name__: plugin for plugin in plugins},
        config=profile_config(enable=[plugin.__name__ for plugin in plugins]),
    )
    harness.settle()
    harness.reload(harness.config)
    harness.settle()
    return harness.node_of("p")


@pytest.fixture
def filter_is_deprecated(monkeypatch: pytest.MonkeyPatch) -> None:
    def age(_point: ExtensionPoint, hook: str) -> HookAge:
        deprecated = GOING if hook == "filter" else None
        return HookAge(since="0.1", deprecated=deprecated)

    monkeypatch.setattr(ExtensionPoint, "age", age)
    # Python keeps here which warnings it has shown.
    monkeypatch.setitem(globals(), "__warningregistry__", {})


def warnings_of(*plugins: type) -> Sequence[str]:
    """Return the warnings about these plugins while the pod is scheduled."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", DeprecatedHookWarning)
        assert scheduled_with(*plugins) == "b"
    assert {warning.category for warning in caught} <= {DeprecatedHookWarning}
    return [str(warning.message) for warning in caught if warning.filename == __file__]


@pytest.mark.usefixtures("filter_is_deprecated")
def test_a_deprecated_hook_runs_and_is_warned_of_once() -> None:
    [message] = warnings_of(Racks)
    assert re.fullmatch(
        r"plugin 'Racks' \(.*\): hook 'filter' is deprecated since 0\.3, gone in 0\.5; "
        r"use 'sieve' instead",
        message,
    )


@pytest.mark.usefixtures("filter_is_deprecated")
def test_a_wrapper_around_a_deprecated_hook_is_warned_of() -> None:
    messages = warnings_of(Racks, Wrapping)
    assert {message.split("'")[1] for message in messages} == {"Racks", "Wrapping"}


@pytest.mark.usefixtures("filter_is_deprecated")
def test_a_warning_names_the_line_of_the_hook() -> None:
    with pytest.warns(DeprecatedHookWarning) as caught:
        scheduled_with(Racks)
    lines = {warning.lineno for warning in caught if warning.filename == __file__}
    assert lines == {inspect.getsourcelines(Racks.filter)[1]}


def test_plugins_of_other_hooks_get_no_warning() -> None:
    assert warnings_of(Racks, Wrapping) == []


# All hooks


def version(text: str) -> tuple[int, int]:
    major, minor = (int(part) for part in text.split(".")[:2])
    return major, minor


@each_hook
def test_each_hook_has_the_version_that_introduced_it(
    point: ExtensionPoint, hook: str
) -> None:
    major, minor = version(metadata.version("quaymaster"))
    # New hooks come with the next minor version.
    assert version(point.age(hook).since) <= (major, minor + 1)


@each_hook
def test_a_hook_stays_for_a_minor_version_after_the_one_that_deprecates_it(
    point: ExtensionPoint, hook: str
) -> None:
    deprecated = point.age(hook).deprecated
    if deprecated is None:
        return
    major, minor = version(deprecated.since)
    assert version(deprecated.until) >= (major, minor + 2)
    assert version(deprecated.until) > version(metadata.version("quaymaster"))


# Added arguments


def wider(point: ExtensionPoint) -> type:
    """Return hooks of an extension point as a later version may declare them."""
    lines = [
        f"    def {hook}(self, first, {arguments_of(point, hook)}last): pass"
        for hook in point.hooks
    ]
    namespace: dict[str, Any] = {}
    exec("\n".join(["class Wider:", *lines]), namespace)
    mark = pluggy.HookspecMarker("quaymaster")(firstresult=True)
    for hook in point.hooks:
        mark(getattr(namespace["Wider"], hook))
    made: type = namespace["Wider"]
    return made


def arguments_of(point: ExtensionPoint, hook: str) -> str:
    names = list(inspect.signature(getattr(point.spec, hook)).parameters)[1:]
    return "".join(f"{name}, " for name in names)


@each_hook
def test_arguments_may_be_added_to_a_hook_whose_plugins_do_not_take_them(
    point: ExtensionPoint, hook: str
) -> None:
    names = arguments_of(point, hook)
    namespace: dict[str, Any] = {}
    exec(f"def {hook}(self, {names}): return dict(locals())", namespace)
    plugin = type("Old", (), {hook: hookimpl(namespace[hook])})()
    manager = HookManager(wider(point))
    manager.register(plugin, "Old")
    compiled = Implementations(manager, point.hooks).compile(hook, "Old")
    assert compiled is not None
    listed = names.split(", ")[:-1]
    given = unguarded(compiled)("new", *(f"the {name}" for name in listed), "new")
    assert given == {"self": plugin, **{name: f"the {name}" for name in listed}}
