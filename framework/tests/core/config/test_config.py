"""Configurations are merged with the defaults, expanded and completed."""

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import hookimpl
from quaymaster.config import (
    EnabledPlugin,
    LeaderElection,
    ProfileConfig,
    SchedulerConfig,
    dump_config,
    load_config,
    parse_config,
)
from quaymaster.hookspecs import EXTENSION_POINTS
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER
from tests.kit.plugins import Bind, Sort


@attrs.frozen(kw_only=True)
class TideArgs:
    height: int = 3
    names: tuple[str, ...] = ("low", "high")


class Tide:
    Args: ClassVar[type] = TideArgs

    @hookimpl
    def filter(self) -> None: ...

    @hookimpl
    def score(self) -> None: ...


class Moon:
    @hookimpl
    def pre_filter(self) -> None: ...

    @hookimpl
    def filter(self) -> None: ...

    @hookimpl
    def score(self) -> None: ...


class Gull:
    @hookimpl
    def score(self) -> None: ...


SMALL = PluginRegistry.of(
    {"Sort": Sort, "Bind": Bind, "Tide": Tide, "Moon": Moon, "Gull": Gull}
)
SMALL_DEFAULTS = {
    **HEADER,
    "profiles": [
        {
            "plugins": {
                "multiPoint": {
                    "enabled": [
                        {"name": "Sort"},
                        {"name": "Tide", "weight": 2},
                        {"name": "Moon", "weight": 5},
                        {"name": "Bind"},
                    ]
                }
            }
        }
    ],
}


def parse(document: Mapping[str, object]) -> SchedulerConfig:
    """Parse a document on top of the small defaults."""
    return parse_config({**HEADER, **document}, SMALL, defaults=SMALL_DEFAULTS)


def parse_profile(**profile: object) -> ProfileConfig:
    """Parse a document with one profile on top of the small defaults."""
    return parse({"profiles": [profile]}).profiles[0]


def names(profile: ProfileConfig, key: str) -> list[str]:
    return [plugin.name for plugin in profile.plugins[key]]


def refs(*plugins: str, **weights: int) -> list[dict[str, object]]:
    plain: list[dict[str, object]] = [{"name": name} for name in plugins]
    return plain + [{"name": name, "weight": weights[name]} for name in weights]


def test_an_empty_configuration_is_the_default_profile() -> None:
    config = parse({})

    assert [profile.scheduler_name for profile in config.profiles] == [
        "default-scheduler"
    ]
    profile = config.profiles[0]
    assert names(profile, "queueSort") == ["Sort"]
    assert names(profile, "preFilter") == ["Moon"]
    assert names(profile, "filter") == ["Tide", "Moon"]
    assert names(profile, "bind") == ["Bind"]
    assert profile.plugins["score"] == (
        EnabledPlugin(name="Tide", weight=2),
        EnabledPlugin(name="Moon", weight=5),
    )


def test_every_extension_point_exists_even_without_plugins() -> None:
    keys = {point.key for point in EXTENSION_POINTS if point.key}

    assert parse_profile().plugins.keys() == keys
    assert parse_profile().plugins["postFilter"] == ()


def test_missing_fields_have_upstreams_defaults() -> None:
    config = parse({})

    assert config.parallelism == 16
    assert config.pod_initial_backoff_seconds == 1
    assert config.pod_max_backoff_seconds == 10
    assert config.client_connection.qps == 50
    assert config.client_connection.burst == 100
    assert config.leader_election == LeaderElection(
        leader_elect=True,
        lease_duration=timedelta(seconds=15),
        renew_deadline=timedelta(seconds=10),
        retry_period=timedelta(seconds=2),
        resource_lock="leases",
        resource_name="kube-scheduler",
        resource_namespace="kube-system",
    )
    assert config.extenders == ()
    assert not config.delay_cache_until_active


def test_all_nodes_are_scored_unless_a_percentage_is_set() -> None:
    assert parse({}).percentage_of_nodes_to_score == 100
    assert parse({"percentageOfNodesToScore": 0}).percentage_of_nodes_to_score == 100
    assert parse({"percentageOfNodesToScore": 30}).percentage_of_nodes_to_score == 30


def test_a_profile_may_set_another_percentage() -> None:
    assert parse_profile().percentage_of_nodes_to_score is None
    profile = parse_profile(percentageOfNodesToScore=7)
    assert profile.percentage_of_nodes_to_score == 7


def test_a_null_is_the_same_as_leaving_the_field_out() -> None:
    assert parse(
        {
            "parallelism": None,
            "leaderElection": None,
            "extenders": None,
            "profiles": [{"plugins": {"filter": None}, "pluginConfig": None}],
        }
    ) == parse({})


def test_an_explicit_zero_is_the_default_where_upstream_has_it_so() -> None:
    assert parse(
        {
            "leaderElection": {"leaseDuration": "0s", "resourceName": ""},
            "clientConnection": {"qps": 0, "burst": 0},
        }
    ) == parse({})


