"""Small problems of planning nodes, whose best plans are found by trying all plans."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

import attrs
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster, make_nodes
from quaymaster.objects import (
    DaemonSet,
    PersistentVolume,
    PersistentVolumeClaim,
    PodStatus,
    StorageClass,
)
from quaymaster.planning import Loss, NodeGroup, Plan, plan
from quaymaster.scheduler import PluginRegistry, VirtualClock
from quaymaster.simulation import Simulation

__all__ = ["PlanProblem"]

_REGISTRY = PluginRegistry.discover()
_CONFIG = default_config(_REGISTRY)
_ZONE = "topology.kubernetes.io/zone"
_LEFT = (DaemonSet, PersistentVolume, PersistentVolumeClaim, StorageClass)


@attrs.frozen(kw_only=True)
class PlanProblem:
    """A small problem, all of whose plans can be tried.

    Attributes:
        objects: The input; only DaemonSets as workloads if nodes may be lost.
        groups: The groups of nodes to buy, each with a small ``max``.
        max_cpu: The part of the CPU that may be requested; None for all of it.
        loss: The loss that a plan must survive, or None.
    """

    objects: Sequence[ApiObject]
    groups: Sequence[NodeGroup]
    max_cpu: Fraction | None = None
    loss: Loss | None = None

    def plan(self, max_trials: int) -> Plan:
        """Return the planner's plan."""
        limits: Mapping[str, Fraction] = (
            {} if self.max_cpu is None else {"cpu": self.max_cpu}
        )
        tried: list[int] = []
        found = plan(
            self.objects,
            groups=self.groups,
            config=_CONFIG,
            registry=_REGISTRY,
            max_utilization=limits,
            tolerate_loss=self.loss,
            max_trials=max_trials,
            in_rounds=False,  # the search below buys all nodes of a plan at once, too
            on_progress=lambda number, _most: tried.append(number),
        )
        # Without a plan, another search follows, for the pods that fit some group.
        again = tried.index(0, 1) if tried.count(0) > 1 else len(tried)
        assert tried[:again] == sorted({*tried[:again]}), "a plan was tried twice"
        return found

    def is_proven(self, max_trials: int) -> bool:
        """Whether the planner claims that its plan is the best; check that claim."""
        found, best = self.plan(max_trials), self._optimum()
        if best is None:
            assert not found.is_found
            return found.is_final
        assert found.lower_bound <= self._value(best)
        if not found.is_found:
            assert not found.is_final
            return False
        counts = [group.nodes for group in found.groups]
        assert self._does(counts)
        assert found.cost == (self._weight(counts)[0] if self._is_priced else None)
        assert self._weight(counts) >= best
        if found.is_final:
            assert self._weight(counts) == best
        return found.is_final

    @property
    def _is_priced(self) -> bool:
        return self.groups[0].price is not None

    def _value(self, weight: tuple[Decimal, int]) -> Decimal:
        return weight[0] if self._is_priced else Decimal(weight[1])

    def _weight(self, counts: Sequence[int]) -> tuple[Decimal, int]:
        prices = [group.price or Decimal(0) for group in self.groups]
        cost = sum(n * each for n, each in zip(counts, prices, strict=True))
        return Decimal(cost), sum(counts)

    def _optimum(self) -> tuple[Decimal, int] | None:
        """Return the cost and size of the best plan, by simulating all plans."""
        ranges = [range(group.min_nodes, group.max_nodes + 1) for group in self.groups]
        plans = sorted(itertools.product(*ranges), key=self._weight)
        return next((self._weight(plan) for plan in plans if self._does(plan)), None)

    def _does(self, counts: Sequence[int]) -> bool:
        pairs = zip(self.groups, counts, strict=True)
        nodes = make_nodes([group.spec(n) for group, n in pairs])
        cluster = self._settled([*nodes, *self.objects])
        if cluster is None or not self._is_cool(cluster):
            return False
        return all(
            self._settled(_after(cluster, lost)) is not None
            for lost in self._losses(cluster)
        )

    def _settled(self, objects: Iterable[ApiObject]) -> InMemoryCluster | None:
        """Return the settled cluster, or None if a pod was lost or has no node."""
        cluster = InMemoryCluster(VirtualClock())
        cluster.load(objects)
        alone = {
            pod.key
            for pod in cluster.list(Pod).items
            if pod.metadata.controller is None
        }
        with Simulation(cluster, config=_CONFIG, registry=_REGISTRY) as simulation:
            simulation.settle()
            result = simulation.result()
        preempted = {preemption.pod for preemption in result.preempted}
        is_bad = result.unscheduled or alone & preempted
        return None if is_bad else cluster

    def _is_cool(self, cluster: InMemoryCluster) -> bool:
        if self.max_cpu is None:
            return True
        nodes, pods = cluster.list(Node).items, cluster.list(Pod).items
        there = [node.status.allocatable["cpu"].milli_value for node in nodes]
        taken = [
            container.resources.requests["cpu"].milli_value
            for pod in pods
            if pod.node_name and not pod.is_finished
            for container in pod.spec.containers
        ]
        return sum(taken) <= self.max_cpu * sum(there)

    def _losses(self, cluster: InMemoryCluster) -> Iterable[set[str]]:
        nodes = cluster.list(Node).items
        if self.loss is Loss.NODE:
            return [{node.name} for node in nodes]
        if self.loss is None:
            return []
        zones = {node.labels.get(_ZONE, "") for node in nodes} - {""}
        return [
            {node.name for node in nodes if node.labels.get(_ZONE) == zone}
            for zone in zones
        ]


def _after(cluster: InMemoryCluster, lost: set[str]) -> Iterable[ApiObject]:
    """Return the objects after a loss; pods of lost nodes wait again."""
    for node in cluster.list(Node).items:
        if node.name not in lost:
            yield node
    for kind in _LEFT:
        yield from cluster.list(kind).items
    for pod in cluster.list(Pod).items:
        if pod.node_name not in lost:
            yield pod
        elif pod.metadata.controller is None and not pod.is_finished:
            yield replace(pod, node_name="", status=PodStatus())
