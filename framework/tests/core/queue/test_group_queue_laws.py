"""Invariants of the queue with groups under any changes."""

import itertools

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
)

from quaymaster import Pod, Status
from quaymaster.objects import PodGroup
from quaymaster.scheduler import QueueName
from tests.kit.group_rig import GroupRig
from tests.kit.internals.queue import QueuedGroup, QueuedPod, queued_groups
from tests.kit.queue_rig import CountingGate

GROUPS = ("blue", "green")
STATUSES = (None, Status.unschedulable("no"), Status.from_error("oh"))
PLACES = {QueueName.ACTIVE, QueueName.ERROR_BACKOFF, QueueName.UNSCHEDULABLE}

groups = st.sampled_from(GROUPS)
numbers = st.integers(0, 7)
touches = st.sampled_from(("delete", "relabel", "gate", "activate"))


class Histories(RuleBasedStateMachine):
    """A queue whose objects, pods and attempts change in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = CountingGate()
        self.rig = GroupRig(gates={"Gates": self.gate}, longest=4.0)
        self.names = (f"p{number}" for number in itertools.count())
        self.attempt: QueuedGroup | QueuedPod | None = None

    # The cluster

    @rule(name=groups, min_count=st.none() | st.integers(1, 4), priority=numbers)
    def add_group(self, name: str, min_count: int | None, priority: int) -> None:
        older = self.rig.stored.get(f"PodGroup/default/{name}")
        if isinstance(older, PodGroup):  # its priority is immutable
            priority = older.priority
        self.rig.add_group(name, min_count=min_count, priority=priority)

    @rule(name=groups)
    def delete_group(self, name: str) -> None:
        if f"PodGroup/default/{name}" in self.rig.stored:
            self.rig.delete_group(name)

    @rule(name=groups, count=st.integers(1, 3))
    def add_pods(self, name: str, count: int) -> None:
        self.rig.add(*itertools.islice(self.names, count), group=name)

    @rule(priority=numbers)
    def add_single_pod(self, priority: int) -> None:
        self.rig.add(next(self.names), group=None, priority=priority)

    @precondition(lambda self: self.pods())
    @rule(
        number=numbers, what=st.sampled_from(("delete", "relabel", "gate", "activate"))
    )
    def touch_pod(self, number: int, what: str) -> None:
        pods = self.pods()
        pod = pods[number % len(pods)]
        if what == "delete":
            self.rig.delete(pod.name)
        elif what == "relabel":
            self.rig.relabel(pod.name)
        elif what == "gate":
            self.gate.blocked ^= {pod.name}
        else:
            self.rig.queue.activate([pod])

    @rule(seconds=st.sampled_from((0.5, 1.0, 5.0, 400.0)))
    def wait(self, seconds: float) -> None:
        self.rig.wait(seconds)

    # The scheduler

    @precondition(lambda self: self.attempt is None)
    @rule()
    def pop(self) -> None:
        queue = self.rig.queue
        ahead = queue.peek()
        order = [queued.key for queued in queue.active()]
        self.attempt = queue.pop()
        assert self.attempt is ahead
        if isinstance(self.attempt, QueuedGroup):
            first = [queued.key for queued in self.attempt.pods]
            assert order[: len(first)] == first
        elif self.attempt is not None and order:
            assert order[0] == self.attempt.key

    @precondition(lambda self: isinstance(self.attempt, QueuedGroup))
    @rule(status=st.sampled_from(STATUSES), scheduled=st.integers(0, 3))
    def end_attempt_with_group(self, status: Status | None, scheduled: int) -> None:
        group, self.attempt = self.attempt, None
        assert isinstance(group, QueuedGroup)
        names = [queued.pod.name for queued in group.pods if self.is_live(queued)]
        placed = names[:scheduled] if status is None else []
        self.rig.end(group, status, scheduled=placed)
        self.rig.bind(*placed)

    @precondition(lambda self: isinstance(self.attempt, QueuedPod))
    @rule(plugins=st.sampled_from(((), ("Gates",), ("Fit",))))
    def end_attempt_with_pod(self, plugins: tuple[str, ...]) -> None:
        queued, self.attempt = self.attempt, None
        assert isinstance(queued, QueuedPod)
        self.rig.fail(queued, *plugins)

    # What always holds

    @invariant()
    def every_pod_is_queued_once_or_in_flight(self) -> None:
        queue = self.rig.queue
        keys = [queued.key for queued in queue]
        in_flight = set(queue.in_flight)
        waiting = [pod.key for pod in self.pods() if pod.uid not in in_flight]
        assert sorted(keys) == sorted(waiting)
        assert len(queue) == len(keys)
        lengths = queue.lengths()
        assert lengths.active + lengths.backoff + lengths.unschedulable == len(keys)

    @invariant()
    def every_pod_of_a_group_is_where_its_group_is(self) -> None:
        attempt = self.attempt
        in_attempt = attempt.group_key if isinstance(attempt, QueuedGroup) else ""
        for queued in self.rig.queue:
            key = queued.pod.group_key
            group = self.rig.queue.group(key) if key else None
            if group is not None:
                assert queued in group.pods
                assert queued.queue is group.queue
            elif key:
                has_object = f"PodGroup/{key}" in self.rig.stored
                place = QueueName.PENDING if has_object else QueueName.INCOMPLETE
                assert queued.queue is place
                assert key == in_attempt or not has_object

    @invariant()
    def groups_wait_only_behind_gates_and_backoffs(self) -> None:
        for group in queued_groups(self.rig.queue):
            assert group.pods
            assert group.queue in PLACES
            assert group.is_gated == (group.queue is QueueName.UNSCHEDULABLE)

    @invariant()
    def states_of_groups_have_all_pods_of_the_cluster(self) -> None:
        for name in GROUPS:
            state = self.rig.groups.get(f"default/{name}")
            pods = {
                pod.uid
                for pod in self.rig.stored.values()
                if isinstance(pod, Pod) and pod.group_key == f"default/{name}"
            }
            assert pods == (set() if state is None else state.pods.keys())
            if state is not None:
                states = (state.unscheduled, state.assumed, state.assigned)
                assert sum(map(len, states)) == len(pods)
                assert not state.assumed

    @invariant()
    def active_groups_and_pods_are_in_order(self) -> None:
        places = []
        for queued in self.rig.queue.active():
            group = self.rig.queue.group(queued.pod.group_key or "none")
            record = queued if group is None else group
            places.append((-record.pod.priority, record.timestamp))
        assert places == sorted(places)

    def teardown(self) -> None:
        """No group is left behind: without gates each one is tried at last."""
        if isinstance(self.attempt, QueuedGroup):
            self.rig.reject(self.attempt)
        self.gate.blocked.clear()
        self.rig.wait(700.0)
        for group in queued_groups(self.rig.queue):
            state = self.rig.groups.get(group.group_key)
            assert state is not None
            # An active group stays active when its quorum is raised.
            is_ready = len(state.pods) >= group.group.min_count
            assert group.queue is QueueName.ACTIVE or not is_ready

    def pods(self) -> list[Pod]:
        """Return the pods of the cluster without a node."""
        stored = self.rig.stored.values()
        return [pod for pod in stored if isinstance(pod, Pod) and not pod.node_name]

    def is_live(self, queued: QueuedPod) -> bool:
        """Whether a pod still exists."""
        return f"Pod/{queued.key}" in self.rig.stored


TestHistories = Histories.TestCase
