"""A scheduler on a faulty cluster, the steps of a history, and the invariants.

The model is the in-memory cluster itself, which nothing is hidden from, and a log of
the binds that the scheduler reports.
"""

import functools
from collections import Counter
from collections.abc import Callable

from msgspec.structs import replace

from quaymaster._binding.executor import Executor, InlineExecutor, Post
from quaymaster._engine.framework import Framework
from quaymaster._engine.scheduler import Scheduler
from quaymaster.clock import VirtualClock
from quaymaster.cluster import EventNote, NotFoundError
from quaymaster.config import SchedulerConfig, default_config
from quaymaster.memory import MemoryCluster
from quaymaster.objects import Node, Pod
from quaymaster.options import SlowHook
from quaymaster.registry import PluginRegistry
from quaymaster.resources import pod_request_list
from quaymaster.testing import Fault, FaultyCluster, make_node, make_pod
from tests.chaos.executor import SlowExecutor
from tests.chaos.steps import Step

__all__ = ["RATES", "Machine", "ViolationError"]

RATES = {
    Fault.ERROR: 0.10,
    Fault.CONFLICT: 0.10,
    Fault.LOST_CALL: 0.10,
    Fault.LOST_ANSWER: 0.15,
    Fault.STALE_LIST: 0.20,
    Fault.BROKEN_WATCH: 0.03,
    Fault.EXPIRED_WATCH: 0.03,
    Fault.DELAYED_EVENTS: 0.20,
    Fault.REPEATED_EVENT: 0.10,
}

_CPU = 4000
_MAX_TURNS = 2000


class ViolationError(AssertionError):
    """An invariant does not hold."""


