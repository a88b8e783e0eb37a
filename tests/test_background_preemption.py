"""Preemption while the calls to the cluster take their time, on whole profiles."""

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from quaymaster._binding.executor import Post
from quaymaster._engine.scheduler import Scheduler
from quaymaster.clock import VirtualClock
from quaymaster.config import default_config
from quaymaster.memory import MemoryCluster
from quaymaster.objects import Pod
from quaymaster.registry import PluginRegistry
from quaymaster.testing import make_node, make_pod

T = TypeVar("T")


class SlowExecutor:
    """Runs one task at a time, when told to."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self.tasks: list[Callable[[], None]] = []

    def submit(self, task: Callable[[], T], done: Callable[[T], None]) -> None:
        def run() -> None:
            result = task()
            self._post(lambda: done(result))

        self.tasks.append(run)

    def close(self) -> None:
        pass


class World:
    """A node that two pods fill, and a more important one that needs all of it."""

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cluster = MemoryCluster(self.clock)
        self.cluster.load(
            [
                make_node(name="a", allocatable={"cpu": "4", "pods": "9"}),
                self.victim("first", 5),
                self.victim("last", 1),
                make_pod(name="preemptor", requests={"cpu": "4"}, priority=9),
            ]
        )
        self.executors: list[SlowExecutor] = []
        registry = PluginRegistry.discover()
        self.scheduler = Scheduler(
            self.cluster,
            default_config(registry),
            registry,
            clock=self.clock,
            make_executor=self.make_executor,
        )
        self.scheduler.start()

    def victim(self, name: str, priority: int) -> Pod:
        """A pod that ends as soon as it is deleted."""
        return make_pod(
            name=name,
            node="a",
            requests={"cpu": "2"},
            priority=priority,
            termination_grace_period_seconds=0,
        )

    def make_executor(self, post: Post) -> SlowExecutor:
        self.executors.append(SlowExecutor(post))
        return self.executors[-1]

    def work(self) -> None:
        """Let the scheduler do what it can without an answer from the cluster."""
        while self.scheduler.turn():
            pass

    def answer(self) -> None:
        """Let the oldest call reach the cluster, and its answer the scheduler."""
        (executor,) = self.executors
        executor.tasks.pop(0)()

    @property
    def gate(self) -> str:
        pending = self.scheduler.queue.why_pending("default/preemptor")
        return pending.gated_by if pending is not None else ""

    @property
    def pods(self) -> set[str]:
        return {pod.name for pod in self.cluster.list(Pod).items}

    @property
    def node(self) -> str:
        return self.cluster.get(Pod, "default/preemptor").node_name


def test_a_preemptor_is_gated_until_its_last_victim_is_deleted() -> None:
    world = World()
    world.work()
    assert world.pods == {"first", "last", "preemptor"}
    world.answer()  # to the first deletion
    world.clock.advance(0)
    world.work()
    assert world.pods == {"last", "preemptor"}
    # The event of that deletion would have woken it, and it would have preempted again.
    assert world.gate == "DefaultPreemption"
    while (executor := world.executors[0]).tasks:
        world.answer()
        world.clock.advance(0)
        world.work()
    world.clock.advance(60)
    world.work()
    while executor.tasks:
        world.answer()
        world.work()
    assert world.pods == {"preemptor"}
    assert world.node == "a"
    preempted = [one for one in world.cluster.events() if one.reason == "Preempted"]
    assert [one.regarding.name for one in preempted] == ["first", "last"]


def test_a_preemptor_is_woken_if_its_last_victim_ends_by_itself_before() -> None:
    world = World()
    world.work()
    world.answer()  # to the first deletion
    last = world.cluster.get(Pod, "default/last")
    ended = replace(last, status=replace(last.status, phase="Succeeded"))
    world.cluster.update(ended)
    world.work()
    while (executor := world.executors[0]).tasks:
        world.answer()
        world.work()
    for _ in range(60):  # far from the flush after five minutes
        world.clock.advance(1)
        world.work()
        while executor.tasks:
            world.answer()
            world.work()
    assert world.node == "a"


def test_others_are_scheduled_while_victims_are_deleted() -> None:
    world = World()
    world.work()
    world.cluster.create(make_node(name="b", allocatable={"cpu": "1", "pods": "9"}))
    world.cluster.create(make_pod(name="small", requests={"cpu": "1"}))
    world.work()
    assert world.scheduler.queue.why_pending("default/small") is None
    assert world.gate in ("", "DefaultPreemption")
