"""The pods that need room in every working plan, and the existing nodes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import attrs

from quaymaster._api.objects import (
    DaemonSet,
    Deployment,
    Node,
    Pod,
    ReplicaSet,
    StatefulSet,
)
from quaymaster._api.objects.pod_requests import status_changes_requests
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.controllers.daemon_pods import node_of
from quaymaster._clusters.inmemory.controllers.deployments import find_set
from quaymaster._clusters.inmemory.controllers.stateful_sets import has_replica
from quaymaster._studies.planning.amounts import Amounts, offered, requested, total
from quaymaster._studies.planning.question import Question, is_lasting, is_tied

__all__ = ["Demand", "PodDemand", "demand_of"]


@attrs.frozen(kw_only=True, eq=False)
class PodDemand:
    """Identical pods that run without end.

    Attributes:
        pod: One of them.
        count: How many there are.
        node: Their node in the input; empty for pods that need one.
    """

    pod: Pod
    count: int = 1
    node: str = ""


@attrs.frozen(kw_only=True, eq=False)
class Demand:
    """What needs room in every working plan.

    Attributes:
        demands: The pods that run without end, except those that belong to a node.
        nodes: The nodes of the input.
        tied: Node -> the pods that belong to it and run without end.
        daemon_sets: The DaemonSets, which create pods on new nodes, too.
        updates: The Deployments that replace pods of an older template.
        others: All other pods: they end, are deleted, are replaced or are being
            resized.
        pods: The number of all pods.
        shut: The nodes of the input that accept none of the pods that need a node.
    """

    demands: Sequence[PodDemand]
    nodes: Sequence[Node]
    tied: Mapping[str, Sequence[Pod]]
    daemon_sets: Sequence[DaemonSet] = ()
    updates: Sequence[Deployment] = ()
    others: Sequence[Pod] = ()
    pods: int
    shut: frozenset[str] = frozenset()

    def without_left_out(self, question: Question) -> "Demand":
        """Return the demand without the pending pods that the question leaves out."""
        if not question.left_out:
            return self
        is_out = [
            not demands.node and question.leaves_out(demands.pod)
            for demands in self.demands
        ]
        pairs = list(zip(self.demands, is_out, strict=True))
        return attrs.evolve(
            self,
            demands=[demands for demands, out in pairs if not out],
            others=[*self.others, *(demands.pod for demands, out in pairs if out)],
        )

    def rooms(self, question: Question) -> list[Amounts]:
        """Return the room of each node of the input beside the pods that it keeps."""
        return [
            {}
            if node.name in self.shut
            else _less(
                offered(node),
                total(
                    requested(pod)
                    for pod in self.tied.get(node.name, ())
                    if question.enforces_room(pod)
                ),
            )
            for node in self.nodes
        ]


def _less(there: Amounts, taken: Amounts) -> Amounts:
    return {name: max(0, have - taken.get(name, 0)) for name, have in there.items()}


def demand_of(cluster: InMemoryCluster) -> Demand:
    """Collect from a cluster with only the input what needs room in every plan.

    A StatefulSet creates its pods one after the other, and so does a Deployment during
    an update; all of them count. Three sorts of pods do not count: those that these
    controllers will delete, those that are being resized, since their future requests
    are unknown, and those on nodes that do not exist.
    """
    nodes = cluster.list(Node).items
    names = {node.name for node in nodes}
    demands: list[PodDemand] = []
    tied: dict[str, list[Pod]] = defaultdict(list)
    others: list[Pod] = []
    pods = cluster.list(Pod).items
    updates = _updates(cluster)
    leaving = _leaving(cluster, updates)
    for pod in pods:
        is_fixed = is_lasting(pod) and not status_changes_requests(pod)
        if not is_fixed or pod.key in leaving:
            others.append(pod)
        elif is_tied(pod):
            tied[pod.node_name or node_of(pod)].append(pod)
        elif not pod.node_name or pod.node_name in names:
            demands.append(PodDemand(pod=pod, node=pod.node_name))
        else:
            others.append(pod)
    to_come = _to_come(cluster, updates)
    return Demand(
        demands=[*demands, *to_come],
        nodes=nodes,
        tied=tied,
        daemon_sets=cluster.list(DaemonSet).items,
        updates=[update.deployment for update in updates],
        others=others,
        pods=len(pods) + sum(batch.count for batch in to_come),
    )


@attrs.frozen(kw_only=True, eq=False)
class _Update:
    """A Deployment that replaces pods of older ReplicaSets.

    Attributes:
        deployment: The Deployment.
        new: Its ReplicaSet that creates pods.
        old: Its ReplicaSets whose pods are deleted.
    """

    deployment: Deployment
    new: ReplicaSet
    old: Sequence[ReplicaSet]


def _updates(cluster: InMemoryCluster) -> list[_Update]:
    sets: dict[str, list[ReplicaSet]] = defaultdict(list)
    for each in cluster.list(ReplicaSet).items:
        if (owner := each.metadata.controller) is not None:
            sets[owner.uid].append(each)
    updates = []
    for deployment in cluster.list(Deployment).items:
        mine = sets[deployment.uid]
        new = None if deployment.spec.paused else find_set(deployment, mine)
        if new is not None:
            # Identity: the newest ReplicaSet is one of these objects.
            old = [each for each in mine if each is not new and each.spec.replicas]
            if old:
                updates.append(_Update(deployment=deployment, new=new, old=old))
    return updates


def _leaving(cluster: InMemoryCluster, updates: Sequence[_Update]) -> frozenset[str]:
    """Return the pods that their workloads will delete, possibly one by one."""
    old = {each.uid for update in updates for each in update.old}
    sets = {each.uid: each for each in cluster.list(StatefulSet).items}
    leaving = set()
    for pod in cluster.list(Pod).items:
        if (owner := pod.metadata.controller) is None:
            continue
        stateful = sets.get(owner.uid)
        is_surplus = stateful is not None and not has_replica(stateful, pod.name)
        if owner.uid in old or is_surplus:
            leaving.add(pod.key)
    return frozenset(leaving)


def _to_come(cluster: InMemoryCluster, updates: Sequence[_Update]) -> list[PodDemand]:
    """Return the pods that will be created once the pods before them are ready."""
    made: dict[str, list[Pod]] = defaultdict(list)
    for pod in cluster.list(Pod).items:
        if (owner := pod.metadata.controller) is not None:
            made[owner.uid].append(pod)
    families: list[tuple[int | None, Sequence[Pod]]] = [
        (update.deployment.spec.replicas, made[update.new.uid]) for update in updates
    ]
    for each in cluster.list(StatefulSet).items:
        there = [pod for pod in made[each.uid] if has_replica(each, pod.name)]
        families.append((each.spec.replicas, there))
    to_come = []
    for replicas, pods in families:
        # Only if one of the existing pods waits for a node: otherwise the controller
        # has created all that it will.
        missing = (1 if replicas is None else replicas) - len(pods)
        waiting = [pod for pod in pods if not pod.node_name]
        if missing > 0 and waiting and is_lasting(waiting[0]):
            to_come.append(PodDemand(pod=waiting[0], count=missing))
    return to_come