class Machine:
    """One history as it runs.

    Args:
        seed: Seeds the faults, the cluster's names and the scheduler.

    Attributes:
        faults: What stands between the scheduler and the cluster.
        cluster: The cluster itself.
    """

    def __init__(self, seed: int) -> None:
        registry, config = _installed()
        self.clock = VirtualClock()
        self.cluster = MemoryCluster(self.clock, seed=seed)
        self.faults = FaultyCluster(self.cluster, clock=self.clock, rates={}, seed=seed)
        self._bound: dict[str, str] = {}
        self._problems: list[str] = []
        self.scheduler = Scheduler(
            self.faults,
            config,
            registry,
            clock=self.clock,
            seed=seed,
            make_executor=self._executor_for(seed),
            observer=self,
        )
        self.scheduler.start()
        self.faults.set_rates(RATES)

    def run(self, step: Step) -> None:
        """Take one step, and check what must hold after each.

        Raises:
            ViolationError: Something does not.
        """
        name, *arguments = step
        getattr(self, name)(*arguments)
        self.check()

    # Steps --------------------------------------------------------------------------

    def add_pod(self, number: int, cpu: int, priority: int) -> None:
        """Create a pod, unless there is one of that name."""
        name = f"pod-{number}"
        if self._find_pod(name) is None:
            requests = {"cpu": f"{cpu}m"}
            self.cluster.create(
                make_pod(name=name, uid="", requests=requests, priority=priority)
            )

    def delete_pod(self, number: int, grace: int) -> None:
        """Delete a pod, if there is one of that name."""
        pod = self._find_pod(f"pod-{number}")
        if pod is not None:
            self.cluster.delete(Pod, pod.key, grace_period_seconds=grace)

    def add_node(self, number: int) -> None:
        """Create a node, unless there is one of that name."""
        if self._find_node(number) is None:
            node = make_node(name=f"node-{number}", capacity={"cpu": f"{_CPU}m"})
            self.cluster.create(node)

    def remove_node(self, number: int) -> None:
        """Delete a node, if there is one of that name."""
        if self._find_node(number) is not None:
            self.cluster.delete(Node, f"node-{number}")

    def cordon(self, number: int) -> None:
        """Make a node unschedulable, if there is one of that name."""
        self._set_unschedulable(number, True)

    def uncordon(self, number: int) -> None:
        """Make a node schedulable, if there is one of that name."""
        self._set_unschedulable(number, False)

    def turn(self, count: int) -> None:
        """Let the scheduler take some turns, and check after each."""
        for _ in range(count):
            self.scheduler.turn()
            self.check()

    def pass_time(self, seconds: int) -> None:
        """Let time pass, and the scheduler work through what comes of it."""
        end = self.clock.now() + seconds
        self._work()
        while (due := self.clock.next_due()) is not None and due <= end:
            self.clock.advance(max(0.0, due - self.clock.now()))
            self._work()
        self.clock.advance(max(0.0, end - self.clock.now()))
        self._work()

    def finish(self) -> None:
        """Stop the faults, let everything settle, and check what must hold then.

        Raises:
            ViolationError: Something does not.
        """
        self.faults.set_rates({})
        for _ in range(3):
            self.pass_time(60)
            self.scheduler.settle()
        self.check()
        self._check_agreement()
        self._check_liveness()

    def _executor_for(self, seed: int) -> Callable[[Post], Executor]:
        """Half of the histories bind at once, the others take their time."""
        if seed % 2:
            return InlineExecutor
        return lambda _: SlowExecutor(self.clock, seed)

    def _work(self) -> None:
        for _ in range(_MAX_TURNS):
            if not self.scheduler.turn():
                return
            self.check()
        raise ViolationError("the scheduler is busy for ever at one moment")

    # What the scheduler reports -----------------------------------------------------

    def attempting(self, pod: Pod, _framework: Framework, /) -> None:
        """Nothing is asked of attempts."""

    def bound(self, pod: Pod, node_name: str, /) -> None:
        """A pod is bound at most once, and where the cluster says."""
        if pod.uid in self._bound:
            self._problems.append(f"{pod.key} was bound twice")
        self._bound[pod.uid] = node_name
        stored = self._find_pod(pod.name)
        if stored is None or stored.uid != pod.uid:
            return
        if stored.node_name != node_name:
            actual = stored.node_name or "no node"
            self._problems.append(
                f"{pod.key} is said to be on {node_name}, but is on {actual}"
            )

    def recorded(self, _note: EventNote, /) -> None:
        """Nothing is asked of Events."""

    def slow(self, _hook: SlowHook, /) -> None:
        """Nothing is asked of real times."""

    # Invariants ---------------------------------------------------------------------

    def check(self) -> None:
        """Check what must hold at any time."""
        if self._problems:
            raise ViolationError(self._problems[0])
        self._check_nodes()
        for pod in self._known_pods():
            self._check_place(pod)

    def _check_nodes(self) -> None:
        used = self._used()
        for name, cpu in used.items():
            if cpu > _CPU:
                raise ViolationError(f"{name} holds {cpu}m of {_CPU}m CPU")

    def _check_place(self, pod: Pod) -> None:
        """Whether a live pod, as the scheduler knows it, is in exactly one place."""
        queue, cache = self.scheduler.queue, self.scheduler._cache
        queued = queue.get(pod.key)
        places = {
            "bound": bool(pod.node_name) and cache.get(pod.uid) is not None,
            "queued": queued is not None and queued.pod.uid == pod.uid,
            "assumed": cache.is_assumed(pod.uid),
            "in flight": pod.uid in queue.in_flight and not cache.is_assumed(pod.uid),
        }
        found = [place for place, is_there in places.items() if is_there]
        if len(found) != 1 and not (not found and pod.is_terminating):
            listed = " and ".join(found) or "nowhere"
            raise ViolationError(f"{pod.key} is {listed}")

    def _check_agreement(self) -> None:
        """Whether the scheduler knows the cluster as it is."""
        cache = self.scheduler._cache
        bound = {pod.uid: pod for pod in self._live_pods() if pod.node_name}
        for pod in bound.values():
            known = cache.get(pod.uid)
            if known is None or known.node_name != pod.node_name:
                raise ViolationError(f"the cache has {pod.key} elsewhere, or not")
        if len(cache) != len(bound):
            raise ViolationError(f"the cache has {len(cache)} pods, not {len(bound)}")
        if cache.assumed_count or self.scheduler.queue.in_flight:
            raise ViolationError("pods are assumed or in flight for ever")
        pending = {pod.key for pod in self._live_pods() if not pod.node_name}
        if {queued.key for queued in self.scheduler.queue} != pending:
            raise ViolationError("the queue does not hold the pending pods")
        nodes = {node.name for node in self.cluster.list(Node).items}
        named = {info.name for info in self.scheduler.snapshot.nodes}
        if named != nodes:
            raise ViolationError("the snapshot does not hold the nodes")

    def _check_liveness(self) -> None:
        """Whether no pod is pending that has room, lower priorities aside."""
        used = self._used()
        for pod in self._live_pods():
            if pod.node_name:
                continue
            for node in self.cluster.list(Node).items:
                free = _CPU - used[node.name] + self._evictable(pod, node.name)
                if not node.spec.unschedulable and _cpu_of(pod) <= free:
                    raise ViolationError(f"{pod.key} waits, but fits on {node.name}")

    # The model ----------------------------------------------------------------------

    def _used(self) -> Counter[str]:
        used: Counter[str] = Counter()
        for pod in self._live_pods():
            if pod.node_name:
                used[pod.node_name] += _cpu_of(pod)
        return used

    def _evictable(self, pod: Pod, node_name: str) -> int:
        return sum(
            _cpu_of(other)
            for other in self._live_pods()
            if other.node_name == node_name and other.priority < pod.priority
        )

    def _live_pods(self) -> list[Pod]:
        return [pod for pod in self.cluster.list(Pod).items if not pod.is_finished]

    def _known_pods(self) -> list[Pod]:
        known = self.scheduler._informers.list(Pod)
        return [pod for pod in known if not pod.is_finished]

    def _find_pod(self, name: str) -> Pod | None:
        try:
            return self.cluster.get(Pod, f"default/{name}")
        except NotFoundError:
            return None

    def _find_node(self, number: int) -> Node | None:
        try:
            return self.cluster.get(Node, f"node-{number}")
        except NotFoundError:
            return None

    def _set_unschedulable(self, number: int, unschedulable: bool) -> None:
        node = self._find_node(number)
        if node is not None:
            spec = replace(node.spec, unschedulable=unschedulable)
            self.cluster.update(replace(node, spec=spec))


def _cpu_of(pod: Pod) -> int:
    amount = pod_request_list(pod).get("cpu")
    return 0 if amount is None else amount.milli_value


@functools.cache
def _installed() -> tuple[PluginRegistry, SchedulerConfig]:
    registry = PluginRegistry.discover()
    return registry, default_config(registry)
