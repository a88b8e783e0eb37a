"""Background evictions gate the preemptor until the last victim is deleted."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Pod, Snapshot, WaitingPod
from quaymaster.cluster import ApiError, EventNote, PodStatusPatch
from quaymaster.config import Kubernetes
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PodCondition
from quaymaster.preemption import Candidate, Evictions, is_preempted
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.cycles import make_nominator
from tests.kit.informers import StoredObjects
from tests.kit.internals.engine import EngineHandle, Services

T = TypeVar("T")

PREEMPTOR = make_pod(name="preemptor", priority=100)
PREEMPTED = PodCondition(
    type="DisruptionTarget", status="True", reason="PreemptionByScheduler"
)


class Later:
    """An executor whose tasks run on ``work`` and report on ``finish``."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], Any], Callable[[Any], None]]] = []
        self.running: list[Callable[[], None]] = []

    def submit(
        self, task: Callable[[], T], done: Callable[[T], None], *, blocks: bool = True
    ) -> None:
        self.waiting.append((task, done))

    def close(self) -> None:
        pass

    def work(self) -> None:
        """Run the tasks, whose results are still on their way."""
        tasks, self.waiting = self.waiting, []
        for task, done in tasks:
            result = task()
            self.running.append(lambda done=done, result=result: done(result))  # type: ignore[misc]  # mypy infers no lambda defaults

    def finish(self) -> None:
        """Hand over the results."""
        ended, self.running = self.running, []
        for end in ended:
            end()


class Evicting:
    def __init__(
        self, *victims: Pod, nominated: tuple[Pod, ...] = (), version: str = "1.36"
    ) -> None:
        clock = VirtualClock()
        self.cluster = InMemoryCluster(clock)
        self.cluster.load([make_node(name="a"), *victims, *nominated, PREEMPTOR])
        self.executor = Later()
        self.activated: list[str] = []
        self.notes: list[EventNote] = []
        self.waiting: dict[str, WaitingPod] = {}
        nominator = make_nominator(nominated)
        services = Services(
            clock=clock,
            cluster=self.cluster,
            informers=StoredObjects(self.cluster),
            snapshot=Snapshot(),
            waiting_pods=self.waiting.values,
            waiting_pod=self.waiting.get,
            activate=lambda pods: self.activated.extend(pod.key for pod in pods),
            nominator=nominator,
            record=self.notes.append,
            executor=self.executor,
        )
        handle = EngineHandle(
            "default-scheduler", services, kubernetes=Kubernetes(version)
        )
        self.evictions = Evictions(handle, "Me")
        self.evictions.start(PREEMPTOR, Candidate(node_name="a", victims=victims))

    @property
    def is_gated(self) -> bool:
        return self.evictions.is_under_way(PREEMPTOR)

    def is_terminating(self, name: str) -> bool:
        return self.cluster.get(Pod, f"default/{name}").is_terminating

    @property
    def notified(self) -> list[str]:
        return [note.regarding.name for note in self.notes]


def victim(name: str) -> Pod:
    return make_pod(name=name, node="a")


def finished(pod: Pod) -> Pod:
    return replace(pod, status=replace(pod.status, phase="Succeeded"))


def test_the_preemptor_is_gated_until_the_last_victim_is_deleted() -> None:
    world = Evicting(victim("x"), victim("y"))
    assert world.is_gated
    world.executor.work()
    assert world.is_terminating("x")
    assert not world.is_terminating("y")
    assert world.is_gated
    world.executor.finish()
    assert world.notified == ["x"]
    assert world.is_gated
    world.executor.work()
    # The deletion is seen, although the answer to it is still on its way.
    assert world.is_terminating("y")
    assert not world.is_gated
    world.executor.finish()
    assert world.notified == ["x", "y"]
    assert not world.is_gated
    assert not world.activated


