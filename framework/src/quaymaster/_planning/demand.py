"""The pods that need room in every plan that does, and the nodes that are there."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import attrs

from quaymaster._inmemory.cluster import InMemoryCluster
from quaymaster._inmemory.controllers.daemon_sets import node_of
from quaymaster._objects import DaemonSet, Node, Pod, StatefulSet
from quaymaster._objects.pod_requests import status_changes_requests
from quaymaster._planning.question import is_lasting, is_tied

__all__ = ["Demand", "Wanted", "demand_of"]


@attrs.frozen(kw_only=True, eq=False)
class Wanted:
    """Pods that are alike and stay for ever.

    Attributes:
        pod: One of them.
        count: How many there are.
        node: The node that they came with; empty for pods that need one.
    """

    pod: Pod
    count: int = 1
    node: str = ""


@attrs.frozen(kw_only=True, eq=False)
class Demand:
    """What needs room in every plan that does.

    Attributes:
        wanted: The pods that stay for ever, but for those that belong to a node.
        nodes: The nodes of the input.
        tied: Node -> the pods that belong to it and stay for ever.
        daemon_sets: What puts pods on nodes that come, too.
        others: The pods that are neither, since they end, leave or are being resized.
        pods: How many pods there are in all, of all kinds.
    """

    wanted: Sequence[Wanted]
    nodes: Sequence[Node]
    tied: Mapping[str, Sequence[Pod]]
    daemon_sets: Sequence[DaemonSet] = ()
    others: Sequence[Pod] = ()
    pods: int


def demand_of(cluster: InMemoryCluster) -> Demand:
    """Read from a cluster with the input alone what needs room in every plan.

    A StatefulSet makes its pods one after the other; all of them are counted. Pods that
    are being resized are left out, since nobody knows what they will count with, and
    so are those on nodes that do not exist.
    """
    nodes = cluster.list(Node).items
    names = {node.name for node in nodes}
    wanted: list[Wanted] = []
    tied: dict[str, list[Pod]] = defaultdict(list)
    others: list[Pod] = []
    pods = cluster.list(Pod).items
    for pod in pods:
        if not is_lasting(pod) or status_changes_requests(pod):
            others.append(pod)
        elif is_tied(pod):
            tied[pod.node_name or node_of(pod)].append(pod)
        elif not pod.node_name or pod.node_name in names:
            wanted.append(Wanted(pod=pod, node=pod.node_name))
        else:
            others.append(pod)
    to_come = _to_come(cluster)
    return Demand(
        wanted=[*wanted, *to_come],
        nodes=nodes,
        tied=tied,
        daemon_sets=cluster.list(DaemonSet).items,
        others=others,
        pods=len(pods) + sum(one.count for one in to_come),
    )


def _to_come(cluster: InMemoryCluster) -> list[Wanted]:
    """Return the pods of StatefulSets that wait for those before them."""
    made: dict[str, list[Pod]] = defaultdict(list)
    for pod in cluster.list(Pod).items:
        owner = pod.metadata.controller
        if owner is not None and owner.kind == StatefulSet.kind:
            made[owner.uid].append(pod)
    found = []
    for each in cluster.list(StatefulSet).items:
        there = made.get(each.uid, [])
        replicas = each.spec.replicas
        missing = (1 if replicas is None else replicas) - len(there)
        waiting = [pod for pod in there if not pod.node_name]
        if missing > 0 and waiting and is_lasting(waiting[0]):
            found.append(Wanted(pod=waiting[0], count=missing))
    return found
