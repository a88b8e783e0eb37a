"""Known failures between the choice of a node and the end of a binding.

See docs/explanation/reliability.md.
"""

import threading
from collections.abc import Callable, Mapping
from typing import ClassVar

import pytest

from quaymaster import (
    Handle,
    Node,
    PermitWait,
    Pod,
    PreBindWait,
    PreFilterResult,
    Status,
    hookimpl,
)
from quaymaster.cluster import UnknownOutcomeError
from quaymaster.config import default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PersistentVolume, PersistentVolumeClaim
from quaymaster.scheduler import PluginRegistry, RealClock, Scheduler, WorkerExecutor
from quaymaster.testing import (
    SchedulerHarness,
    make_affinity_term,
    make_node,
    make_persistent_volume,
    make_persistent_volume_claim,
    make_pod,
    make_storage_class,
)
from tests.kit.documents import HEADER
from tests.kit.engine import scheduler_of

LATE = Status.unschedulable("too late")
ONE_CPU = {"cpu": "1"}
HOST = "kubernetes.io/hostname"


class Helper:
    """A plugin with a handle."""

    def __init__(self, args: None, handle: Handle) -> None:
        self.handle = handle


def config_with(name: str, *, binds: bool = False) -> Mapping[str, object]:
    plugins: dict[str, object] = {"multiPoint": {"enabled": [{"name": name}]}}
    if binds:
        enabled = [{"name": name}]
        plugins["bind"] = {"disabled": [{"name": "*"}], "enabled": enabled}
    return {
        **HEADER,
        "profiles": [{"plugins": plugins}],
    }


class SlowStorage(Helper):
    """Makes each pod named 'slow' wait for the test."""

    is_ready: ClassVar[Callable[[], bool]]

    @hookimpl
    def pre_bind(self, pod: Pod) -> PreBindWait | None:
        if pod.name != "slow":
            return None
        return PreBindWait(
            check=type(self).is_ready, timeout_seconds=7200.0, timed_out=LATE
        )


def test_assumed_pod_keeps_its_place_however_long_its_binding_takes() -> None:
    """kubernetes/kubernetes#106361: assumed pods expired, nodes were overcommitted."""
    ready = False
    SlowStorage.is_ready = staticmethod(lambda: ready)
    harness = SchedulerHarness(
        [
            make_node(name="a", capacity=ONE_CPU),
            make_pod(name="slow", requests=ONE_CPU, priority=1),
            make_pod(name="other", requests=ONE_CPU),
        ],
        plugins={"SlowStorage": SlowStorage},
        config=config_with("SlowStorage"),
    )
    harness.advance(3600.0)
    assert harness.node_of("slow") == harness.node_of("other") == ""
    assert "1 Insufficient cpu" in harness.message("other")
    ready = True
    harness.advance(600.0)
    assert (harness.node_of("slow"), harness.node_of("other")) == ("a", "")


class LossyBinder(Helper):
    """Binds, and loses the first answers."""

    losses: ClassVar[int]
    binds: ClassVar[list[str]]

    @hookimpl
    def bind(self, pod: Pod, node_name: str) -> Status | None:
        self.handle.cluster.bind(pod, node_name)
        type(self).binds.append(pod.name)
        if len(self.binds) <= self.losses:
            return Status.from_error(UnknownOutcomeError("no answer"))
        return None


def test_place_of_a_pod_is_kept_if_the_answer_to_its_bind_is_lost() -> None:
    """kubernetes/kubernetes#100140, #96579, #101877."""
    LossyBinder.losses, LossyBinder.binds = 1, []
    apart = [make_affinity_term(selector={"app": "x"})]
    pods = [
        make_pod(name=name, labels={"app": "x"}, pod_anti_affinity=apart)
        for name in ("p", "q")
    ]
    harness = SchedulerHarness(
        [make_node(name="a"), *pods],
        plugins={"LossyBinder": LossyBinder},
        config=config_with("LossyBinder", binds=True),
    )
    harness.advance(3600.0)
    assert (harness.node_of("p"), harness.node_of("q")) == ("a", "")
    assert LossyBinder.binds == ["p"]
    assert harness.attempts.count("default/p") == 1


def test_events_do_not_pile_up_behind_a_stuck_binding() -> None:
    """kubernetes/kubernetes#120622, #129967."""
    SlowStorage.is_ready = staticmethod(lambda: False)
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="slow")],
        plugins={"SlowStorage": SlowStorage},
        config=config_with("SlowStorage"),
    )
    harness.schedule_one()
    for number in range(50):
        harness.cluster.create(make_node(name=f"n{number}"))
        harness.advance(1.0)
    queue = scheduler_of(harness).queue
    assert harness.node_of("slow") == ""
    assert (queue.in_flight, queue.in_flight_event_count) == ([], 0)


class Observing(Helper):
    """Records the pod's nomination in the cluster before the bind."""

    seen: ClassVar[list[str]]

    @hookimpl
    def pre_bind(self, pod: Pod) -> None:
        stored = self.handle.cluster.get(Pod, pod.key)
        type(self).seen.append(stored.status.nominated_node_name)


class Asking(Observing):
    """Makes pods wait on Permit."""

    @hookimpl
    def permit(self) -> PermitWait:
        return PermitWait(60.0)


def test_nominated_node_is_set_before_pre_bind_and_cleared_by_the_bind() -> None:
    Observing.seen = []
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        plugins={"Observing": Observing},
        config=config_with("Observing"),
    )
    harness.settle()
    assert Observing.seen == ["a"]
    assert harness.node_of("p") == "a"
    assert harness.pod("p").status.nominated_node_name == ""


