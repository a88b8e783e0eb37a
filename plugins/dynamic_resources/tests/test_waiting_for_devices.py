"""Pods wait, without a thread, until drivers report their devices ready."""

import threading
from collections.abc import Mapping
from typing import Final, TypeVar

import pytest
from msgspec.structs import replace

from quaymaster import ApiObject, Node, Pod
from quaymaster.config import parse_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    AllocatedDeviceStatus,
    AllocationResult,
    Condition,
    PodResourceClaim,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster.scheduler import PluginRegistry, Scheduler, VirtualClock
from quaymaster.testing import (
    make_device,
    make_device_class,
    make_device_request,
    make_node,
    make_pod,
    make_resource_claim,
    make_resource_slice,
)

ATTACHED: Final = "example.com/attached"
BROKEN: Final = "example.com/broken"
TIMEOUT_SECONDS: Final = 30
ObjT = TypeVar("ObjT", bound=ApiObject)


class SlowDrivers(InMemoryCluster):
    """A cluster whose drivers report devices ready only when the test does it."""

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        allocation = changes.get("allocation")
        if isinstance(allocation, AllocationResult):
            begun = [
                AllocatedDeviceStatus(
                    driver=result.driver, pool=result.pool, device=result.device
                )
                for result in allocation.devices.results
            ]
            changes = {**changes, "devices": tuple(begun)}
        return super().patch_status(obj, changes)


class Rig:
    """A cluster with slow drivers, and one scheduler after another."""

    def __init__(self, *objects: ApiObject, **args: str) -> None:
        self.clock = VirtualClock()
        self.cluster = SlowDrivers(self.clock)
        self.cluster.load([make_device_class(), *objects])
        self._args = {"bindingTimeout": f"{TIMEOUT_SECONDS}s", **args}
        self.scheduler = self._started()

    def restart(self) -> None:
        self.scheduler.close()
        self.scheduler = self._started()

    def advance(self, seconds: float) -> None:
        end = self.clock.now() + seconds
        self._work()
        while (due := self.clock.next_due()) is not None and due <= end:
            self.clock.advance(max(0.0, due - self.clock.now()))
            self._work()
        self.clock.advance(end - self.clock.now())
        self._work()

    def claim(self, name: str) -> ResourceClaim:
        return self.cluster.get(ResourceClaim, f"default/{name}")

    def is_allocated(self, name: str) -> bool:
        return self.claim(name).status.allocation is not None

    def users(self, name: str) -> list[str]:
        return [reference.name for reference in self.claim(name).status.reserved_for]

    def node_of(self, name: str) -> str:
        return self.cluster.get(Pod, f"default/{name}").node_name

    def message(self, name: str) -> str:
        conditions = self.cluster.get(Pod, f"default/{name}").status.conditions
        messages = [
            condition.message
            for condition in conditions
            if condition.type == "PodScheduled"
        ]
        return messages[0] if messages else ""

    def set_condition(self, claim: str, condition: str, message: str = "") -> None:
        """Set a condition of all devices of a claim, as its driver does."""
        stored = self.claim(claim)
        said = Condition(type=condition, status="True", reason="Told", message=message)
        devices = [
            replace(device, conditions=(said,)) for device in stored.status.devices
        ]
        self.cluster.patch_status(stored, {"devices": tuple(devices)})

    def _started(self) -> Scheduler:
        registry = PluginRegistry.discover()
        args = {"name": "DynamicResources", "args": self._args}
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [{"pluginConfig": [args]}],
        }
        scheduler = Scheduler(
            self.cluster,
            parse_config(config, registry, source="test"),
            registry,
            clock=self.clock,
        )
        scheduler.start()
        return scheduler

    def _work(self) -> None:
        while self.scheduler.turn():
            pass


def node_with_links(name: str, count: int) -> tuple[Node, ResourceSlice]:
    """Make a node with devices that must be attached."""
    links = [
        replace(
            make_device(name=f"link-{at}"),
            binding_conditions=(ATTACHED,),
            binding_failure_conditions=(BROKEN,),
        )
        for at in range(count)
    ]
    return make_node(name=name), make_resource_slice(node=name, devices=links)


def claiming(claim: str, name: str = "") -> Pod:
    pod = make_pod(name=name or f"pod-of-{claim}")
    named = (PodResourceClaim(name="own", resource_claim_name=claim),)
    return replace(pod, spec=replace(pod.spec, resource_claims=named))


def waiting_rig(*claims: str, nodes: int = 1, **args: str) -> Rig:
    """Start a pod for each claim, which waits for its device; nodes have two."""
    objects: list[ApiObject] = []
    for at in range(nodes):
        objects += node_with_links(f"n{at}", 2)
    objects += [make_resource_claim(name=claim) for claim in claims]
    objects += [claiming(claim) for claim in claims]
    rig = Rig(*objects, **args)
    rig.advance(0)
    return rig


