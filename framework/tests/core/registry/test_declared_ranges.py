"""Distributions whose range excludes the installed framework are reported once."""

import sys
from collections.abc import Sequence

import pytest

from quaymaster.config import default_config, parse_config
from quaymaster.scheduler import PluginRegistry
from tests.kit.internals.registry import range_problem, sdk_version
from tests.kit.packages import MakeDistribution

CODE = """
from quaymaster import hookimpl

class Gates:
    @hookimpl
    def post_bind(self): ...

    def __init__(self, args, handle): ...

class Doors(Gates): ...
"""
PROBLEM = (
    f"acme-gates 1.0 requires quaymaster<9.1,>=9, but {sdk_version()} is installed"
)


@pytest.fixture
def gates(make_distribution: MakeDistribution) -> PluginRegistry:
    """Return a registry with two plugins of one distribution for a later framework."""
    make_distribution(
        "acme-gates",
        {"Gates": "acme_gates:Gates", "Doors": "acme_gates:Doors"},
        requires=["attrs>=25", "quaymaster>=9,<9.1"],
        module="acme_gates",
        code=CODE,
    )
    return PluginRegistry.discover()


def warnings_of(registry: PluginRegistry, *profiles: Sequence[str]) -> list[str]:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": f"scheduler-{number}",
                "plugins": {
                    "postBind": {"enabled": [{"name": name} for name in names]}
                },
            }
            for number, names in enumerate(profiles)
        ],
    }
    return [str(warning) for warning in parse_config(document, registry).warnings]


def test_configuration_warns_once_of_each_distribution(gates: PluginRegistry) -> None:
    assert warnings_of(gates, ["Gates", "Doors"], ["Gates"]) == [PROBLEM]


def test_plugins_that_no_profile_uses_are_not_looked_at(gates: PluginRegistry) -> None:
    assert warnings_of(gates, []) == []


def test_list_of_installed_plugins_warns_of_them_as_well(gates: PluginRegistry) -> None:
    assert gates.warnings == (PROBLEM,)


def test_load_error_mentions_that_the_plugin_needs_another_framework(
    make_distribution: MakeDistribution,
) -> None:
    make_distribution(
        "acme-gates",
        {"Gates": "acme_gates:Gates"},
        requires=["quaymaster>=9"],
        module="acme_gates",
        code="from quaymaster import LaterName",
    )
    error = str(PluginRegistry.discover()["Gates"].error)
    installed = f"but {sdk_version()} is installed"
    assert error.endswith(f"; acme-gates 1.0 requires quaymaster>=9, {installed}")


def test_built_in_plugins_admit_the_installed_framework() -> None:
    registry = PluginRegistry.discover()
    assert default_config(registry).warnings == ()


@pytest.mark.parametrize(
    ("requires", "is_excluded"),
    [
        pytest.param([], False, id="nothing"),
        pytest.param(["quaymaster"], False, id="any version"),
        pytest.param(["quaymaster>=0.1,<0.2"], False, id="as plugins new writes it"),
        pytest.param(["quaymaster<0.2,>=0.1"], False, id="as a wheel has it"),
        pytest.param(["Quaymaster [testing] (>=0.1)"], False, id="another spelling"),
        pytest.param(["quaymaster==0.0.9"], True, id="an earlier one"),
        pytest.param(["quaymaster>=0.2.0.dev0"], True, id="a later pre-release"),
        pytest.param(["quaymaster>=9; extra == 'dev'"], False, id="an extra"),
        pytest.param(["quaymaster>=9; python_version < '3'"], False, id="elsewhere"),
        pytest.param(["quaymaster-gates>=9"], False, id="another distribution"),
        pytest.param(["quaymaster >> 9"], False, id="not a requirement"),
        pytest.param(["quaymaster>=0.1", "quaymaster<0.1"], True, id="in two parts"),
    ],
)
def test_range_of_requirements(requires: Sequence[str], is_excluded: bool) -> None:
    assert bool(range_problem("acme-gates 1.0", requires)) is is_excluded


def test_usual_range_needs_no_parser_of_requirements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "packaging.requirements", None)
    assert range_problem("acme-gates 1.0", ["quaymaster<0.2,>=0.1"]) == ""
