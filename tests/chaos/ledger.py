"""A log of decisions outside the engine, and the checks of it.

A decision may rely on the informers and on earlier decisions. So each one is
checked by the simple rules with exactly that state.
"""

from collections.abc import Container, Iterator, Mapping

import attrs

from quaymaster import Informers, Node, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Namespace, PersistentVolume, PersistentVolumeClaim
from tests.chaos.rules import World, cpu_of, why_not

__all__ = ["Decision", "Ledger"]


@attrs.define(eq=False)
class Decision:
    """A decision: a node for a pod.

    Attributes:
        number: The number of the decision; later ones have higher numbers.
        pod: The pod as the scheduler saw it.
        node_name: The node.
        cpu_limit: The node's allocatable CPU at the decision, in millicores.
        pod_limit: The node's limit of pods at the decision.
        charge: The smallest CPU request of the pod since then, in millicores.
        is_going_back: Whether Unreserve has begun.
        is_open: Whether neither Unreserve nor PostBind has ended.
    """

    number: int
    pod: Pod
    node_name: str
    cpu_limit: int
    pod_limit: int
    charge: int
    is_going_back: bool = False
    is_open: bool = True


class Ledger:
    """All decisions of a history.

    Args:
        cluster: The cluster, without faults.

    Attributes:
        problems: The decisions that break a rule, in order.
        decisions: By uid, the last decision that was not taken back.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self.problems: list[str] = []
        self.decisions: dict[str, Decision] = {}
        self._count = 0

    def decided(self, informers: Informers, pod: Pod, node_name: str) -> None:
        """Record a decision, and check that no rule forbids it."""
        earlier = self.decisions.get(pod.uid)
        if earlier is not None:
            self.problems.append(f"{pod.key} was decided on again, without Unreserve")
        world = self._world(informers, pod.uid)
        problem = why_not(world, pod, node_name)
        if problem:
            self.problems.append(f"{pod.key} was put on {node_name}, but {problem}")
        node = world.nodes.get(node_name)
        if node is None:
            return
        self._count += 1
        allocatable = node.status.allocatable
        self.decisions[pod.uid] = Decision(
            self._count,
            pod,
            node_name,
            allocatable["cpu"].milli_value,
            allocatable["pods"].value,
            # The pod may request less by now; the informers do not have that yet.
            min(map(cpu_of, (pod, *self._stored(pod)))),
        )

    def begun_to_give_back(self, pod: Pod) -> None:
        """Record that Unreserve has begun: it calls the last reserving plugin first."""
        decision = self.decisions.get(pod.uid)
        if decision is None or not decision.is_open or decision.is_going_back:
            self.problems.append(f"{pod.key} was given back twice, or for nothing")
        else:
            decision.is_going_back = True

    def given_back(self, pod: Pod) -> None:
        """Record that Unreserve has ended: it calls the first reserving plugin last."""
        decision = self.decisions.pop(pod.uid, None)
        if decision is None or not decision.is_open:
            self.problems.append(f"{pod.key} was given back twice, or for nothing")
        elif not decision.is_going_back:
            self.problems.append(f"{pod.key} was given back in the wrong order")
        elif any(stored.node_name for stored in self._stored(pod)):
            self.problems.append(f"{pod.key} was given back, but is on a node")

    def completed(self, pod: Pod) -> None:
        """Record that PostBind was called."""
        decision = self.decisions.get(pod.uid)
        if decision is None or not decision.is_open:
            self.problems.append(f"{pod.key} was bound without a decision")
        else:
            decision.is_open = False

    def resized(self, pod: Pod) -> None:
        """Record that a pod has changed its requests."""
        decision = self.decisions.get(pod.uid)
        if decision is not None:
            decision.charge = min(decision.charge, cpu_of(pod))

    def crashed(self, bound: Container[str]) -> None:
        """Forget the decisions that a crashed scheduler has not carried out.

        Args:
            bound: The uids of the pods that are on nodes.
        """
        self.decisions = {
            uid: decision for uid, decision in self.decisions.items() if uid in bound
        }
        for decision in self.decisions.values():
            decision.is_open = False

    def open_decisions(self) -> Iterator[Decision]:
        """Yield the decisions that are neither completed nor taken back."""
        return (decision for decision in self.decisions.values() if decision.is_open)

    def overcommitted(self, bound: Mapping[str, list[Pod]]) -> str:
        """Describe a node that holds more than its last decision allowed; else empty.

        Nodes may shrink, and pods may grow. So a pod counts with its smallest request,
        and a node with its resources at its last decision.
        """
        for name, pods in bound.items():
            found = [
                self.decisions[pod.uid] for pod in pods if pod.uid in self.decisions
            ]
            if not found:
                continue
            last = max(found, key=lambda decision: decision.number)
            cpu = sum(min(decision.charge, cpu_of(decision.pod)) for decision in found)
            if cpu > last.cpu_limit:
                return f"{name} holds {cpu}m of {last.cpu_limit}m CPU"
            if len(found) > last.pod_limit:
                return f"{name} holds {len(found)} of {last.pod_limit} pods"
        return ""

    def _stored(self, pod: Pod) -> list[Pod]:
        """Return the stored pod as a list, which is empty if the pod is gone."""
        pods = self._cluster.list(Pod).items
        return [stored for stored in pods if stored.uid == pod.uid]

    def _world(self, informers: Informers, uid: str) -> World:
        placed: list[tuple[Pod, str]] = []
        for pod in informers.list(Pod):
            if pod.is_finished or pod.uid == uid:
                continue
            if pod.node_name:
                placed.append((pod, pod.node_name))
                continue
            decision = self.decisions.get(pod.uid)
            if decision is not None and not pod.is_terminating:
                placed.append((decision.pod, decision.node_name))
        return World.of(
            informers.list(Node),
            placed,
            informers.list(Namespace),
            informers.list(PersistentVolumeClaim),
            informers.list(PersistentVolume),
        )
