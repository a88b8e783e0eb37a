"""Random groups: none is bound against its rules, and no pod is lost."""

from collections import Counter
from collections.abc import Mapping, Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import Handle, Node, NodeInfo, Pod, Status, hookimpl
from quaymaster.objects import PodGroup
from quaymaster.testing import (
    SchedulerHarness,
    make_node,
    make_pod,
    make_pod_group,
    profile_config,
)
from tests.kit.group_cluster import PRIORITIES, harness_with_groups

CAPACITY = 4
HIGH = 10
PERMIT_SECONDS = 300.0
"""How long a pod waits on Permit for the rest of its gang."""


@attrs.frozen
class Group:
    """A group of a random case.

    Attributes:
        sizes: The CPU of each pod.
        min_count: The quorum; 0 for a basic group.
        priority: The priority of the group and its pods.
        together: Whether it is preempted as a whole.
    """

    sizes: tuple[int, ...]
    min_count: int
    priority: int
    together: bool


GROUPS = st.builds(
    Group,
    sizes=st.lists(st.integers(1, CAPACITY), min_size=1, max_size=4).map(tuple),
    min_count=st.integers(0, 3),
    priority=st.sampled_from([0, 0, 0, HIGH]),
    together=st.booleans(),
)
FAULTS = st.dictionaries(
    st.sampled_from(["filter", "reserve", "permit", "pre_bind"]),
    st.sets(st.integers(0, 30), max_size=4),
    max_size=2,
)


class Unreliable:
    """Counts reservations, and fails at some calls of some hooks."""

    faults: Mapping[str, set[int]]

    def __init__(self, _args: None, handle: Handle) -> None:
        self.handle = handle
        self.calls: Counter[str] = Counter()
        self.reserved: set[str] = set()

    def fails(self, hook: str) -> Status | None:
        """Count a call, and reject or fail it as the case demands."""
        self.calls[hook] += 1
        if self.calls[hook] not in self.faults.get(hook, ()):
            return None
        if self.calls[hook] % 2:
            return Status.unschedulable("not now")
        return Status.from_error("broken")

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return self.fails("filter")

    @hookimpl
    def reserve(self, pod: Pod) -> Status | None:
        self.reserved.add(pod.name)
        return self.fails("reserve")

    @hookimpl
    def unreserve(self, pod: Pod) -> None:
        self.reserved.discard(pod.name)

    @hookimpl
    def permit(self, pod: Pod) -> Status | None:
        return self.fails("permit")

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status | None:
        return self.fails("pre_bind")


def play(
    groups: Sequence[Group], nodes: int, late: int, faults: Mapping[str, set[int]]
) -> tuple[SchedulerHarness, Unreliable]:
    """Schedule groups until nothing changes, with some nodes that come later."""
    plugin: type[Unreliable] = type("Unreliable", (Unreliable,), {"faults": faults})
    harness = harness_with_groups(
        [_node(f"node-{index}") for index in range(nodes)],
        plugins={"Unreliable": plugin},
        config=profile_config(enable=["Unreliable"]),
    )
    for number, group in enumerate(groups):
        _create(harness, f"group-{number}", group)
        harness.settle()
    for index in range(late):
        harness.cluster.create(_node(f"late-{index}"))
        harness.settle()
    return harness, harness.plugin(plugin)


def _node(name: str) -> Node:
    return make_node(name=name, allocatable={"cpu": CAPACITY, "pods": 10})


def _create(harness: SchedulerHarness, name: str, group: Group) -> None:
    made = make_pod_group(
        name=name,
        min_count=group.min_count or None,
        priority=group.priority,
        disrupts_all=group.together,
    )
    class_name = PRIORITIES.get(group.priority, "")
    spec = replace(made.spec, priority_class_name=class_name)
    harness.cluster.create(replace(made, spec=spec))
    for index, size in enumerate(group.sizes):
        harness.cluster.create(
            make_pod(
                name=f"{name}-{index}",
                requests={"cpu": size},
                scheduling_group=name,
                priority=group.priority,
            )
        )


NODES = st.integers(1, 3)
LATE = st.integers(0, 2)


@pytest.mark.long
@given(groups=st.lists(GROUPS, min_size=1, max_size=4), nodes=NODES, late=LATE)
def test_gang_is_bound_up_to_its_quorum_or_not_at_all(
    groups: list[Group], nodes: int, late: int
) -> None:
    harness, _plugin = play(groups, nodes, late, {})
    bound = Counter(
        pod.group_key for pod in harness.cluster.list(Pod).items if pod.node_name
    )
    preempted = {name.rpartition("-")[0] for name in preempted_pods(harness)}
    for number, group in enumerate(groups):
        name = f"group-{number}"
        count = bound[f"default/{name}"]
        assert name in preempted or count == 0 or count >= group.min_count


@pytest.mark.long
@given(
    groups=st.lists(GROUPS, min_size=1, max_size=4),
    nodes=NODES,
    late=LATE,
    faults=FAULTS,
)
def test_no_pod_is_lost_and_nothing_stays_reserved(
    groups: list[Group], nodes: int, late: int, faults: dict[str, set[int]]
) -> None:
    harness, plugin = play(groups, nodes, late, faults)
    # A pod whose gang another pod left on Permit waits there.
    harness.advance(PERMIT_SECONDS)
    harness.settle()
    pods = harness.cluster.list(Pod).items
    bound = {pod.name for pod in pods if pod.node_name}
    counted = [pod for node in plugin.handle.snapshot for pod in node.pods.values()]
    assert sorted(pod.name for pod in counted) == sorted(bound)
    assert bound <= plugin.reserved <= {*bound, *preempted_pods(harness)}
    for pod in pods:
        assert pod.node_name or harness.why_pending(pod.key) is not None
    for group in harness.cluster.list(PodGroup).items:
        assert_state(plugin, group, pods)


def preempted_pods(harness: SchedulerHarness) -> set[str]:
    """Return the names of the pods that were preempted."""
    events = harness.cluster.events()
    return {event.regarding.name for event in events if event.reason == "Preempted"}


def assert_state(plugin: Unreliable, group: PodGroup, pods: Sequence[Pod]) -> None:
    """Check that the state of a group has each pod once, where it belongs."""
    groups = plugin.handle.pod_groups
    assert groups is not None
    state = groups.get(group.key)
    members = {pod.uid: pod for pod in pods if pod.group_key == group.key}
    if state is None:
        assert not members
        return
    assert not state.assumed
    assert state.pods.keys() == members.keys()
    assert state.assigned.keys() == {
        uid for uid, pod in members.items() if pod.node_name
    }
