"""Tuning files are parsed, and their mistakes are reported."""

from pathlib import Path

import pytest

from quaymaster.experiments import ExperimentErrors, Tuning, load_tuning, tuning_schema

HEAD = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Tuning
experiment: quay.yaml
profile: default
"""
WEIGHT = "profiles[0].plugins.multiPoint.enabled[NodeResourcesFit].weight"
SEARCH = f"""
search:
- {{name: fit, config: '{WEIGHT}', integers: {{lowest: 1, highest: 9}}}}
"""
GOAL = "objectives: [{metric: placed, goal: max}]\n"
HELD_OUT = "heldOut: {seeds: [7]}\n"
EXPERIMENT = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
inputs:
- {name: low, parameters: {nodes: ["2:cpu=4,memory=8Gi"]}}
- {name: high, parameters: {nodes: ["4:cpu=4,memory=8Gi"]}}
profiles: [{name: default}, {name: bin-packing}]
seeds: [1, 2]
metrics: [{name: placed}]
"""


def read(folder: Path, text: str, experiment: str = EXPERIMENT) -> Tuning:
    (folder / "quay.yaml").write_text(experiment)
    file = folder / "tuning.yaml"
    file.write_text(text)
    return load_tuning(file)


def reported_problems(
    folder: Path, text: str, experiment: str = EXPERIMENT
) -> list[str]:
    with pytest.raises(ExperimentErrors) as caught:
        read(folder, text, experiment)
    return [
        str(problem).replace(f"{folder}/tuning.yaml: ", "")
        for problem in caught.value.problems
    ]


def test_another_kind_of_file_is_an_error(tmp_path: Path) -> None:
    problems = reported_problems(tmp_path, EXPERIMENT)
    assert problems == ["kind: expected 'Tuning', got 'Experiment'"]


def test_other_profiles_are_rivals_and_other_inputs_are_training_data(
    tmp_path: Path,
) -> None:
    tuning = read(tmp_path, HEAD + SEARCH + GOAL + "heldOut: {inputs: [high]}\n")
    assert [rival.name for rival in tuning.rivals] == ["bin-packing"]
    assert [source.name for source in tuning.inputs] == ["low"]
    seen = {(cell.input.name, cell.seed) for cell in tuning.cells(tuning.profile)}
    judged = {
        (cell.input.name, cell.seed) for cell in tuning.held_out_cells(tuning.profile)
    }
    assert seen == {("low", 1), ("low", 2)}
    assert judged == {("high", 1), ("high", 2)}


def test_held_out_seeds_are_of_the_same_inputs(tmp_path: Path) -> None:
    tuning = read(tmp_path, HEAD + SEARCH + GOAL + HELD_OUT)
    judged = {
        (cell.input.name, cell.seed) for cell in tuning.held_out_cells(tuning.profile)
    }
    assert judged == {("low", 7), ("high", 7)}


def test_a_candidate_is_the_profile_with_other_values(tmp_path: Path) -> None:
    tuning = read(tmp_path, HEAD + SEARCH + GOAL + HELD_OUT)
    made, base = tuning.candidate({"fit": 5}).config, tuning.profile.config
    assert made is not None
    assert base is not None
    assert made != base
    assert tuning.why_not({"fit": 5}) == ""
    assert "weight" in tuning.why_not({"fit": -1})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            HEAD.replace("default", "defalt") + SEARCH + GOAL + HELD_OUT,
            "profile: expected one of default, bin-packing, got 'defalt'; did you mean",
        ),
        (
            HEAD + SEARCH + GOAL + "heldOut: {seeds: [2]}\n",
            "heldOut: expected runs that the search does not see, got input 'low' with",
        ),
        (HEAD + SEARCH + GOAL + "heldOut: {}\n", "heldOut: expected inputs, seeds, or"),
        (
            HEAD + SEARCH + GOAL + "heldOut: {inputs: [hihg]}\n",
            "heldOut.inputs[0]: expected one of low, high, got 'hihg'",
        ),
        (HEAD + "search: []\n" + GOAL + HELD_OUT, "search: expected at least one"),
        (
            HEAD + SEARCH.replace("lowest: 1", "lowest: 9") + GOAL + HELD_OUT,
            "search[0].integers.highest: expected at least lowest + step, 10, got 9",
        ),
        (
            HEAD + f"search: [{{name: a, config: '{WEIGHT}'}}]\n" + GOAL + HELD_OUT,
            "search[0]: expected one of integers, numbers and choices",
        ),
        (
            HEAD + SEARCH.replace(WEIGHT, "[0]") + GOAL + HELD_OUT,
            "search[0].config: expected a field such as profiles[0]",
        ),
        (
            HEAD + SEARCH + GOAL.replace("max", "most") + HELD_OUT,
            "objectives[0].goal: expected one of 'max', 'min', got 'most'",
        ),
        (
            HEAD
            + f"search: [{{name: a, config: '{WEIGHT}', numbers: "
            + "{lowest: 0, highest: 1, log: true}}]\n"
            + GOAL
            + HELD_OUT,
            "search[0].numbers.lowest: expected a number above 0 with log, got 0",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_place(
    tmp_path: Path, text: str, expected: str
) -> None:
    [problem] = reported_problems(tmp_path, text)
    assert problem.startswith(expected)


def test_a_profile_that_varies_cannot_be_tuned(tmp_path: Path) -> None:
    varied = EXPERIMENT + (
        f"parameters: [{{name: w, config: '{WEIGHT}', values: [1, 2]}}]\n"
    )
    [problem] = reported_problems(tmp_path, HEAD + SEARCH + GOAL + HELD_OUT, varied)
    assert problem.startswith(
        "profile: expected a profile without parameters of its own"
    )


def test_the_schema_names_what_is_required() -> None:
    definitions = tuning_schema()["$defs"]
    assert isinstance(definitions, dict)
    assert set(definitions["Document"]["required"]) >= {"experiment", "search"}
