"""A scheduler that stops finishes or returns every pod that it holds."""

import threading

import pytest

from quaymaster import Pod
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.testing import SlowExecutor


class Rig:
    """A scheduler whose binds return late."""

    def __init__(self, call_seconds: float = 0.0, answer_seconds: float = 0.0) -> None:
        self.clock = VirtualClock()
        self.cluster = InMemoryCluster(self.clock, kubelet=False)
        registry = PluginRegistry.discover()
        self.scheduler = Scheduler(
            self.cluster,
            default_config(registry),
            registry,
            clock=self.clock,
            make_executor=lambda post: SlowExecutor(
                self.clock,
                post,
                call_delay=lambda: call_seconds,
                answer_delay=lambda: answer_seconds,
            ),
        )
        self.cluster.create(make_node(name="n", allocatable={"cpu": "9", "pods": "99"}))
        self.scheduler.start()

    def create(self, *names: str) -> None:
        for name in names:
            self.cluster.create(make_pod(name=name))

    def node_of(self, name: str) -> str:
        return self.cluster.get(Pod, f"default/{name}").node_name


@pytest.mark.parametrize(("call", "answer"), [(0.0, 3.0), (3.0, 0.0), (2.0, 1.0)])
def test_binds_under_way_end_first(call: float, answer: float) -> None:
    rig = Rig(call, answer)
    rig.create("a", "b")
    rig.scheduler.turn()
    rig.scheduler.turn()
    assert rig.scheduler.binds_in_flight == 2
    begun = rig.clock.now()
    assert rig.scheduler.drain(20.0) == 0
    assert (rig.node_of("a"), rig.node_of("b")) == ("n", "n")
    assert rig.clock.now() - begun == 3.0


def test_no_new_attempt_starts() -> None:
    rig = Rig(answer_seconds=3.0)
    rig.create("a", "b")
    rig.scheduler.turn()
    assert rig.scheduler.drain(20.0) == 0
    rig.create("c")
    assert rig.scheduler.drain(20.0) == 0
    assert (rig.node_of("a"), rig.node_of("b"), rig.node_of("c")) == ("n", "", "")


def test_drain_ends_at_its_timeout(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig(answer_seconds=30.0)
    rig.create("a")
    rig.scheduler.turn()
    begun = rig.clock.now()
    assert rig.scheduler.drain(20.0) == 1
    assert rig.clock.now() - begun == 20.0
    assert caplog.messages == [
        "still being bound after 20 s, and may be bound or not: 1 pod"
    ]


def test_drain_returns_at_once_without_binds_under_way() -> None:
    rig = Rig()
    begun = rig.clock.now()
    assert rig.scheduler.drain(20.0) == 0
    assert rig.clock.now() == begun


@pytest.mark.parametrize(("seconds", "left"), [(20.0, 0), (0.0, 1)])
def test_run_drains_before_it_closes(seconds: float, left: int) -> None:
    rig = Rig(answer_seconds=3.0)
    rig.create("a")
    rig.scheduler.turn()
    stop = threading.Event()
    stop.set()
    rig.scheduler.run(stop, lambda: seconds)
    assert rig.scheduler.binds_in_flight == left
