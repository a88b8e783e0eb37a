"""Every built-in plugin passes the checks that plugins pass when they are loaded."""

import ast
import inspect
import logging
from pathlib import Path

import pytest

from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import SchedulerHarness
from tests.kit.internals.registry import USUAL_KINDS, hook_problems, reads_of_plugin
from tests.kit.sources import parsed

REGISTRY = PluginRegistry.discover()


@pytest.mark.parametrize("name", REGISTRY)
def test_no_hook_of_a_built_in_plugin_is_a_mistake(name: str) -> None:
    plugin = REGISTRY[name]
    assert list(hook_problems(plugin.load())) == []
    assert any(point.key for point in plugin.extension_points)


def test_built_in_plugins_that_reject_pods_register_events(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        SchedulerHarness()
    assert default_config(REGISTRY).profiles
    assert caplog.records == []


@pytest.mark.parametrize("name", REGISTRY)
def test_built_in_plugins_declare_just_the_kinds_that_they_name(name: str) -> None:
    """What a plugin does not declare is not followed where no other one needs it."""
    plugin = REGISTRY[name].load()
    source = inspect.getsourcefile(plugin)
    assert source is not None
    named = {
        node.id
        for path in Path(source).parent.glob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Name)
    }
    known = {kind.__name__ for kind in USUAL_KINDS}
    declared = {kind.__name__ for kind in reads_of_plugin(plugin)}
    assert declared - {"Node", "Pod"} == named & known - {"Node", "Pod"}
