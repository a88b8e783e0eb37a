"""The cluster and the scheduler of one workload, and the loop that runs them.

It is built like a simulation: everything uses the in-memory API, admission, watches,
queue, engine, binding, kubelets, status and events.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.engine.scheduler import Scheduler
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._studies.perf.clock import PacedClock
from quaymaster._studies.perf.errors import WorkloadError
from quaymaster._studies.perf.measurement import Meter

__all__ = ["World"]

_BURST: Final = 100
"""How many pods the client creates before the scheduler gets as many turns."""

# Upstream's default timeout of ten minutes (``createPodsOp``,
# scheduler_perf/executor.go).
_PATIENCE_SECONDS: Final = 600.0
# The number of bound pods between two progress reports.
_PROGRESS: Final = 256


class World:
    """A cluster with a scheduler in it.

    Args:
        config: The scheduler's configuration.
        registry: Where plugins are found by name.
        seed: Decides the choice between equally good nodes, and generated names.
        on_progress: Called repeatedly with the number of bound pods.
        options: Other settings of the scheduler.

    Attributes:
        clock: The workload's time.
        cluster: The cluster.
        meter: The metrics.
    """

    def __init__(
        self,
        config: SchedulerConfig,
        registry: PluginRegistry,
        seed: int,
        on_progress: Callable[[int], None] | None = None,
        options: SchedulerOptions | None = None,
    ) -> None:
        self.clock = PacedClock()
        self.cluster = InMemoryCluster(
            self.clock, seed=seed, kubernetes=config.kubernetes
        )
        self.meter = Meter(self.clock, self._why_pending)
        self._on_progress = on_progress
        self._next_report = 0
        self._scheduler = Scheduler(
            self.cluster,
            config,
            registry,
            clock=self.clock,
            seed=seed,
            observer=self.meter,
            options=options,
        )
        self._scheduler.start()

    def close(self) -> None:
        """End the scheduler's plugins."""
        self._scheduler.close()

    def turn(self) -> bool:
        """Let the scheduler take one turn; return whether it had anything to do."""
        self.clock.keep_pace()
        busy = self._scheduler.turn()
        self.meter.turned()
        if self._on_progress is not None and self.meter.bound_pods >= self._next_report:
            self._on_progress(self.meter.bound_pods)
            self._next_report = self.meter.bound_pods + _PROGRESS
        return busy

    def work_off(self) -> None:
        """Let the scheduler do all work that is possible without waiting."""
        while self.turn():
            pass

    def feed(self, calls: Iterable[Callable[[], None]]) -> None:
        """Make calls to the API while the scheduler works.

        A real client and scheduler run concurrently; here they take turns in bursts.
        """
        waiting: Iterator[Callable[[], None]] = iter(calls)
        while burst := list(islice(waiting, _BURST)):
            for call in burst:
                self.clock.keep_pace()
                call()
            for _ in burst:
                if not self.turn():
                    break

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self._wait(lambda: False, self.clock.now() + seconds)

    def wait_until(self, is_done: Callable[[], bool]) -> bool:
        """Let the scheduler work until a condition holds.

        Returns:
            False if it has not become true within ten minutes, or never will.
        """
        return self._wait(is_done, self.clock.now() + _PATIENCE_SECONDS)

    def every(
        self, seconds: float, calls: Iterator[Callable[[], None]]
    ) -> Callable[[], bool]:
        """Make calls at an interval, the first after one interval.

        Returns:
            A function that returns whether the last call was made.
        """
        begun = self.clock.now()
        made = 0
        is_over = False

        def next_call() -> None:
            nonlocal made, is_over
            made += 1
            call = next(calls, None)
            if call is None:
                is_over = True
                return
            call()
            # Counted from the beginning, so that delays do not add up.
            self.clock.call_at(begun + (made + 1) * seconds, next_call)

        self.clock.call_at(begun + seconds, next_call)
        return lambda: is_over

    def pods_in(self, namespace: str, labels: Mapping[str, str]) -> list[Pod]:
        """Return the pods of a namespace with some labels."""
        required = labels.items()
        return [
            pod
            for pod in self.cluster.list(Pod).items
            if pod.namespace == namespace and required <= pod.labels.items()
        ]

    def wait_for_pods(
        self,
        namespace: str,
        labels: Mapping[str, str],
        count: int,
        *,
        attempted: bool = False,
    ) -> None:
        """Let the scheduler work until enough pods of a namespace have a node.

        Args:
            namespace: The namespace of the pods.
            labels: The labels of the pods.
            count: The required number of pods.
            attempted: Whether a failed attempt is enough.

        Raises:
            WorkloadError: It takes more than ten minutes, or never happens.
        """
        stage = _is_attempted if attempted else _has_node
        is_done = self._counting(namespace, labels, count, stage)
        if not self.wait_until(is_done):
            raise WorkloadError(self._complaint(namespace, labels, count))

    def bind_until(self, namespace: str, count: int, deadline: float) -> bool:
        """Let the scheduler work until enough pods have a node, or the time is over.

        Args:
            namespace: The namespace of the pods.
            count: The required number of pods.
            deadline: The end of the time.

        Returns:
            Whether enough pods have a node.
        """
        return self._wait(self._counting(namespace, {}, count, _has_node), deadline)

    def _counting(
        self,
        namespace: str,
        labels: Mapping[str, str],
        count: int,
        is_far_enough: Callable[[Pod], bool],
    ) -> Callable[[], bool]:
        """Return a function that checks whether enough pods have progressed."""
        # Scanning all pods is slow. Pods only progress in steps, so the next scan is
        # due after as many steps as pods are missing.
        look_at = 0

        def is_done() -> bool:
            nonlocal look_at
            if self.meter.steps < look_at:
                return False
            missing = count - sum(map(is_far_enough, self.pods_in(namespace, labels)))
            look_at = self.meter.steps + missing
            return missing <= 0

        return is_done

    def _wait(self, is_done: Callable[[], bool], deadline: float) -> bool:
        while not is_done():
            if self.clock.now() >= deadline:
                return False
            if not self.turn() and not self.clock.skip(deadline):
                return False
        return True

    def _complaint(self, namespace: str, labels: Mapping[str, str], count: int) -> str:
        pods = self.pods_in(namespace, labels)
        left = [pod for pod in pods if not pod.node_name]
        text = (
            f"namespace {namespace}: {len(pods) - len(left)} of {count} pods have a "
            f"node after {_PATIENCE_SECONDS:g} seconds"
        )
        if not left:
            return text
        why = self._condition(left[0])
        return f"{text}; {left[0].key}: {why[1] if why else 'not tried yet'}"

    def _why_pending(self, pod: Pod) -> str | None:
        try:
            pod = self.cluster.get(Pod, pod.key)
        except NotFoundError:
            return "error"
        condition = self._condition(pod)
        if condition is None:
            return None
        return "error" if condition[0] == "SchedulerError" else "unschedulable"

    @staticmethod
    def _condition(pod: Pod) -> tuple[str, str] | None:
        for condition in pod.status.conditions:
            if condition.type == "PodScheduled" and condition.status == "False":
                return condition.reason, condition.message
        return None


def _has_node(pod: Pod) -> bool:
    return bool(pod.node_name)


def _is_attempted(pod: Pod) -> bool:
    """Mirrors ``isAttempted`` (``test/integration/scheduler_perf/util.go``)."""
    return bool(pod.node_name) or any(
        condition.type == "PodScheduled" for condition in pod.status.conditions
    )
