"""The input of `plan`, and the clusters in which plans are tried."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from typing import Final, TypeAlias

import attrs

from quaymaster._api.objects import ApiObject, DaemonSet, Node, Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.durations import RUN_SECONDS_ANNOTATION
from quaymaster._clusters.inmemory.nodes_spec import make_nodes
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.capacity.node_status import ClosedNode, closed_nodes
from quaymaster._studies.capacity.prices import Prices
from quaymaster._studies.changes.pods import is_of_daemon_set, is_of_node
from quaymaster._studies.planning.amounts import offered
from quaymaster._studies.planning.enforcement import (
    RoomFor,
    Rule,
    is_enforced,
    probed_node,
)
from quaymaster._studies.planning.groups import NodeGroup
from quaymaster._studies.planning.losses import Loss
from quaymaster._studies.planning.pod_kinds import signature
from quaymaster._studies.planning.spot import SPOT, SpotRule, spot_of
from quaymaster._studies.simulation.clusters import filled_cluster
from quaymaster._studies.simulation.run import Simulation

__all__ = [
    "BASIC",
    "Counts",
    "Question",
    "is_lasting",
    "is_tied",
]

Counts: TypeAlias = tuple[int, ...]
"""The number of nodes of each group, in the order of the groups."""

BASIC: Final = ("cpu", "memory", "ephemeral-storage", "pods")
"""The resources that every node offers."""


@attrs.frozen(kw_only=True, eq=False)
class Question:
    """The input of `plan`.

    Attributes:
        objects: The input.
        groups: The groups whose nodes may be added.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: Decides the choice between equally good nodes, and generated names.
        max_pods: How many pods the workloads may ask for in all.
        max_utilization: Resource -> the largest part of the total of all nodes that may
            be requested in the end.
        loss: What may be lost; None for nothing.
        daemon_sets_first: Whether pods of DaemonSets are tried before all others.
        left_out: The signatures of pods that may stay pending.
        min_spot: The part of the CPU that a plan adds which spot nodes must have.
        spare: How many spare nodes each group that a plan uses gets.
        prices: Prices of nodes of the input.
        closed: The nodes of the input that accept no pods, by name.
    """

    objects: Sequence[ApiObject]
    groups: Sequence[NodeGroup]
    config: SchedulerConfig
    registry: PluginRegistry
    seed: int
    max_pods: int
    max_utilization: Mapping[str, Fraction]
    loss: Loss | None
    daemon_sets_first: bool = True
    left_out: frozenset[Hashable] = frozenset()
    min_spot: Fraction | None = None
    spare: int = 0
    prices: Prices = attrs.field(factory=Prices)
    closed: Mapping[str, ClosedNode] = attrs.field(init=False)
    _enforced: dict[tuple[str, Rule], bool] = attrs.field(factory=dict, init=False)

    @closed.default
    def _closed(self) -> Mapping[str, ClosedNode]:
        nodes = (obj for obj in self.objects if isinstance(obj, Node))
        return {node.node: node for node in closed_nodes(nodes)}

    def lost_with(self, node: Node) -> str:
        """Return what is lost together with a node; empty if it cannot be lost."""
        return self.loss.value(node) if self.loss is not None else ""

    def spot_rule(self) -> SpotRule | None:
        """Return the condition on spot nodes, if there is one."""
        if self.min_spot is None:
            return None
        samples = [group.samples()[0] for group in self.groups]
        return SpotRule(
            share=self.min_spot,
            cpu=tuple(offered(node).get("cpu", 0) for node in samples),
            spot=tuple(spot_of(node).get(SPOT, 0) for node in samples),
        )

    def nodes(self, counts: Counts) -> list[Node]:
        """Make the nodes of a plan, as ``--nodes`` makes them."""
        specs = [
            group.spec(count)
            for group, count in zip(self.groups, counts, strict=True)
            if count
        ]
        taken = {obj.name for obj in self.objects if isinstance(obj, Node)}
        return make_nodes(specs, taken=taken, max_nodes=max(1, sum(counts)))

    def nodes_by_group(self, counts: Counts) -> list[list[Node]]:
        """Make the nodes of a plan, in one list for each group."""
        nodes = iter(self.nodes(counts))
        return [list(islice(nodes, count)) for count in counts]

    def nodes_of_rounds(self, rounds: Sequence[Counts]) -> list[list[Node]]:
        """Make the nodes that are added in rounds, in one list for each group."""
        nodes: list[list[Node]] = [[] for _ in self.groups]
        counts = [0] * len(self.groups)
        for more in rounds:
            counts = [count + n for count, n in zip(counts, more, strict=True)]
            made = self.nodes_by_group(tuple(counts))
            for mine, all_of_group in zip(nodes, made, strict=True):
                mine.extend(all_of_group[len(mine) :])
        return nodes

    def cluster(self, counts: Counts) -> InMemoryCluster:
        """Make a cluster with the input and the nodes of a plan.

        Raises:
            AdmissionError: Some objects are invalid, or create too many pods.
        """
        return self.cluster_of([*self.nodes(counts), *self.objects])

    def cluster_of(self, objects: Iterable[ApiObject]) -> InMemoryCluster:
        """Make a cluster with some objects."""
        return filled_cluster(
            list(objects),
            self.seed,
            self.max_pods,
            kubernetes=self.config.kubernetes,
        )

    def simulation(self, cluster: InMemoryCluster) -> Simulation:
        """Make a simulation of the cluster with the question's profile; close it later.

        Raises:
            ProfileError: A profile's plugins cannot be built.
        """
        return Simulation(
            cluster,
            config=self.config,
            registry=self.registry,
            seed=self.seed,
            options=SchedulerOptions(daemon_sets_first=self.daemon_sets_first),
        )

    @property
    def tries_daemons_first(self) -> bool:
        """Whether there are DaemonSets whose pods are tried before all others."""
        return self.daemon_sets_first and any(
            isinstance(obj, DaemonSet) for obj in self.objects
        )

    def leaves_out(self, pod: Pod) -> bool:
        """Whether a pod may stay pending, since no plan can place it."""
        return bool(self.left_out) and signature(pod) in self.left_out

    def enforces(self, pod: Pod, rule: Rule) -> bool:
        """Whether the scheduler enforces a rule for a pod."""
        name = pod.spec.scheduler_name
        if self.config.profile(name) is None:
            return False
        if (name, rule) not in self._enforced:
            cluster = self.cluster_of([probed_node(rule)])
            with self.simulation(cluster) as simulation:
                enforced = is_enforced(simulation, name, rule)
            self._enforced[name, rule] = enforced
        return self._enforced[name, rule]

    def enforces_room(self, pod: Pod) -> bool:
        """Whether the profile enforces the pod's requests of the basic resources."""
        return all(self.enforces(pod, RoomFor(resource)) for resource in BASIC)


def is_tied(pod: Pod) -> bool:
    """Whether a pod belongs to its node: it is created and lost with the node."""
    return is_of_daemon_set(pod) or is_of_node(pod)


def is_lasting(pod: Pod) -> bool:
    """Whether a pod, once it runs, uses its resources without end."""
    return not (
        pod.is_finished
        or pod.is_terminating
        or RUN_SECONDS_ANNOTATION in pod.metadata.annotations
    )
