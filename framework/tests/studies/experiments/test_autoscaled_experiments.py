"""Experiments with autoscalers: their files, varied settings, and metrics."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from quaymaster.experiments import (
    Cell,
    Experiment,
    ExperimentErrors,
    load_experiment,
    load_tuning,
    run_cell,
)
from tests.kit.internals.experiments import Fingerprints

AUTOSCALER = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: ClusterAutoscaler
flags: [--scale-down-delay-after-add=0s, --scale-down-unneeded-time=20s,
        --scale-down-unready-time=20s, --unremovable-node-recheck-timeout=20s]
groups: [{name: pool, max: 3, price: 2, resources: {cpu: 2, memory: 4Gi}}]
"""
FILE = "experiment.yaml: "
PATH = "expected a field such as profiles[0].pluginConfig[Name].args.field"
HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
inputs: [{name: one, parameters: {files: [pod.yaml]}}]
"""
METRICS = """
metrics:
- {name: cost, parameters: {over: 1h}}
- {name: nodeHours, parameters: {over: 1h}}
- {name: disruptions}
- {name: wait}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: a, image: b, resources: {requests: {cpu: 1500m}}}]}
"""
TUNING = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Tuning
experiment: experiment.yaml
profile: default
objectives: [{metric: cost.autoscaled, goal: min}]
heldOut: {seeds: [7]}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("autoscaler.yaml").write_text(AUTOSCALER, encoding="utf-8")
    Path("pod.yaml").write_text(POD, encoding="utf-8")


def loaded(text: str) -> Experiment:
    Path("experiment.yaml").write_text(HEAD + METRICS + text, encoding="utf-8")
    return load_experiment("experiment.yaml")


def problems(text: str) -> list[str]:
    with pytest.raises(ExperimentErrors) as caught:
        loaded(text)
    return [str(problem) for problem in caught.value.problems]


def values_of(experiment: Experiment, cell: Cell) -> Mapping[str, object]:
    return run_cell(experiment, cell).values


@pytest.mark.long
def test_runs_have_the_nodes_of_their_autoscaler() -> None:
    experiment = loaded("autoscaler: autoscaler.yaml")
    values = values_of(experiment, experiment.cells[0])
    hour = 3600
    ordered = hour - 10.1
    assert values["nodeHours"] == pytest.approx(ordered / hour)
    assert values["cost.autoscaled"] == pytest.approx(2 * ordered / hour)
    assert (values["nodeHours.added"], values["nodeHours.most"]) == (1, 1)
    assert values["disruptions"] == 0
    assert values["wait.max"] == pytest.approx(100.1)


def test_runs_without_an_autoscaler_have_no_hours() -> None:
    experiment = loaded("")
    values = values_of(experiment, experiment.cells[0])
    assert values["nodeHours"] is None
    assert "cost.autoscaled" not in values


@pytest.mark.long
def test_flags_and_fields_are_varied() -> None:
    experiment = loaded(
        """
autoscaler: autoscaler.yaml
parameters:
- {name: waits, autoscaler: --new-pod-scale-up-delay, values: [0s, 30s]}
- {name: price, autoscaler: "groups[pool].price", values: [2, 4]}
"""
    )
    cells = {tuple(cell.profile.values.values()): cell for cell in experiment.cells}
    assert [*cells] == [("0s", 2), ("0s", 4), ("30s", 2), ("30s", 4)]
    quick = values_of(experiment, cells["0s", 4])
    late = values_of(experiment, cells["30s", 2])
    assert quick["cost.autoscaled"] == pytest.approx(4 * (3600 - 10.1) / 3600)
    assert late["wait.max"] == pytest.approx(130, abs=11)


@pytest.mark.long
def test_a_profile_may_have_its_own_autoscaler() -> None:
    other = AUTOSCALER.replace("price: 2", "price: 8")
    Path("other.yaml").write_text(other, encoding="utf-8")
    experiment = loaded(
        """
autoscaler: autoscaler.yaml
profiles: [{name: default}, {name: dear, config: default, autoscaler: other.yaml}]
"""
    )
    costs = [
        values_of(experiment, cell)["cost.autoscaled"] for cell in experiment.cells
    ]
    assert isinstance(costs[0], float)
    assert costs[1] == pytest.approx(4 * costs[0])


def test_mistakes_of_an_autoscaler_name_the_varied_value() -> None:
    [problem] = problems(
        """