def test_nominated_node_is_set_during_a_permit_wait_and_cleared_by_the_bind() -> None:
    Asking.seen = []
    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p")],
        plugins={"Asking": Asking},
        config=config_with("Asking"),
    )
    harness.schedule_one()
    assert harness.pod("p").status.nominated_node_name == "a"
    [waiting] = scheduler_of(harness).waiting
    waiting.allow("Asking")
    harness.advance(0.0)
    assert harness.node_of("p") == "a"
    assert harness.pod("p").status.nominated_node_name == ""


def test_nomination_to_a_deleted_node_does_not_delay_the_pod() -> None:
    """kubernetes/kubernetes#72124, #93505, #106780."""
    harness = SchedulerHarness(
        [
            make_node(name="a", capacity=ONE_CPU),
            make_pod(name="victim", node="a", requests=ONE_CPU),
            make_pod(name="p", requests=ONE_CPU, priority=1),
        ]
    )
    harness.schedule_one()
    assert harness.pod("p").status.nominated_node_name == "a"
    harness.cluster.delete(Node, "a")
    harness.cluster.create(make_node(name="b", capacity=ONE_CPU))
    harness.advance(60.0)
    assert harness.node_of("p") == "b"
    assert harness.pod("p").status.nominated_node_name == ""
    assert not scheduler_of(harness).queue.nominator.pods_on("a")


@pytest.mark.parametrize("names", [{"gone"}, {"gone", "a"}], ids=["alone", "and a"])
def test_pre_filter_may_name_an_unknown_node(names: set[str]) -> None:
    """kubernetes/kubernetes#124930: a division by zero in every attempt."""

    class Dreamer(Helper):
        @hookimpl
        def pre_filter(self, pod: Pod) -> PreFilterResult | None:
            return PreFilterResult(frozenset(names)) if pod.name == "p" else None

    harness = SchedulerHarness(
        [make_node(name="a"), make_pod(name="p", priority=1), make_pod(name="q")],
        plugins={"Dreamer": Dreamer},
        config=config_with("Dreamer"),
    )
    harness.advance(60.0)
    assert harness.node_of("q") == "a"
    assert harness.node_of("p") == ("a" if "a" in names else "")
    if "a" not in names:
        assert "didn't satisfy plugin(s) [Dreamer]" in harness.message("p")


def test_burst_of_pods_does_not_overfill_a_node() -> None:
    """kubernetes/kubernetes#136782."""
    nodes = [make_node(name=f"n{number}", capacity={"pods": "5"}) for number in "abc"]
    pods = [make_pod(name=f"p{number}") for number in range(20)]
    harness = SchedulerHarness([*nodes, *pods])
    harness.settle()
    placed = [pod.node_name for pod in harness.cluster.list(Pod).items]
    assert {name: placed.count(name) for name in placed} == {
        "na": 5,
        "nb": 5,
        "nc": 5,
        "": 5,
    }


class Recreating(Helper):
    """Replaces the pod with another of the same name just before the bind."""

    is_over: ClassVar[bool]

    @hookimpl
    def pre_bind(self, pod: Pod) -> None:
        if not self.is_over:
            type(self).is_over = True
            self.handle.cluster.delete(Pod, pod.key)
            self.handle.cluster.create(make_pod(name="p", uid="2", claims=["claim"]))


def test_recreated_pod_follows_the_claim_that_its_predecessor_had_bound() -> None:
    """kubernetes/kubernetes#121436."""
    Recreating.is_over = False
    harness = SchedulerHarness(
        [
            make_node(name="a"),
            make_node(name="b"),
            make_storage_class(provisioner="kubernetes.io/no-provisioner"),
            *(
                make_persistent_volume(name=f"on-{node}", node_labels={HOST: node})
                for node in "ab"
            ),
            make_persistent_volume_claim(),
            make_pod(name="p", uid="1", claims=["claim"]),
        ],
        plugins={"Recreating": Recreating},
        config=config_with("Recreating"),
    )
    harness.settle()
    claim = harness.cluster.get(PersistentVolumeClaim, "default/claim")
    volumes = harness.cluster.list(PersistentVolume).items
    taken = [volume.name for volume in volumes if volume.spec.claim_ref is not None]
    assert harness.pod("p").uid == "2"
    assert taken == [claim.spec.volume_name] == [f"on-{harness.node_of('p')}"]


class _Bound:
    def __init__(self) -> None:
        self.event = threading.Event()

    def attempting(self, *_args: object) -> None: ...

    def recorded(self, *_args: object) -> None: ...

    def slow(self, *_args: object) -> None: ...

    def failed(self, *_args: object) -> None: ...

    def bound(self, *_args: object) -> None:
        self.event.set()


def test_single_pod_that_comes_while_the_scheduler_sleeps_does_not_wait() -> None:
    """kubernetes/kubernetes#119784: the thread that pops was not woken."""
    clock, registry, bound = RealClock(), PluginRegistry.discover(), _Bound()
    cluster = InMemoryCluster(clock)
    cluster.load([make_node(name="a")])
    scheduler = Scheduler(
        cluster,
        default_config(registry),
        registry,
        clock=clock,
        make_executor=lambda post: WorkerExecutor(post, workers=1),
        observer=bound,
    )
    scheduler.start()
    stop = threading.Event()
    thread = threading.Thread(target=scheduler.run, args=(stop,))
    thread.start()
    try:
        for number in range(3):
            bound.event.clear()
            cluster.create(make_pod(name=f"p{number}"))
            assert bound.event.wait(timeout=10.0)
    finally:
        stop.set()
        scheduler.wake()
        thread.join(timeout=30.0)
    assert not thread.is_alive()
