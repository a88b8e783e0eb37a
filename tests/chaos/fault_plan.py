"""The plan of plugins' failures in a history, and the cluster that carries it.

The engine builds the plugins, so they find their plan through the handle's cluster.
"""

import random
from collections.abc import Callable, Mapping

from quaymaster import Handle, Pod
from quaymaster.cluster import Cluster
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import Clock
from quaymaster.testing import Fault, FaultyCluster
from tests.chaos.ledger import Ledger

__all__ = [
    "CrashError",
    "FaultPlan",
    "HistoryCluster",
    "PhaseAction",
    "PlannedError",
    "plan_of",
]

PhaseAction = Callable[[Pod, str], None]
"""An action at a phase; its arguments are the pod and the name of its node, or empty.
"""


class CrashError(BaseException):
    """The scheduler's process crashes; nothing in it may catch this."""


class PlannedError(RuntimeError):
    """A plugin fails by plan."""


class FaultPlan:
    """Plans when plugins fail, and what happens at the phases of a pod.

    Args:
        cluster: The cluster, without faults.
        seed: Decides which calls of plugins fail.

    Attributes:
        ledger: The plugins' log of decisions.
        failure_rate: The probability that a call of a plugin fails.
        permits_all: Whether Permit lets every pod through.
        refused: The keys of the pods that plugins have rejected by plan.
        spoiled: The uids of the pods whose last attempt has failed by plan.
        kept_waiting: The uid of a pod that waited on Permit -> the uids of the nodes
            that existed at that attempt.
        sabotaged: The number of calls that failed by plan.
        interrupted: The number of actions of `on_phase` that have happened.
        handle: The handle of the running engine.
    """

    def __init__(self, cluster: InMemoryCluster, seed: int) -> None:
        self._random = random.Random(seed)
        self._actions: list[tuple[str, PhaseAction]] = []
        self.ledger = Ledger(cluster)
        self.failure_rate = 0.0
        self.permits_all = False
        self.refused: dict[str, None] = {}
        self.spoiled: set[str] = set()
        self.kept_waiting: dict[str, frozenset[str]] = {}
        self.sabotaged = 0
        self.interrupted = 0
        self.handle: Handle | None = None

    def on_phase(self, phase: str, action: PhaseAction) -> None:
        """Plan an action for the next pod that gets to a phase."""
        self._actions.append((phase, action))

    def reached(self, phase: str, pod: Pod, node_name: str) -> None:
        """Do the first action that is planned for a phase."""
        for position, (where, action) in enumerate(self._actions):
            if where == phase:
                del self._actions[position]
                self.interrupted += 1
                action(pod, node_name)
                return

    def should_fail(self) -> bool:
        """Whether this call must fail."""
        if not self.failure_rate or self._random.random() >= self.failure_rate:
            return False
        self.sabotaged += 1
        return True

    def choose(self, count: int) -> int:
        """Choose one of some ways to fail."""
        return self._random.randrange(count)

    def end_faults(self) -> None:
        """Plan no more failures, and retry the pods that were rejected by plan."""
        self._actions.clear()
        self.failure_rate = 0.0
        self.permits_all = True
        handle = self.handle
        if handle is None:
            return
        for waiting in handle.waiting_pods():
            waiting.allow("Doorman")
        pods = [handle.informers.get(Pod, key) for key in self.refused]
        handle.activate([pod for pod in pods if pod is not None])


class HistoryCluster(FaultyCluster):
    """A faulty cluster with the plan of a history.

    Args:
        cluster: The cluster behind it.
        clock: The clock of delayed events.
        seed: Decides which calls fail.
        plan: The history's plan.
    """

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        rates: Mapping[Fault, float],
        plan: FaultPlan,
    ) -> None:
        seed = plan.choose(1 << 30)
        super().__init__(
            cluster, clock=clock, rates=rates, seed=seed, max_answer_seconds=4.0
        )
        self.plan = plan

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Bind a pod to a node; see `quaymaster.cluster.Cluster.bind`."""
        self.plan.reached("bind", pod, node_name)
        super().bind(pod, node_name, annotations=annotations)
        self.plan.reached("bound", pod, node_name)


def plan_of(handle: Handle) -> FaultPlan:
    """Return the plan of the history in which a plugin runs."""
    cluster = handle.cluster
    assert isinstance(cluster, HistoryCluster)
    return cluster.plan
