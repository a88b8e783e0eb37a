"""Files of autoscalers, and the errors of wrong ones."""

from pathlib import Path

import pytest

from quaymaster.autoscaling import (
    AutoscalerError,
    ClusterAutoscalerOptions,
    ClusterAutoscalerSetup,
    FlagError,
    read_autoscaler,
    read_flags,
)
from quaymaster.config import ConfigErrors

HEAD = "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: ClusterAutoscaler\n"
GROUPS = "groups: [{name: a, max: 3, resources: {cpu: 1, memory: 1Gi}}]\n"


def written(folder: Path, text: str) -> str:
    file = folder / "autoscaler.yaml"
    file.write_text(text)
    return str(file)


def test_file_has_flags_and_groups(tmp_path: Path) -> None:
    flags = "flags: ['--expander=priority,least-waste', --scan-interval=30s]\n"
    rest = "priorities: [{priority: 10, groups: [spot]}]\n"
    setup = read_autoscaler(written(tmp_path, HEAD + flags + rest + GROUPS))
    assert isinstance(setup, ClusterAutoscalerSetup)
    assert setup.options.expander == ("priority", "least-waste")
    assert setup.options.scan_interval == 30
    assert setup.priorities == {10: ("spot",)}
    assert [group.name for group in setup.groups] == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "expected a mapping"),
        ("kind: ClusterAutoscaler", "apiVersion: expected"),
        (HEAD.replace("Cluster", "Klaster"), "kind: expected one of ClusterAutoscaler"),
        (HEAD + "groups: []", "groups: expected"),
        (HEAD + GROUPS.replace("max: 3", "max: x"), r"groups\[0\].max: expected"),
        (HEAD + GROUPS.replace("max: 3", "max: 1, min: 2"), "expected at least min"),
        (HEAD + GROUPS.replace("max", "mux"), "mux"),
        (
            HEAD + GROUPS + "priorities: [{priority: 1, groups: ['(']}]",
            "expected a regular expression",
        ),
        (HEAD + "flags: [--expandr=x]\n" + GROUPS, "--expandr=x: the simulated"),
    ],
)
def test_wrong_file_has_one_clear_error(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises((AutoscalerError, ConfigErrors), match=message) as caught:
        read_autoscaler(written(tmp_path, text))
    assert "autoscaler.yaml" in str(caught.value)


def test_same_name_twice_is_an_error(tmp_path: Path) -> None:
    group = "{name: a, max: 3, resources: {cpu: 1, memory: 1Gi}}"
    text = f"{HEAD}groups: [{group}, {group}]\n"
    with pytest.raises(AutoscalerError, match="'a' is taken already"):
        read_autoscaler(written(tmp_path, text))


@pytest.mark.parametrize(
    ("flag", "options"),
    [
        ("--scale-down-unneeded-time=5m", {"scale_down_unneeded_time": 300.0}),
        ("--scale-down-unneeded-time=1h30m", {"scale_down_unneeded_time": 5400.0}),
        ("--max-nodes-total=7", {"max_nodes_total": 7}),
        ("--cores-total=1:64", {"cores_total": (1, 64)}),
        ("--memory-total=0:8", {"memory_total": (0, 8 * 2**30)}),
        ("--balance-similar-node-groups", {"balance_similar_node_groups": True}),
        ("--scale-down-enabled=false", {"scale_down_enabled": False}),
        ("--scale-down-enabled=0", {"scale_down_enabled": False}),
        ("--scale-down-enabled=T", {"scale_down_enabled": True}),
        ("--startup-taint=x", {"startup_taints": ("x",)}),
        ("--v=4", {}),
    ],
)
def test_flags_are_those_of_the_program(flag: str, options: dict[str, object]) -> None:
    expected = ClusterAutoscalerOptions(**options)  # type: ignore[arg-type]
    assert read_flags([flag]) == expected


@pytest.mark.parametrize(
    ("flag", "problem"),
    [
        ("--expander=cheapest", "expected some of"),
        ("--max-nodes-total=many", "expected an integer"),
        ("--scan-interval=soon", "expected a number or a time"),
        ("--cores-total=5", "expected MIN:MAX"),
        ("--scale-down-enabled=maybe", "expected true or false"),
        ("--scan-interval", "expected a value, such as --scan-interval=VALUE"),
        ("--expander", "expected a value"),
        ("--scan-intervall=10s", "did you mean 'scan-interval'"),
    ],
)
def test_wrong_flag_has_one_clear_error(flag: str, problem: str) -> None:
    with pytest.raises(FlagError, match=problem):
        read_flags([flag])
