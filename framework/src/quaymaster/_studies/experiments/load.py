"""Loads experiment files: experiments that are ready to run."""

import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Final, cast

from quaymaster._base.errors import Problem
from quaymaster._base.suggestions import did_you_mean
from quaymaster._base.versions.kubernetes import Kubernetes, KubernetesError
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.load import parse_config, read_source
from quaymaster._core.config.naming import show
from quaymaster._core.config.typed_file import read_document, read_path
from quaymaster._core.config.yaml_file import read_yaml
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.experiments.autoscalers import (
    AutoscalerFile,
    check_setting,
    read_autoscaler_file,
)
from quaymaster._studies.experiments.errors import ExperimentErrors
from quaymaster._studies.experiments.experiment import Experiment, Part, registry_with
from quaymaster._studies.experiments.interference import Interference
from quaymaster._studies.experiments.metrics import Metric
from quaymaster._studies.experiments.model import (
    API_VERSION,
    KIND,
    Document,
    InputEntry,
    Parameter,
    ProfileEntry,
)
from quaymaster._studies.experiments.offers import (
    INPUTS,
    INTERFERENCES,
    METRICS,
    Used,
    import_class,
)
from quaymaster._studies.experiments.overriding import (
    FieldPathError,
    parse_field_path,
    set_field,
)

__all__ = ["COLUMNS", "load_experiment", "parse_experiment"]

COLUMNS: Final = ("input", "profile", "seed", "repetition")
"""The columns of every table of results."""


def load_experiment(file: str | PathLike[str]) -> Experiment:
    """Read an experiment file, and the configurations that it names.

    Args:
        file: The file; paths in it are relative to its folder.

    Raises:
        ExperimentErrors: The file is invalid; the error lists all mistakes.
    """
    try:
        source, content = read_path(file)
    except ConfigErrors as error:
        raise ExperimentErrors(error.problems) from error
    return parse_experiment(content, file=source)


def parse_experiment(text: str | bytes, *, file: str = "experiment.yaml") -> Experiment:
    """Read an experiment from its text, and the configurations that it names.

    Args:
        text: YAML or JSON.
        file: The path of the text: paths in it are relative to its folder.

    Raises:
        ExperimentErrors: The file is invalid; the error lists all mistakes.
    """
    content = text.encode() if isinstance(text, str) else text
    findings = Findings(file)
    try:
        document = read_document(
            content, findings, Document, api_version=API_VERSION, kind=KIND
        )
    except ConfigErrors as error:
        raise ExperimentErrors(error.problems) from error
    digest = hashlib.sha256(content).hexdigest()
    return _Loading(file, document, findings, digest).experiment()


