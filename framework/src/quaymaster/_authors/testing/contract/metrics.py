"""A check: the series of a plugin's metrics do not grow with the pods."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.attempts import copies_of
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.companions import (
    crowded_harnesses,
    preempting,
)
from quaymaster._authors.testing.contract.node_series import series_of
from quaymaster._authors.testing.contract.pod_lives import live
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.stressed import relabelled
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.harness import PluginHarness
from quaymaster._base.errors import QuaymasterError

__all__ = ["METRICS"]

_PODS: Final = 6
"""The pods of each round."""

_FEW_PODS: Final = 3
"""The pods of each round that differ in their texts."""

_Series: TypeAlias = Mapping[str, int]
"""The name of a metric -> the number of its combinations of labels."""


class _MeteredHarness(PluginHarness):
    """A harness that counts the series of the plugin's metrics."""

    def series(self) -> _Series:
        """Return the number of combinations of labels of each metric."""
        return series_of(self._plugin_metrics, self._name)


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    bench = Bench(subject, cluster)
    series = partial(series_of, bench.services.plugin_metrics, subject.name)
    if not series():
        return  # metrics are made in the constructor or in start
    for pod in cluster.pending:
        for copies in _copies(pod, cluster):
            _compare_rounds(copies, cluster, partial(_walk_and_live, bench), series)
    if subject.has("post_filter"):
        # Copies differ in their names only, so one pod is enough.
        for pod in cluster.pending[:1]:
            for harness in crowded_harnesses(subject, cluster, _MeteredHarness):
                with harness, suppress(QuaymasterError):  # other checks report it
                    harness.start()
                    run = partial(_post_filter, harness)
                    _compare_rounds(
                        _Copies(copies_of(pod, 2 * _PODS), _NAMES),
                        cluster,
                        run,
                        harness.series,
                    )


def _walk_and_live(bench: Bench, copy: Pod) -> None:
    walk(bench, copy)
    live(bench, copy)


def _post_filter(harness: PluginHarness, copy: Pod) -> None:
    harness.post_filter(preempting(copy))


_NAMES: Final = "names"
_TEXTS: Final = "labels and annotations"


@attrs.frozen
class _Copies:
    """Copies of a pod.

    Attributes:
        pods: The copies.
        difference: What differs.
    """

    pods: Sequence[Pod]
    difference: str


def _copies(pod: Pod, cluster: SmallCluster) -> Sequence[_Copies]:
    """Return copies with other names, and copies whose users have written other texts.

    Hooks must not fail on such a text, so it is a number, too.
    """
    copies = copies_of(pod, 2 * _PODS)
    texted = [
        relabelled(copy, cluster.pending, f"{_FIRST_TEXT + at}")
        for at, copy in enumerate(copies[: 2 * _FEW_PODS])
    ]
    has_texts = texted[0] != copies[0]
    return [_Copies(copies, _NAMES), *([_Copies(texted, _TEXTS)] * has_texts)]


_FIRST_TEXT: Final = 1001


def _compare_rounds(
    copies: _Copies,
    cluster: SmallCluster,
    run: Callable[[Pod], None],
    series: Callable[[], _Series],
) -> None:
    """Run copies of a pod in two rounds, and compare the growth of the series."""
    counts, size = [], len(copies.pods) // 2
    for round_of_copies in (copies.pods[:size], copies.pods[size:]):
        for copy in round_of_copies:
            run(copy)
        counts.append(series())
    first, second = counts
    for name, count in second.items():
        more = count - first[name]
        if more >= size:
            text = (
                f"metric '{name}' has {more} more series after {size} more pods "
                f"that differ in their {copies.difference} only: a label must have few "
                "values, and not one for each pod or each text of users"
            )
            fail("", text, copies.pods[-1], cluster.nodes)


METRICS: Final = Check(
    name="metrics",
    promise="the label sets of its metrics do not grow with the pods",
    ask=_ask,
)
