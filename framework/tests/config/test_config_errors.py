"""What is said about configurations that cannot be used."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import attrs
import pytest

from quaymaster import hookimpl
from quaymaster.config import (
    ZERO_MEANS_DEFAULT,
    ArgsError,
    ConfigErrors,
    integer,
    load_config,
    parse_config,
)
from quaymaster.errors import QuaymasterError
from quaymaster.objects import NodeAffinity
from quaymaster.scheduler import PluginRegistry
from tests.kit.documents import HEADER
from tests.kit.plugins import Bind, Sort


@attrs.frozen(kw_only=True)
class Resource:
    name: str
    weight: int = attrs.field(
        default=1, validator=integer(1, 100), metadata=ZERO_MEANS_DEFAULT
    )


@attrs.frozen(kw_only=True)
class Strategy:
    resources: tuple[Resource, ...] = ()


@attrs.frozen(kw_only=True)
class TideArgs:
    scoring_strategy: Strategy = Strategy()
    low: int = 0
    high: int = 9
    added_affinity: NodeAffinity | None = None

    def validate(self) -> Iterator[ArgsError]:
        if self.low > self.high:
            yield ArgsError("low", f"expected at most high ({self.high})")


@attrs.frozen(kw_only=True)
class MoonArgs:
    phase: str


class OtherSort(Sort): ...


class Tide:
    Args: ClassVar[type] = TideArgs

    @hookimpl
    def filter(self) -> None: ...

    @hookimpl
    def score(self) -> None: ...


class Moon:
    Args: ClassVar[type] = MoonArgs

    @hookimpl
    def pre_score(self) -> None: ...


def broken() -> None:
    """Offered as a plugin, but no class."""


REGISTRY = PluginRegistry.of(
    {"Sort": Sort, "OtherSort": OtherSort, "Bind": Bind, "Tide": Tide, "Moon": Moon}
)
DEFAULTS = {
    **HEADER,
    "profiles": [
        {
            "plugins": {
                "multiPoint": {
                    "enabled": [{"name": "Sort"}, {"name": "Tide"}, {"name": "Bind"}]
                }
            }
        }
    ],
}


def mistakes(
    document: object,
    registry: PluginRegistry = REGISTRY,
    defaults: object = DEFAULTS,
) -> list[str]:
    """Every line that is said about a document."""
    with pytest.raises(ConfigErrors) as caught:
        parse_config(document, registry, source="s.yaml", defaults=defaults)
    lines = str(caught.value).splitlines()
    assert lines == [str(problem) for problem in caught.value.problems]
    return lines


def mistakes_in(**fields: object) -> list[str]:
    """What is said about a document with these fields, without the file's name."""
    lines = mistakes(HEADER | fields)
    assert all(line.startswith("s.yaml: ") for line in lines)
    return [line.removeprefix("s.yaml: ") for line in lines]


def mistakes_in_profile(**profile: object) -> list[str]:
    """The same about one profile, without its place."""
    lines = mistakes_in(profiles=[profile])
    assert all(line.startswith("profiles[0].") for line in lines)
    return [line.removeprefix("profiles[0].") for line in lines]


