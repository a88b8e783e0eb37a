"""An experiment that is ready to run, and its runs."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.installed import installed_plugins
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.experiments.autoscalers import AutoscalerFile
from quaymaster._studies.experiments.failures_entry import FailuresEntry
from quaymaster._studies.experiments.inputs import ExperimentInput
from quaymaster._studies.experiments.interference import Interference
from quaymaster._studies.experiments.metrics import Metric
from quaymaster._studies.experiments.offers import Used, import_class
from quaymaster._studies.experiments.period import Period
from quaymaster._studies.experiments.restarts_entry import RestartsEntry

__all__ = ["Cell", "Experiment", "Part", "registry_with"]


@attrs.frozen(kw_only=True)
class Part:
    """An input or a configuration with some values of the parameters.

    Attributes:
        name: The name of the input or of the profile.
        values: Parameter -> value, for the parameters that apply to it.
        used: The input; None for a configuration.
        config: The document of the configuration; None for an input.
        autoscaler: The autoscaler of a configuration; None without one.
    """

    name: str
    values: Mapping[str, object]
    used: Used[ExperimentInput] | None = attrs.field(default=None, repr=False)
    config: Mapping[str, object] | None = attrs.field(default=None, repr=False)
    autoscaler: AutoscalerFile | None = attrs.field(default=None, repr=False)


@attrs.frozen(kw_only=True)
class Cell:
    """One run of an experiment.

    Attributes:
        input: The initial objects and the arrivals.
        profile: The configuration.
        seed: The seed of random choices.
        repetition: Its number among equal runs, from 0.
    """

    input: Part
    profile: Part
    seed: int
    repetition: int

    @property
    def labels(self) -> Mapping[str, object]:
        """The labels that identify the run: the first columns of the results."""
        return {
            "input": self.input.name,
            "profile": self.profile.name,
            **self.input.values,
            **self.profile.values,
            "seed": self.seed,
            "repetition": self.repetition,
        }

    def __str__(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.labels.items())


@attrs.frozen(kw_only=True)
class Experiment:
    """An experiment with the content of all files that it names; it can be pickled.

    Attributes:
        name: Its name.
        file: Its path.
        sha256: The hash of its text.
        description: A description.
        kubernetes: The simulated version of Kubernetes.
        options: Options of the scheduler that are not part of its configuration.
        plugins: Plugins in addition to the installed ones: name ->
            ``package.module:Class``.
        inputs: The inputs, each with all values of its parameters.
        profiles: The configurations, each with all values of its parameters.
        parameters: The names of the parameters, in the order of the file.
        seeds: The seeds of random choices in runs.
        repetitions: How often each run is made.
        metrics: Name -> metric.
        departures_first: Whether everything that is due at one moment happens before an
            arrival at that moment.
        period: When runs end, and from when on they count.
        workload_seed: The seed of the inputs of all runs; None for that of the run.
        node_failures: Nodes that fail and return at random times.
        restarts: What happens to the work of pods that lose their node.
        interference: How much pods slow each other down; None for not at all.
    """

    name: str
    file: str
    sha256: str
    description: str = ""
    kubernetes: Kubernetes
    options: SchedulerOptions = SchedulerOptions()
    plugins: Mapping[str, str] = attrs.field(factory=dict)
    inputs: Sequence[Part] = attrs.field(repr=False)
    profiles: Sequence[Part] = attrs.field(repr=False)
    parameters: Sequence[str] = ()
    seeds: Sequence[int]
    repetitions: int = 1
    metrics: Mapping[str, Used[Metric]]
    departures_first: bool = True
    period: Period = Period()
    workload_seed: int | None = None
    node_failures: Sequence[FailuresEntry] = ()
    restarts: RestartsEntry = RestartsEntry()
    interference: Used[Interference] | None = None

    @property
    def folder(self) -> Path:
        """The folder that other files are relative to."""
        return Path(self.file).parent

    @property
    def labels(self) -> Sequence[str]:
        """The first columns of the results, which identify the runs."""
        return ("input", "profile", *self.parameters, "seed", "repetition")

    @property
    def cells(self) -> Sequence[Cell]:
        """All runs, in the order of the file; the last parameter changes fastest."""
        return tuple(
            Cell(input=given, profile=profile, seed=seed, repetition=repetition)
            for given, profile, seed, repetition in itertools.product(
                self.inputs, self.profiles, self.seeds, range(self.repetitions)
            )
        )


def registry_with(plugins: Mapping[str, str]) -> PluginRegistry:
    """Return the installed plugins and additional ones.

    Args:
        plugins: Name -> ``package.module:Class``.

    Raises:
        LookupError: A class does not exist.
    """
    registry = installed_plugins()
    for name, origin in plugins.items():
        registry = registry.with_plugin(import_class(origin), name)
    return registry
