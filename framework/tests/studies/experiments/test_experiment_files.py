"""Experiment files are parsed, and their mistakes are reported."""

import re
from pathlib import Path

import attrs
import pytest

from quaymaster.config import dump_config, parse_config
from quaymaster.errors import QuaymasterError
from quaymaster.experiments import (
    ExperimentErrors,
    Metric,
    experiment_schema,
    load_experiment,
    parse_experiment,
    sweep,
)
from quaymaster.scheduler import PluginRegistry, SchedulerOptions

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


def reported_problems(text: str) -> list[str]:
    with pytest.raises(ExperimentErrors) as caught:
        parse_experiment(text)
    return [str(problem) for problem in caught.value.problems]


def test_cells_combine_inputs_profiles_values_seeds_and_repetitions() -> None:
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
    labels = [tuple(cell.labels.values()) for cell in experiment.cells]
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
    found = [cell.labels.get("weight") for cell in experiment.cells]
    assert found == [None, 1, 9]


def test_options_are_those_of_the_scheduler() -> None:
    experiment = parse_experiment(
        SMALL
        + """
options:
  maxInUnschedulableSeconds: 1e9
  flushGatedPods: true
  checkMutations: true
  verify: 7
  slowHookSeconds: 0
  keptAttempts: 5
  daemonSetsFirst: true
"""
    )
    assert experiment.options == SchedulerOptions(
        max_in_unschedulable_seconds=1e9,
        flush_gated_pods=True,
        check_mutations=True,
        verify=7,
        slow_hook_seconds=None,
        kept_attempts=5,
        daemon_sets_first=True,
    )
    assert parse_experiment(SMALL).options == SchedulerOptions()


def test_every_option_that_a_file_can_hold_is_an_option_of_experiments() -> None:
    options = {field.name for field in attrs.fields(SchedulerOptions)}
    entry = experiment_schema()["$defs"]["OptionsEntry"]  # type: ignore[index]
    names = {re.sub("([A-Z])", r"_\1", key).lower() for key in entry["properties"]}
    assert names == options - {"hook_observers", "trace"}


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("maxInUnschedulableSeconds: 0", "expected seconds above 0, got 0"),
        ("slowHookSeconds: -1.5", "expected a number, 0 or more, got -1.5"),
        ("keptAttempts: -1", "expected an integer, 0 or more, got -1"),
        ("horizon: 60", "unknown field"),
    ],
)
def test_an_option_that_no_scheduler_accepts_is_a_mistake(
    option: str, problem: str
) -> None:
    name = option.partition(":")[0]
    [message] = reported_problems(SMALL + f"options: {{{option}}}\n")
    assert f"options.{name}: " in message
    assert problem in message


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
    [args] = [
        argument["args"]
        for argument in arguments
        if argument["name"] == "NodeResourcesFit"
    ]
    assert args["scoringStrategy"]["type"] == "MostAllocated"


@pytest.mark.parametrize(
    "other",
    [
        "kubernetesVersion: '1.2'",
        "plugins: {Mine: no.such:Mine}",
        "parameters: [{name: a, input: copies, values: [1, 1]}]",
    ],
)
def test_a_mistake_of_a_metric_is_reported_together_with_others(other: str) -> None:
    problems = reported_problems(
        HEAD
        + f"""
inputs: [{{name: burst}}]
metrics: [{{name: speed}}]
{other}
"""
    )
    assert len(problems) == 2
    assert "metrics[0].name: expected a metric (installed: " in problems[1]


def test_all_mistakes_are_reported_at_once() -> None:
    problems = reported_problems(
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
        "inputs[1].use: expected an input (installed: manifests, swf, trace) or a",
        "metrics[0].parameters.every: expected an integer, 0 or more, got -1",
        "metrics[1].name: expected a metric (installed: completion, cost,",
        "no such file, nor a shipped profile",
    )
    assert len(problems) == len(expected)
    for problem, words in zip(problems, expected, strict=True):
        assert problem.partition(": ")[2].startswith(words)


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
            "parameters[0]: expected one of config, input, autoscaler",
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
def test_a_mistake_is_reported_with_its_place(added: str, expected: str) -> None:
    problems = reported_problems(f"{SMALL}{added}\n")
    assert any(expected in problem for problem in problems), problems


def test_another_kind_of_file_is_an_error() -> None:
    assert reported_problems(SMALL.replace("kind: Experiment", "kind: Tuning")) == [
        "experiment.yaml: kind: expected 'Experiment', got 'Tuning'"
    ]
    [problem] = reported_problems("[]")
    assert problem == "experiment.yaml: expected an Experiment, got an empty list"


def test_missing_file_of_an_input_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "e.yaml"
    text = SMALL.replace("{nodes: [", "{files: [pods.yaml], nodes: [")
    file.write_text(text)
    with pytest.raises(ExperimentErrors) as caught:
        sweep(load_experiment(file), tmp_path / "results")
    missing = tmp_path / "pods.yaml"
    expected = f"{file}: input burst: cannot read {missing}: no such file or directory"
    assert str(caught.value) == expected


def test_invalid_yaml_is_reported_with_its_line() -> None:
    [problem] = reported_problems("kind: Experiment\ninputs: [\n")
    assert "line" in problem


def test_missing_experiment_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(QuaymasterError, match="No such file"):
        load_experiment(tmp_path / "nowhere.yaml")


@attrs.define
class Mute(Metric):
    """A metric without ``end``."""


def test_metric_without_end_is_an_error_before_the_first_run(tmp_path: Path) -> None:
    file = tmp_path / "experiment.yaml"
    file.write_text(f"{SMALL}- {{name: mute, use: '{__name__}:Mute'}}\n")
    with pytest.raises(ExperimentErrors, match="lacks end"):
        load_experiment(file)