def mistakes_in_args(**args: object) -> list[str]:
    """The same about the arguments of Tide."""
    path = "pluginConfig[0].args."
    lines = mistakes_in_profile(pluginConfig=[{"name": "Tide", "args": args}])
    assert all(line.startswith(path) for line in lines)
    return [line.removeprefix(path) for line in lines]


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        pytest.param(
            {"parallelism": 0},
            "parallelism: expected an integer from 1 to 2147483647, got 0",
            id="no parallelism",
        ),
        pytest.param(
            {"percentageOfNodesToScore": 101},
            "percentageOfNodesToScore: expected an integer from 0 to 100, got 101",
            id="more than all nodes",
        ),
        pytest.param(
            {"podInitialBackoffSeconds": 0},
            "podInitialBackoffSeconds: expected an integer, 1 or more, got 0",
            id="no backoff",
        ),
        pytest.param(
            {"podInitialBackoffSeconds": 20},
            "podMaxBackoffSeconds: expected at least podInitialBackoffSeconds (20), "
            "got 10",
            id="a first backoff longer than the longest",
        ),
        pytest.param(
            {"delayCacheUntilActive": "yes"},
            "delayCacheUntilActive: expected true or false, got 'yes'",
            id="a text for a switch",
        ),
        pytest.param(
            {"profles": []},
            "profles: unknown field; did you mean 'profiles'?",
            id="a misspelt field",
        ),
        pytest.param(
            {"profiles": {"schedulerName": "a"}},
            "profiles: expected a list, got a mapping",
            id="a mapping for a list",
        ),
        pytest.param(
            {"clientConnection": {"burst": -1}},
            "clientConnection.burst: expected an integer from 0 to 2147483647, got -1",
            id="a negative burst",
        ),
        pytest.param(
            {"leaderElection": {"leaseDuration": 15}},
            "leaderElection.leaseDuration: expected a duration such as 15s or 1m30s, "
            "got 15",
            id="a duration without unit",
        ),
        pytest.param(
            {"leaderElection": {"leaseDuration": "10s"}},
            "leaderElection.leaseDuration: expected more than renewDeadline (10s), "
            "got 10s",
            id="a lease no longer than its renewal",
        ),
        pytest.param(
            {"leaderElection": {"retryPeriod": "-1s"}},
            "leaderElection.retryPeriod: expected more than 0s, got -1s",
            id="a negative time",
        ),
        pytest.param(
            {"leaderElection": {"resourceLock": "endpoints"}},
            "leaderElection.resourceLock: expected 'leases', got 'endpoints'",
            id="a lock that upstream has removed",
        ),
    ],
)
def test_a_wrong_setting_is_named_with_its_path(
    fields: Mapping[str, object], line: str
) -> None:
    assert mistakes_in(**fields) == [line]


def test_the_rules_of_an_election_hold_only_if_there_is_one() -> None:
    election = {"leaderElect": False, "leaseDuration": "1s", "resourceLock": "any"}

    parse_config(HEADER | {"leaderElection": election}, REGISTRY, defaults=DEFAULTS)


@pytest.mark.parametrize(
    ("extenders", "line"),
    [
        pytest.param(
            [{"prioritizeVerb": "score"}],
            "extenders[0].weight: expected 1 or more, since prioritizeVerb is set, "
            "got 0",
            id="scores without a weight",
        ),
        pytest.param(
            [{"bindVerb": "bind"}, {"bindVerb": "bind"}],
            "extenders[1].bindVerb: only one extender may bind, and extenders[0] does "
            "already",
            id="two that bind",
        ),
        pytest.param(
            [{"managedResources": [{"name": "cpu"}]}],
            "extenders[0].managedResources[0].name: expected an extended resource such "
            "as example.com/gpu, got 'cpu'",
            id="a resource of Kubernetes' own",
        ),
        pytest.param(
            [{"managedResources": [{"name": "a.io/x"}, {"name": "a.io/x"}]}],
            "extenders[0].managedResources[1].name: 'a.io/x' is managed by "
            "extenders[0] already",
            id="a resource twice",
        ),
        pytest.param(
            [{"tlsConfig": {"insecure": True, "caFile": "ca.pem"}}],
            "extenders[0].tlsConfig.insecure: expected false, since root certificates "
            "are given",
            id="certificates that would be ignored",
        ),
        pytest.param(
            [{"tlsConfig": {"caData": "%"}}],
            "extenders[0].tlsConfig.caData: expected base64 text, got '%'",
            id="data that is no base64",
        ),
    ],
)
def test_a_wrong_extender_is_named_with_its_path(extenders: object, line: str) -> None:
    assert mistakes_in(extenders=extenders) == [line]


@pytest.mark.parametrize(
    ("header", "line"),
    [
        pytest.param(
            {"apiVersion": "kubescheduler.config.k8s.io/v1beta3"},
            "apiVersion: expected 'kubescheduler.config.k8s.io/v1', got "
            "'kubescheduler.config.k8s.io/v1beta3'; Kubernetes has removed v1beta3",
            id="a version that is gone",
        ),
        pytest.param(
            {"apiVersion": "v1"},
            "apiVersion: expected 'kubescheduler.config.k8s.io/v1', got 'v1'",
            id="another group",
        ),
        pytest.param(
            {"kind": "Pod"},
            "kind: expected 'KubeSchedulerConfiguration', got 'Pod'",
            id="another kind",
        ),
        pytest.param(
            {"kind": None},
            "kind: expected 'KubeSchedulerConfiguration', got nothing",
            id="no kind",
        ),
    ],
)
def test_another_kind_of_document_gets_one_line_and_no_more(
    header: Mapping[str, object], line: str
) -> None:
    assert mistakes({**HEADER, **header, "spec": {}}) == [f"s.yaml: {line}"]


