"""Every built-in plugin passes the checks that plugins pass when they are loaded."""

import logging

import pytest

from quaymaster.config import default_config
from quaymaster.scheduler import PluginRegistry
from quaymaster.testing import SchedulerHarness
from tests.kit.internals.registry import hook_problems

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
