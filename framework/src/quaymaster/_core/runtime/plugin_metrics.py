"""The metrics of plugins: their definitions and their numbers, for one scheduler.

Upstream's plugins register their metrics with Prometheus' client themselves (Kubernetes
v1.37, ``pkg/scheduler/metrics/metrics.go``). Here the scheduler keeps the numbers, so
that a simulation has them, too.
"""

import logging
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, TypeAlias
from weakref import WeakSet

import attrs

from quaymaster._core.contract.plugin_metrics import MetricError, MetricKind
from quaymaster._core.runtime.measures import Histogram, Labels, Measured, exponential

__all__ = [
    "DEFAULT_BUCKETS",
    "MetricOwner",
    "PluginMetric",
    "PluginMetrics",
    "metric_prefix",
]

Post: TypeAlias = Callable[[Callable[[], None]], None]

DEFAULT_BUCKETS: Final = exponential(0.001, 2, 15)
"""From 1 ms to 16 s, as upstream's for attempts."""

_MOST_SERIES: Final = 1000
"""A bound on memory: a label like the name of a pod has a value for every pod."""

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_OWN_SUFFIXES: Final = ("_bucket", "_count", "_sum", "_created", "_info")
_OWN_LABELS: Final = frozenset({"profile", "le"})

_log = logging.getLogger(__name__)