def test_durations_are_written_as_go_writes_them() -> None:
    election = parse(
        {"leaderElection": {"leaseDuration": "1m30s", "retryPeriod": "500ms"}}
    ).leader_election

    assert election.lease_duration == timedelta(seconds=90)
    assert election.retry_period == timedelta(milliseconds=500)


def test_an_extender_is_read_with_all_its_fields() -> None:
    document = {
        "urlPrefix": "https://gate.example/v1",
        "filterVerb": "filter",
        "prioritizeVerb": "score",
        "weight": 4,
        "enableHTTPS": True,
        "tlsConfig": {"serverName": "gate", "caData": "YWJj"},
        "httpTimeout": "3s",
        "nodeCacheCapable": True,
        "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": True}],
        "ignorable": True,
    }

    extender = parse({"extenders": [document]}).extenders[0]

    assert extender.url_prefix == "https://gate.example/v1"
    assert extender.weight == 4
    assert extender.tls_config is not None
    assert extender.tls_config.ca_data == b"abc"
    assert extender.http_timeout == timedelta(seconds=3)
    assert extender.managed_resources[0].ignored_by_scheduler


def test_what_a_profile_enables_comes_after_the_default() -> None:
    profile = parse_profile(plugins={"multiPoint": {"enabled": refs("Gull")}})

    assert names(profile, "score") == ["Tide", "Moon", "Gull"]


def test_a_default_plugin_that_is_enabled_again_keeps_its_place() -> None:
    profile = parse_profile(plugins={"multiPoint": {"enabled": refs(Tide=9)}})

    assert profile.plugins["score"][0] == EnabledPlugin(name="Tide", weight=9)


def test_what_a_point_lists_goes_first_if_multi_point_has_it_too() -> None:
    plugins = {"score": {"enabled": refs("Gull", "Moon")}}

    assert names(parse_profile(plugins=plugins), "score") == ["Moon", "Tide", "Gull"]


def test_disabling_at_a_point_takes_away_what_multi_point_brought() -> None:
    profile = parse_profile(plugins={"filter": {"disabled": refs("Tide")}})

    assert names(profile, "filter") == ["Moon"]
    assert names(profile, "score") == ["Tide", "Moon"]


def test_a_star_disables_everything_but_what_the_point_lists() -> None:
    plugins = {"score": {"enabled": refs("Gull"), "disabled": refs("*")}}

    assert names(parse_profile(plugins=plugins), "score") == ["Gull"]


def test_a_star_at_multi_point_disables_all_default_plugins() -> None:
    plugins = {
        "multiPoint": {"disabled": refs("*"), "enabled": refs("Sort", "Bind")},
        "filter": {"enabled": refs("Moon")},
    }

    profile = parse_profile(plugins=plugins)

    assert names(profile, "filter") == ["Moon"]
    assert names(profile, "score") == []


def test_a_weight_at_score_wins_over_that_of_multi_point() -> None:
    profile = parse_profile(plugins={"score": {"enabled": refs(Moon=7)}})

    assert profile.plugins["score"][0] == EnabledPlugin(name="Moon", weight=7)


@pytest.mark.parametrize("weight", [0, None])
def test_no_weight_at_score_is_a_weight_of_1(weight: int | None) -> None:
    enabled = [{"name": "Moon", "weight": weight}]

    profile = parse_profile(plugins={"score": {"enabled": enabled}})

    assert profile.plugins["score"][0] == EnabledPlugin(name="Moon", weight=1)


def test_profiles_are_independent_of_each_other() -> None:
    config = parse(
        {
            "profiles": [
                {"schedulerName": "day"},
                {
                    "schedulerName": "night",
                    "plugins": {"score": {"disabled": refs("*")}},
                },
            ]
        }
    )

    night = config.profile("night")
    assert night is not None
    assert names(night, "score") == []
    assert names(config.profiles[0], "score") == ["Tide", "Moon"]
    assert config.profile("noon") is None


def test_arguments_are_instances_of_the_plugins_own_class() -> None:
    profile = parse_profile(
        pluginConfig=[{"name": "Tide", "args": {"names": ["neap"]}}]
    )

    assert profile.plugin_args == {"Tide": TideArgs(height=3, names=("neap",))}


def test_a_plugin_without_plugin_config_gets_its_default_arguments() -> None:
    assert parse_profile().plugin_args == {"Tide": TideArgs()}


def test_arguments_may_carry_their_version_and_kind() -> None:
    args = {"apiVersion": HEADER["apiVersion"], "kind": "TideArgs", "height": 9}

    profile = parse_profile(pluginConfig=[{"name": "Tide", "args": args}])

    assert profile.plugin_args == {"Tide": TideArgs(height=9)}


