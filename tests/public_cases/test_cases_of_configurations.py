"""Configurations as people keep them: plain, wrapped, and with foreign plugins."""

from pathlib import Path

import pytest

from quaymaster.config import ConfigErrors, SchedulerConfig, load_config

FILES = Path(__file__).parent / "24-config-files"


def read(name: str, *, without_missing: bool = False) -> SchedulerConfig:
    return load_config(FILES / f"{name}.yaml", without_missing=without_missing)


def reported_mistakes(name: str) -> list[tuple[str, str]]:
    with pytest.raises(ConfigErrors) as caught:
        read(name)
    return [(problem.path, problem.message) for problem in caught.value.problems]


@pytest.mark.parametrize(
    "name",
    [
        "a-jupyterhub",
        "a-jupyterhub-configmap",
        "c-k3s-gpu-packing",
        "h-zone-spread-and-default",
        "j-requested-to-capacity",
        "l-talos-machine-config",
        "m-added-affinity",
    ],
)
def test_configuration_is_read(name: str) -> None:
    assert read(name).warnings == ()


def test_wrapper_changes_nothing() -> None:
    assert read("a-jupyterhub-configmap") == read("a-jupyterhub")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("b-jupyterhub-old-lock", "leaderElection.resourceLock"),
        ("d-plugin-config-in-plugins", "profiles[1].plugins.pluginConfig"),
        ("e-upper-case-point", "profiles[0].plugins.PreFilter"),
        ("i-v1beta3", "apiVersion"),
    ],
)
def test_mistake_is_reported_at_its_field(name: str, path: str) -> None:
    assert path in [found for found, _ in reported_mistakes(name)]


def test_custom_resource_of_openshift_leads_to_the_rendered_file() -> None:
    [(_, message)] = reported_mistakes("k-openshift-profile-cr")
    assert message.startswith(
        "Scheduler of OpenShift names the profile 'HighNodeUtilization'; its operator "
    )


def test_foreign_plugins_are_listed_once_with_their_origin() -> None:
    found = reported_mistakes("f-koordinator")
    assert len(found) == 7
    assert found[1] == (
        "profiles[0].plugins.preFilter.enabled[1].name",
        (
            "plugin 'Reservation' is not installed; it comes with Koordinator (also "
            "named at 6 other places)"
        ),
    )
    assert not any("did you mean" in message for _, message in found)


@pytest.mark.parametrize("name", ["f-koordinator", "g-scheduler-plugins-chart"])
def test_foreign_plugins_can_be_left_out(name: str) -> None:
    config = read(name, without_missing=True)
    assert len(config.warnings) == len(reported_mistakes(name))
    [profile] = config.profiles
    assert [plugin.name for plugin in profile.plugins["queueSort"]] == ["PrioritySort"]
    assert [plugin.name for plugin in profile.plugins["bind"]] == ["DefaultBinder"]
