"""A check: Unreserve leaves what a bound pod needs, and gauges do not depend on it."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._authors.testing.contract.binding_runs import (
    begin,
    content_of,
    open_nodes,
)
from quaymaster._authors.testing.contract.check import Check, fail
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._core.contract.plugin_metrics import MetricKind
from quaymaster._core.contract.results import PreBindWait
from quaymaster._core.contract.status import Status
from quaymaster._core.registry.access import writes_of_plugin
from quaymaster._core.runtime.plugin_metrics import PluginMetric, metric_prefix

__all__ = ["BOUND_PODS"]

_ATTEMPTS: Final = 3
_LOST: Final = (
    "if the answer to a bind was lost, unreserve is called although the pod has its "
    "node"
)

_Gauges: TypeAlias = Mapping[str, float]
"""The name of a gauge with the values of its labels -> its number."""


@attrs.frozen(kw_only=True)
class _Left:
    """What an attempt leaves.

    Attributes:
        written: What PreBind had written.
        objects: What is left of these objects, in the same order.
        gauges: The gauges.
    """

    written: Sequence[ApiObject]
    objects: Sequence[ApiObject | None]
    gauges: _Gauges


def _ask(subject: Subject, cluster: SmallCluster, _other: SmallCluster) -> None:
    if not writes_of_plugin(subject.plugin) and not _has_gauges(subject, cluster):
        return
    for pod in cluster.pending:
        bench = Bench(subject, cluster)
        nodes = open_nodes(bench, pod)
        if not nodes:
            continue
        after_bind = _left_by(subject, cluster, pod, nodes[0], "post_bind")
        if after_bind is None or not (after_bind.written or after_bind.gauges):
            continue
        after_loss = _left_by(subject, cluster, pod, nodes[0], "unreserve")
        if after_loss is not None:
            _compare_objects(pod, after_bind, after_loss)
            _compare_gauges(pod, after_bind.gauges, after_loss.gauges)
        if after_bind.gauges:
            _ask_failing(bench, pod, nodes[0])


def _left_by(
    subject: Subject, cluster: SmallCluster, pod: Pod, node_name: str, hook: str
) -> _Left | None:
    """Bind a pod, and call a last hook; return None if PreBind fails."""
    bench = Bench(subject, cluster)
    run = begin(bench, pod, node_name)
    if run is None:
        return None
    answer = run.pre_bind()
    if isinstance(answer, Status):
        return None
    if isinstance(answer, PreBindWait):
        answer.check()
    run.bind()
    run.end(hook)
    return _Left(
        written=run.written,
        objects=[content_of(bench.stored(obj)) for obj in run.written],
        gauges=_gauges(bench),
    )


def _compare_objects(pod: Pod, after_bind: _Left, after_loss: _Left) -> None:
    triples = zip(
        after_bind.written, after_bind.objects, after_loss.objects, strict=False
    )
    for obj, expected, actual in triples:
        if actual == expected or expected != content_of(obj):
            continue
        verb = "deletes" if actual is None else "changes"
        text = (
            f"{verb} {obj.kind} '{obj.key}', which pre_bind has written for a pod that "
            f"is bound: {_LOST}, so look it up with handle.informers.get before you "
            "undo anything"
        )
        fail("unreserve", text, pod, obj)


def _compare_gauges(pod: Pod, after_bind: _Gauges, after_loss: _Gauges) -> None:
    for name, expected in after_bind.items():
        actual = after_loss.get(name, 0)
        if actual != expected:
            text = (
                f"leaves gauge {name} at {actual:g}, expected {expected:g} as after "
                f"post_bind: {_LOST}, and no other hook follows, so settle gauges in "
                "both hooks"
            )
            fail("unreserve", text, pod)


def _ask_failing(bench: Bench, pod: Pod, node_name: str) -> None:
    """Compare the gauges after the first and after further attempts that fail."""
    first: _Gauges | None = None
    for _ in range(_ATTEMPTS):
        run = begin(bench, pod, node_name)
        if run is None:
            return
        run.pre_bind()
        run.give_up()
        if first is None:
            first = _gauges(bench)
    for name, actual in _gauges(bench).items():
        expected = (first or {}).get(name, 0)
        if actual != expected:
            text = (
                f"leaves gauge {name} at {actual:g} after {_ATTEMPTS} attempts for a "
                f"pod that were undone, expected {expected:g} as after the first one"
            )
            fail("unreserve", text, pod)


def _has_gauges(subject: Subject, cluster: SmallCluster) -> bool:
    return bool(_gauge_metrics(Bench(subject, cluster)))


def _gauge_metrics(bench: Bench) -> Sequence[PluginMetric]:
    metrics = bench.services.plugin_metrics.metrics()
    return [metric for metric in metrics if metric.kind is MetricKind.GAUGE]


def _gauges(bench: Bench) -> _Gauges:
    prefix = metric_prefix(bench.subject.name)
    gauges: dict[str, float] = {}
    for metric in _gauge_metrics(bench):
        name = metric.name.removeprefix(prefix)
        for labels, value in metric.values.items():
            assert isinstance(value, int | float)
            texts = ", ".join(labels[1:])  # the first one is the profile
            gauges[f"'{name}' ({texts})" if texts else f"'{name}'"] = value
    return gauges


BOUND_PODS: Final = Check(
    name="bound pods",
    promise="unreserve leaves what a bound pod needs, and settles gauges",
    ask=_ask,
    hooks=frozenset({"reserve", "unreserve"}),
)
