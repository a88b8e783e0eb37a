"""Devices that pods chose are counted right, whatever happens to the pods."""

from collections.abc import Sequence
from typing import ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from msgspec.structs import replace

from quaymaster import ApiObject, Handle, Node, PermitWait, Pod, Status, hookimpl
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config
from tests.kit.device_share import (
    COUNT,
    DEVICE,
    MOST,
    DeviceShare,
    left_on,
    make_sharer,
    share_of,
    with_device,
)
from tests.kit.profiles import fewer


class Moody:
    """Permits, delays or rejects, and binds or fails, as the test sets it."""

    permits: ClassVar[PermitWait | Status | None] = None
    binds: ClassVar[Status | None] = None

    def __init__(self, args: None, handle: Handle) -> None:
        pass

    @hookimpl
    def permit(self) -> PermitWait | Status | None:
        return self.permits

    @hookimpl
    def pre_bind(self) -> Status | None:
        return self.binds


MOODS = {
    "open": (None, None),
    "waiting": (PermitWait(30), None),
    "refusing": (Status.unschedulable("not today"), None),
    "failing": (None, Status.from_error("cannot bind")),
}


def harness_with(objects: Sequence[ApiObject]) -> SchedulerHarness:
    return SchedulerHarness(
        objects,
        plugins={"DeviceShare": DeviceShare, "Moody": Moody},
        config=profile_config(enable=[DeviceShare, Moody]),
        options=SchedulerOptions(verify=1),
    )


class DeviceHistory(RuleBasedStateMachine):
    """Pods with and without devices are added, fail, move and go; nodes change."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = harness_with(())
        self.made = 0
        self.are_moved = False

    @initialize(counts=st.lists(st.integers(0, MOST), min_size=1, max_size=3))
    def begin(self, counts: list[int]) -> None:
        Moody.permits, Moody.binds = MOODS["open"]
        for at, count in enumerate(counts):
            labels = {COUNT: str(count)}
            self.harness.cluster.create(make_node(name=f"n{at}", labels=labels))

    @rule(wants=st.sampled_from([300, 500, 700, 1000]), important=st.booleans())
    def add_sharer(self, wants: int, important: bool) -> None:
        self.made += 1
        name, priority = f"p{self.made}", 10 if important else 0
        pod = make_sharer(name=name, wants=wants, priority=priority)
        self.harness.cluster.create(pod)

    @rule()
    def add_other(self) -> None:
        self.made += 1
        self.harness.cluster.create(make_pod(name=f"p{self.made}"))

    @rule(mood=st.sampled_from(list(MOODS)))
    def change_mood(self, mood: str) -> None:
        Moody.permits, Moody.binds = MOODS[mood]

    @rule(seconds=st.sampled_from([0, 1, 60, 400]))
    def let_time_pass(self, seconds: int) -> None:
        self.harness.advance(seconds)

    @precondition(lambda self: self._pods())
    @rule(data=st.data(), at_once=st.booleans())
    def remove_pod(self, data: st.DataObject, at_once: bool) -> None:
        pod = data.draw(st.sampled_from(self._pods()))
        grace = 0 if at_once else None
        self.harness.cluster.delete(Pod, pod.key, grace_period_seconds=grace)

    @precondition(lambda self: self._pods())
    @rule(data=st.data(), device=st.integers(0, MOST - 1))
    def somebody_moves_a_pod_to_another_device(
        self, data: st.DataObject, device: int
    ) -> None:
        bound = [pod for pod in self._pods() if DEVICE in pod.annotations]
        if bound:
            self.are_moved = True
            pod = data.draw(st.sampled_from(bound))
            self.harness.cluster.update(with_device(pod, device))

    @rule(data=st.data(), count=st.integers(0, MOST))
    def change_node(self, data: st.DataObject, count: int) -> None:
        node = data.draw(st.sampled_from(self.harness.cluster.list(Node).items))
        metadata = replace(node.metadata, labels={COUNT: str(count)})
        self.are_moved = True
        self.harness.cluster.update(replace(node, metadata=metadata))

    @rule()
    def restart(self) -> None:
        self.harness.advance(1000)  # pods that wait on Permit would be lost
        cluster = self.harness.cluster
        self.harness.close()
        pods = [pod for pod in cluster.list(Pod).items if pod.node_name]
        self.harness = harness_with([*cluster.list(Node).items, *pods])

    @invariant()
    def column_is_a_recount(self) -> None:
        self.harness.schedule_one()
        plugin = self.harness.plugin(DeviceShare)
        nodes = plugin.handle.snapshot.nodes
        column = plugin.left.of(nodes)
        for info in nodes:
            shares = map(share_of, info.pods.values())
            expected = left_on(info, [share for share in shares if share is not None])
            padding = [0] * (MOST - len(expected))
            assert column[info.row].tolist() == [*expected, *padding]
            assert self.are_moved or min(expected, default=0) >= 0

    @invariant()
    def every_assumed_pod_has_its_choice(self) -> None:
        for info in self.harness.plugin(DeviceShare).handle.snapshot:
            for pod in info.pods.values():
                assert share_of(pod) is None or DEVICE in pod.annotations

    @invariant()
    def pod_has_a_choice_only_with_a_node(self) -> None:
        for pod in self._pods():
            assert bool(pod.node_name) or DEVICE not in pod.annotations

    def _pods(self) -> Sequence[Pod]:
        pods = self.harness.cluster.list(Pod).items
        return [pod for pod in pods if not pod.is_terminating]


TestDeviceHistory = pytest.mark.long(DeviceHistory.TestCase)
# Every step makes a decision, and its recheck.
TestDeviceHistory.settings = fewer(4, TestDeviceHistory.settings)
