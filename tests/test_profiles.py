"""Every configuration in profiles/ can be used without changes."""

from pathlib import Path

import pytest

from quaymaster.config import (
    SchedulerConfig,
    default_config,
    dump_config,
    load_config,
    parse_config,
    shipped_profiles,
)
from quaymaster.scheduler import PluginRegistry

FOLDER = Path(__file__).parent.parent / "profiles"
FILES = sorted(FOLDER.glob("*.yaml"))


@pytest.fixture(scope="module")
def installed() -> PluginRegistry:
    return PluginRegistry.discover()


def test_there_are_profiles_and_nothing_else() -> None:
    assert FILES
    assert sorted(FOLDER.iterdir()) == FILES


def test_profiles_are_shipped_under_the_names_of_their_files() -> None:
    assert list(shipped_profiles()) == [file.stem for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_a_profile_loads_against_the_installed_plugins(
    file: Path, installed: PluginRegistry
) -> None:
    config = load_config(file, installed)

    assert config.warnings == ()
    assert config == load_config(file.stem, installed)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_a_profile_is_for_pods_that_name_no_scheduler(
    file: Path, installed: PluginRegistry
) -> None:
    assert load_config(file, installed).profile("default-scheduler") is not None


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_a_profile_says_first_what_it_is_for(file: Path) -> None:
    first, blank, *_ = file.read_text().splitlines()

    assert first.startswith("# ")
    assert first.endswith((".", ":"))
    assert blank == "#"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.stem))
def test_a_dumped_profile_loads_as_the_same(
    file: Path, installed: PluginRegistry
) -> None:
    config: SchedulerConfig = load_config(file, installed)

    assert parse_config(dump_config(config), installed) == config


def test_the_default_profile_is_what_an_empty_configuration_stands_for(
    installed: PluginRegistry,
) -> None:
    assert load_config(FOLDER / "default.yaml", installed) == default_config(installed)


UPSTREAMS_ORDER = {
    "preEnqueue": ["SchedulingGates", "DynamicResources", "DefaultPreemption"],
    "queueSort": ["PrioritySort"],
    "preFilter": [
        "NodeName",
        "NodeUnschedulable",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
        "NodeDeclaredFeatures",
    ],
    "filter": [
        "NodeName",
        "NodeUnschedulable",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
        "NodeDeclaredFeatures",
    ],
    "postFilter": ["DynamicResources", "DefaultPreemption"],
    "preScore": [
        "TaintToleration",
        "NodeAffinity",
        "NodeResourcesFit",
        "VolumeBinding",
        "PodTopologySpread",
        "InterPodAffinity",
        "NodeResourcesBalancedAllocation",
    ],
    "reserve": ["VolumeBinding", "DynamicResources"],
    "preBind": ["VolumeBinding", "DynamicResources"],
    "bind": ["DefaultBinder"],
}
UPSTREAMS_WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "NodeResourcesFit": 1,
    "VolumeBinding": 1,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "DynamicResources": 2,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
}


@pytest.mark.parametrize("point", UPSTREAMS_ORDER)
def test_the_default_profile_calls_its_plugins_in_upstreams_order(
    point: str, installed: PluginRegistry
) -> None:
    (profile,) = default_config(installed).profiles
    names = {plugin.name for plugins in profile.plugins.values() for plugin in plugins}
    expected = [name for name in UPSTREAMS_ORDER[point] if name in names]

    assert [plugin.name for plugin in profile.plugins[point]] == expected


def test_the_default_profile_scores_with_upstreams_weights(
    installed: PluginRegistry,
) -> None:
    (profile,) = default_config(installed).profiles
    weights = {plugin.name: plugin.weight for plugin in profile.plugins["score"]}

    assert weights == {name: UPSTREAMS_WEIGHTS[name] for name in weights}
    assert list(weights) == [name for name in UPSTREAMS_WEIGHTS if name in weights]