def test_arguments_of_a_plugin_that_is_not_enabled_are_left_out() -> None:
    profile = parse_profile(plugins={"multiPoint": {"disabled": refs("Tide")}})

    assert profile.plugin_args == {}


def test_points_behind_feature_gates_may_stay_empty() -> None:
    plugins = {
        "placementGenerate": {},
        "placementScore": {"disabled": refs("*")},
        "podGroupPostFilter": {"enabled": [], "disabled": refs("*")},
    }

    assert parse_profile(plugins=plugins) == parse_profile()


def test_disabling_a_plugin_that_is_not_installed_is_only_a_warning() -> None:
    config = parse({"profiles": [{"plugins": {"score": {"disabled": refs("Mon")}}}]})

    (warning,) = config.warnings
    assert str(warning) == (
        "configuration: profiles[0].plugins.score.disabled[0].name: no plugin 'Mon' "
        "is installed to disable; did you mean 'Moon'?"
    )


@pytest.mark.parametrize(
    ("plugins", "path"),
    [
        pytest.param({"multiPoint": None}, "multiPoint", id="null"),
        pytest.param({"multiPoint": {}}, "multiPoint", id="multiPoint without lists"),
        pytest.param({"score": None}, "score", id="null at one point"),
        pytest.param({"score": {"enabled": None}}, "score.enabled", id="null list"),
    ],
)
def test_an_extension_point_without_content_is_only_a_warning(
    plugins: Mapping[str, object], path: str
) -> None:
    config = parse({"profiles": [{"plugins": plugins}]})

    (warning,) = config.warnings
    assert str(warning) == (
        f"configuration: profiles[0].plugins.{path}: is empty, so it neither enables "
        "nor disables a plugin"
    )


def test_empty_points_that_kube_scheduler_writes_give_no_warning() -> None:
    plugins: dict[str, object] = {"score": {}, "bind": {"enabled": [], "disabled": []}}

    assert parse({"profiles": [{"plugins": plugins}]}).warnings == ()


def test_a_file_is_read_as_yaml(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(
        """
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        profiles:
          - schedulerName: tidal
            plugins:
              multiPoint:
                disabled: [{name: "*"}]
                enabled: [{name: Sort}, {name: Moon, weight: 4}, {name: Bind}]
        """
    )

    profile = load_config(file, SMALL).profiles[0]

    assert profile.scheduler_name == "tidal"
    assert profile.plugins["score"] == (EnabledPlugin(name="Moon", weight=4),)


def test_a_dumped_configuration_is_complete() -> None:
    document = dump_config(parse({}))

    assert document["percentageOfNodesToScore"] == 100
    assert document["profiles"] == [
        {
            "schedulerName": "default-scheduler",
            "plugins": {
                "multiPoint": {"disabled": [{"name": "*"}]},
                "queueSort": {"enabled": [{"name": "Sort"}]},
                "preFilter": {"enabled": [{"name": "Moon"}]},
                "filter": {"enabled": [{"name": "Tide"}, {"name": "Moon"}]},
                "score": {
                    "enabled": [
                        {"name": "Tide", "weight": 2},
                        {"name": "Moon", "weight": 5},
                    ]
                },
                "bind": {"enabled": [{"name": "Bind"}]},
            },
            "pluginConfig": [
                {
                    "name": "Tide",
                    "args": {
                        "apiVersion": "kubescheduler.config.k8s.io/v1",
                        "kind": "TideArgs",
                        "height": 3,
                        "names": ["low", "high"],
                    },
                }
            ],
        }
    ]


PLUGIN_REFS = st.lists(
    st.builds(
        lambda name, weight: {"name": name, "weight": weight},
        st.sampled_from(["Tide", "Moon", "Gull"]),
        st.integers(0, 50),
    ),
    max_size=3,
    unique_by=lambda ref: str(ref["name"]),
)
PLUGIN_SETS = st.fixed_dictionaries(
    {}, optional={"enabled": PLUGIN_REFS, "disabled": PLUGIN_REFS}
)


@given(
    plugins=st.fixed_dictionaries(
        {}, optional={"multiPoint": PLUGIN_SETS, "score": PLUGIN_SETS}
    ),
    percentage=st.integers(0, 100),
    height=st.integers(-(2**63), 2**63 - 1),
    lease_seconds=st.floats(11, 1e6),
)
def test_a_dumped_configuration_loads_as_the_same(
    plugins: object, percentage: int, height: int, lease_seconds: float
) -> None:
    config = parse(
        {
            "percentageOfNodesToScore": percentage,
            "leaderElection": {"leaseDuration": f"{lease_seconds:.6f}s"},
            "profiles": [
                {
                    "plugins": plugins,
                    "pluginConfig": [{"name": "Tide", "args": {"height": height}}],
                }
            ],
        }
    )

    dumped = json.loads(json.dumps(dump_config(config)))
    assert parse_config(dumped, SMALL, defaults=SMALL_DEFAULTS) == config
