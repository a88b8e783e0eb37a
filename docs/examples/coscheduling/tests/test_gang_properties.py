"""Whatever happens, groups are bound whole or not at all, and none is forgotten."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st
from quaymaster import Node, Pod
from quaymaster.testing import Fault, SchedulerHarness, make_node, profile_config

from quaymaster_coscheduling import POD_GROUP_LABEL, Coscheduling, PodGroup
from quaymaster_coscheduling.testing import make_member, make_pod_group

CONFIG = profile_config(enable=[Coscheduling], disable=["PrioritySort"])


@attrs.frozen(kw_only=True)
class Step:
    """Something that happens, and how many attempts and seconds follow.

    Attributes:
        what: A gang comes, a member or a node comes, a pod goes, a reload.
        needed: How many members a gang needs; 0 for pods without a group.
        more: How many members it has beyond that.
        cpu: What each of them requests, or what a node has.
        priority: The priority of the pods.
        number: Which group, or pod.
        attempts: How many attempts follow.
        seconds: How much time passes after them.
    """

    what: str
    needed: int
    more: int
    cpu: int
    priority: int
    number: int
    attempts: int
    seconds: int


CPUS = st.lists(st.integers(1, 6), min_size=1, max_size=3)
HISTORY = st.lists(
    st.builds(
        Step,
        what=st.sampled_from(["gang"] * 4 + ["member", "node", "delete", "reload"]),
        needed=st.integers(0, 5),
        more=st.integers(0, 2),
        cpu=st.integers(1, 3),
        priority=st.sampled_from([0, 0, 0, 1]),
        number=st.integers(0, 40),
        attempts=st.integers(0, 6),
        seconds=st.sampled_from([0, 0, 1, 5, 70]),
    ),
    max_size=8,
)

FAULTS = {
    Fault.ERROR: 0.1,
    Fault.CONFLICT: 0.1,
    Fault.LOST_CALL: 0.05,
    Fault.LOST_ANSWER: 0.05,
    Fault.SLOW_CALL: 0.1,
    Fault.DELAYED_EVENTS: 0.1,
    Fault.BROKEN_WATCH: 0.05,
}


class Run:
    """A cluster to which things happen."""

    def __init__(self, cpus: Sequence[int], seed: int = 0) -> None:
        self.made = 0
        self.cpu_of = {"": 1}
        self.harness = SchedulerHarness(
            [self.new_node(cpu) for cpu in cpus],
            plugins={"Coscheduling": Coscheduling},
            config=CONFIG,
            seed=seed,
        )
        self.cluster = self.harness.cluster
        self.changes: Mapping[str, Callable[[Step], object]] = {
            "gang": self.add_gang,
            "member": self.add_to_a_gang,
            "node": lambda step: self.cluster.create(self.new_node(step.cpu)),
            "delete": self.delete,
            "reload": lambda _step: self.harness.reload(self.harness.config),
        }

    def take(self, step: Step) -> None:
        self.changes[step.what](step)
        for _ in range(step.attempts):
            self.harness.schedule_one()
        self.harness.advance(step.seconds)

    def new_node(self, cpu: int) -> Node:
        self.made += 1
        capacity = {"cpu": str(cpu), "memory": "64Gi", "pods": "110"}
        return make_node(name=f"n{self.made}", capacity=capacity)

    def add_gang(self, step: Step) -> None:
        self.made += 1
        name = f"g{self.made}" if step.needed else ""
        if name:
            # Groups of one age are the hard case.
            group = make_pod_group(
                name=name, min_member=step.needed, creation_timestamp=0.0
            )
            self.cluster.create(group)
            self.cpu_of[name] = step.cpu
        for _ in range(step.needed + step.more):
            self.add_member(name, step.priority)

    def add_to_a_gang(self, step: Step) -> None:
        groups = self.cluster.list(PodGroup).items
        if groups:
            self.add_member(groups[step.number % len(groups)].name, step.priority)

    def add_member(self, group: str, priority: int) -> None:
        self.made += 1
        # In the order of their names, members of groups are mixed.
        name = f"{self.made * 7919 % 997:03}-{group or 'alone'}"
        cpu = str(self.cpu_of[group])
        pod = make_member(name=name, group=group, cpu=cpu, priority=priority)
        self.cluster.create(pod)

    def delete(self, step: Step) -> None:
        pods = self.cluster.list(Pod).items
        if pods:
            self.cluster.delete(Pod, pods[step.number % len(pods)].key)

    def look(self) -> None:
        """See that no group has been bound in part."""
        bound: defaultdict[str, set[str]] = defaultdict(set)
        for event in self.cluster.events():
            if event.reason == "Scheduled":
                name = event.regarding.name
                bound[name.partition("-")[2]].add(name)
        for group in self.cluster.list(PodGroup).items:
            assert not 0 < len(bound[group.name]) < group.spec.min_member, group.name

    def end(self) -> None:
        """Check that no pod is lost, and that no pod waits although there is room."""
        # Not `settle`, which tries every pod again, and less than the five minutes
        # after which the queue does: events must have woken those that fit.
        self.harness.advance(250)
        self.harness.assert_no_errors()
        assert self.harness.waiting_pods() == []
        bound: defaultdict[str, int] = defaultdict(int)
        pending: defaultdict[str, int] = defaultdict(int)
        free = {
            node.name: int(node.status.allocatable["cpu"].value)
            for node in self.cluster.list(Node).items
        }
        for pod in self.cluster.list(Pod).items:
            group = pod.labels.get(POD_GROUP_LABEL, "")
            if pod.node_name:
                bound[group] += 1
                free[pod.node_name] -= self.cpu_of[group]
            else:
                assert self.harness.why_pending(pod.key) is not None, pod.key
                pending[group] += 1
        needs = {
            group.name: group.spec.min_member
            for group in self.cluster.list(PodGroup).items
        }
        for name, count in pending.items():
            needed = max(1, needs.get(name, 0) - bound[name])
            slots = sum(room // self.cpu_of[name] for room in free.values())
            assert min(count, slots) < needed, f"{name} fits"


# An example is a history of minutes; a long run time is not a failure.
@settings(max_examples=settings().max_examples // 3, deadline=None)
@given(CPUS, HISTORY)
def test_groups_are_bound_whole_or_not_at_all_and_nobody_is_forgotten(
    cpus: list[int], steps: list[Step]
) -> None:
    run = Run(cpus)
    for step in steps:
        run.take(step)
        run.look()
    run.end()
    run.look()


@settings(max_examples=settings().max_examples // 5, deadline=None)
@given(CPUS, HISTORY, st.integers(0, 9))
def test_nobody_is_forgotten_when_calls_fail(
    cpus: list[int], steps: list[Step], seed: int
) -> None:
    # A group of which some members could not be bound is bound in part for a while.
    run = Run(cpus, seed)
    run.harness.faulty.set_rates(FAULTS)
    for step in steps:
        run.take(step)
    run.harness.faulty.set_rates({})
    run.harness.advance(100)
    run.end()
