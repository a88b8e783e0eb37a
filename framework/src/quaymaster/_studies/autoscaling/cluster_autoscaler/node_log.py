"""What decides whether a node is removed, for explanations."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, PodDisruptionBudget
from quaymaster._api.objects.selectors import compile_label_selector
from quaymaster._base.errors import counted
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.duration import format_duration
from quaymaster._studies.autoscaling.cloud import Cloud
from quaymaster._studies.autoscaling.cluster_autoscaler.budgets import RemainingBudgets
from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import (
    BlockingReason,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.loop import ClusterAutoscaler
from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.staying import PODS
from quaymaster._studies.autoscaling.cluster_autoscaler.utilization import (
    utilization_of,
)
from quaymaster._studies.simulation.scaling import (
    NodeFact,
    PodFate,
    PodOfNode,
)

__all__ = ["facts_of", "pods_of"]

_PREFIX: Final = "cluster-autoscaler.kubernetes.io/"
_REASONS: Final = 3


def facts_of(
    name: str,
    autoscaler: ClusterAutoscaler,
    cloud: Cloud,
    options: ClusterAutoscalerOptions,
    now: float,
) -> Iterator[NodeFact]:
    """Yield what decides about a node that exists.

    Args:
        name: The node.
        autoscaler: The autoscaler.
        cloud: The groups.
        options: The options of the autoscaler.
        now: The time, in seconds since the epoch.
    """
    group, info = cloud.group_of(name), autoscaler.trial.get(name)
    if group is not None:
        size = counted(cloud.sizes[group.name], "node")
        limits = f"at least {group.min_size}, at most {group.max_size}"
        yield NodeFact(name="group", value=f"{group.name}: {size}, {limits}")
        if group.price_per_hour is not None:
            yield NodeFact(name="price", value=f"{group.price_per_hour:.2f} per hour")
    if info is None:
        return
    if utilization := utilization_of(info, options, now):
        threshold = f"{utilization.threshold(options):.0%}"
        value = f"cpu {utilization.cpu:.0%}, memory {utilization.memory:.0%}"
        if utilization.gpu is not None:
            value = f"{utilization.resource} {utilization.gpu:.0%}"
        text = f"{value}; needed above {threshold}"
        yield NodeFact(name="utilization", value=text)
    unneeded = autoscaler.down.unneeded.get(name)
    if unneeded is not None:
        since, least = now - unneeded.since, options.scale_down_unneeded_time
        text = f"for {_duration(since)}; removed after {_duration(least)}"
        yield NodeFact(name="unneeded", value=text)
    for key, value in sorted(info.node.metadata.annotations.items()):
        if key.startswith(_PREFIX):
            yield NodeFact(name="annotation", value=f"{key}: {value}")


def _duration(seconds: float) -> str:
    return format_duration(timedelta(seconds=round(seconds)))


def pods_of(
    name: str, autoscaler: ClusterAutoscaler, cluster: InMemoryCluster, now: float
) -> tuple[PodOfNode, ...]:
    """Return the pods of a node, and what would happen to them without it.

    Args:
        name: The node.
        autoscaler: The autoscaler.
        cluster: The cluster.
        now: The time, in seconds since the epoch.
    """
    info = autoscaler.trial.get(name)
    if info is None:
        return ()
    return tuple(_PodsOfNode(info.node, autoscaler, cluster, now).fates())


class _PodsOfNode:
    """Judges the pods of a node one by one; blocking pods do not hide the others."""

    def __init__(
        self,
        node: Node,
        autoscaler: ClusterAutoscaler,
        cluster: InMemoryCluster,
        now: float,
    ) -> None:
        self._node = node
        self._trial = autoscaler.trial
        self._drainability = autoscaler.drainability
        self._budgets = cluster.list(PodDisruptionBudget).items
        self._now = now

    def fates(self) -> Iterator[PodOfNode]:
        """Yield each pod with its fate, those that forbid the removal first."""
        info = self._trial.get(self._node.name)
        assert info is not None, "the caller has looked"
        moving: list[Pod] = []
        for pod in [*info.pods.values()]:
            budgets = RemainingBudgets(self._budgets)
            drain = self._drainability.drain_of([pod], budgets, self._now)
            if drain.blocking is not None:
                why = self._why_blocking(pod, drain.blocking.reason)
                yield PodOfNode(pod=pod.key, fate=PodFate.BLOCKS, why=why)
            elif drain.moving:
                moving.append(pod)
            else:
                yield PodOfNode(pod=pod.key, fate=PodFate.ENDS)
        yield from self._moved(moving)

    def _why_blocking(self, pod: Pod, reason: BlockingReason) -> str:
        if reason is not BlockingReason.NOT_ENOUGH_PDB:
            return PODS[reason]
        names = [
            budget.name
            for budget in self._budgets
            if budget.namespace == pod.namespace
            and budget.spec.selector is not None
            and compile_label_selector(budget.spec.selector).matches(pod.labels)
            and budget.status.disruptions_allowed < 1
        ]
        return f"the disruption budget {' and '.join(names)} allows no eviction"

    def _moved(self, pods: Sequence[Pod]) -> Iterator[PodOfNode]:
        """Place the pods elsewhere, all together."""
        own = self._node.name
        with self._trial.fork():
            for pod in pods:
                self._trial.remove_pod(pod)
            for pod in sorted(pods, key=lambda pod: -pod.priority):
                free = replace(pod, node_name="")
                place = self._trial.place_anywhere(free, lambda name: name != own)
                if place is not None:
                    yield PodOfNode(pod=pod.key, fate=PodFate.MOVES, why=f"to {place}")
                else:
                    why = self._why_nowhere(free)
                    yield PodOfNode(pod=pod.key, fate=PodFate.NO_PLACE, why=why)

    def _why_nowhere(self, pod: Pod) -> str:
        """Return the most frequent reasons of the other nodes, with their numbers."""
        reasons: Counter[str] = Counter()
        others = [node for node in self._trial.nodes() if node.name != self._node.name]
        for node in others:
            status = self._trial.why_not(pod, node.name)
            if status is not None:
                reasons.update([status.message])
            elif node.spec.unschedulable:
                reasons.update(["node(s) were unschedulable"])
        if not reasons:
            return "it is the only node"
        texts = [f"{number} {text}" for text, number in reasons.most_common(_REASONS)]
        return ", ".join(texts)
