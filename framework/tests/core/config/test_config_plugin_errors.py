"""Error messages for plugins, profiles and arguments that cannot be used."""

from collections.abc import Mapping

import pytest

from quaymaster.config import (
    parse_config,
)
from quaymaster.scheduler import PluginRegistry
from tests.kit.config_mistakes import (
    DEFAULTS,
    REGISTRY,
    broken,
    mistakes,
    mistakes_in,
    mistakes_in_args,
    mistakes_in_profile,
)
from tests.kit.documents import HEADER
from tests.kit.plugins import Bind, Sort


@pytest.mark.parametrize(
    ("plugins", "line"),
    [
        pytest.param(
            {"filter": {"enabled": [{"name": "Tides"}]}},
            "plugins.filter.enabled[0].name: unknown plugin 'Tides' (installed: Bind, "
            "Moon, OtherSort, Sort, Tide); did you mean 'Tide'?",
            id="unknown plugin",
        ),
        pytest.param(
            {"bind": {"enabled": [{"name": "Tide"}]}},
            "plugins.bind.enabled[0].name: plugin 'Tide' does not implement bind (it "
            "implements: filter, score)",
            id="a point that the plugin does not implement",
        ),
        pytest.param(
            {"score": {"enabled": [{"name": "Tide"}, {"name": "Tide"}]}},
            "plugins.score.enabled[1].name: plugin 'Tide' is enabled already, by "
            "profiles[0].plugins.score.enabled[0]",
            id="twice at a point",
        ),
        pytest.param(
            {"queueSort": {"enabled": [{"name": "OtherSort"}]}},
            "plugins.queueSort: expected exactly 1 enabled plugin, got Sort, OtherSort",
            id="two orders of the queue",
        ),
        pytest.param(
            {"queueSort": {"disabled": [{"name": "*"}]}},
            "plugins.queueSort: expected exactly 1 enabled plugin, got none",
            id="no order of the queue",
        ),
        pytest.param(
            {"multiPoint": {"disabled": [{"name": "Bind"}]}},
            "plugins.bind: expected at least 1 enabled plugin, got none",
            id="nothing that binds",
        ),
        pytest.param(
            {"score": {"enabled": [{"name": "Tide", "weight": -1}]}},
            "plugins.score.enabled[0].weight: expected an integer from 0 to 2147483647,"
            " got -1",
            id="a negative weight",
        ),
        pytest.param(
            {"score": {"enabled": [{"weight": 1}]}},
            "plugins.score.enabled[0].name: required, but not given",
            id="no name",
        ),
        pytest.param(
            {"score": {"enabled": ["Tide"]}},
            "plugins.score.enabled[0]: expected a mapping, got 'Tide'",
            id="a bare name",
        ),
        pytest.param(
            {"scores": {}},
            "plugins.scores: unknown extension point; did you mean 'score'?",
            id="unknown extension point",
        ),
        pytest.param(
            {"score": {"enabled": [{"name": "GangScheduling"}]}},
            "plugins.score.enabled[0].name: plugin 'GangScheduling' is not there: "
            "kube-scheduler's does nothing while the feature gate GenericWorkload is "
            "off, as by default",
            id="a plugin of upstream that is off",
        ),
    ],
)
def test_a_plugin_that_cannot_be_enabled_is_named_with_its_path(
    plugins: object, line: str
) -> None:
    assert mistakes_in_profile(plugins=plugins) == [line]


def test_a_plugin_of_multi_point_is_reported_once_and_not_at_every_point() -> None:
    plugins = {"multiPoint": {"enabled": [{"name": "Moon"}, {"name": "Moon"}]}}
    config = [{"name": "Moon", "args": {"phase": "full"}}]

    (line,) = mistakes_in_profile(plugins=plugins, pluginConfig=config)

    assert line == (
        "plugins.multiPoint.enabled[1].name: plugin 'Moon' is enabled already, by "
        "profiles[0].plugins.multiPoint.enabled[0]"
    )


def test_a_broken_plugin_is_an_error_where_it_is_enabled_and_only_there() -> None:
    registry = REGISTRY.with_plugin(REGISTRY["Tide"].load(), "Tide").with_plugin(
        broken,  # type: ignore[arg-type] # what the test is about
        "Broken",
    )
    parse_config(HEADER, registry, defaults=DEFAULTS)

    enabled = {"filter": {"enabled": [{"name": "Broken"}]}}
    (line,) = mistakes(HEADER | {"profiles": [{"plugins": enabled}]}, registry)

    assert line.startswith("s.yaml: profiles[0].plugins.filter.enabled[0].name: ")
    assert "plugin 'Broken'" in line
    assert "expected a class that is built with (args, handle)" in line


def test_a_mistake_in_the_defaults_names_them() -> None:
    (line,) = mistakes(HEADER, PluginRegistry.of({"Sort": Sort, "Bind": Bind}))

    assert line.startswith(
        "defaults: profiles[0].plugins.multiPoint.enabled[1].name: unknown plugin "
        "'Tide' (installed: Bind, Sort)"
    )
    assert line.endswith(
        "pip install 'quaymaster[default]' installs what the default profile needs"
    )


