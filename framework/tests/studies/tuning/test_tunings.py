"""Tunings search configurations, judge them and write the results."""

import csv
from pathlib import Path

import pytest

from quaymaster.config import load_config
from quaymaster.experiments import (
    ExperimentErrors,
    TrialOutcome,
    TuneResult,
    load_tuning,
    tune,
)
from quaymaster.scheduler import PluginRegistry
from tests.kit.programs import run_program

FIT = "profiles[0].pluginConfig[NodeResourcesFit].args.scoringStrategy.type"
PODS = """
apiVersion: v1
kind: Pod
metadata: {name: small}
spec: {containers: [{name: c, image: x, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: large}
spec: {containers: [{name: c, image: x, resources: {requests: {cpu: "4"}}}]}
"""
EXPERIMENT = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
inputs:
- name: mixed
  parameters:
    nodes: ["3:cpu=4,memory=8Gi"]
    files: [pods.yaml]
    copies: 4
    turnAway: true
profiles: [{name: default}, {name: bin-packing}]
seeds: [1, 2, 3]
metrics: [{name: placed}, {name: utilisation}]
"""
TUNING = f"""
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Tuning
experiment: quay.yaml
profile: default
search:
- {{name: strategy, config: '{FIT}', choices: [LeastAllocated, MostAllocated, Odd]}}
- name: fit
  config: profiles[0].plugins.multiPoint.enabled[NodeResourcesFit].weight
  integers: {{lowest: 1, highest: 4}}
objectives: [{{metric: utilisation.cpu, goal: max}}]
heldOut: {{seeds: [11, 12, 13, 14]}}
trials: 8
seed: 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "pods.yaml").write_text(PODS)
    (tmp_path / "quay.yaml").write_text(EXPERIMENT)
    found = tmp_path / "tuning.yaml"
    found.write_text(TUNING)
    return found


def tuned(file: Path, out: str = "out", workers: int = 1) -> TuneResult:
    return tune(load_tuning(file), file.parent / out, workers=workers)


@pytest.mark.long
def test_the_winner_is_judged_on_held_out_runs(file: Path) -> None:
    result = tuned(file)
    assert len(result.trials) == 8
    [found] = result.judged.found
    assert found.trial is not None
    assert found.trial.fields["strategy"] == "MostAllocated"
    assert [configuration.name for configuration in result.judged.known] == [
        "default",
        "bin-packing",
    ]
    against = [difference.against for difference in found.differences]
    assert against == ["default", "bin-packing"]
    default = result.judged.known[0]
    expected = found.held_out[0].mean - default.held_out[0].mean
    assert found.differences[0].estimate.mean == pytest.approx(expected)


@pytest.mark.long
def test_the_winner_is_a_configuration_with_its_evidence(file: Path) -> None:
    result = tuned(file)
    [path] = result.files
    assert path == file.parent / "out" / "tuned.yaml"
    text = path.read_text()
    assert f"# Found by quaymaster tune {file}" in text
    assert "# Tuned on mixed with seeds 1, 2, 3.\n" in text
    assert "# Held out: mixed with seeds 11, 12, 13, 14.\n" in text
    assert "# utilisation.cpu (more is better)\n" in text
    config = load_config(path, PluginRegistry.discover())
    assert config.profiles


@pytest.mark.long
def test_an_invalid_configuration_is_a_failed_trial(file: Path) -> None:
    failed = [trial for trial in tuned(file).trials if trial.cause]
    assert failed
    for trial in failed:
        assert trial.outcome is TrialOutcome.FAILED
        assert trial.fields["strategy"] == "Odd"
        assert "scoringStrategy.type: expected one of" in trial.cause


@pytest.mark.long
def test_equal_configurations_are_run_once_and_a_second_time_never(file: Path) -> None:
    first = tuned(file)
    configurations = {
        tuple(trial.fields.values()) for trial in first.trials if trial.values
    }
    rivals = 2
    assert first.made <= 3 * len(configurations) + 3 * rivals + 4 * (rivals + 1)
    second = tuned(file)
    assert second.made == 0
    assert second.trials == first.trials


