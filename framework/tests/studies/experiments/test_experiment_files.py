"""Experiment files: what they say, and what is told of mistakes in them."""

from pathlib import Path

import attrs
import pytest

from quaymaster.config import dump_config, parse_config
from quaymaster.errors import QuaymasterError
from quaymaster.experiments import (
    ExperimentErrors,
    Metric,
    load_experiment,
    parse_experiment,
    sweep,
)
from quaymaster.scheduler import PluginRegistry

HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
"""

SMALL = (
    HEAD
    + """
inputs:
- name: burst
  parameters: {nodes: ["2:cpu=4,memory=8Gi"]}
metrics:
- name: placed
"""
)


def told_of(text: str) -> list[str]:
    with pytest.raises(ExperimentErrors) as caught:
        parse_experiment(text)
    return [str(one) for one in caught.value.problems]


def test_each_input_meets_each_profile_value_seed_and_repetition() -> None:
    experiment = parse_experiment(
        SMALL
        + """
profiles: [{name: default}, {name: bin-packing}]
parameters:
- name: copies
  input: copies
  values: [1, 2]
- name: weight
  config: profiles[0].plugins.multiPoint.enabled[NodeResourcesFit].weight
  values: [1, 9]
seeds: [3, 4]
repetitions: 2
"""
    )
    labels = [tuple(one.labels.values()) for one in experiment.cells]
    assert len(set(labels)) == 2 * 2 * 2 * 2 * 2
    assert labels[0] == ("burst", "default", 1, 1, 3, 0)
    assert labels[1] == ("burst", "default", 1, 1, 3, 1)
    assert labels[-1] == ("burst", "bin-packing", 2, 9, 4, 1)


def test_a_parameter_may_be_for_some_profiles_only() -> None:
    experiment = parse_experiment(
        SMALL
        + """
profiles: [{name: default}, {name: bin-packing}]
parameters:
- name: weight
  config: profiles[0].plugins.multiPoint.enabled[NodeResourcesFit].weight
  values: [1, 9]
  onlyFor: [bin-packing]
"""
    )
    found = [one.labels.get("weight") for one in experiment.cells]
    assert found == [None, 1, 9]


def test_configurations_are_those_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "podMaxBackoffSeconds: 77\n"
    )
    file = tmp_path / "experiment.yaml"
    file.write_text(SMALL + "profiles: [{name: mine, config: mine.yaml}]\n")
    [profile] = load_experiment(file).profiles
    assert profile.config is not None
    assert profile.config["podMaxBackoffSeconds"] == 77


def test_a_value_replaces_the_field_that_the_configuration_has() -> None:
    experiment = parse_experiment(
        SMALL
        + """
parameters:
- name: strategy
  config: profiles[0].pluginConfig[NodeResourcesFit].args.scoringStrategy.type
  values: [MostAllocated]
"""
    )
    [cell] = experiment.cells
    document = cell.profile.config
    assert document is not None
    config = parse_config(document, PluginRegistry.discover())
    arguments = dump_config(config)["profiles"][0]["pluginConfig"]  # type: ignore[index]  # a document
    [args] = [one["args"] for one in arguments if one["name"] == "NodeResourcesFit"]
    assert args["scoringStrategy"]["type"] == "MostAllocated"


def test_all_mistakes_are_reported_at_once() -> None:
    told = told_of(
        HEAD
        + """
inputs:
- {name: burst, parameters: {nodes: ["2:cpu=4"], copis: 2}}
- {name: other, use: nobody}
profiles: [{name: defalt}]
seeds: [1, 1]
metrics:
- {name: placed, parameters: {every: -1}}
- {name: speed}
"""
    )
    expected = (
        "seeds[1]: expected a seed of its own, got that of seeds[0]",
        "inputs[0].parameters.copis: unknown field; did you mean 'copies'?",
        "inputs[1].use: expected an input (installed: manifests) or a class as",
        "metrics[0].parameters.every: expected an integer, 0 or more, got -1",
        "metrics[1].name: expected a metric (installed: cost, fragmentation,",
        "no such file, nor a shipped profile",
    )
    assert len(told) == len(expected)
    for one, words in zip(told, expected, strict=True):
        assert one.partition(": ")[2].startswith(words)


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ("seeds: [1, 1]", "seeds[1]: expected a seed of its own, got that of seeds[0]"),
        ("seeds: [-1]", "seeds[0]: expected an integer, 0 or more, got -1"),
        ("repetitions: 0", "repetitions: expected an integer from 1 to 1000000, got 0"),
        ("kubernetesVersion: '1.2'", "kubernetesVersion: expected one of"),
        ("plugins: {Mine: no.such:Mine}", "plugins.Mine: 'no.such:Mine' could not be"),
        (
            "parameters: [{name: seed, input: copies, values: [1]}]",
            "parameters[0].name: expected another name, got that of a column: seed",
        ),
        (
            "parameters: [{name: a, values: [1]}]",
            "parameters[0]: expected either config or input",
        ),
        (
            "parameters: [{name: a, input: copies, values: [1, 1]}]",
            "parameters[0].values[1]: expected each value once, got 1 again",
        ),
        (
            "parameters: [{name: a, input: copies, values: [0]}]",
            "inputs[0].parameters (with a 0).copies: expected an integer from 1",
        ),
        (
            "parameters: [{name: a, config: '[0]', values: [0]}]",
            "parameters[0].config: expected a field such as",
        ),
        (
            "parameters: [{name: a, config: 'profiles[3].schedulerName', values: [x]}]",
            "profiles[0] (with a 'x'): expected a list with [3], got",
        ),
        (
            "parameters: [{name: a, config: podMaxBackoffSeconds, values: [x]}]",
            "default (with a 'x'): podMaxBackoffSeconds: expected an integer",
        ),
        (
            "parameters: [{name: a, input: x, values: [1], onlyFor: [burts]}]",
            "parameters[0].onlyFor[0]: expected one of burst, got 'burts'; did you",
        ),
    ],
)
def test_a_mistake_is_told_with_its_place(added: str, expected: str) -> None:
    told = told_of(f"{SMALL}{added}\n")
    assert any(expected in one for one in told), told


def test_another_kind_of_file_is_told_as_such() -> None:
    assert told_of(SMALL.replace("kind: Experiment", "kind: Tuning")) == [
        "experiment.yaml: kind: expected 'Experiment', got 'Tuning'"
    ]
    [told] = told_of("[]")
    assert told == "experiment.yaml: expected an Experiment, got an empty list"


def test_a_file_of_an_input_that_is_not_there_is_told(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    text = SMALL.replace("{nodes: [", "{files: [pods.yaml], nodes: [")
    file.write_text(text)
    with pytest.raises(ExperimentErrors) as caught:
        sweep(load_experiment(file), tmp_path / "results")
    missing = tmp_path / "pods.yaml"
    expected = f"{file}: input burst: cannot read {missing}: no such file or directory"
    assert str(caught.value) == expected


def test_what_is_no_yaml_is_told_with_its_line() -> None:
    [told] = told_of("kind: Experiment\ninputs: [\n")
    assert "line" in told


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(QuaymasterError, match="No such file"):
        load_experiment(tmp_path / "nowhere.yaml")


@attrs.define
class Mute(Metric):
    """Says nothing in the end."""


def test_metric_that_cannot_end_is_told_before_a_run(tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text(f"{SMALL}- {{name: mute, use: '{__name__}:Mute'}}\n")
    with pytest.raises(ExperimentErrors, match="lacks end"):
        load_experiment(file)
