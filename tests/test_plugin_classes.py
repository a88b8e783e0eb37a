"""Every built-in plugin passes the checks for plugins that are loaded."""

import ast
import inspect
import logging
from itertools import chain
from pathlib import Path

import pytest

from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import SchedulerHarness
from tests.kit.internals.objects import GROUP_KINDS
from tests.kit.internals.registry import USUAL_KINDS, hook_problems, reads_of_plugin
from tests.kit.sources import syntax_nodes


@pytest.mark.house
def test_no_hook_of_a_built_in_plugin_is_a_mistake() -> None:
    plugins = PluginRegistry.discover()
    problems = [*chain(*(hook_problems(plugins[name].load()) for name in plugins))]
    assert problems == []


@pytest.mark.house
def test_every_built_in_plugin_has_an_extension_point() -> None:
    plugins = PluginRegistry.discover()
    assert [
        name
        for name in plugins
        if not any(point.key for point in plugins[name].extension_points)
    ] == []


def test_built_in_plugins_that_reject_pods_register_events(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        SchedulerHarness()
    assert default_config(PluginRegistry.discover()).profiles
    assert caplog.records == []


def kinds_named_in(plugin: type) -> set[str]:
    """Return the kinds of objects that the code of a plugin's package names."""
    source = inspect.getsourcefile(plugin)
    assert source is not None
    names = {
        node.id
        for path in Path(source).parent.glob("*.py")
        for node in syntax_nodes(path)
        if isinstance(node, ast.Name)
    }
    kinds = {kind.__name__ for kind in (*USUAL_KINDS, *GROUP_KINDS)}
    return names & kinds - {"Node", "Pod"}


@pytest.mark.house
def test_built_in_plugins_declare_just_the_kinds_that_they_name() -> None:
    """Undeclared kinds are not followed unless another plugin needs them."""
    registry = PluginRegistry.discover()
    plugins = {name: registry[name].load() for name in registry}
    declared = {
        name: {kind.__name__ for kind in reads_of_plugin(plugin)} - {"Node", "Pod"}
        for name, plugin in plugins.items()
    }
    assert declared == {name: kinds_named_in(each) for name, each in plugins.items()}
