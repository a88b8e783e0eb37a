"""A configuration in a ConfigMap or a machine configuration is unwrapped."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from quaymaster.config import ConfigErrors, load_config, parse_config
from tests.kit.config_mistakes import DEFAULTS, REGISTRY
from tests.kit.documents import HEADER

CONFIG = yaml.safe_dump({**HEADER, "profiles": [{"schedulerName": "mine"}]})


def written(folder: Path, tree: object) -> Path:
    path = folder / "file.yaml"
    path.write_text(yaml.safe_dump(tree))
    return path


def config_map(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": data}


@pytest.mark.parametrize("key", ["config.yaml", "scheduler-config.yaml"])
def test_only_configuration_of_a_config_map_is_taken(tmp_path: Path, key: str) -> None:
    data = {"readme": "not: [yaml", "policy.yaml": "kind: Policy", key: CONFIG}
    path = written(tmp_path, config_map(**data))
    [profile] = load_config(path).profiles
    assert profile.scheduler_name == "mine"


def test_mistake_names_the_key_that_it_is_in(tmp_path: Path) -> None:
    path = written(tmp_path, config_map(**{"a.yaml": f"{CONFIG}\nparallelism: 0"}))
    with pytest.raises(
        ConfigErrors, match=r"file\.yaml: data\['a\.yaml'\]: parallelism"
    ):
        load_config(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "got 0 (keys: none)"),
        ({"a": "x: 1", "b": "text"}, "got 0 (keys: a, b)"),
        ({"a": CONFIG, "b": CONFIG}, "got 2 (keys: a, b)"),
    ],
)
def test_config_map_needs_one_configuration(
    tmp_path: Path, data: dict[str, str], message: str
) -> None:
    path = written(tmp_path, config_map(**data))
    with pytest.raises(ConfigErrors) as caught:
        load_config(path)
    [problem] = caught.value.problems
    expected = "expected one key of data with a KubeSchedulerConfiguration, "
    assert (problem.path, problem.message) == ("data", expected + message)


def test_plugin_of_an_unknown_project_is_left_out_only_on_request() -> None:
    plugins = {"multiPoint": {"enabled": [{"name": "Tides"}]}}
    document = {**HEADER, "profiles": [{"plugins": plugins}]}
    with pytest.raises(ConfigErrors, match="did you mean 'Tide'"):
        parse_config(document, REGISTRY, defaults=DEFAULTS)
    config = parse_config(document, REGISTRY, defaults=DEFAULTS, without_missing=True)
    [warning] = config.warnings
    assert warning.message == "plugin 'Tides' is not installed, so it is left out"


def test_installed_plugin_of_a_known_project_is_used() -> None:
    plugin = REGISTRY.load("Tide")
    assert isinstance(plugin, type)
    registry = REGISTRY.with_plugin(plugin, "Coscheduling")
    plugins = {"filter": {"enabled": [{"name": "Coscheduling"}]}}
    document = {**HEADER, "profiles": [{"plugins": plugins}]}
    [profile] = parse_config(document, registry, defaults=DEFAULTS).profiles
    assert "Coscheduling" in [plugin.name for plugin in profile.plugins["filter"]]