class _Loading:
    """Completes one experiment.

    Args:
        file: Its path.
        document: Its content.
        findings: Receives mistakes.
        sha256: The hash of its text.
    """

    def __init__(
        self, file: str, document: Document, findings: Findings, sha256: str
    ) -> None:
        self._file = file
        self._folder = Path(file).parent
        self._document = document
        self._findings = findings
        self._sha256 = sha256
        self._problems: list[Problem] = []

    def experiment(self) -> Experiment:
        """The experiment.

        Raises:
            ExperimentErrors: Something is wrong.
        """
        document = self._document
        kubernetes, registry = self._kubernetes(), self._registry()
        self._check_parameters()
        self._stop_early()  # the fields that they set cannot be checked
        self._check_names()
        inputs = [
            part
            for index, entry in enumerate(document.inputs)
            for part in self._input_parts(entry, f"inputs[{index}]")
        ]
        profiles = [
            part
            for index, entry in enumerate(document.profiles)
            for part in self._profile_parts(
                entry, f"profiles[{index}]", registry, kubernetes
            )
        ]
        metrics, interference = self._metrics(), self._interference()
        self._stop_at_mistakes()
        return Experiment(
            name=document.name or Path(self._file).name.partition(".")[0],
            file=self._file,
            sha256=self._sha256,
            description=document.description,
            kubernetes=kubernetes,
            options=document.options.made(),
            plugins=document.plugins,
            inputs=inputs,
            profiles=profiles,
            parameters=[parameter.name for parameter in document.parameters],
            seeds=document.seeds,
            repetitions=document.repetitions,
            departures_first=document.departures_first,
            period=document.period,
            workload_seed=document.workload_seed,
            node_failures=document.node_failures,
            restarts=document.restarts,
            interference=interference,
            metrics=metrics,
        )

    def _metrics(self) -> Mapping[str, Used[Metric]]:
        used = {
            entry.name: METRICS.used(
                entry.use or entry.name,
                entry.parameters,
                self._findings,
                f"metrics[{index}].parameters",
                f"metrics[{index}].{'use' if entry.use else 'name'}",
            )
            for index, entry in enumerate(self._document.metrics)
        }
        return {name: metric for name, metric in used.items() if metric is not None}

    def _interference(self) -> Used[Interference] | None:
        entry = self._document.interference
        if entry is None:
            return None
        return INTERFERENCES.used(
            entry.use,
            entry.parameters,
            self._findings,
            "interference.parameters",
            "interference.use",
        )

    def _stop_early(self) -> None:
        """Stop at mistakes; those of metrics do not depend on them."""
        if self._findings.problems or self._problems:
            self._metrics()
            self._interference()
            self._stop_at_mistakes()

    def _stop_at_mistakes(self) -> None:
        problems = [*self._findings.problems, *self._problems]
        if problems:
            # Profiles that share an autoscaler file all find the same mistakes in it.
            raise ExperimentErrors(dict.fromkeys(problems))

    def _kubernetes(self) -> Kubernetes:
        document = self._document
        try:
            return Kubernetes(document.kubernetes_version, document.feature_gates)
        except KubernetesError as error:
            is_version = error.where == "kubernetes_version"
            key = "kubernetesVersion" if is_version else "featureGates"
            self._findings.add(key, error.problem)
            self._stop_early()
            raise

    def _registry(self) -> PluginRegistry:
        for name, origin in self._document.plugins.items():
            try:
                import_class(origin)
            except LookupError as error:
                self._findings.add(f"plugins.{name}", str(error.args[0]))
        self._stop_early()
        return registry_with(self._document.plugins)

    def _check_names(self) -> None:
        """Check that names are unique, since results are identified by them."""
        document = self._document
        taken: Iterable[tuple[str, Sequence[object]]] = (
            ("inputs", [part.name for part in document.inputs]),
            ("profiles", [profile.name for profile in document.profiles]),
            ("parameters", [parameter.name for parameter in document.parameters]),
            ("metrics", [metric.name for metric in document.metrics]),
            ("seeds", document.seeds),
        )
        for key, names in taken:
            for index, name in enumerate(names):
                first = names.index(name)
                if first != index:
                    what = "a seed" if key == "seeds" else "a name"
                    place = f"{key}[{index}]" + ("" if key == "seeds" else ".name")
                    message = f"expected {what} of its own, got that of {key}[{first}]"
                    self._findings.add(place, message)
        for index, parameter in enumerate(document.parameters):
            if parameter.name in COLUMNS:
                message = (
                    f"expected another name, got that of a column: {parameter.name}"
                )
                self._findings.add(f"parameters[{index}].name", message)

    def _check_parameters(self) -> None:
        for index, parameter in enumerate(self._document.parameters):
            place = f"parameters[{index}]"
            try:
                if parameter.config is not None:
                    parse_field_path(parameter.config)
                if parameter.autoscaler is not None:
                    check_setting(parameter.autoscaler)
            except FieldPathError as error:
                key = "config" if parameter.config is not None else "autoscaler"
                self._findings.add(f"{place}.{key}", str(error))
            entries: Sequence[InputEntry | ProfileEntry] = (
                self._document.inputs if parameter.input else self._document.profiles
            )
            names = [entry.name for entry in entries]
            for number, name in enumerate(parameter.only_for):
                if name not in names:
                    expected = ", ".join(names)
                    hint = did_you_mean(name, names)
                    message = f"expected one of {expected}, got {name!r}{hint}"
                    self._findings.add(f"{place}.onlyFor[{number}]", message)
            for number, value in enumerate(parameter.values):
                if parameter.values.index(value) != number:
                    message = f"expected each value once, got {show(value)} again"
                    self._findings.add(f"{place}.values[{number}]", message)

    def _input_parts(self, entry: InputEntry, place: str) -> Iterator[Part]:
        own = [
            parameter for parameter in self._parameters(entry.name) if parameter.input
        ]
        for values in _combinations(own):
            parameters = dict(entry.parameters)
            for parameter in own:
                assert parameter.input is not None
                parameters[parameter.input] = values[parameter.name]
            used = INPUTS.used(
                entry.use,
                parameters,
                self._findings,
                f"{place}.parameters{_with(values)}",
                f"{place}.use",
            )
            if used is not None:
                yield Part(name=entry.name, values=values, used=used)

    def _profile_parts(
        self,
        entry: ProfileEntry,
        place: str,
        registry: PluginRegistry,
        kubernetes: Kubernetes,
    ) -> Iterator[Part]:
        source = self._config_source(entry.config or entry.name)
        own = [
            parameter
            for parameter in self._parameters(entry.name)
            if parameter.config or parameter.autoscaler
        ]
        try:
            document = read_yaml(read_source(source), source)
            autoscaler = self._autoscaler(entry)
        except (ConfigErrors, ExperimentErrors) as error:
            self._problems += error.problems
            return
        if autoscaler is None and any(parameter.autoscaler for parameter in own):
            message = "expected an autoscaler, which a parameter changes"
            self._findings.add(place, message)
            return
        for values in _combinations(own):
            try:
                config, scaler = _changed(document, autoscaler, own, values)
                parse_config(
                    config,
                    registry,
                    source=f"{source}{_with(values)}",
                    kubernetes=kubernetes,
                )
            except FieldPathError as error:
                self._findings.add(f"{place}{_with(values)}", str(error))
            except (ConfigErrors, ExperimentErrors) as error:
                self._problems += error.problems
            else:
                yield Part(
                    name=entry.name, values=values, config=config, autoscaler=scaler
                )

    def _autoscaler(self, entry: ProfileEntry) -> AutoscalerFile | None:
        """Return the autoscaler of a profile, or None."""
        name = entry.autoscaler or self._document.autoscaler
        if name is None:
            return None
        return read_autoscaler_file(Path(os.path.normpath(self._folder / name)))

    def _parameters(self, name: str) -> Iterator[Parameter]:
        """Return the parameters of an input or a profile."""
        for parameter in self._document.parameters:
            if not parameter.only_for or name in parameter.only_for:
                yield parameter

    def _config_source(self, name: str) -> str:
        """Return a file relative to the experiment, or else the name unchanged."""
        path = os.path.normpath(self._folder / name)
        # With a suffix it is a file, and an error names its whole path; without one it
        # may be a shipped profile.
        return path if Path(path).exists() or Path(name).suffix else name


