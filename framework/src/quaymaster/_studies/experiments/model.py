"""The format of experiment files."""

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

import attrs

from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES
from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import (
    duration,
    each,
    integer,
    matching,
    non_empty,
    one_of,
)
from quaymaster._studies.experiments.failures_entry import FailuresEntry
from quaymaster._studies.experiments.options_entry import OptionsEntry
from quaymaster._studies.experiments.period import Period
from quaymaster._studies.experiments.restarts_entry import RestartsEntry

__all__ = [
    "API_VERSION",
    "KIND",
    "Document",
    "InputEntry",
    "InterferenceEntry",
    "MetricEntry",
    "Parameter",
    "ProfileEntry",
]

API_VERSION: Final = "simulation.quaymaster.io/v1alpha1"
KIND: Final = "Experiment"

_a_text: Final = non_empty()
_a_name: Final = matching(r"[A-Za-z][\w-]*", "a name of letters, digits, - and _")


@attrs.frozen(kw_only=True)
class InputEntry:
    """The initial objects and the arrivals.

    Attributes:
        name: Its name in the results.
        use: Its source: a name that an installed distribution offers, such as
            ``manifests``, or a class as ``package.module:Class``.
        parameters: Its parameters.
    """

    name: str = attrs.field(validator=_a_name)
    use: str = attrs.field(default="manifests", validator=_a_text)
    parameters: Mapping[str, object] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class ProfileEntry:
    """A configuration of the scheduler.

    Attributes:
        name: Its name in the results.
        config: Its file, relative to the experiment, or the name of a shipped profile;
            by default the profile with this name.
        autoscaler: The file of its autoscaler, relative to the experiment; by default
            that of the experiment.
    """

    name: str = attrs.field(validator=_a_name)
    config: str | None = attrs.field(default=None, validator=_a_text)
    autoscaler: str | None = attrs.field(default=None, validator=_a_text)


@attrs.frozen(kw_only=True)
class Parameter:
    """A parameter of runs: each value is combined with all others.

    Attributes:
        name: Its name in the results.
        config: The field of the configurations that it sets, such as
            ``profiles[0].plugins.multiPoint.enabled[NodeResourcesFit].weight``: an
            element of a list is selected by its number or its name, and created if no
            element has that name.
        input: The parameter of the inputs that it sets.
        autoscaler: The setting of the autoscalers that it sets: a flag such as
            ``--scale-down-unneeded-time``, or a field such as ``groups[spot].max``.
        values: The values.
        only_for: The profiles or inputs with this parameter; by default all.
    """

    name: str = attrs.field(validator=_a_name)
    config: str | None = attrs.field(default=None, validator=_a_text)
    input: str | None = attrs.field(default=None, validator=_a_text)
    autoscaler: str | None = attrs.field(default=None, validator=_a_text)
    values: tuple[object, ...]
    only_for: tuple[str, ...] = ()

    def validate(self) -> "Sequence[ArgsError]":
        """Check that it sets one thing, to something."""
        problems = []
        ways = (self.config, self.input, self.autoscaler)
        if sum(way is not None for way in ways) != 1:
            problems.append(ArgsError("", "expected one of config, input, autoscaler"))
        if not self.values:
            problems.append(ArgsError("values", "expected at least one value"))
        return problems


@attrs.frozen(kw_only=True)
class MetricEntry:
    """The metrics.

    Attributes:
        name: The name of its columns.
        use: The metric: a name that an installed distribution offers, or a class as
            ``package.module:Class``; by default its name.
        parameters: Its parameters.
    """

    name: str = attrs.field(validator=_a_name)
    use: str | None = attrs.field(default=None, validator=_a_text)
    parameters: Mapping[str, object] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class InterferenceEntry:
    """How much pods slow each other down on a node.

    Attributes:
        use: A class as ``package.module:Class`` that derives from
            ``quaymaster.experiments.Interference``, or a name that an installed
            distribution offers.
        parameters: Its parameters.
    """

    use: str = attrs.field(validator=_a_text)
    parameters: Mapping[str, object] = attrs.field(factory=dict)