def test_a_claim_is_reserved_while_its_pod_waits_for_the_device() -> None:
    rig = waiting_rig("a")
    assert (rig.users("a"), rig.node_of("pod-of-a")) == (["pod-of-a"], "")


def test_the_device_is_looked_at_every_five_seconds() -> None:
    rig = waiting_rig("a")
    rig.advance(1)
    rig.set_condition("a", ATTACHED)
    rig.advance(3.9)
    assert not rig.node_of("pod-of-a")
    rig.advance(0.2)
    assert rig.node_of("pod-of-a") == "n0"


@pytest.mark.long
def test_no_thread_is_held_while_many_pods_wait() -> None:
    names = [f"c{at}" for at in range(60)]
    before = threading.active_count()
    rig = waiting_rig(*names, nodes=30)
    assert [rig.users(name) for name in names] == [[f"pod-of-{name}"] for name in names]
    assert threading.active_count() == before
    for name in names[::2]:
        rig.set_condition(name, ATTACHED)
    rig.advance(6)
    placed = [name for name in names if rig.node_of(f"pod-of-{name}")]
    assert placed == names[::2]


def test_other_pods_are_scheduled_while_one_waits() -> None:
    rig = waiting_rig("a")
    rig.cluster.create(make_pod(name="plain"))
    rig.advance(0)
    assert rig.node_of("plain") == "n0"
    assert not rig.node_of("pod-of-a")


def test_devices_that_are_waited_for_are_given_to_nobody_else() -> None:
    rig = waiting_rig("a", "b", "c")
    taken = [rig.is_allocated(name) for name in "abc"]
    assert sorted(taken) == [False, True, True]
    (left,) = [name for name in "abc" if not rig.is_allocated(name)]
    assert "cannot allocate all claims" in rig.message(f"pod-of-{left}")


def test_a_pod_that_joins_a_shared_claim_waits_for_its_device_too() -> None:
    rig = waiting_rig("a")
    rig.cluster.create(claiming("a", "guest"))
    rig.advance(1)
    assert rig.users("a") == ["pod-of-a", "guest"]
    assert not rig.node_of("guest")
    rig.set_condition("a", ATTACHED)
    rig.advance(6)
    assert (rig.node_of("pod-of-a"), rig.node_of("guest")) == ("n0", "n0")


def test_a_device_that_fails_is_given_back_and_another_try_is_made() -> None:
    rig = waiting_rig("a")
    rig.set_condition("a", BROKEN, 'no "light"')
    rig.advance(5)
    assert rig.message("pod-of-a").endswith(
        'device binding failed: claim=a, reason=Told, message="no \\"light\\""'
    )
    assert (rig.is_allocated("a"), rig.users("a")) == (True, [])
    rig.advance(2)  # the second attempt frees the device, and the third takes one
    assert rig.users("a") == ["pod-of-a"]
    assert not rig.claim("a").status.devices[0].conditions
    rig.set_condition("a", ATTACHED)
    rig.advance(6)
    assert rig.node_of("pod-of-a") == "n0"


def test_what_post_filter_did_for_a_failed_device_is_told() -> None:
    messages: list[str] = []
    rig = waiting_rig("a")
    rig.set_condition("a", BROKEN)
    for _ in range(80):
        rig.advance(0.1)
        if rig.message("pod-of-a") not in messages:
            messages.append(rig.message("pod-of-a"))
    assert any(
        "deallocation of ResourceClaim completed" in message for message in messages
    )


def test_a_device_that_is_late_is_given_back_and_asked_for_again() -> None:
    rig = waiting_rig("a")
    rig.advance(TIMEOUT_SECONDS - 0.1)
    assert rig.users("a") == ["pod-of-a"]
    rig.advance(0.1)
    assert rig.message("pod-of-a").endswith(
        "device binding timeout: context deadline exceeded"
    )
    assert rig.users("a") == []
    rig.advance(5)
    assert rig.users("a") == ["pod-of-a"]  # allocated again
    rig.set_condition("a", ATTACHED)
    rig.advance(6)
    assert rig.node_of("pod-of-a") == "n0"


def test_the_time_of_a_shared_claim_runs_from_its_allocation() -> None:
    rig = waiting_rig("a")
    rig.advance(TIMEOUT_SECONDS - 8)
    rig.cluster.create(claiming("a", "guest"))
    rig.advance(8)
    assert "context deadline exceeded" in rig.message("pod-of-a")
    rig.advance(4)
    assert "device binding timeout: claim=a" in rig.message("guest")


def test_one_pod_fails_and_its_neighbour_does_not() -> None:
    rig = waiting_rig("a", "b")
    rig.set_condition("a", BROKEN)
    rig.set_condition("b", ATTACHED)
    rig.advance(5)
    assert rig.node_of("pod-of-b") == "n0"
    assert "device binding failed: claim=a" in rig.message("pod-of-a")


