"""A tuning that is ready to run."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import attrs

from quaymaster._base.errors import Problem
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.load import parse_config
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.experiment import (
    Cell,
    Experiment,
    Part,
    registry_with,
)
from quaymaster._studies.experiments.overriding import (
    FieldPathError,
    parse_field_path,
    set_field,
)
from quaymaster._studies.tuning.model import Dimension

__all__ = ["Objective", "Tuning"]


@attrs.frozen
class Objective:
    """A column, and whether higher values are better.

    Attributes:
        metric: The column.
        is_more_better: Whether its mean should be as large as possible.
    """

    metric: str
    is_more_better: bool


@attrs.frozen(kw_only=True)
class Tuning:
    """A tuning with the content of all files that it names.

    Attributes:
        file: Its path.
        sha256: The hash of its text.
        experiment: The experiment.
        profile: The original profile, which is tuned.
        rivals: The other profiles.
        search: The fields that are searched.
        objectives: The objectives.
        inputs: The inputs of the search.
        seeds: The seeds of the search.
        held_out_inputs: The inputs of the evaluation.
        held_out_seeds: The seeds of the evaluation.
        trials: How many configurations to try.
        seed: Decides which configurations are tried.
    """

    file: str
    sha256: str
    experiment: Experiment = attrs.field(repr=False)
    profile: Part
    rivals: Sequence[Part]
    search: Sequence[Dimension]
    objectives: Sequence[Objective]
    inputs: Sequence[Part]
    seeds: Sequence[int]
    held_out_inputs: Sequence[Part]
    held_out_seeds: Sequence[int]
    trials: int
    seed: int

    @property
    def name(self) -> str:
        """The name of its file, up to the first dot."""
        return Path(self.file).name.partition(".")[0]

    def cells(self, profile: Part) -> Sequence[Cell]:
        """Return the runs of the search for a configuration, in order."""
        return self._cells(profile, self.inputs, self.seeds)

    def held_out_cells(self, profile: Part) -> Sequence[Cell]:
        """Return the runs of the evaluation for a configuration, in order."""
        return self._cells(profile, self.held_out_inputs, self.held_out_seeds)

    def candidate(self, values: Mapping[str, object]) -> Part:
        """Return the tuned profile with values of the searched fields.

        Args:
            values: Field by its name -> value.

        Raises:
            ConfigErrors: The result is not a valid configuration.
            ExperimentErrors: A field does not exist in it.
        """
        document: object = self.profile.config
        scaler = self.profile.autoscaler
        for index, parameter in enumerate(self.search):
            value = values[parameter.name]
            try:
                if parameter.config is not None:
                    path = parse_field_path(parameter.config)
                    document = set_field(document, path, value)
                elif scaler is not None and parameter.autoscaler is not None:
                    scaler = scaler.with_setting(parameter.autoscaler, value)
            except FieldPathError as error:
                key = "config" if parameter.config is not None else "autoscaler"
                where = f"{self.file}: search[{index}].{key}"
                problem = Problem(where=where, message=str(error))
                raise ExperimentErrors([problem]) from error
        if scaler is not None:
            scaler.check()
        parse_config(
            document,
            registry_with(self.experiment.plugins),
            source=self.profile.name,
            kubernetes=self.experiment.kubernetes,
        )
        config = cast("Mapping[str, object]", document)
        return Part(
            name=self.profile.name, values=values, config=config, autoscaler=scaler
        )

    def why_not(self, values: Mapping[str, object]) -> str:
        """Return why values do not make a valid configuration; empty if they do."""
        try:
            self.candidate(values)
        except (ConfigErrors, ExperimentErrors) as error:
            return str(error)
        return ""

    def _cells(
        self, profile: Part, inputs: Sequence[Part], seeds: Sequence[int]
    ) -> Sequence[Cell]:
        return tuple(
            Cell(input=part, profile=profile, seed=seed, repetition=repetition)
            for part in inputs
            for seed in seeds
            for repetition in range(self.experiment.repetitions)
        )