@attrs.frozen(kw_only=True)
class Document:
    """An experiment: each input with each profile, each value and each seed.

    Attributes:
        api_version: The format's group and version.
        kind: The format's name.
        name: Its name; by default the name of its file.
        description: A description.
        kubernetes_version: The Kubernetes version whose decisions are simulated, such
            as ``1.37``.
        feature_gates: The feature gates that differ from their defaults.
        options: Options of the scheduler that are not part of its configuration.
        plugins: Plugins that no installed distribution offers: name -> class, as
            ``package.module:Class``.
        inputs: The initial objects and the arrivals.
        profiles: The configurations of the scheduler.
        autoscaler: The file of an autoscaler that adds and removes nodes, relative to
            the experiment; by default nothing does.
        parameters: More parameters of runs.
        seeds: The seeds of random choices in runs: between equally good nodes, of
            generated names, and of the input.
        repetitions: How often each run is repeated. This helps for times only: all
            other results depend on the seed alone.
        metrics: The metrics.
        departures_first: Whether everything that is due at one moment, such as the end
            of a pod, happens before an arrival at that moment. With false, arrivals
            come first, each is tried, and then everything else happens one by one.
        horizon: The virtual time at which runs end; 0 to let the cluster settle. What
            would arrive then or later does not arrive.
        warm_up: The virtual time that does not count: means over time begin there, and
            metrics of single pods leave out the pods that were created before.
        workload_seed: The seed of the inputs of all runs; by default that of the run.
            With it, ``seeds`` vary only the scheduler's choices.
        node_failures: Nodes that fail and return at random times, until the horizon.
        restarts: What happens to the work of pods with a run time that are preempted,
            evicted or lost.
        interference: How much pods with a run time slow each other down; by default
            not at all.
    """

    api_version: str = attrs.field(validator=one_of(API_VERSION))
    kind: str = attrs.field(validator=one_of(KIND))
    name: str = ""
    description: str = ""
    kubernetes_version: str = DEFAULT_KUBERNETES.version
    feature_gates: Mapping[str, bool] = attrs.field(factory=dict)
    options: OptionsEntry = OptionsEntry()
    plugins: Mapping[str, str] = attrs.field(factory=dict)
    inputs: tuple[InputEntry, ...]
    profiles: tuple[ProfileEntry, ...] = (ProfileEntry(name="default"),)
    autoscaler: str | None = attrs.field(default=None, validator=_a_text)
    parameters: tuple[Parameter, ...] = ()
    seeds: tuple[int, ...] = attrs.field(default=(0,), validator=each(integer(0)))
    repetitions: int = attrs.field(default=1, validator=integer(1, 1_000_000))
    metrics: tuple[MetricEntry, ...]
    departures_first: bool = True
    horizon: timedelta = attrs.field(
        default=timedelta(), validator=duration(timedelta())
    )
    warm_up: timedelta = attrs.field(
        default=timedelta(), validator=duration(timedelta())
    )
    workload_seed: int | None = attrs.field(default=None, validator=integer(0))
    node_failures: tuple[FailuresEntry, ...] = ()
    restarts: RestartsEntry = RestartsEntry()
    interference: InterferenceEntry | None = None

    @property
    def period(self) -> Period:
        """When runs end, and from when on they count."""
        horizon = self.horizon.total_seconds() or math.inf
        return Period(horizon=horizon, warm_up=self.warm_up.total_seconds())

    def validate(self) -> "Sequence[ArgsError]":
        """Check that no required list is empty, and that a part of runs counts."""
        problems = [
            ArgsError(name, "expected at least one")
            for name in ("inputs", "profiles", "seeds", "metrics")
            if not getattr(self, name)
        ]
        if self.horizon and self.warm_up >= self.horizon:
            problems.append(ArgsError("warmUp", "expected less than the horizon"))
        if self.node_failures and not self.horizon:
            message = "expected a horizon, since nodes fail again and again"
            problems.append(ArgsError("horizon", message))
        return problems