def metric_prefix(plugin: str) -> str:
    """Return the beginning of the names of a plugin's metrics.

    ``SpotPrice`` has ``quaymaster_spot_price_``.
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", plugin)
    return f"quaymaster_{re.sub(r'[^a-z0-9]+', '_', words.lower())}_"


@attrs.frozen(kw_only=True, eq=False)
class PluginMetric:
    """A metric of a plugin with its numbers, at one moment.

    Attributes:
        name: The full name, as on ``/metrics``.
        plugin: The plugin.
        kind: The type.
        description: What it counts.
        labels: The names of its labels; the first is ``profile``.
        bounds: The upper bounds of the buckets of a histogram.
        values: The values of the labels -> the number, or the counts of a histogram.
    """

    name: str
    plugin: str
    kind: MetricKind
    description: str
    labels: tuple[str, ...]
    bounds: tuple[float, ...]
    values: Mapping[Labels, float | Measured]


@attrs.frozen(eq=False)
class MetricOwner:
    """A plugin of a profile.

    Attributes:
        profile: The profile's scheduler name.
        plugin: The plugin's name.
        generation: The same object for all plugins that are built together: those of
            a reloaded profile have another one.
    """

    profile: str
    plugin: str
    generation: object

    @property
    def key(self) -> tuple[str, str]:
        """Profile and plugin."""
        return self.profile, self.plugin


@attrs.frozen(kw_only=True)
class _Definition:
    """What the plugin has declared; equal in all profiles."""

    kind: MetricKind
    description: str
    labels: tuple[str, ...]
    bounds: tuple[float, ...]

    def __str__(self) -> str:
        labels = ", ".join(self.labels) or "no labels"
        return f"a {self.kind} with {labels}: {self.description}"


class _Family:
    """One metric with its numbers."""

    def __init__(self, plugin: str, name: str, definition: _Definition) -> None:
        self.plugin = plugin
        self.name = name
        self.definition = definition
        # Profile and plugin -> the generation that has made it last.
        self.owners: dict[tuple[str, str], object] = {}
        self.numbers: dict[Labels, float] = {}
        self.histograms: dict[Labels, Histogram] = {}
        self._is_full = False

    def has_room(self, series: Collection[Labels], labels: Labels) -> bool:
        """Whether a combination of labels may be counted; warn of the first other."""
        if labels in series or len(series) < _MOST_SERIES:
            return True
        if not self._is_full:
            self._is_full = True
            text = (
                "plugin '%s': metric '%s' has more than %d combinations of labels: "
                "further ones are not counted"
            )
            _log.warning(text, self.plugin, self.name, _MOST_SERIES)
        return False

    def snapshot(self) -> PluginMetric:
        """Return the metric with its current numbers."""
        values: dict[Labels, float | Measured] = dict(self.numbers)
        for labels, histogram in self.histograms.items():
            values[labels] = histogram.measured()
        definition = self.definition
        return PluginMetric(
            name=metric_prefix(self.plugin) + self.name,
            plugin=self.plugin,
            kind=definition.kind,
            description=definition.description,
            labels=("profile", *definition.labels),
            bounds=definition.bounds,
            values=values,
        )


class _Instrument:
    """A metric in the hands of one plugin.

    It implements `CounterMetric`, `GaugeMetric` and `HistogramMetric`; a plugin gets it
    as one of them.

    Args:
        family: The metric.
        profile: The plugin's profile.
        metrics: The metrics of the scheduler.
    """

    __slots__ = ("_family", "_labels", "_metrics", "_profile")

    def __init__(self, family: _Family, profile: str, metrics: "PluginMetrics") -> None:
        self._family = family
        self._labels = family.definition.labels
        self._profile = profile
        self._metrics = metrics

    def add(self, amount: float = 1, /, **labels: str) -> None:
        """See `CounterMetric.add`."""
        key = self._key(labels)
        self._check_number(amount)
        if amount < 0:
            raise self._error(f"expected an amount from 0, got {amount!r}")
        self._metrics.run_here(lambda: self._add(key, amount))

    def set(self, value: float, /, **labels: str) -> None:
        """See `GaugeMetric.set`."""
        key = self._key(labels)
        self._check_number(value)
        self._metrics.run_here(lambda: self._set(key, value))

    def observe(self, value: float, /, **labels: str) -> None:
        """See `HistogramMetric.observe`."""
        key = self._key(labels)
        self._check_number(value)
        self._metrics.run_here(lambda: self._observe(key, value))

    def _add(self, key: Labels, amount: float) -> None:
        numbers = self._family.numbers
        if self._family.has_room(numbers, key):
            numbers[key] = numbers.get(key, 0) + amount

    def _set(self, key: Labels, value: float) -> None:
        numbers = self._family.numbers
        if self._family.has_room(numbers, key):
            numbers[key] = value

    def _observe(self, key: Labels, value: float) -> None:
        histograms = self._family.histograms
        if self._family.has_room(histograms, key):
            if key not in histograms:
                histograms[key] = Histogram(self._family.definition.bounds)
            histograms[key].observe(value)

    def _key(self, labels: Mapping[str, str]) -> Labels:
        names = self._labels
        if len(labels) != len(names) or any(name not in labels for name in names):
            expected = ", ".join(names) or "none"
            got = ", ".join(labels) or "none"
            raise self._error(f"expected the labels {expected}, got {got}")
        values = tuple([labels[name] for name in names])
        for name, value in zip(names, values, strict=True):
            text: object = value
            if not isinstance(text, str):
                raise self._error(f"label {name}: expected a text, got {text!r}")
        return (self._profile, *values)

    def _check_number(self, value: object) -> None:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):  # type: ignore[arg-type]  # it is a number
            raise self._error(f"expected a finite number, got {value!r}")

    def _error(self, problem: str) -> MetricError:
        return MetricError(self._family.plugin, self._family.name, problem)


class PluginMetrics:
    """The metrics of the plugins of one scheduler.

    Args:
        post: Runs a call on the scheduler's thread; may be called from any thread.
        is_own_thread: Whether the calling thread is the scheduler's.
    """

    def __init__(self, post: Post, is_own_thread: Callable[[], bool]) -> None:
        self._post = post
        self._is_own_thread = is_own_thread
        self._families: dict[str, _Family] = {}
        self._is_paused = False
        self._sealed: WeakSet[object] = WeakSet()

    def set_paused(self, is_paused: bool) -> bool:
        """Set whether the scheduler's thread counts nothing; return what it was.

        It is for calls of hooks that make no decision, such as an explanation.
        """
        was_paused, self._is_paused = self._is_paused, is_paused
        return was_paused

    def add(
        self,
        owner: MetricOwner,
        kind: MetricKind,
        name: str,
        description: str,
        labels: Collection[str] = (),
        bounds: Collection[float] = (),
    ) -> _Instrument:
        """Make a metric of a plugin; see `quaymaster.Handle.counter`.

        Profiles with the same plugin share the metric, and so do a plugin and the one
        that replaces it.

        Raises:
            MetricError: The definition is wrong, the plugin has this metric already, it
                has started already, or another profile has defined it in another way.
            RuntimeError: The calling thread is not the scheduler's.
        """
        if not self._is_own_thread():
            raise RuntimeError(
                f"metric {name!r}: made on another thread, expected the scheduling "
                "thread: make it in the constructor or in start"
            )
        problem = _problem(kind, name, description, labels, bounds)
        if owner.generation in self._sealed:
            problem = (
                "made in a hook or callback, after the start of the plugin: make it in "
                "the constructor or in start, and keep it"
            )
        if problem:
            raise MetricError(owner.plugin, name, problem)
        definition = _Definition(
            kind=kind,
            description=description,
            labels=tuple(labels),
            bounds=tuple(map(float, bounds)),
        )
        family = self._family(owner, name, definition)
        family.owners[owner.key] = owner.generation
        if kind is MetricKind.COUNTER and not labels:
            # Sums over time need the zero before the first event.
            family.numbers.setdefault((owner.profile,), 0)
        return _Instrument(family, owner.profile, self)

    def run_here(self, call: Callable[[], None]) -> None:
        """Make a call at once on the scheduler's thread; post it from any other.

        While the metrics are `paused`, calls of the scheduler's thread are dropped.
        """
        if self._is_own_thread():
            if not self._is_paused:
                call()
        else:
            self._post(call)

    def seal(self, generation: object) -> None:
        """Accept no new metrics of plugins that have started.

        Otherwise a metric would be missing until its first use, and the second use
        would fail.
        """
        self._sealed.add(generation)

    def retire(self, generation: object) -> None:
        """Release the metrics of plugins that end; their numbers are kept."""
        for family in self._families.values():
            for key, owner in list(family.owners.items()):
                # Identity: each build of a profile has an object of its own.
                if owner is generation:
                    del family.owners[key]

    def drop_unowned(self) -> None:
        """Drop the numbers of plugins that a reload has removed."""
        for name, family in list(self._families.items()):
            profiles = {profile for profile, _ in family.owners}
            if not profiles:
                del self._families[name]
            for numbers in (family.numbers, family.histograms):
                for labels in [each for each in numbers if each[0] not in profiles]:
                    del numbers[labels]

    def metrics(self) -> Sequence[PluginMetric]:
        """Return all metrics with their numbers, by name."""
        families = self._families
        return [families[name].snapshot() for name in sorted(families)]

    def _family(
        self, owner: MetricOwner, name: str, definition: _Definition
    ) -> _Family:
        full = metric_prefix(owner.plugin) + name
        family = self._families.get(full)
        if family is None:
            family = self._families[full] = _Family(owner.plugin, name, definition)
            return family
        if family.plugin != owner.plugin:
            problem = f"{full} is a metric of plugin '{family.plugin}'"
            raise MetricError(owner.plugin, name, problem)
        # Identity: as above. The plugin of an earlier build may have the same metric.
        if family.owners.get(owner.key) is owner.generation:
            problem = "it exists already: make it once, in the constructor"
            raise MetricError(owner.plugin, name, problem)
        if family.definition == definition:
            return family
        others = [profile for profile, _ in family.owners if profile != owner.profile]
        if others:
            problem = (
                f"profile '{others[0]}' has {family.definition}; expected the same in "
                f"all profiles, got {definition}"
            )
            raise MetricError(owner.plugin, name, problem)
        # A reload with other arguments: the old numbers have other labels or buckets.
        family = self._families[full] = _Family(owner.plugin, name, definition)
        return family


def _problem(
    kind: MetricKind,
    name: object,
    description: object,
    labels: Collection[object],
    bounds: Collection[object],
) -> str:
    """Describe the error in a definition; empty if it is valid."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "expected a name in snake_case, such as fetches_total"
    is_total = name.endswith("_total")
    if is_total != (kind is MetricKind.COUNTER):
        verb = "must" if kind is MetricKind.COUNTER else "must not"
        return f"the name of a {kind} {verb} end with _total"
    for suffix in _OWN_SUFFIXES:
        if name.endswith(suffix):
            return f"Prometheus itself adds the ending {suffix}: use another name"
    if not isinstance(description, str) or not description.strip():
        return f"expected a description, got {description!r}"
    return _labels_problem(labels) or _bounds_problem(kind, bounds)


def _labels_problem(labels: object) -> str:
    if isinstance(labels, str) or not isinstance(labels, Collection):
        return f"expected the names of labels, such as ('result',), got {labels!r}"
    for label in labels:
        if not isinstance(label, str) or not _NAME.fullmatch(label):
            return f"expected labels in snake_case, got {label!r}"
        if label in _OWN_LABELS:
            return f"the label {label} is added automatically: use another name"
    if len(set(labels)) != len(labels):
        return f"expected different labels, got {', '.join(map(str, labels))}"
    return ""


def _bounds_problem(kind: MetricKind, bounds: Collection[object]) -> str:
    if kind is not MetricKind.HISTOGRAM:
        return ""
    numbers = [bound for bound in bounds if isinstance(bound, int | float)]
    is_finite = len(numbers) == len(bounds) and all(map(math.isfinite, numbers))
    if not numbers or not is_finite or numbers != sorted(set(numbers)):
        return f"expected ascending buckets, got {list(bounds)!r}"
    return ""
