"""One pod after another: Quaymaster's decision is compared with kube-scheduler's."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.e2e.client import Tree, path_of
from tests.e2e.follower import key_of
from tests.e2e.mixed_pods import Arrival
from tests.e2e.scene import Scene
from tests.e2e.scheduler_log import Opinion, SchedulerLog
from tests.e2e.verdicts import Adviser, State, differences

__all__ = ["JudgedByQuaymaster", "Trial"]


class Trial(ABC):
    """Creates one pod after another; at most one waits at a time.

    Attributes:
        counts: The numbers of results.

    Args:
        scene: The cluster.
        log: The log of a kube-scheduler.
    """

    def __init__(self, scene: Scene, log: SchedulerLog) -> None:
        self.scene = scene
        self.log = log
        self.counts: Counter[str] = Counter()

    def run(self, arrivals: Iterable[Arrival]) -> list[str]:
        """Create pods, one after another.

        Returns:
            All differences.
        """
        found: list[str] = []
        coming = iter(arrivals)
        current = next(coming, None)
        self._prepare(current)
        while current is not None:
            # Early, so that both schedulers have the claims when their pod is created:
            # watches of several kinds have no common order.
            following = next(coming, None)
            self._prepare(following)
            found += self.arrive(current)
            self.scene.thin_out()
            current = following
        return found

    @abstractmethod
    def arrive(self, arrival: Arrival) -> Iterator[str]:
        """Create a pod, and let it run and end.

        Yields:
            Each difference, with the pod.
        """

    def _prepare(self, arrival: Arrival | None) -> None:
        if arrival is not None:
            self.scene.volumes.prepare(arrival.needs)

    def node_of(self, key: str) -> str:
        """Return the node of a pod."""
        pod = self.scene.pods.get(key)
        return "" if pod is None else str(pod["spec"].get("nodeName", ""))

    def reason_of(self, key: str) -> str:
        """Return why a pod has no node, from its condition."""
        pod = self.scene.pods.get(key)
        conditions = pod["status"].get("conditions", ()) if pod else ()
        return next(
            (
                str(condition.get("message", ""))
                for condition in conditions
                if condition["type"] == "PodScheduled"
                and condition["status"] == "False"
                and condition["reason"] != "SchedulingGated"
            ),
            "",
        )

    def let_go(self, victims: set[str]) -> None:
        """Remove pods that are being evicted."""
        pods = self.scene.pods
        for key in sorted(victims):
            pods.wait(
                lambda: _is_leaving(pods.get(key)),  # noqa: B023 - it is called here
                what=f"the eviction of {key}",
            )
        for key in sorted(victims):
            pod = pods.get(key)
            assert pod is not None
            self.scene.remove(pod)

    def finish(self, pod: Tree) -> None:
        """Run a pod that has a node; remove any other pod."""
        if self.node_of(key_of(pod)):
            self.counts["placed"] += 1
            self.scene.run(pod)
        else:
            self.counts["left over"] += 1
            self.scene.remove(pod)


class JudgedByQuaymaster(Trial):
    """kube-scheduler decides; Quaymaster decides for the state just before.

    Args:
        scene: The cluster.
        log: The log of kube-scheduler.
        adviser: Returns Quaymaster's decision.
        folder: The folder for the states in which the two differ.
    """

    def __init__(
        self, scene: Scene, log: SchedulerLog, adviser: Adviser, folder: Path
    ) -> None:
        super().__init__(scene, log)
        self._adviser = adviser
        self._folder = folder

    def arrive(self, arrival: Arrival) -> Iterator[str]:
        """Create a pod, and let it run and end."""
        client = self.scene.client
        if arrival.gates:
            self.counts["gated"] += 1
            path = path_of(client.create(arrival.pod))
            state = self._adviser.state()
            pod = client.patch(path, {"spec": {"schedulingGates": []}})
        else:
            state = self._adviser.state()
            pod = client.create(arrival.pod)
        key = key_of(pod)
        self.scene.pods.wait(lambda: self._is_decided(key), what=f"a node for {key}")
        yield from self._compared(key, state.with_pod(pod))
        victims = self._victims(key)
        if victims:
            self.counts["made room"] += 1
            state = self._adviser.state().without_pods(victims)
            self.let_go(victims)
            self.scene.pods.wait(lambda: self.node_of(key), what=f"room for {key}")
            yield from self._compared(key, state)
        self.finish(pod)

    def _is_decided(self, key: str) -> bool:
        """Whether a pod has a node, or a message why it has none."""
        if self.node_of(key):
            return True
        message = self._last(key).message
        return bool(message) and self.reason_of(key) == message

    def _last(self, key: str) -> Opinion:
        """Return kube-scheduler's result of the pod's last attempt."""
        return next(reversed(self.log.of(key)), Opinion())

    def _victims(self, key: str) -> set[str]:
        """Return the pods that were evicted for another one."""
        last = self._last(key)
        return last.victims[last.target] if last.target else set()

    def _compared(self, key: str, state: State) -> Iterator[str]:
        """Compare the results of the last attempt, for its state."""
        self.counts["attempts"] += 1
        theirs, node = self._last(key), self.node_of(key)
        found = list(differences(self._adviser.attempt(key, state), theirs, node))
        if found:
            self.counts["differ"] += 1
            name = key.replace("/", "_")
            state.save(self._folder / f"{name}-{self.counts['attempts']}.yaml")
        for difference in found:
            yield f"{key}: {difference}"


def _is_leaving(pod: Tree | None) -> bool:
    return pod is not None and "deletionTimestamp" in pod["metadata"]