autoscaler: autoscaler.yaml
parameters:
- {name: waits, autoscaler: --scan-interval, values: [often]}
"""
    )
    assert problem == (
        "autoscaler.yaml (with waits 'often'): flags: --scan-interval=often: "
        "expected a number or a time such as 10m, got 'often'"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("autoscaler: none.yaml", "none.yaml: No such file or directory"),
        (
            "parameters: [{name: a, autoscaler: --scan-interval, values: [1s]}]",
            f"{FILE}profiles[0]: expected an autoscaler, which a parameter changes",
        ),
        (
            "parameters: [{name: a, autoscaler: '[0]', values: [1]}]",
            f"{FILE}parameters[0].autoscaler: {PATH}, got '[0]'",
        ),
        (
            "parameters: [{name: a, values: [1]}]",
            f"{FILE}parameters[0]: expected one of config, input, autoscaler",
        ),
    ],
    ids=["no file", "no autoscaler", "no path", "nothing"],
)
def test_mistakes_are_reported(text: str, problem: str) -> None:
    assert problems(text) == [problem]


def test_a_tuning_searches_settings_of_the_autoscaler() -> None:
    loaded("autoscaler: autoscaler.yaml")
    Path("tuning.yaml").write_text(
        f"{TUNING}search: [{{name: most, autoscaler: 'groups[pool].max', "
        "integers: {lowest: 1, highest: 9}}]",
        encoding="utf-8",
    )
    candidate = load_tuning("tuning.yaml").candidate({"most": 5})
    assert candidate.autoscaler is not None
    groups = candidate.autoscaler.document["groups"]
    assert isinstance(groups, list)
    assert groups[0]["max"] == 5


def test_a_tuned_setting_needs_an_autoscaler() -> None:
    loaded("")
    search = "search: [{name: a, autoscaler: --scan-interval, choices: [1s, 2s]}]"
    Path("tuning.yaml").write_text(TUNING + search, encoding="utf-8")
    with pytest.raises(ExperimentErrors, match="expected an autoscaler of the profile"):
        load_tuning("tuning.yaml")


KARPENTER = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Karpenter
zones: [a]
catalogue: types.csv
nodePools:
- metadata: {name: general}
  spec: {template: {spec: {requirements: []}}}
"""
TYPES = "name,cpu,memory,pods,on-demand $/h\nm5.large,2,8Gi,29,0.1\n"


def key_of_run() -> str:
    """Return the hash of the run, by which results are found again."""
    experiment = loaded("autoscaler: autoscaler.yaml")
    return Fingerprints(experiment).of(experiment.cells[0])


@pytest.mark.long
def test_one_byte_of_an_autoscaler_or_its_catalogue_makes_another_run() -> None:
    before = key_of_run()
    assert key_of_run() == before
    Path("autoscaler.yaml").write_text(AUTOSCALER.replace("price: 2", "price: 3"))
    assert key_of_run() != before

    Path("autoscaler.yaml").write_text(KARPENTER)
    Path("types.csv").write_text(TYPES)
    before = key_of_run()
    assert key_of_run() == before
    Path("types.csv").write_text(TYPES.replace("0.1", "0.2"))
    assert key_of_run() != before


def test_catalogue_of_groups_makes_another_run_too() -> None:
    Path("autoscaler.yaml").write_text(f"{AUTOSCALER}catalogue: types.csv\n")
    Path("types.csv").write_text(TYPES)
    before = key_of_run()
    Path("types.csv").write_text(TYPES.replace("0.1", "0.2"))
    assert key_of_run() != before


TIDE = """
def read(content, source):
    def tide(context):
        raise NotImplementedError
    return tide
"""


def test_code_of_a_distributions_autoscaler_makes_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    (place / "tide-1.0.dist-info").mkdir(parents=True)
    entry = "[quaymaster.autoscalers]\nTide = quay_tide:read\n"
    (place / "tide-1.0.dist-info" / "entry_points.txt").write_text(entry)
    (place / "tide-1.0.dist-info" / "METADATA").write_text("Name: tide\nVersion: 1.0\n")
    (place / "quay_tide.py").write_text(TIDE)
    monkeypatch.syspath_prepend(place)
    Path("autoscaler.yaml").write_text(
        "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Tide\n"
    )
    before = key_of_run()
    assert key_of_run() == before
    (place / "quay_tide.py").write_text(f"{TIDE}# ebb\n")
    assert key_of_run() != before
