"""The cluster autoscaler gives up machines that do not become nodes in time."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Node, Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PodCondition
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.autoscaling import (
    Cloud,
    ClusterAutoscaler,
    ClusterAutoscalerOptions,
    ScaledGroup,
    with_defaults,
)

LIMIT: Final = 60.0
NEVER: Final = 1e6
LATE: Final = "it did not register in time"
SIZE: Final = {"cpu": "2", "memory": "8Gi"}
UNSCHEDULABLE: Final = PodCondition(
    type="PodScheduled", status="False", reason="Unschedulable"
)


class Late:
    """One full node of a group, pods that wait, and an autoscaler.

    Args:
        registration: After how many seconds new machines become nodes.
        pods: How many pods wait; each one needs a node.
        options: The options of the autoscaler.
        lost: How many of the first machines never become nodes.
        least: The smallest size of the group.
    """

    def __init__(
        self,
        *,
        registration: float = NEVER,
        pods: int = 1,
        options: ClusterAutoscalerOptions | None = None,
        lost: int = 0,
        least: int = 0,
    ) -> None:
        self.clock = VirtualClock()
        self.start = self.clock.now()
        self.cluster = InMemoryCluster(self.clock, kubelet=False, controllers=False)
        group = ScaledGroup(
            name="a",
            min_size=least,
            max_size=6,
            template=make_node(name="template", capacity=SIZE),
            registration_seconds=registration,
        )
        failing = {f"a-{number}" for number in range(lost)}
        self.cloud = Cloud(
            self.cluster, [group], fails=lambda machine: machine.name in failing
        )
        self.cluster.create(make_node(name="old", capacity=SIZE))
        self.cloud.adopt("a", "old")
        self.cluster.create(make_pod(name="busy", node="old", requests={"cpu": "2"}))
        self._pods = 0
        self.add_pods(pods)
        config, registry = with_defaults(None, None)
        given = options or ClusterAutoscalerOptions()
        self.autoscaler = ClusterAutoscaler(
            self.cluster,
            self.cloud,
            config,
            registry,
            attrs.evolve(given, max_node_provision_time=LIMIT),
        )

    def add_pods(self, count: int) -> None:
        for _ in range(count):
            pod = make_pod(
                name=f"p{self._pods}",
                requests={"cpu": "2"},
                phase="Pending",
                conditions=(UNSCHEDULABLE,),
            )
            self.cluster.create(pod)
            self._pods += 1

    def delete_pod(self) -> None:
        """Delete the first pod that waits, if any."""
        for pod in self.cluster.list(Pod).items:
            if not pod.node_name:
                self.cluster.delete(Pod, pod.key, grace_period_seconds=0)
                return

    def loop_at(self, seconds: float) -> Sequence[str]:
        """Run a loop at a time after the start; return its events."""
        self.clock.advance(self.start + seconds - self.clock.now())
        self.clock.run_due()
        before = len(self.autoscaler.events)
        self.autoscaler.run_once()
        self.clock.run_due()
        return [str(event) for event in self.autoscaler.events[before:]]

    def check(self) -> None:
        """Check what holds after each loop."""
        machines = {each.name: each for each in self.cloud.instances()}
        assert self.cloud.sizes["a"] == len(machines) <= self.cloud.groups["a"].max_size
        assert {node.name for node in self.cluster.list(Node).items} <= {*machines}
        for each in self.cloud.all_instances:
            if each.removed_for == LATE:
                assert each.ended is not None
                assert each.registered is None
                assert each.ended - each.launched > LIMIT
        deleted = Counter(
            event.message
            for event in self.autoscaler.events
            if event.reason == "DeleteUnregistered"
        )
        assert all(count == 1 for count in deleted.values())


@contextmanager
def closed(late: Late) -> Iterator[Late]:
    try:
        yield late
    finally:
        late.autoscaler.close()


def about(kind: str, events: Sequence[str]) -> list[str]:
    return [event for event in events if f" {kind}: " in event]


def test_machine_that_a_timed_out_scale_up_cancels_is_not_deleted_again() -> None:
    with closed(Late()) as late:
        late.loop_at(5)
        late.loop_at(10)
        late.add_pods(1)
        late.loop_at(16)
        late.loop_at(20)
        assert late.cloud.sizes["a"] == 3
        # In one loop the scale-up times out, and its first machine has been missing too
        # long, but not its second one.
        events = late.loop_at(80)
        late.check()
        assert late.cloud.sizes["a"] == 1
    assert about("ScaleUpTimedOut", events)
    assert not about("DeleteUnregistered", events)


def test_group_is_not_ready_in_the_loop_that_cancels_its_machines() -> None:
    options = ClusterAutoscalerOptions(ok_total_unready_count=0)
    with closed(Late(options=options)) as late:
        late.loop_at(5)
        late.loop_at(10)
        first, second = late.loop_at(70), late.loop_at(80)
    kind = "NotTriggerScaleUp"
    text = "Normal Pod/p0 NotTriggerScaleUp: pod didn't trigger scale-up: 1 "
    assert about(kind, first) == [f"{text}not ready for scale-up"]
    assert about(kind, second) == [f"{text}in backoff after failed scale-up"]


def test_scale_up_of_which_some_nodes_came_is_not_cancelled() -> None:
    with closed(Late(registration=5, pods=2, lost=1)) as late:
        late.loop_at(5)
        late.loop_at(10)
        events = late.loop_at(70)
        late.check()
        assert late.cloud.sizes["a"] == 3
        assert about("DeleteUnregistered", late.loop_at(75))
        assert late.cloud.sizes["a"] == 2
    [event] = about("FailedToRevertScaleUp", events)
    assert event == (
        "Warning ConfigMap/cluster-autoscaler-status FailedToRevertScaleUp: Failed to "
        "decrease target size for group a after scale-up timeout: attempt to delete "
        "existing nodes"
    )


@pytest.mark.parametrize(("is_forced", "size"), [(False, 3), (True, 2)])
def test_smallest_size_keeps_a_late_machine_unless_a_flag_forbids_it(
    is_forced: bool, size: int
) -> None:
    options = ClusterAutoscalerOptions(force_delete_unregistered_nodes=is_forced)
    rig = Late(registration=5, pods=2, lost=1, least=3, options=options)
    with closed(rig) as late:
        late.loop_at(5)
        late.loop_at(10)
        late.loop_at(70)
        late.loop_at(75)
        assert late.cloud.sizes["a"] == size


@pytest.mark.long
@given(
    registration=st.sampled_from((NEVER, 5.0, 60.0, 65.0, 100.0)),
    lost=st.integers(0, 3),
    least=st.integers(0, 3),
    steps=st.lists(
        st.tuples(st.sampled_from((5, 10, 60, 100)), st.sampled_from((-1, 0, 1, 2))),
        min_size=6,
        max_size=24,
    ),
)
def test_machines_are_given_up_once_in_loops_at_any_time(
    registration: float, lost: int, least: int, steps: list[tuple[int, int]]
) -> None:
    options = ClusterAutoscalerOptions(
        initial_node_group_backoff_duration=10,
        enforce_node_group_min_size=True,
        scale_down_unneeded_time=20,
        scale_down_delay_after_add=0,
    )
    rig = Late(registration=registration, lost=lost, least=least, options=options)
    with closed(rig) as late:
        now = 5.0
        late.loop_at(now)
        for seconds, pods in steps:
            if pods < 0:
                late.delete_pod()
            late.add_pods(max(0, pods))
            now += seconds
            late.loop_at(now)
            late.check()
