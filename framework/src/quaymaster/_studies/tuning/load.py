"""Reads tuning files."""

import hashlib
import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.typed_file import read_document, read_path
from quaymaster._studies.experiments.autoscalers import check_setting
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.experiment import Experiment, Part
from quaymaster._studies.experiments.load import load_experiment
from quaymaster._studies.experiments.model import API_VERSION
from quaymaster._studies.experiments.overriding import FieldPathError, parse_field_path
from quaymaster._studies.tuning.model import KIND, Document
from quaymaster._studies.tuning.tuning import Objective, Tuning

__all__ = ["load_tuning"]


def load_tuning(file: str | PathLike[str]) -> Tuning:
    """Read a tuning file and its experiment.

    Args:
        file: The file; paths in it are relative to its folder.

    Raises:
        ExperimentErrors: A file is invalid; the error lists all mistakes.
    """
    try:
        source, content = read_path(file)
        findings = Findings(source)
        document = read_document(
            content, findings, Document, api_version=API_VERSION, kind=KIND
        )
    except ConfigErrors as error:
        raise ExperimentErrors(error.problems) from error
    place = os.path.normpath(Path(source).parent / document.experiment)
    experiment = load_experiment(place)
    loading = _Loading(document, experiment, findings)
    return loading.tuning(source, hashlib.sha256(content).hexdigest())


class _Loading:
    """Completes one tuning."""

    def __init__(
        self, document: Document, experiment: Experiment, findings: Findings
    ) -> None:
        self._document = document
        self._experiment = experiment
        self._findings = findings

    def tuning(self, file: str, sha256: str) -> Tuning:
        """The tuning.

        Raises:
            ExperimentErrors: Something is wrong.
        """
        document, experiment = self._document, self._experiment
        profile = self._profile()
        held_out = self._inputs(document.held_out.inputs, "heldOut.inputs")
        inputs = self._inputs(document.inputs, "inputs")
        if not document.inputs:
            kept = [part.name for part in held_out]
            inputs = [part for part in experiment.inputs if part.name not in kept]
            inputs = inputs or list(experiment.inputs)
        held_out = held_out or inputs
        seeds = document.held_out.seeds or tuple(experiment.seeds)
        self._check_fields(profile)
        if not self._findings.problems:
            self._check_held_out(inputs, held_out, seeds)
        if self._findings.problems or profile is None:
            raise ExperimentErrors(self._findings.problems)
        return Tuning(
            file=file,
            sha256=sha256,
            experiment=experiment,
            profile=profile,
            rivals=[
                rival for rival in experiment.profiles if rival.name != profile.name
            ],
            search=document.search,
            objectives=[
                Objective(objective.metric, objective.goal == "max")
                for objective in document.objectives
            ],
            inputs=inputs,
            seeds=experiment.seeds,
            held_out_inputs=held_out,
            held_out_seeds=seeds,
            trials=document.trials,
            seed=document.seed,
        )

    def _profile(self) -> Part | None:
        name, profiles = self._document.profile, self._experiment.profiles
        matches = [profile for profile in profiles if profile.name == name]
        names = list(dict.fromkeys(profile.name for profile in profiles))
        if not matches:
            hint = did_you_mean(name, names)
            message = f"expected one of {', '.join(names)}, got {name!r}{hint}"
            self._findings.add("profile", message)
            return None
        if len(matches) > 1:
            message = (
                f"expected a profile without parameters of its own: {name!r} has "
                f"{len(matches)} configurations in the experiment"
            )
            self._findings.add("profile", message)
        return matches[0]

    def _inputs(self, names: Sequence[str], place: str) -> Sequence[Part]:
        existing = list(dict.fromkeys(part.name for part in self._experiment.inputs))
        for index, name in enumerate(names):
            if name not in existing:
                hint = did_you_mean(name, existing)
                message = f"expected one of {', '.join(existing)}, got {name!r}{hint}"
                self._findings.add(f"{place}[{index}]", message)
        return [part for part in self._experiment.inputs if part.name in names]

    def _check_fields(self, profile: Part | None) -> None:
        for index, parameter in enumerate(self._document.search):
            place = f"search[{index}]"
            try:
                if parameter.config is not None:
                    parse_field_path(parameter.config)
                if parameter.autoscaler is not None:
                    check_setting(parameter.autoscaler)
            except FieldPathError as error:
                key = "config" if parameter.config is not None else "autoscaler"
                self._findings.add(f"{place}.{key}", str(error))
            if parameter.autoscaler and profile and profile.autoscaler is None:
                message = f"expected an autoscaler of the profile {profile.name}"
                self._findings.add(f"{place}.autoscaler", message)

    def _check_held_out(
        self, inputs: Sequence[Part], held_out: Sequence[Part], seeds: Sequence[int]
    ) -> None:
        """Check that the search does not use held-out runs."""
        names = [part.name for part in inputs]
        both = [part.name for part in held_out if part.name in names]
        for seed in seeds:
            if both and seed in self._experiment.seeds:
                message = (
                    "expected runs that the search does not see, got input "
                    f"{both[0]!r} with seed {seed}, on which it is tuned"
                )
                self._findings.add("heldOut", message)
                return
