"""Finds which pods fit on an empty node of each group, by scheduling them."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Final

import attrs

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Deployment,
    Job,
    LimitRange,
    Node,
    ObjectMeta,
    Pod,
    PodDisruptionBudget,
    PodSpec,
    PodStatus,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    StatefulSet,
)
from quaymaster._api.objects.resources import host_ports
from quaymaster._studies.planning.amounts import Amounts, offered, requested, total
from quaymaster._studies.planning.enforcement import HOST, PORTS
from quaymaster._studies.planning.finality import is_final
from quaymaster._studies.planning.pod_kinds import plain_spec, signature
from quaymaster._studies.planning.question import Question, is_lasting
from quaymaster._studies.planning.spot import spot_of
from quaymaster._studies.simulation.results import UnscheduledPod
from quaymaster._studies.simulation.run import Simulation

__all__ = ["Shape", "Shapes", "wildcard_ports"]

_WITHOUT: Final = (
    Deployment,
    Job,
    LimitRange,
    Node,
    Pod,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    StatefulSet,
)
_NAME: Final = "quaymaster-plan-probe"


@attrs.frozen(kw_only=True, eq=False)
class Shape:
    """The room on an empty node of a group.

    Attributes:
        offered: Its allocatable amounts.
        taken: The requests of DaemonSets on every such node.
        ports: Their host ports, as protocol and number.
        misfit: A pod of a DaemonSet that cannot run there, or None. If there is one, no
            plan can have nodes of the group.
    """

    offered: Amounts
    taken: Amounts
    ports: frozenset[tuple[str, int]]
    misfit: UnscheduledPod | None

    def room(self, resource: str) -> int:
        """Return how much of a resource is left for other pods."""
        return max(0, self.offered.get(resource, 0) - self.taken.get(resource, 0))


class Shapes:
    """The groups' shapes, and the pods that fit on each.

    Args:
        question: The input of `plan`.
        pods: The pods that need room; of identical pods, one counts.

    Attributes:
        shapes: One per group.
    """

    def __init__(self, question: Question, pods: Iterable[Pod]) -> None:
        self._question = question
        kinds = {signature(pod): pod for pod in pods}
        self._takers: dict[Hashable, frozenset[int]] = dict.fromkeys(kinds, frozenset())
        self.shapes: list[Shape] = []
        for index, group in enumerate(question.groups):
            with self._probing(group.samples()) as simulation:
                self.shapes.append(_shape(simulation, question, len(group.zones())))
                for key, pod in kinds.items():
                    # By the scheduler itself: any plugin may decide, also one that is
                    # not installed with this package.
                    if not is_final(_verdict(simulation, pod), simulation):
                        self._takers[key] |= {index}
        self.hopeless = self._hopeless(kinds)
        self._kinds = kinds

    def are_shut(self, nodes: Sequence[Node]) -> bool:
        """Whether none of the pods fits on any of some nodes, even if they are empty.

        Args:
            nodes: Nodes of the input that accept no pods, by their status and taints.
        """
        with self._probing(nodes) as simulation:
            return all(
                is_final(_verdict(simulation, pod), simulation)
                for pod in self._kinds.values()
            )

    def takers(self, pod: Pod) -> frozenset[int]:
        """Return the groups on whose nodes a pod may fit."""
        return self._takers.get(
            signature(pod), frozenset(range(len(self._question.groups)))
        )

    def why_hopeless(self, pod: Pod) -> UnscheduledPod | None:
        """Return the scheduler's verdict about a pod that fits on no node, or None."""
        verdict = self.hopeless.get(signature(pod))
        # The verdict is of another pod of the same kind.
        return None if verdict is None else attrs.evolve(verdict, pod=pod.key)

    def _hopeless(self, kinds: dict[Hashable, Pod]) -> dict[Hashable, UnscheduledPod]:
        """Try pods that fit on no group again, with the nodes of the input."""
        left = {key: pod for key, pod in kinds.items() if not self._takers[key]}
        if not left:
            return {}
        samples = [node for group in self._question.groups for node in group.samples()]
        taken = {node.name for node in samples}
        existing = [
            obj
            for obj in self._question.objects
            if (isinstance(obj, Node) and obj.name not in taken)
            or (isinstance(obj, Pod) and obj.node_name)
        ]
        verdicts = {}
        with self._probing([*samples, *existing]) as simulation:
            for key, pod in left.items():
                verdict = _verdict(simulation, pod)
                if verdict is not None and is_final(verdict, simulation):
                    verdicts[key] = verdict
        return verdicts

    @contextmanager
    def _probing(self, nodes: Sequence[ApiObject]) -> Iterator[Simulation]:
        """Open a simulation of some nodes with only DaemonSets on them.

        DaemonSets that choose nodes by name are left out: other nodes of the group have
        no pod of them.
        """
        others = (
            obj
            for obj in self._question.objects
            if not isinstance(obj, _WITHOUT)
            and not (
                isinstance(obj, DaemonSet) and _names_nodes(obj.spec.template.spec)
            )
        )
        cluster = self._question.cluster_of([*nodes, *others])
        with self._question.simulation(cluster) as simulation:
            # DaemonSets put their pods on the samples first, as they would on real
            # nodes.
            simulation.settle()
            yield simulation


