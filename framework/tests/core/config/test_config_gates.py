"""A configuration sets feature gates, which the caller's gates override."""

from pathlib import Path

import pytest

from quaymaster.config import (
    ConfigErrors,
    Kubernetes,
    SchedulerConfig,
    dump_config,
    load_config,
    parse_config,
)
from quaymaster.scheduler import PluginRegistry

GROUPS = ("GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount")
HEADER = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
}


def config_with(gates: object, kubernetes: Kubernetes | None = None) -> SchedulerConfig:
    document = {**HEADER, "featureGates": gates}
    registry = PluginRegistry.discover()
    return parse_config(document, registry, kubernetes=kubernetes or Kubernetes())


def plugin_names(config: SchedulerConfig) -> set[str]:
    plugins = config.profiles[0].plugins
    return {plugin.name for point in plugins.values() for plugin in point}


def test_gates_of_a_file_add_their_plugins() -> None:
    config = config_with({"GenericWorkload": True})
    assert config.kubernetes.enabled("GenericWorkload")
    assert "GangScheduling" in plugin_names(config)


def test_gates_of_the_caller_override_those_of_a_file() -> None:
    kubernetes = Kubernetes("1.37", {"GenericWorkload": False})
    config = config_with({"GenericWorkload": True}, kubernetes)
    assert not config.kubernetes.enabled("GenericWorkload")
    assert "GangScheduling" not in plugin_names(config)


@pytest.mark.parametrize(
    ("gates", "version", "message"),
    [
        ({"GenericWorkloads": True}, "1.37", "did you mean 'GenericWorkload'"),
        ({"GenericWorkload": True}, "1.36", "only false is played"),
        ({"TopologyAwareWorkloadScheduling": True}, "1.37", "depends on gates"),
        ({"GenericWorkload": "yes"}, "1.37", "expected true or false"),
        (["GenericWorkload"], "1.37", "expected a mapping, got a list"),
    ],
    ids=["unknown", "older version", "without the other gate", "no boolean", "a list"],
)
def test_mistakes_in_gates_are_reported(
    gates: object, version: str, message: str
) -> None:
    with pytest.raises(ConfigErrors, match=f"featureGates.*{message}"):
        config_with(gates, Kubernetes(version))


def test_shipped_profile_has_the_plugins_of_groups() -> None:
    config = load_config("groups", PluginRegistry.discover())
    assert plugin_names(config) >= set(GROUPS)
    assert config.kubernetes.enabled("WorkloadWithJob")


def test_new_content_of_a_file_is_read_without_the_old_gates(tmp_path: Path) -> None:
    config = config_with({"GenericWorkload": True}, Kubernetes("1.37"))
    assert config.chosen_kubernetes == Kubernetes("1.37")
    chosen = Kubernetes("1.37", {"GenericWorkload": True})
    assert config_with({"GenericWorkload": True}, chosen).chosen_kubernetes == chosen


def test_written_configuration_sets_the_gates_of_its_file() -> None:
    chosen = Kubernetes("1.37", {"GenericWorkload": True})
    gates = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}
    config = config_with(gates, chosen)
    document = dump_config(config)
    assert document["featureGates"] == {"TopologyAwareWorkloadScheduling": True}
    registry = PluginRegistry.discover()
    assert parse_config(document, registry, kubernetes=chosen) == config
    assert "featureGates" not in dump_config(config_with({}))
