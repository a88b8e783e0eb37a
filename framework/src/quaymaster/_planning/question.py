"""What a plan is asked for, and the clusters that its answers are tried in."""

import enum
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

import attrs

from quaymaster._config.model import SchedulerConfig
from quaymaster._inmemory.cluster import InMemoryCluster
from quaymaster._inmemory.durations import RUN_SECONDS_ANNOTATION
from quaymaster._inmemory.nodes_spec import make_nodes
from quaymaster._objects import ApiObject, Node, Pod
from quaymaster._planning.groups import NodeGroup
from quaymaster._registry.registry import PluginRegistry
from quaymaster._simulation.run import Simulation, filled_cluster

__all__ = [
    "AFFINITY",
    "FIT",
    "PORTS",
    "SPREADING",
    "Counts",
    "Loss",
    "Question",
    "is_lasting",
    "is_tied",
    "zone_of",
]

Counts: TypeAlias = tuple[int, ...]
"""How many nodes of each group, in the order of the groups."""

FIT: Final = "NodeResourcesFit"
PORTS: Final = "NodePorts"
AFFINITY: Final = "InterPodAffinity"
SPREADING: Final = "PodTopologySpread"
_ZONE: Final = "topology.kubernetes.io/zone"
_OLD_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"


class Loss(enum.StrEnum):
    """What may be lost, so that everything still fits on the rest."""

    NODE = "node"
    """Any one node."""

    ZONE = "zone"
    """All nodes of any one zone at once."""


@attrs.frozen(kw_only=True, eq=False)
class Question:
    """What a plan is asked for.

    Attributes:
        objects: The input.
        groups: The nodes that there may be more of.
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: Decides the choice between equally good nodes, and generated names.
        max_pods: How many pods the workloads may ask for in all.
        max_utilization: Resource -> the largest part of what all nodes offer together
            that may be requested in the end.
        loss: What may be lost; None for nothing.
    """

    objects: Sequence[ApiObject]
    groups: Sequence[NodeGroup]
    config: SchedulerConfig
    registry: PluginRegistry
    seed: int
    max_pods: int
    max_utilization: Mapping[str, Fraction]
    loss: Loss | None

    def nodes(self, counts: Counts) -> list[Node]:
        """Make the nodes of a plan, as ``--nodes`` makes them."""
        specs = [
            group.spec(count)
            for group, count in zip(self.groups, counts, strict=True)
            if count
        ]
        taken = {obj.name for obj in self.objects if isinstance(obj, Node)}
        return make_nodes(specs, taken=taken, max_nodes=max(1, sum(counts)))

    def cluster(self, counts: Counts) -> InMemoryCluster:
        """Make a cluster with the input and the nodes of a plan.

        Raises:
            AdmissionError: Some objects break rules, or ask for too many pods.
        """
        return self.cluster_of([*self.nodes(counts), *self.objects])

    def cluster_of(self, objects: Iterable[ApiObject]) -> InMemoryCluster:
        """Make a cluster with other objects."""
        return filled_cluster(list(objects), self.seed, self.max_pods)

    def simulation(self, cluster: InMemoryCluster) -> Simulation:
        """Make a simulation, to be closed, of the cluster under the question's rules.

        Raises:
            ProfileError: A profile's plugins cannot be built.
        """
        return Simulation(
            cluster, config=self.config, registry=self.registry, seed=self.seed
        )

    def enforces(self, pod: Pod, plugin: str) -> bool:
        """Whether a plugin filters the nodes for a pod."""
        profile = self.config.profile(pod.spec.scheduler_name)
        return profile is not None and any(
            enabled.name == plugin for enabled in profile.plugins["filter"]
        )


def is_tied(pod: Pod) -> bool:
    """Whether a pod belongs to its node: it comes and goes with it."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind in ("DaemonSet", "Node")


def is_lasting(pod: Pod) -> bool:
    """Whether a pod, once it runs, takes its room for ever."""
    return not (
        pod.is_finished
        or pod.is_terminating
        or RUN_SECONDS_ANNOTATION in pod.metadata.annotations
    )


def zone_of(node: Node) -> str:
    """Return the zone of a node, or an empty text."""
    return node.labels.get(_ZONE) or node.labels.get(_OLD_ZONE, "")