@pytest.mark.parametrize(
    ("profiles", "lines"),
    [
        pytest.param(
            [{"schedulerName": "a"}, {"schedulerName": "a"}],
            ["profiles[1].schedulerName: 'a' is the name of profiles[0] already"],
            id="the same name twice",
        ),
        pytest.param(
            [{"schedulerName": "a"}, {}],
            ["profiles[1].schedulerName: required: every profile needs its own name"],
            id="one of several without a name",
        ),
        pytest.param(
            [{"schedulerName": ""}],
            ["profiles[0].schedulerName: required: every profile needs its own name"],
            id="an empty name",
        ),
        pytest.param(
            [
                {"schedulerName": "a"},
                {
                    "schedulerName": "b",
                    "plugins": {
                        "queueSort": {
                            "enabled": [{"name": "OtherSort"}],
                            "disabled": [{"name": "Sort"}],
                        }
                    },
                },
            ],
            ["profiles[1].plugins.queueSort: expected the same as in profiles[0]"],
            id="two orders of the one queue",
        ),
        pytest.param(
            [
                {"schedulerName": "a"},
                {"schedulerName": "b", "percentageOfNodesToScore": "all"},
            ],
            ["profiles[1].percentageOfNodesToScore: expected an integer from 0 to 100"],
            id="a text for a percentage",
        ),
    ],
)
def test_profiles_that_contradict_each_other_are_rejected(
    profiles: object, lines: list[str]
) -> None:
    assert [line.split(", got")[0] for line in mistakes_in(profiles=profiles)] == lines


@pytest.mark.parametrize(
    ("config", "line"),
    [
        pytest.param(
            [{"name": "Tide"}, {"name": "Tide"}],
            "pluginConfig[1].name: plugin 'Tide' has its arguments in "
            "profiles[0].pluginConfig[0] already",
            id="twice",
        ),
        pytest.param(
            [{"name": "Tides"}],
            "pluginConfig[0].name: unknown plugin 'Tides' (installed: Bind, Moon, "
            "OtherSort, Sort, Tide); did you mean 'Tide'?",
            id="for an unknown plugin",
        ),
        pytest.param(
            [{"name": "Bind", "args": {"fast": True}}],
            "pluginConfig[0].args: plugin 'Bind' takes no arguments",
            id="for a plugin without arguments",
        ),
        pytest.param(
            [{"name": "Tide", "args": [1]}],
            "pluginConfig[0].args: expected a mapping, got a list",
            id="a list",
        ),
        pytest.param(
            [{"name": "Tide", "args": {"kind": "MoonArgs"}}],
            "pluginConfig[0].args.kind: expected 'TideArgs', got 'MoonArgs'",
            id="another plugin's arguments",
        ),
    ],
)
def test_arguments_in_the_wrong_place_are_refused(config: object, line: str) -> None:
    assert mistakes_in_profile(pluginConfig=config) == [line]


def test_the_example_of_an_error_message() -> None:
    resources = [{"name": "cpu"}, {"name": "memory", "weight": "5"}]

    (line,) = mistakes_in_args(scoringStrategy={"resources": resources})

    assert line == (
        "scoringStrategy.resources[1].weight: expected an integer from 1 to 100, "
        "got '5'"
    )


@pytest.mark.parametrize(
    ("args", "line"),
    [
        pytest.param(
            {"scoringStrategy": {"resources": "cpu"}},
            "scoringStrategy.resources: expected a list, got 'cpu'",
            id="a text is no list of letters",
        ),
        pytest.param(
            {"scoringStrategy": {"resources": [{"name": "cpu", "weight": 101}]}},
            "scoringStrategy.resources[0].weight: expected an integer from 1 to 100, "
            "got 101",
            id="out of range",
        ),
        pytest.param(
            {"scoringStrategy": {"resources": [{"weight": 1}]}},
            "scoringStrategy.resources[0].name: required, but not given",
            id="a required field",
        ),
        pytest.param(
            {"scoringStrategi": {}},
            "scoringStrategi: unknown field; did you mean 'scoringStrategy'?",
            id="a misspelt field",
        ),
        pytest.param(
            {"low": True},
            "low: expected an integer, got true",
            id="a switch is no number",
        ),
        pytest.param(
            {"low": 10},
            "low: expected at most high (9)",
            id="a rule that spans fields",
        ),
        pytest.param(
            {"addedAffinity": {"requiredDuringScheduling": {}}},
            "addedAffinity.requiredDuringScheduling: unknown field; did you mean "
            "'requiredDuringSchedulingIgnoredDuringExecution'?",
            id="a misspelt field of an embedded API object",
        ),
        pytest.param(
            {
                "addedAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": "1"}]
                }
            },
            "addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: "
            "expected an integer, got '1'",
            id="a wrong type in an embedded API object",
        ),
    ],
)
def test_wrong_arguments_are_named_with_their_path(
    args: Mapping[str, object], line: str
) -> None:
    assert mistakes_in_args(**args) == [line]


def test_missing_arguments_of_a_plugin_that_needs_them_are_an_error() -> None:
    plugins = {"multiPoint": {"enabled": [{"name": "Moon"}]}}

    assert mistakes_in_profile(plugins=plugins) == [
        "pluginConfig: plugin 'Moon': args.phase: required, but not given"
    ]
