"""Finds metrics of a plugin that grow with the nodes that come and go."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, TypeVar

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node, Pod
from quaymaster._authors.testing.contract.bench import Bench, HookFailedError
from quaymaster._authors.testing.contract.small_cluster import SmallCluster
from quaymaster._authors.testing.contract.subject import Subject
from quaymaster._authors.testing.contract.walk import walk
from quaymaster._authors.testing.makers.metadata import make_uid
from quaymaster._core.runtime.plugin_metrics import PluginMetrics, metric_prefix

__all__ = ["series_by_node", "series_of"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_ROUNDS: Final = 4
"""In the first ones, series of results may appear that are not about nodes."""

_HOSTNAME: Final = "kubernetes.io/hostname"


def series_by_node(subject: Subject, cluster: SmallCluster) -> Sequence[str]:
    """Return the names of metrics that get new series whenever nodes are replaced.

    Args:
        subject: The plugin.
        cluster: The cluster, whose nodes get new names in each round.
    """
    bench = Bench(subject, cluster)
    metrics = bench.services.plugin_metrics
    if not series_of(metrics, subject.name) or not cluster.nodes:
        return ()  # metrics are made in the constructor or in start
    rounds, before = [], cluster
    for number in range(_ROUNDS):
        after = _renamed(cluster, f"round-{number}")
        with suppress(HookFailedError):  # other checks report it
            bench.become(before, after)
            for pod in after.pending:
                walk(bench, pod)
        rounds.append(series_of(metrics, subject.name))
        before = after
    *_, second, third, fourth = rounds
    return [name for name in fourth if second[name] < third[name] < fourth[name]]


def series_of(metrics: PluginMetrics, plugin: str) -> Mapping[str, int]:
    """Return the number of combinations of labels of each metric of a plugin."""
    prefix = metric_prefix(plugin)
    return {
        metric.name.removeprefix(prefix): len(metric.values)
        for metric in metrics.metrics()
    }


def _renamed(cluster: SmallCluster, suffix: str) -> SmallCluster:
    """Return a cluster that differs in the names of its nodes only."""
    names = {node.name: f"{node.name}-{suffix}" for node in cluster.nodes}

    def moved(objects: Sequence[ObjT]) -> tuple[ObjT, ...]:
        return tuple(
            replace(obj, node_name=names.get(obj.node_name, obj.node_name))
            if isinstance(obj, Pod)
            else obj
            for obj in objects
        )

    return attrs.evolve(
        cluster,
        nodes=tuple(_with_name(node, names[node.name]) for node in cluster.nodes),
        pods=moved(cluster.pods),
        objects=moved(cluster.objects),
    )


def _with_name(node: Node, name: str) -> Node:
    labels = {**node.metadata.labels, _HOSTNAME: name}
    metadata = replace(
        node.metadata, name=name, uid=make_uid(Node, name), labels=labels
    )
    return replace(node, metadata=metadata)
