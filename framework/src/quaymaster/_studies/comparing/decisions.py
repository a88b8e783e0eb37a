"""Records all decisions of a simulation, and the nodes of each workload's pods."""

from collections import Counter, defaultdict
from collections.abc import Mapping

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.engine.failure import Failure
from quaymaster._core.engine.framework import Framework
from quaymaster._studies.comparing.outcome import Decision
from quaymaster._studies.simulation.owners import workload_of

__all__ = ["DecisionLog"]

_STABLE = ("StatefulSet", "DaemonSet")
"""The kinds whose pods are not interchangeable: each has its own name or node."""


class DecisionLog:
    """Follows the attempts of a simulation; implements `FollowsAttempts`.

    Args:
        cluster: The cluster, to look up the owners of pods.

    Attributes:
        decisions: All decisions, in their order.
        calls_hooks: Whether it calls hooks.
    """

    calls_hooks = False

    def __init__(self, cluster: InMemoryCluster) -> None:
        self.decisions: list[Decision] = []
        self._cluster = cluster
        self._attempts: Counter[str] = Counter()
        self._begun: set[str] = set()
        self._places: dict[str, Counter[str]] = defaultdict(Counter)

    def begin(self, pod: Pod, _framework: Framework, _now: float) -> None:
        """Count an attempt."""
        self._attempts[pod.uid] += 1
        self._begun.add(pod.uid)

    def fail(self, pod: Pod, _failure: Failure) -> None:
        """Note that a pod got no node."""
        self._decided(pod, "")

    def bind(self, pod: Pod, node_name: str) -> None:
        """Note the node of a pod."""
        self._decided(pod, node_name)
        self._places[self._identity(pod)][node_name] += 1

    def preempt(self, victim: str, by: str) -> None:
        """Do nothing: the result counts preemptions."""

    def places(self) -> Mapping[str, Mapping[str, int]]:
        """Return the nodes of each workload's pods; see `Outcome.places`."""
        places = {name: Counter(nodes) for name, nodes in self._places.items()}
        for pod in self._cluster.list(Pod).items:
            if not (pod.node_name or pod.is_finished or pod.is_terminating):
                places.setdefault(self._identity(pod), Counter())[""] += 1
        return places

    def _decided(self, pod: Pod, node: str) -> None:
        # A group may decide about a pod that is not tried itself.
        attempt = self._attempts[pod.uid] if pod.uid in self._begun else 0
        self._begun.discard(pod.uid)
        self.decisions.append(Decision(pod=pod.key, node=node, attempt=attempt))

    def _identity(self, pod: Pod) -> str:
        controller = pod.metadata.controller
        if controller is None or controller.kind in _STABLE:
            return f"pod/{pod.key}"
        return workload_of(pod, self._cluster)