@pytest.mark.long
def test_the_number_of_workers_does_not_change_the_result(file: Path) -> None:
    single, parallel = tuned(file), tuned(file, "other", workers=2)
    assert single.trials == parallel.trials
    assert (file.parent / "out" / "tuned.yaml").read_text() == (
        file.parent / "other" / "tuned.yaml"
    ).read_text()


@pytest.mark.long
def test_with_several_objectives_no_winner_dominates_another(file: Path) -> None:
    file.write_text(
        TUNING.replace(
            "goal: max}]", "goal: max}, {metric: placed, goal: min}]"
        ).replace("trials: 8", "trials: 6")
    )
    result = tuned(file)
    values = [
        configuration.trial.values
        for configuration in result.judged.found
        if configuration.trial
    ]
    for cpu, placed in values:
        assert not any(
            other_cpu >= cpu and other_placed < placed
            for other_cpu, other_placed in values
        )
    assert [configuration.name for configuration in result.judged.found] == (
        ["tuned"]
        if len(values) == 1
        else [f"tuned {n}" for n in range(1, len(values) + 1)]
    )


@pytest.mark.long
def test_bad_trials_are_pruned(file: Path) -> None:
    file.write_text(TUNING.replace("trials: 8", "trials: 20").replace(", Odd", ""))
    trials = tuned(file).trials
    pruned = [trial for trial in trials if trial.outcome is TrialOutcome.PRUNED]
    assert pruned
    assert all(trial.runs < 3 and not trial.values for trial in pruned)
    with (file.parent / "out" / "trials.csv").open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["outcome"] for row in rows] == [trial.outcome.value for trial in trials]


@pytest.mark.long
def test_an_objective_that_is_not_measured_is_an_error(file: Path) -> None:
    file.write_text(TUNING.replace("utilisation.cpu", "utilisation.gpu"))
    with pytest.raises(ExperimentErrors, match=r"objectives\[0\]\.metric: expected a"):
        tuned(file)


def test_a_tuning_without_results_is_an_error(file: Path) -> None:
    file.write_text(TUNING.replace("[LeastAllocated, MostAllocated, Odd]", "[A, B]"))
    with pytest.raises(ExperimentErrors, match="none of 8 trials has a result; the"):
        tuned(file)


@pytest.mark.long
def test_the_command_prints_the_winner_and_whether_it_is_better(file: Path) -> None:
    words = ["quaymaster", "tune", file.name, "--workers", "1"]
    done = run_program(words, file.parent, file.parent)
    assert done.code in (0, 1), done.errors
    assert "8 trials: " in done.output
    assert "tuned: strategy MostAllocated, fit " in done.output
    assert "held out, utilisation.cpu than default: +" in done.output
    assert (file.parent / "tuning-results" / "tuning.json").exists()


@pytest.mark.long
def test_exit_code_is_1_if_nothing_better_is_found(file: Path) -> None:
    """Weights of one plugin that scores alone decide nothing."""
    file.write_text(
        TUNING.replace(f"'{FIT}'", "'percentageOfNodesToScore'")
        .replace("[LeastAllocated, MostAllocated, Odd]", "[50, 60]")
        .replace("trials: 8", "trials: 2")
        .replace("lowest: 1, highest: 4", "lowest: 1, highest: 2")
    )
    words = ["quaymaster", "tune", file.name, "--workers", "1"]
    done = run_program(words, file.parent, file.parent)
    assert done.code == 1, done.output + done.errors
    assert "no difference" in done.output


@pytest.mark.long
def test_an_objective_that_leaves_out_pods_that_never_ran_is_reported(
    file: Path,
) -> None:
    experiment = file.parent / "quay.yaml"
    text = experiment.read_text().replace("{name: placed}", "{name: wait}")
    experiment.write_text(text)
    goals = "{metric: wait.mean, goal: min}, {metric: wait.deleted, goal: min}"
    text = file.read_text().replace("{metric: utilisation.cpu, goal: max}", goals)
    file.write_text(text.replace("trials: 8", "trials: 1").replace(", Odd]", "]"))
    [warning] = tuned(file).warnings
    assert warning.startswith("the objective wait.mean leaves out ")
    assert "pods that never ran: wait.deleted is above 0 in " in warning
