"""Error messages for configurations that cannot be used."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from quaymaster.config import (
    ConfigErrors,
    load_config,
    parse_config,
)
from quaymaster.errors import QuaymasterError
from tests.kit.config_mistakes import DEFAULTS, REGISTRY, mistakes, mistakes_in
from tests.kit.documents import HEADER


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
            {"leaderElection": {"leaseDuration": f"{10**20}h"}},
            "leaderElection.leaseDuration: expected a duration such as 15s or 1m30s, "
            f"got '{10**20}h'",
            id="a duration of more than 64 bits",
        ),
        pytest.param(
            {"leaderElection": {"leaseDuration": "10s"}},
            "leaderElection.leaseDuration: expected more than renewDeadline (10s), "
            "got 10s",
            id="a lease no longer than its renewal",
        ),
        pytest.param(
            {"leaderElection": {"retryPeriod": "9s"}},
            "leaderElection.renewDeadline: expected more than 1.2 times retryPeriod "
            "(9s), got 10s",
            id="no time for a second try",
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


def test_the_rules_of_leader_election_apply_only_if_it_is_enabled() -> None:
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
def test_another_kind_of_document_is_a_single_error(
    header: Mapping[str, object], line: str
) -> None:
    assert mistakes({**HEADER, **header, "spec": {}}) == [f"s.yaml: {line}"]


@pytest.mark.parametrize(
    ("document", "got"),
    [(None, "nothing"), ([], "an empty list"), ("text", "'text'")],
)
def test_a_value_that_is_not_a_document_is_rejected(document: object, got: str) -> None:
    assert mistakes(document) == [
        f"s.yaml: expected a KubeSchedulerConfiguration, got {got}"
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
            "line 3, column 1: the key 'profiles' occurs twice",
            id="a key twice",
        ),
        pytest.param(
            "kind: Pod\n---\nkind: Pod",
            "expected one KubeSchedulerConfiguration in its 2 documents, got 0",
            id="two documents",
        ),
        pytest.param(
            "", "expected a KubeSchedulerConfiguration, got nothing", id="nothing"
        ),
    ],
)
def test_a_file_that_is_not_yaml_is_named_with_the_line(
    tmp_path: Path, text: str, line: str
) -> None:
    file = tmp_path / "scheduler.yaml"
    file.write_text(text)

    with pytest.raises(ConfigErrors) as caught:
        load_config(file, REGISTRY)

    assert re.fullmatch(f"{re.escape(str(file))}: {line}", str(caught.value))


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
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
