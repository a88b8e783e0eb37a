"""Finds runs at whose end pods still waited, by the columns of the metric ``wait``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs

from quaymaster._studies.experiments.metrics import Value

__all__ = ["Starvation", "starvation"]

_CENSORED: Final = ".censored"
_AT_LEAST: Final = ".at_least"


@attrs.frozen(kw_only=True)
class Starvation:
    """The pods that still waited at the end of runs, as one metric counts them.

    Attributes:
        metric: The name of the metric, such as ``wait``.
        runs: The positions of the runs with such pods.
        pods: How many such pods there are in all runs.
    """

    metric: str
    runs: Sequence[int]
    pods: int


def starvation(runs: Iterable[Mapping[str, Value]]) -> Sequence[Starvation]:
    """Return the pods that still waited at the end, for each metric that counts them.

    A metric counts them if it has a column ``censored``, and lower bounds whose names
    end with ``at_least``.

    Args:
        runs: The columns of each run.
    """
    counts: dict[str, dict[int, int]] = {}
    for number, values in enumerate(runs):
        for metric, count in _censored(values):
            counts.setdefault(metric, {})[number] = count
    return [
        Starvation(metric=metric, runs=list(pods), pods=sum(pods.values()))
        for metric, pods in counts.items()
    ]


def _censored(values: Mapping[str, Value]) -> Iterator[tuple[str, int]]:
    """Yield metrics that have lower bounds, and how many pods these concern."""
    for column, count in values.items():
        metric = column.removesuffix(_CENSORED)
        if metric == column or not isinstance(count, int) or count <= 0:
            continue
        if any(
            name.startswith(f"{metric}.") and name.endswith(_AT_LEAST)
            for name in values
        ):
            yield metric, count