def test_the_preemptor_is_woken_if_an_event_found_the_gate_closed() -> None:
    world = Evicting(finished(victim("x")))
    assert world.is_gated
    for _ in range(2):
        world.executor.work()
        world.executor.finish()
    assert world.activated == ["default/preemptor"]


def test_a_held_back_preemptor_waits_for_the_report_of_a_victims_end() -> None:
    world = Evicting(victim("x"))
    assert world.is_gated
    for _ in range(2):
        world.executor.work()
        world.executor.finish()
    assert world.is_terminating("x")
    assert not world.is_gated
    assert not world.activated


def test_other_pods_are_not_gated() -> None:
    world = Evicting(victim("x"))
    assert not world.evictions.is_under_way(make_pod(name="other"))


def test_a_victim_that_is_gone_ends_the_gate() -> None:
    world = Evicting(victim("x"))
    world.executor.work()
    world.executor.finish()
    world.cluster.delete(Pod, "default/x", grace_period_seconds=0)
    assert not world.is_gated


def test_nothing_happens_if_all_victims_are_terminating() -> None:
    low = make_pod(name="low", priority=1, nominated_node="a")
    gone = make_pod(name="gone", node="a", deletion_timestamp=1)
    world = Evicting(gone, nominated=(low,))
    assert not world.is_gated
    assert not world.executor.waiting


def test_only_less_important_nominations_are_cleared() -> None:
    low = make_pod(name="low", priority=99, nominated_node="a")
    same = make_pod(name="same", priority=100, nominated_node="a")
    world = Evicting(victim("x"), nominated=(low, same))
    world.executor.work()
    assert world.cluster.get(Pod, low.key).status.nominated_node_name == ""
    assert world.cluster.get(Pod, same.key).status.nominated_node_name == "a"


class Waiting:
    """A pod that waits on Permit and records its rejection."""

    pending_plugins = frozenset({"P"})

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.rejected: list[tuple[str, str]] = []

    def allow(self, plugin: str) -> None:
        raise AssertionError

    def reject(self, plugin: str, message: str) -> None:
        self.rejected.append((plugin, message))


def test_a_waiting_victim_is_rejected_once_the_gate_is_open() -> None:
    waiting = Waiting(victim("x"))
    world = Evicting()
    world.waiting[waiting.pod.uid] = waiting
    world.evictions.start(PREEMPTOR, Candidate(node_name="a", victims=(waiting.pod,)))
    world.executor.work()
    assert world.is_gated
    assert not waiting.rejected
    world.executor.finish()
    assert not world.is_gated
    assert waiting.rejected == [("Me", "preempted")]
    (note,) = world.notes
    assert str(note.note).endswith("on node a (in kube-scheduler memory).")
    assert world.activated == ["default/preemptor"]  # it found the gate closed


@pytest.mark.parametrize(
    ("version", "activated"), [("1.36", []), ("1.37", ["default/preemptor"])]
)
def test_a_rejection_at_the_end_makes_the_preemptor_active_since_1_37(
    version: str, activated: list[str]
) -> None:
    waiting, running = Waiting(victim("x")), victim("y")
    for order, is_last in [((waiting.pod, running), False), ((running,), True)]:
        world = Evicting(version=version)
        world.cluster.create(running)
        world.waiting[waiting.pod.uid] = waiting
        victims = (*order, waiting.pod) if is_last else order
        world.evictions.start(PREEMPTOR, Candidate(node_name="a", victims=victims))
        for _ in range(2):
            world.executor.work()
            world.executor.finish()
        assert world.activated == (activated if is_last else [])


def test_a_victim_that_no_longer_waits_reactivates_the_preemptor() -> None:
    waiting = Waiting(victim("x"))
    world = Evicting()
    world.waiting[waiting.pod.uid] = waiting
    world.evictions.start(PREEMPTOR, Candidate(node_name="a", victims=(waiting.pod,)))
    world.waiting.clear()
    world.executor.work()
    world.executor.finish()
    assert not waiting.rejected
    assert world.activated == ["default/preemptor"]