def _changed(
    document: object,
    autoscaler: AutoscalerFile | None,
    parameters: Iterable[Parameter],
    values: Mapping[str, object],
) -> tuple[Mapping[str, object], AutoscalerFile | None]:
    """Return a configuration and its autoscaler with the values of parameters.

    Raises:
        FieldPathError: A path leads through another type of value.
        ExperimentErrors: The autoscaler is invalid.
    """
    for parameter in parameters:
        value = values[parameter.name]
        if parameter.config is not None:
            document = set_field(document, parse_field_path(parameter.config), value)
        elif autoscaler is not None and parameter.autoscaler is not None:
            autoscaler = autoscaler.with_setting(parameter.autoscaler, value)
    if autoscaler is not None:
        autoscaler.check(_with(values))
    return cast("Mapping[str, object]", document), autoscaler


def _combinations(parameters: Sequence[Parameter]) -> Iterator[dict[str, object]]:
    names = [parameter.name for parameter in parameters]
    for values in itertools.product(*(parameter.values for parameter in parameters)):
        yield dict(zip(names, values, strict=True))


def _with(values: Mapping[str, object]) -> str:
    """Append the values of parameters to the place where they were set."""
    text = ", ".join(f"{name} {show(value)}" for name, value in values.items())
    return f" (with {text})" if text else ""
