"""A check: the series of a plugin's metrics do not grow with the pods."""

from collections.abc import Mapping
from typing import Final

from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.pod_lives import live
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._core.runtime.plugin_metrics import metric_prefix

__all__ = ["METRICS"]

_PODS: Final = 6
"""The pods of each round."""


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    if not _series(bench):
        return  # metrics are made in the constructor or in start
    for pod in cluster.pending:
        copies = copies_of(pod, 2 * _PODS)
        counts = []
        for round_of_copies in (copies[:_PODS], copies[_PODS:]):
            for copy in round_of_copies:
                walk(bench, copy)
                live(bench, copy)
            counts.append(_series(bench))
        first, second = counts
        for name, count in second.items():
            more = count - first[name]
            if more >= _PODS:
                text = (
                    f"metric '{name}' has {more} more series after {_PODS} more pods "
                    "that differ in their names only: a label must have few values, "
                    "and not one for each pod"
                )
                fail("", text, pod, cluster.nodes)


def _series(bench: Bench) -> Mapping[str, int]:
    """Return the number of combinations of labels of each metric."""
    prefix = metric_prefix(bench.subject.name)
    return {
        metric.name.removeprefix(prefix): len(metric.values)
        for metric in bench.services.plugin_metrics.metrics()
    }


METRICS: Final = Check(
    name="metrics",
    promise="the label sets of its metrics do not grow with the pods",
    ask=_ask,
)
