"""Finds one number among the metrics of plugins, for tests."""

from collections.abc import Iterator, Mapping, Sequence

from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.runtime.measures import Labels, Measured
from quaymaster._core.runtime.plugin_metrics import PluginMetric, metric_prefix

__all__ = ["number_of"]


def number_of(
    metrics: Sequence[PluginMetric],
    plugin: str,
    name: str,
    labels: Mapping[str, str],
    profile: str = "",
) -> float:
    """Return a number; see `quaymaster.testing.PluginHarness.metric`.

    Args:
        metrics: All metrics.
        plugin: The plugin's name.
        name: The name without the prefix.
        labels: The values of the labels, without ``profile``.
        profile: The profile; by default the sum of all profiles.

    Raises:
        LookupError: No metric has this name, or it has never been written with
            these labels.
    """
    prefix = metric_prefix(plugin)
    numbers: dict[str, list[tuple[dict[str, str], float]]] = {}
    for metric in metrics:
        if metric.plugin == plugin:
            for key, values, number in _numbers(metric):
                pairs = dict(zip(metric.labels, values, strict=True))
                numbers.setdefault(key.removeprefix(prefix), []).append((pairs, number))
            numbers.setdefault(metric.name.removeprefix(prefix), [])
    if name not in numbers:
        names = ", ".join(sorted(numbers)) or "none"
        hint = did_you_mean(name, numbers)
        raise LookupError(f"{plugin} has no metric '{name}' (metrics: {names}){hint}")
    matching = [
        number
        for pairs, number in numbers[name]
        if profile in ("", pairs.pop("profile")) and pairs == labels
    ]
    if not matching:
        written = "; ".join(str(pairs) for pairs, _ in numbers[name]) or "nothing"
        raise LookupError(
            f"{plugin}: metric '{name}' was never written with {dict(labels)} "
            f"(written: {written})"
        )
    return sum(matching)


def _numbers(metric: PluginMetric) -> Iterator[tuple[str, Labels, float]]:
    for labels, value in metric.values.items():
        if isinstance(value, Measured):
            yield f"{metric.name}_count", labels, sum(value.counts)
            yield f"{metric.name}_sum", labels, value.total
        else:
            yield metric.name, labels, value