def test_a_pod_that_is_deleted_while_it_waits_frees_its_claim() -> None:
    rig = waiting_rig("a", "b", "c")
    waiting = [name for name in "abc" if rig.is_allocated(name)]
    (left,) = set("abc") - set(waiting)
    rig.cluster.delete(Pod, f"default/pod-of-{waiting[0]}", grace_period_seconds=0)
    rig.advance(TIMEOUT_SECONDS + 10)
    assert not rig.is_allocated(waiting[0])
    assert rig.users(left) == [f"pod-of-{left}"]


def test_a_claim_that_disappears_while_its_pod_waits_ends_the_wait() -> None:
    rig = waiting_rig("a")
    stored = rig.claim("a")
    bare = replace(stored.metadata, finalizers=())
    rig.cluster.update(replace(stored, metadata=bare))
    rig.cluster.delete(ResourceClaim, "default/a")
    rig.advance(6)
    assert not rig.node_of("pod-of-a")
    assert 'could not find ResourceClaim "default/a"' in rig.message("pod-of-a")


def test_a_restarted_scheduler_waits_for_the_same_device() -> None:
    rig = waiting_rig("a")
    before = rig.claim("a").status.allocation
    rig.advance(12)
    rig.restart()
    rig.advance(1)
    assert rig.claim("a").status.allocation == before
    assert rig.users("a") == ["pod-of-a"]
    rig.set_condition("a", ATTACHED)
    rig.advance(6)
    assert rig.node_of("pod-of-a") == "n0"


def test_a_restart_does_not_prolong_the_time_of_a_device() -> None:
    rig = waiting_rig("a")
    rig.advance(TIMEOUT_SECONDS - 3)
    rig.restart()
    rig.advance(5)
    assert "device binding timeout: claim=a" in rig.message("pod-of-a")
    assert not rig.node_of("pod-of-a")


def test_a_restart_after_the_time_is_over_frees_the_device() -> None:
    rig = waiting_rig("a")
    rig.scheduler.close()
    rig.clock.advance(TIMEOUT_SECONDS + 5)
    first = rig.claim("a").status.allocation
    rig.restart()
    rig.advance(5)
    second = rig.claim("a").status.allocation
    assert first is not None
    assert second is not None
    assert second.allocation_timestamp != first.allocation_timestamp


def test_several_pods_wait_through_a_restart() -> None:
    names = [f"c{at}" for at in range(8)]
    rig = waiting_rig(*names, nodes=4)
    for name in names[:4]:
        rig.set_condition(name, ATTACHED)
    rig.restart()
    rig.advance(6)
    assert all(rig.node_of(f"pod-of-{name}") for name in names[:4])
    assert not any(rig.node_of(f"pod-of-{name}") for name in names[4:])
    given = [
        (result.pool, result.device)
        for name in names
        if (found := rig.claim(name).status.allocation) is not None
        for result in found.devices.results
    ]
    assert len(set(given)) == len(given) == len(names)


HARD: Final = "device.attributes['gpu.example.com'].rank > {}"


def hopeless_rig(**args: str) -> Rig:
    """Make a pod whose claim exceeds the search limit on a node with 30 devices."""
    devices = [make_device(name=f"d{at}", attributes={"rank": at}) for at in range(30)]
    requests = [
        *(make_device_request(name=f"r{at}", count=6) for at in range(3)),
        make_device_request(name="last", selectors=[HARD.format(100)]),
    ]
    claim = make_resource_claim(name="a", requests=requests)
    node, others = make_node(name="n"), make_resource_slice(node="n", devices=devices)
    rig = Rig(node, others, claim, claiming("a"), **args)
    rig.advance(0)
    return rig


def test_a_search_that_takes_too_many_steps_is_an_error_of_the_attempt() -> None:
    rig = hopeless_rig(filterTimeout="10ms")
    assert rig.message("pod-of-a").endswith(
        "node n: timed out trying to allocate devices"
    )
    assert not rig.is_allocated("a")


def test_a_search_ends_after_as_many_steps_each_time() -> None:
    messages = [
        hopeless_rig(filterTimeout="10ms").message("pod-of-a") for _ in range(2)
    ]
    assert messages[0] == messages[1]


def test_a_pod_whose_search_took_too_long_is_tried_again() -> None:
    rig = hopeless_rig(filterTimeout="10ms")
    fitting = make_device(name="fits", attributes={"rank": 200})
    rig.cluster.create(make_resource_slice(node="n", pool="spare", devices=[fitting]))
    rig.advance(30)
    assert rig.node_of("pod-of-a") == "n"


def test_one_node_with_too_many_possibilities_fails_the_attempt_on_all() -> None:
    rig = hopeless_rig(filterTimeout="10ms")
    rig.cluster.create(make_node(name="other"))
    rig.cluster.create(make_pod(name="plain"))
    rig.advance(10)
    assert "timed out trying to allocate devices" in rig.message("pod-of-a")
    assert rig.node_of("plain")  # other pods are not affected
