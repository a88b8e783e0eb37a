"""What the plugins of a history are told to do, and the cluster that they reach it by.

A plugin is built by the engine and finds its history through the handle's cluster.
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
    "Ambush",
    "CrashError",
    "SabotageError",
    "Stage",
    "StagedCluster",
    "stage_of",
]

Ambush = Callable[[Pod, str], None]
"""Takes the pod that is under way, and the name of its node, or empty."""


class CrashError(BaseException):
    """The scheduler's process ends here; nothing in it may catch this."""


class SabotageError(RuntimeError):
    """A plugin was told to fail."""


class Stage:
    """Directs the plugins of one history.

    Args:
        cluster: The cluster, without faults.
        seed: Decides which calls of plugins go wrong.

    Attributes:
        ledger: What plugins saw of decisions.
        sabotage_rate: How likely a call of a plugin that may go wrong does so.
        doors_are_open: Whether Permit lets every pod through.
        refused: The keys of the pods that plugins have rejected for no good reason.
        hurt: The uids of the pods whose last attempt a plugin was told to spoil.
        kept_waiting: By uid, the uids of the nodes that were known when the last
            attempt to schedule a pod got it to wait on Permit.
        sabotaged: How many calls went wrong.
        ambushed: How many ambushes have happened.
        handle: The engine that is alive.
    """

    def __init__(self, cluster: InMemoryCluster, seed: int) -> None:
        self._random = random.Random(seed)
        self._ambushes: list[tuple[str, Ambush]] = []
        self.ledger = Ledger(cluster)
        self.sabotage_rate = 0.0
        self.doors_are_open = False
        self.refused: dict[str, None] = {}
        self.hurt: set[str] = set()
        self.kept_waiting: dict[str, frozenset[str]] = {}
        self.sabotaged = 0
        self.ambushed = 0
        self.handle: Handle | None = None

    def lay(self, phase: str, ambush: Ambush) -> None:
        """Have something happen the next time that a pod gets to a phase."""
        self._ambushes.append((phase, ambush))

    def reached(self, phase: str, pod: Pod, node_name: str) -> None:
        """A pod has got to a phase: the first ambush there happens."""
        for position, (where, ambush) in enumerate(self._ambushes):
            if where == phase:
                del self._ambushes[position]
                self.ambushed += 1
                ambush(pod, node_name)
                return

    def is_sabotaged(self) -> bool:
        """Whether this call goes wrong."""
        if not self.sabotage_rate or self._random.random() >= self.sabotage_rate:
            return False
        self.sabotaged += 1
        return True

    def choose(self, count: int) -> int:
        """How a call goes wrong."""
        return self._random.randrange(count)

    def calm_down(self) -> None:
        """No mischief from now on; whom it has hurt gets another chance."""
        self._ambushes.clear()
        self.sabotage_rate = 0.0
        self.doors_are_open = True
        handle = self.handle
        if handle is None:
            return
        for waiting in handle.waiting_pods():
            waiting.allow("Doorman")
        known = [handle.informers.get(Pod, key) for key in self.refused]
        handle.activate([pod for pod in known if pod is not None])


class StagedCluster(FaultyCluster):
    """A faulty cluster that belongs to a history.

    Args:
        cluster: The cluster behind it.
        clock: Tells when delayed events come.
        seed: Decides which calls go wrong.
        stage: The history's stage.
    """

    def __init__(
        self, cluster: Cluster, clock: Clock, rates: Mapping[Fault, float], stage: Stage
    ) -> None:
        seed = stage.choose(1 << 30)
        super().__init__(
            cluster, clock=clock, rates=rates, seed=seed, max_answer_seconds=4.0
        )
        self.stage = stage

    def bind(self, pod: Pod, node_name: str) -> None:
        """Bind a pod to a node; see `quaymaster.cluster.Cluster.bind`."""
        self.stage.reached("bind", pod, node_name)
        super().bind(pod, node_name)
        self.stage.reached("bound", pod, node_name)


def stage_of(handle: Handle) -> Stage:
    """The stage of the history that a plugin works in."""
    cluster = handle.cluster
    assert isinstance(cluster, StagedCluster)
    return cluster.stage
