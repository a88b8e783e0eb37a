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


SERVICE = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
TALOS = {"cluster": {"scheduler": {"config": yaml.safe_load(CONFIG)}}}


@pytest.mark.parametrize(
    "holder",
    [config_map(**{"a.yaml": CONFIG}), TALOS, yaml.safe_load(CONFIG)],
    ids=["config map", "machine configuration", "configuration"],
)
def test_configuration_among_other_documents_is_found(
    tmp_path: Path, holder: dict[str, Any]
) -> None:
    path = tmp_path / "rendered.yaml"
    path.write_text(yaml.safe_dump_all([SERVICE, holder, config_map(other="text")]))
    [profile] = load_config(path).profiles
    assert profile.scheduler_name == "mine"


def test_configuration_in_a_list_of_objects_is_found(tmp_path: Path) -> None:
    items = [SERVICE, config_map(**{"a.yaml": CONFIG})]
    path = written(tmp_path, {"apiVersion": "v1", "kind": "List", "items": items})
    [profile] = load_config(path).profiles
    assert profile.scheduler_name == "mine"


@pytest.mark.parametrize(
    ("holders", "count"), [([], 0), ([TALOS, config_map(a=CONFIG)], 2)]
)
def test_several_documents_need_one_configuration(
    tmp_path: Path, holders: list[dict[str, Any]], count: int
) -> None:
    path = tmp_path / "rendered.yaml"
    trees = [SERVICE, SERVICE, *holders]
    path.write_text(yaml.safe_dump_all(trees))
    expected = (
        f"expected one KubeSchedulerConfiguration in its {len(trees)} documents, got "
        f"{count}"
    )
    with pytest.raises(ConfigErrors, match=expected):
        load_config(path)


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