def _verdict(simulation: Simulation, pod: Pod) -> UnscheduledPod | None:
    """Return why a copy of a pod fits on no empty node, or None if it fits."""
    cluster = simulation.cluster
    probe = Pod(
        metadata=ObjectMeta(name=_NAME, namespace=pod.namespace),
        spec=plain_spec(pod.spec),
        status=PodStatus(),
    )
    key = cluster.create(probe).key
    simulation.settle()
    there = cluster.get(Pod, key)
    verdict = None if there.node_name else simulation.unscheduled(there)
    # At once, so that the next pod finds the node empty again.
    cluster.delete(Pod, key, grace_period_seconds=0)
    simulation.settle()
    return verdict


def _shape(simulation: Simulation, question: Question, samples: int) -> Shape:
    cluster = simulation.cluster
    pods: dict[str, list[Pod]] = defaultdict(list)
    for pod in cluster.list(Pod).items:
        if (owner := pod.metadata.controller) is not None:
            pods[owner.uid].append(pod)
    # A DaemonSet that does not run on all samples is not part of every node.
    whole = [family for family in pods.values() if len(family) == samples]
    taking = [
        family[0]
        for family in whole
        if all(pod.node_name and is_lasting(pod) for pod in family)
    ]
    misfits = (
        simulation.unscheduled(family[0])
        for family in whole
        if not any(pod.node_name for pod in family)
    )
    [first, *_] = cluster.list(Node).items
    return Shape(
        offered=offered(first) | spot_of(first),
        taken=total(requested(pod) for pod in taking if question.enforces_room(pod)),
        ports=frozenset(
            chain.from_iterable(
                wildcard_ports(pod) for pod in taking if question.enforces(pod, PORTS)
            )
        ),
        misfit=next(
            (misfit for misfit in misfits if is_final(misfit, simulation)), None
        ),
    )


def wildcard_ports(pod: Pod) -> list[tuple[str, int]]:
    """Return the host ports that a pod uses on all addresses of its node."""
    return [
        (port.protocol or "TCP", port.host_port)
        for port in host_ports(pod)
        # A port on one address leaves the others free.
        if port.host_ip in ("", "0.0.0.0")
    ]


def _names_nodes(spec: PodSpec) -> bool:
    """Whether a template may suit some nodes of a group and not others."""
    if spec.node_selector.keys() & {HOST}:
        return True
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = (
        affinity.required_during_scheduling_ignored_during_execution
        if affinity
        else None
    )
    return required is not None and any(
        term.match_fields
        or any(
            match_expression.key == HOST for match_expression in term.match_expressions
        )
        for term in required.node_selector_terms
    )