@pytest.mark.parametrize(
    ("document", "got"),
    [(None, "nothing"), ([], "an empty list"), ("text", "'text'")],
)
def test_what_is_no_document_at_all_is_refused(document: object, got: str) -> None:
    assert mistakes(document) == [
        f"s.yaml: expected a KubeSchedulerConfiguration, got {got}"
    ]


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
            {"placementScore": {"enabled": [{"name": "Tide"}]}},
            "plugins.placementScore: plugins cannot be enabled at this extension point",
            id="a point that is never called",
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
    registry = REGISTRY.with_plugin(Tide).with_plugin(
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
def test_profiles_that_do_not_go_together_are_refused(
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


def test_a_plugin_that_needs_arguments_says_so_when_there_are_none() -> None:
    plugins = {"multiPoint": {"enabled": [{"name": "Moon"}]}}

    assert mistakes_in_profile(plugins=plugins) == [
        "pluginConfig: plugin 'Moon': args.phase: required, but not given"
    ]


def test_all_mistakes_of_a_file_come_at_once() -> None:
    lines = mistakes_in(
        parallelism="many",
        profiles=[
            {
                "plugins": {"score": {"enabled": [{"name": "Tied"}]}},
                "pluginConfig": [
                    {"name": "Tide", "args": {"low": "1", "high": None, "hihg": 1}}
                ],
            },
            {"schedulerName": "b", "plugins": {"bind": {"disabled": [{"name": "*"}]}}},
        ],
        extenders=[{"weight": 1.5}],
    )

    assert [line.split(": ")[0] for line in lines] == [
        "parallelism",
        "extenders[0].weight",
        "profiles[0].schedulerName",
        "profiles[0].plugins.score.enabled[0].name",
        "profiles[0].pluginConfig[0].args.hihg",
        "profiles[0].pluginConfig[0].args.low",
        "profiles[1].plugins.bind",
    ]


def test_problems_carry_their_parts() -> None:
    with pytest.raises(ConfigErrors) as caught:
        parse_config(HEADER | {"parallelism": 0}, REGISTRY, source="s.yaml")

    problem = caught.value.problems[0]
    assert isinstance(caught.value, QuaymasterError)
    assert (problem.where, problem.path) == ("s.yaml", "parallelism")
    assert problem.message == "expected an integer from 1 to 2147483647, got 0"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(
            "profiles: [a", r"line \d+, column \d+: .*", id="a bracket left open"
        ),
        pytest.param(
            "kind: Pod\nprofiles: []\nprofiles: []",
            "line 3, column 1: the key 'profiles' is there twice",
            id="a key twice",
        ),
        pytest.param(
            "kind: Pod\n---\nkind: Pod",
            "expected one YAML document, got 2",
            id="two documents",
        ),
        pytest.param(
            "", "expected a KubeSchedulerConfiguration, got nothing", id="nothing"
        ),
    ],
)
def test_a_file_that_is_no_yaml_is_named_with_the_line(
    tmp_path: Path, text: str, line: str
) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(text)

    with pytest.raises(ConfigErrors) as caught:
        load_config(file, REGISTRY)

    assert re.fullmatch(f"{re.escape(str(file))}: {line}", str(caught.value))


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.yaml"

    with pytest.raises(ConfigErrors) as caught:
        load_config(file, REGISTRY)

    assert str(caught.value) == f"{file}: No such file or directory"


def test_an_unknown_profile_name_lists_the_shipped_ones() -> None:
    with pytest.raises(ConfigErrors) as caught:
        load_config("bin-paking", REGISTRY)

    assert re.fullmatch(
        r"bin-paking: no such file, nor a shipped profile \(batch, bin-packing, .*\); "
        "did you mean 'bin-packing'\\?",
        str(caught.value),
    )
