"""The model's cluster, and the corresponding API objects."""

from collections.abc import Iterator, Mapping, Sequence

import attrs

from quaymaster import Node, Pod
from quaymaster.testing import (
    make_affinity_term,
    make_node,
    make_pod,
    make_spread_constraint,
)

__all__ = ["Cluster", "ModelNode", "ModelPod"]

_MEBI = 1 << 20


@attrs.frozen(kw_only=True)
class ModelNode:
    """A node.

    Attributes:
        name: Its name.
        zone: Its zone, or empty.
        cpu: Millicores.
        memory: Mebibytes.
        pods: Its limit of pods.
        disk: The value of its label ``disk``.
        taints: Its taints, such as ``("key", "NoSchedule")``.
        cordoned: Whether it is unschedulable.
    """

    name: str
    zone: str
    cpu: int
    memory: int
    pods: int
    disk: str
    taints: frozenset[tuple[str, str]]
    cordoned: bool

    def domain(self, topology: str) -> str:
        """Return the node's zone or host, or an empty text."""
        return self.zone if topology == "zone" else self.name

    def to_object(self) -> Node:
        return make_node(
            name=self.name,
            zone=self.zone or None,
            labels={"disk": self.disk},
            capacity={
                "cpu": f"{self.cpu}m",
                "memory": f"{self.memory}Mi",
                "pods": str(self.pods),
            },
            taints=[f"{key}:{effect}" for key, effect in sorted(self.taints)],
            unschedulable=self.cordoned,
        )


@attrs.frozen(kw_only=True)
class ModelPod:
    """A pod.

    Attributes:
        name: Its name.
        app: The value of its label ``app``.
        cpu: Millicores.
        memory: Mebibytes.
        priority: Its priority.
        started: Its start time; no two pods have the same.
        disk: The ``disk`` that its node must have, or empty.
        prefers: The ``disk`` that it prefers, or empty.
        tolerates: The keys of the taints that it tolerates.
        spread: The largest difference of its app's pods between zones; 0 for any.
        apart: ``zone``, ``host`` or empty: where no other pod of its app may run.
    """

    name: str
    app: str
    cpu: int
    memory: int
    priority: int
    started: int
    disk: str
    prefers: str
    tolerates: frozenset[str]
    spread: int
    apart: str

    def to_object(self, node: str = "") -> Pod:
        own = {"app": self.app}
        apart = []
        if self.apart:
            label = {
                "zone": "topology.kubernetes.io/zone",
                "host": "kubernetes.io/hostname",
            }
            apart = [make_affinity_term(selector=own, topology_key=label[self.apart])]
        spread = []
        if self.spread:
            spread = [make_spread_constraint(selector=own, max_skew=self.spread)]
        return make_pod(
            name=self.name,
            node=node or None,
            labels=own,
            requests={"cpu": f"{self.cpu}m", "memory": f"{self.memory}Mi"},
            priority=self.priority,
            start_time=self.started if node else None,
            node_selector={"disk": self.disk} if self.disk else None,
            preferred_node_affinity=(
                [(1, {"disk": self.prefers})] if self.prefers else []
            ),
            tolerations=sorted(self.tolerates),
            spread=spread,
            pod_anti_affinity=apart,
        )


@attrs.frozen
class Cluster:
    """Nodes, and the pods that run on them.

    Attributes:
        nodes: The nodes.
        running: Node name -> its pods.
    """

    nodes: Sequence[ModelNode]
    running: Mapping[str, Sequence[ModelPod]]

    def pods_on(self, node: ModelNode) -> Sequence[ModelPod]:
        return self.running.get(node.name, ())

    def pods_in(self, topology: str, domain: str) -> Iterator[ModelPod]:
        for node in self.nodes:
            if node.domain(topology) == domain:
                yield from self.pods_on(node)

    def with_pods(self, node: ModelNode, pods: Sequence[ModelPod]) -> "Cluster":
        """Return the cluster with exactly these pods on one node."""
        return Cluster(self.nodes, {**self.running, node.name: pods})
