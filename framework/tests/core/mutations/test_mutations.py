"""`check_mutations` reports a plugin that changes what it may only read."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import msgspec
import numpy as np
import pytest

from quaymaster import (
    CycleState,
    Handle,
    NodeInfo,
    NodeTable,
    Pod,
    Rows,
    StateKey,
    hookimpl,
)
from quaymaster.counting import PodQuery
from quaymaster.objects import Selector
from quaymaster.scheduler import SchedulerOptions
from quaymaster.testing import SchedulerHarness, make_node, make_pod, profile_config
from tests.kit.engine import scheduler_of

KEY = StateKey[list[str]]("Notes")
SHARED = StateKey["Shared"]("Shared")
EVERYTHING = PodQuery(selector=Selector())

Change = Callable[["Changing", CycleState, Pod, NodeTable], object]


class Changing:
    """Changes one thing, in one hook, for the pod 'bad'."""

    change: ClassVar[Change]

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    def act(self, state: CycleState, pod: Pod, nodes: NodeTable) -> None:
        if pod.name == "bad":
            type(self).change(self, state, pod, nodes)


class InPreFilter(Changing):
    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> None:
        self.act(state, pod, nodes)


class Honest:
    """Keeps notes in the cycle state, and looks at counts."""

    def __init__(self, args: object, handle: Handle) -> None:
        self.handle = handle

    @hookimpl
    def pre_filter(self, state: CycleState) -> None:
        state[KEY] = ["a"]
        group = self.handle.snapshot.counts.pods(EVERYTHING)
        zones = self.handle.snapshot.counts.domains("zone")
        group.by_domain(zones).array()
        self.handle.snapshot.nodes.label("zone")


def info(plugin: Changing) -> NodeInfo:
    found = plugin.handle.snapshot.get("a")
    assert found is not None
    return found


def run(
    plugin: type[Changing], change: Change, *, check: bool = True
) -> SchedulerHarness:
    plugin.change = staticmethod(change)
    harness = SchedulerHarness(
        [
            make_node(name="a", labels={"zone": "x"}),
            make_node(name="b", labels={"zone": "y"}),
            make_pod(name="there", node="a", labels={"app": "x"}),
            make_pod(name="bad", priority=1, labels={"app": "x"}),
            make_pod(name="good"),
        ],
        plugins={"Honest": Honest, "Faulty": plugin},
        config=profile_config(enable=["Honest", "Faulty"]),
        options=SchedulerOptions(check_mutations=check),
    )
    harness.settle()
    return harness


CHANGES: Mapping[str, tuple[Callable[[Changing, Any, Any, Any], object], str]] = {
    "pods of a node": (
        lambda plugin, *_: info(plugin).pods.clear(),
        "pods of node 'a'",
    ),
    "requests of a node": (
        lambda plugin, *_: setattr(info(plugin).requested, "milli_cpu", 9),
        "requested of node 'a'",
    ),
    "a pod counted in": (
        lambda plugin, _, pod, __: info(plugin).add_pod(pod),
        "pods of node 'a', non_zero_milli_cpu of node 'a'",
    ),
    "ports of a node": (
        lambda plugin, *_: info(plugin).used_ports.add("", "TCP", 80),
        "used_ports of node 'a'",
    ),
    "label of a node": (
        lambda plugin, *_: dict.update(info(plugin).node.metadata.labels, zone="z"),
        "metadata.labels of node 'a'",
    ),
    "frozen field of a node": (
        lambda plugin, *_: msgspec.structs.force_setattr(
            info(plugin).node.spec, "unschedulable", True
        ),
        "spec.unschedulable of node 'a'",
    ),
    "label of a pod elsewhere": (
        lambda plugin, *_: dict.clear(
            next(iter(info(plugin).pods.values())).metadata.labels
        ),
        "metadata.labels of pod 'there'",
    ),
    "label of the pod": (
        lambda _, __, pod, ___: dict.update(pod.metadata.labels, app="y"),
        "metadata.labels of pod 'bad'",
    ),
    "a column": (
        lambda _, __, ___, nodes: np.add(nodes.requested, 1, out=nodes.requested),
        "column 'requested'",
    ),
    "a column that is replaced": (
        lambda _, __, ___, nodes: setattr(
            nodes, "allowed_pods", nodes.allowed_pods * 0
        ),
        "column 'allowed_pods'",
    ),
    "a column that is locked": (
        lambda _, __, ___, nodes: nodes.pod_count.setflags(write=False),
        "column 'pod_count'",
    ),
    "a column of labels": (
        lambda _, __, ___, nodes: nodes.label("zone").codes.fill(0),
        "column of label 'zone'",
    ),
    "the list of nodes": (
        lambda _, __, ___, nodes: nodes.infos.reverse(),
        "list of nodes",
    ),
    "the counts": (
        lambda plugin, *_: plugin.handle.snapshot.counts.pods(EVERYTHING).rows.clear(),
        "counts of pods",
    ),
    "the counts by domain": (
        lambda plugin, *_: (
            plugin.handle.snapshot.counts.pods(EVERYTHING)
            .by_domain(plugin.handle.snapshot.counts.domains("zone"))
            .array()
            .fill(7)
        ),
        "counts of pods",
    ),
    "another plugin's value": (
        lambda _, state, *__: state[KEY].append("b"),
        "'Notes' in the cycle state",
    ),
    "another plugin's value is gone": (
        lambda _, state, *__: state.__delitem__(KEY),
        "'Notes' in the cycle state",
    ),
}


@pytest.mark.parametrize(("change", "said"), CHANGES.values(), ids=CHANGES.keys())
def test_a_change_fails_one_attempt_and_is_undone(change: Change, said: str) -> None:
    harness = run(InPreFilter, change)
    assert not harness.node_of("bad")
    expected = f'running PreFilter plugin "Faulty": pre_filter changed {said}'
    assert expected in harness.message("bad")
    assert harness.node_of("good")
    nodes, snapshot = (
        scheduler_of(harness).snapshot.nodes,
        scheduler_of(harness).snapshot,
    )
    for node in snapshot:
        assert node.requested.milli_cpu == nodes.requested[0, node.row]
        assert len(node.pods) == nodes.pod_count[node.row]
        assert node.name == harness.cluster.get(type(node.node), node.name).name
    there = snapshot.get("a")
    assert there is not None
    assert there.labels["zone"] == "x"
    assert {pod.name for node in snapshot for pod in node.pods.values()} == {
        "there",
        "good",
    }
    zones = snapshot.counts.domains("zone")
    group = snapshot.counts.pods(EVERYTHING)
    assert sum(group.rows.values()) == 2
    assert group.by_domain(zones).array().sum() == 2


def test_without_the_check_changes_are_not_detected() -> None:
    harness = run(InPreFilter, CHANGES["label of the pod"][0], check=False)
    assert harness.node_of("bad")


class InFilter(Changing):
    @hookimpl
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> None:
        if node.name == "b":
            self.act(state, pod, self.handle.snapshot.nodes)
            if pod.name == "bad":
                node.non_zero_memory += 1


class InFilterNodes(Changing):
    @hookimpl
    def filter(self) -> None:
        pass

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> None:
        if pod.name == "bad":
            nodes.row_numbers(rows)[...] += 1
            nodes.allowed_pods[rows] = 0


class InPostBind(Changing):
    @hookimpl
    def post_bind(self, state: CycleState, pod: Pod) -> None:
        self.act(state, pod, self.handle.snapshot.nodes)


class InQueueSort(Changing):
    @hookimpl
    def pre_enqueue(self, pod: Pod) -> None:
        self.act(CycleState(), pod, self.handle.snapshot.nodes)


def nothing(*_: object) -> None:
    pass


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (InFilter, "filter changed non_zero_memory of node 'b'"),
        (InFilterNodes, "filter_nodes changed column 'allowed_pods'"),
    ],
)
def test_hooks_of_any_kind_are_watched(plugin: type[Changing], said: str) -> None:
    harness = run(plugin, nothing)
    assert said in harness.message("bad")
    assert harness.node_of("good")


def test_a_change_by_a_hook_that_must_not_fail_is_logged_and_undone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = run(InPostBind, CHANGES["a column"][0])
    assert harness.node_of("bad")
    assert harness.node_of("good")
    expected = (
        "running PostBind plugin \"Faulty\": post_bind changed column 'requested'"
    )
    assert expected in caplog.text
    nodes = scheduler_of(harness).snapshot.nodes
    assert nodes.requested[0, : len(nodes)].tolist() == [0, 0]


def test_a_gate_that_changes_its_pod_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    harness = run(InQueueSort, CHANGES["label of the pod"][0])
    assert "pre_enqueue changed metadata.labels of pod 'bad'" in caplog.text
    assert harness.pod("bad").metadata.labels == {"app": "x"}


class Shared:
    """A value whose ``clone`` returns the value itself."""

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}

    def clone(self) -> "Shared":
        other = Shared()
        other.seen = self.seen
        return other


class Imagines(Changing):
    """Writes to the original, because its clone shares data with it."""

    @hookimpl
    def pre_filter(self, state: CycleState) -> None:
        state[SHARED] = Shared()

    @hookimpl
    def add_pod(self, state: CycleState, pod: Pod, pod_to_add: Pod) -> None:
        if pod.name == "bad":
            state[SHARED].seen[pod_to_add.name] = 1

    @hookimpl
    def filter(self) -> None:
        pass


@pytest.mark.long
def test_a_clone_that_shares_data_is_detected() -> None:
    nominated = make_pod(name="other", priority=9, nominated_node="a")
    harness = SchedulerHarness(
        [
            make_node(name="a"),
            nominated,
            make_pod(name="bad", priority=1),
            make_pod(name="good"),
        ],
        plugins={"Faulty": Imagines},
        config=profile_config(enable=["Faulty"]),
        options=SchedulerOptions(check_mutations=True),
    )
    scheduler_of(harness).queue.delete(nominated)
    scheduler_of(harness).queue.nominator.add(nominated)
    harness.settle()
    assert "add_pod changed 'Shared' in the cycle state" in harness.message("bad")
    assert harness.node_of("good")