def test_a_failure_makes_the_preemptor_active_and_spares_the_last_victim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = Evicting(victim("x"), victim("y"))

    def fail(*_args: object, **_options: object) -> None:
        raise ApiError("busy")

    with monkeypatch.context() as patch:
        patch.setattr(world.cluster, "delete", fail)
        world.executor.work()
    world.executor.finish()
    assert world.activated == ["default/preemptor"]
    assert not world.is_gated
    assert not world.executor.waiting
    assert not world.is_terminating("y")
    assert world.notified == []


def test_a_failed_clearing_of_a_nomination_does_not_stop_the_evictions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    low = make_pod(name="low", priority=1, nominated_node="a")
    world = Evicting(victim("x"), nominated=(low,))
    works = world.cluster.patch_pod_status

    def patch_status(pod: Pod, patch: PodStatusPatch) -> None:
        if patch.nominated_node_name == "":
            raise ApiError("busy")
        works(pod, patch)

    monkeypatch.setattr(world.cluster, "patch_pod_status", patch_status)
    for _ in range(2):
        world.executor.work()
        world.executor.finish()
    assert world.is_terminating("x")
    # As upstream has it, any failed call brings the preemptor back.
    assert world.activated == ["default/preemptor"]


def test_a_pod_of_the_same_name_that_came_later_is_spared() -> None:
    old = victim("x")
    world = Evicting(old)
    world.cluster.delete(Pod, old.key, grace_period_seconds=0)
    world.cluster.create(make_pod(name="x", node="a", uid="another"))
    for _ in range(2):
        world.executor.work()
        world.executor.finish()
    assert not world.is_terminating("x")
    assert world.notified == []
    # Nothing else would wake the preemptor, should it have been gated before.
    assert world.activated == ["default/preemptor"]


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod(deletion_timestamp=1), False, id="only terminating"),
        pytest.param(make_pod(conditions=[PREEMPTED]), False, id="only marked"),
        pytest.param(
            make_pod(deletion_timestamp=1, conditions=[PREEMPTED]), True, id="both"
        ),
        pytest.param(
            make_pod(
                deletion_timestamp=1,
                conditions=[
                    PodCondition(
                        type="DisruptionTarget",
                        status="True",
                        reason="EvictionByEvictionAPI",
                    )
                ],
            ),
            False,
            id="evicted by somebody else",
        ),
    ],
)
def test_who_was_preempted(pod: ApiObject, expected: bool) -> None:
    assert isinstance(pod, Pod)
    assert is_preempted(pod) is expected


def test_a_preemptor_may_preempt_again_before_the_last_answer_has_come() -> None:
    world = Evicting(victim("x"))
    world.executor.work()
    world.executor.finish()
    world.executor.work()
    assert not world.is_gated
    world.evictions.start(PREEMPTOR, Candidate(node_name="a", victims=(victim("y"),)))
    world.executor.finish()
    assert world.is_gated
    for _ in range(2):
        world.executor.work()
        world.executor.finish()
    assert not world.is_gated


def test_a_deleted_victim_that_is_still_cached_does_not_make_the_preemptor_spin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = Evicting(victim("x"))
    stale = world.cluster.get(Pod, "default/x")
    world.cluster.delete(Pod, "default/x", grace_period_seconds=0)
    monkeypatch.setattr(StoredObjects, "get", lambda *_: stale)
    for _ in range(2):
        world.executor.work()
        world.executor.finish()
    assert world.notified == []
    assert world.activated == []


def test_the_preemptor_is_woken_if_an_assumed_victim_lost_its_place_before() -> None:
    # Its binding failed while the preemptor was gated; its deletion wakes no pod.
    world = Evicting(make_pod(name="x"))
    for _ in range(2):
        world.executor.work()
        world.executor.finish()
    assert world.notified == ["x"]
    assert world.activated == ["default/preemptor"]
