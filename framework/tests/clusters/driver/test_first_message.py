"""The configuration limits how many requests are sent."""

from typing import Any

import pytest

from quaymaster.config import dump_config, parse_config
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.driver import first_message

REGISTRY = PluginRegistry.discover()
HEADER = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}


def limits_of(connection: dict[str, Any] | None) -> tuple[float, int]:
    document = dict[str, Any](HEADER)
    if connection is not None:
        document["clientConnection"] = connection
    begin = first_message(parse_config(document, REGISTRY), None, "")
    return begin.qps, begin.burst


@pytest.mark.parametrize("connection", [None, {}, {"qps": 0, "burst": 0}])
def test_without_limits_the_server_sets_the_rate(
    connection: dict[str, Any] | None,
) -> None:
    assert limits_of(connection) == (0.0, 0)


def test_limits_are_obeyed_even_if_they_are_the_defaults() -> None:
    assert limits_of({"qps": 50, "burst": 100}) == (50.0, 100)


def test_one_limit_brings_the_default_of_the_other() -> None:
    assert limits_of({"qps": 20}) == (20.0, 100)
    assert limits_of({"burst": 7}) == (50.0, 7)


@pytest.mark.parametrize("connection", [{}, {"qps": 50}])
def test_shown_configuration_has_the_same_limits(connection: dict[str, Any]) -> None:
    config = parse_config({**HEADER, "clientConnection": connection}, REGISTRY)
    again = parse_config(dump_config(config), REGISTRY)
    shown, meant = first_message(again, None, ""), first_message(config, None, "")
    assert (shown.qps, shown.burst) == (meant.qps, meant.burst)
