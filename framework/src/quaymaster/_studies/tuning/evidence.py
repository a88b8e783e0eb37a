"""Writes the results of a tuning: configurations with their evidence, and tables."""

import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Final

from quaymaster._base.files import write_whole
from quaymaster._base.yaml_text import yaml_text
from quaymaster._studies.comparing.estimates import Estimate
from quaymaster._studies.experiments.experiment import Part
from quaymaster._studies.experiments.store import write_csv
from quaymaster._studies.tuning.judging import Contender, Judged, mean_text
from quaymaster._studies.tuning.trials import Trial, TrialOutcome
from quaymaster._studies.tuning.tuning import Tuning

__all__ = ["write_found", "write_summary", "write_trials"]

_LIBRARIES: Final = ("quaymaster", "optuna", "numpy")


def write_found(
    tuning: Tuning, judged: Judged, trials: Sequence[Trial], folder: Path
) -> Sequence[Path]:
    """Write the best configurations, as files that all commands accept.

    If settings of an autoscaler were tuned, its file is written beside each.

    Args:
        tuning: The tuning.
        judged: The evaluated configurations.
        trials: All trials.
        folder: The folder of the files.

    Returns:
        The files.
    """
    files = []
    for contender in judged.found:
        file = folder / f"{contender.name.replace(' ', '-')}.yaml"
        lines = _evidence(tuning, judged, contender, trials)
        comments = "".join(f"# {line}".rstrip() + "\n" for line in lines)
        text = comments + yaml_text(dict(contender.profile.config or {}))
        write_whole(file, text.encode())
        files.append(file)
        scaler = contender.profile.autoscaler
        if scaler is not None and any(each.autoscaler for each in tuning.search):
            file = file.with_suffix(".autoscaler.yaml")
            text = comments + yaml_text(dict(scaler.document))
            write_whole(file, text.encode())
            files.append(file)
    return files


def write_trials(tuning: Tuning, trials: Iterable[Trial], folder: Path) -> None:
    """Write ``trials.csv``: the trials and their results.

    Args:
        tuning: The tuning.
        trials: The trials.
        folder: The folder of the file.
    """
    fields = [parameter.name for parameter in tuning.search]
    metrics = [objective.metric for objective in tuning.objectives]
    rows = (
        [
            trial.number,
            *(_cell(trial.fields[name]) for name in fields),
            trial.outcome.value,
            trial.runs,
            *_in_cells(trial.values, len(metrics)),
            trial.cause,
        ]
        for trial in trials
    )
    names = ["trial", *fields, "outcome", "runs", *metrics, "cause"]
    write_csv(folder / "trials.csv", names, rows)


def write_summary(tuning: Tuning, judged: Judged, folder: Path) -> None:
    """Write ``tuning.json``: the estimates, the differences, and their origin.

    Args:
        tuning: The tuning.
        judged: The evaluated configurations.
        folder: The folder of the file.
    """
    document = {
        "tuning": tuning.file,
        "sha256": tuning.sha256,
        "experiment": tuning.experiment.file,
        "experimentSha256": tuning.experiment.sha256,
        "kubernetes": tuning.experiment.kubernetes.version,
        "seed": tuning.seed,
        "objectives": [
            {
                "metric": objective.metric,
                "goal": "max" if objective.is_more_better else "min",
            }
            for objective in tuning.objectives
        ],
        "known": [_summary(tuning, contender) for contender in judged.known],
        "found": [_summary(tuning, contender) for contender in judged.found],
        "failed": dict(judged.failed),
        "versions": {name: metadata.version(name) for name in _LIBRARIES},
        "python": platform.python_version(),
    }
    text = json.dumps(document, indent=2, default=str) + "\n"
    write_whole(folder / "tuning.json", text.encode())


def _summary(tuning: Tuning, contender: Contender) -> dict[str, object]:
    metrics = [objective.metric for objective in tuning.objectives]
    return {
        "name": contender.name,
        "fields": dict(contender.trial.fields) if contender.trial else {},
        "tuned": dict(zip(metrics, map(_numbers, contender.tuned), strict=True)),
        "heldOut": dict(zip(metrics, map(_numbers, contender.held_out), strict=True)),
        "differences": [
            {
                "against": each.against,
                "metric": each.objective.metric,
                **_numbers(each.estimate),
                "verdict": each.verdict,
            }
            for each in contender.differences
        ],
    }


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    return {"mean": estimate.mean, "halfWidth": estimate.half_width}


def _evidence(
    tuning: Tuning, judged: Judged, contender: Contender, trials: Sequence[Trial]
) -> Iterator[str]:
    """Yield the facts about a configuration of the search."""
    assert contender.trial is not None, "it was found by a trial"
    complete = sum(trial.outcome is TrialOutcome.COMPLETE for trial in trials)
    fields = ", ".join(
        f"{key} {value}" for key, value in contender.trial.fields.items()
    )
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _LIBRARIES)
    yield f"Found by quaymaster tune {tuning.file} (sha256 {tuning.sha256[:12]}):"
    yield f"{tuning.profile.name} with {fields}."
    number = contender.trial.number
    yield f"Trial {number} of {len(trials)}, {complete} of them complete."
    yield f"{versions}; Kubernetes {tuning.experiment.kubernetes.version}."
    yield ""
    yield f"Tuned on {_runs_of(tuning.inputs, tuning.seeds)}."
    yield f"Held out: {_runs_of(tuning.held_out_inputs, tuning.held_out_seeds)}."
    yield "Means over runs, with 95 % confidence:"
    for number, objective in enumerate(tuning.objectives):
        goal = "more" if objective.is_more_better else "less"
        yield ""
        yield f"{objective.metric} ({goal} is better)"
        for each in (*judged.known, contender):
            tuned = mean_text(each.tuned[number])
            held_out = mean_text(each.held_out[number])
            yield f"  {each.name}: tuned {tuned}, held out {held_out}"
        for difference in contender.differences:
            if difference.objective == objective:
                yield f"  {difference}"


def _runs_of(inputs: Sequence[Part], seeds: Sequence[int]) -> str:
    names = ", ".join(dict.fromkeys(part.name for part in inputs))
    return f"{names} with seeds {', '.join(map(str, seeds))}"


def _in_cells(values: Sequence[float], count: int) -> Sequence[object]:
    """Return a cell for each value; empty cells without values."""
    return values or [None] * count


def _cell(value: object) -> object:
    return json.dumps(value) if isinstance(value, dict | list) else value
