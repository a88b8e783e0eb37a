"""Preemption with a cache finds the same candidates as without one."""

from collections.abc import Sequence

import numpy as np
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

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Code,
    CycleState,
    Handle,
    Node,
    NodeInfo,
    NodeStatuses,
    NodeTable,
    Pod,
    PodUse,
    PostFilterResult,
    Snapshot,
    Status,
    hookimpl,
    on_node,
)
from quaymaster.cluster import Verb, Write
from quaymaster.columns import ChangeLog
from quaymaster.objects import PodDisruptionBudget
from quaymaster.preemption import Candidate, DryRun, best_candidates, select_victims
from quaymaster.testing import PluginHarness, SchedulerHarness, make_node, make_pod
from quaymaster_default_preemption import DefaultPreemption
from quaymaster_node_resources_fit import NodeResourcesFit
from tests.kit.internals.preemption import (
    LOWER_PRIORITY,
    LastingFilters,
    RowMemo,
    RowMemos,
    RowTrial,
    VictimColumns,
)
from tests.kit.internals.state import Cache
from tests.kit.profiles import fewer

TEMPLATES: dict[str, dict[str, object]] = {
    "small": {"requests": {"cpu": "1"}},
    "low": {"requests": {"cpu": "2"}, "priority": 1},
    "high": {"requests": {"cpu": "2"}, "priority": 2},
    "wide": {"requests": {"cpu": "3"}, "priority": 2},
    "gpu": {"requests": {"cpu": "1", "example.com/gpu": "1"}, "priority": 3},
    "port": {"requests": {"cpu": "1"}, "host_ports": [80], "priority": 3},
    "even": {"requests": {"cpu": "2"}, "labels": {"side": "even"}, "priority": 3},
    "ssd": {"requests": {"cpu": "2"}, "node_selector": {"disk": "ssd"}, "priority": 4},
}

IMPORTANT = [name for name, fields in TEMPLATES.items() if "priority" in fields]


class Sides:
    """Rejects every other node for some pods; it signs none, so it is always called."""

    pod_use = PodUse.NONE

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_node(Change.ADD)]

    @hookimpl
    def pre_filter(self, pod: Pod) -> Status | None:
        return None if "side" in pod.labels else Status.skip()

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        is_odd = int(node.name.removeprefix("n")) % 2
        return Status.unschedulable("wrong side") if is_odd else None


class Compared:
    """DefaultPreemption, which compares its dry run with trying each node."""

    Args = DefaultPreemption.Args
    reads = (PodDisruptionBudget,)
    writes = (Write(Verb.DELETE, Pod), Write(Verb.PATCH, Pod, "status"))
    blocks = False

    def __init__(self, args: object, handle: Handle) -> None:
        self._inner = DefaultPreemption(args, handle)  # type: ignore[arg-type]  # its own class
        self._handle = handle
        self._dry_run = DryRun(handle)

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return self._inner.pre_enqueue(pod)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return self._inner.events_to_register()

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        rows = statuses.rows_with(Code.UNSCHEDULABLE)
        if len(rows):
            random = self._handle.random
            first, wanted = random.randrange(len(rows)), random.randint(1, len(rows))
            found = self._dry_run.find(state, pod, rows, first=first, wanted=wanted)
            nodes = self._handle.snapshot.nodes.infos_at(rows)
            candidates, rejected = one_by_one(
                self._handle, state, pod, (*nodes[first:], *nodes[:first]), wanted
            )
            assert list(map(comparable, found.candidates)) == list(
                map(comparable, candidates)
            )
            assert dict(found.statuses) == rejected
            if candidates:
                best = best_candidates(found.candidates)
                expected = best_candidates(candidates)
                assert list(map(comparable, best)) == list(map(comparable, expected))
        return self._inner.post_filter(state, pod, statuses)


def one_by_one(
    handle: Handle,
    state: CycleState,
    pod: Pod,
    nodes: Sequence[NodeInfo],
    wanted: int,
) -> tuple[Sequence[Candidate], dict[str, Status]]:
    candidates: list[Candidate] = []
    rejected: dict[str, Status] = {}
    for node in nodes:
        found = select_victims(handle, state, pod, node, ())
        if isinstance(found, Status):
            rejected[node.name] = found
        else:
            candidates.append(found)
        if len(candidates) == wanted:
            break
    return candidates, rejected


def comparable(candidate: Candidate) -> tuple[str, Sequence[str], int]:
    victims = [victim.key for victim in candidate.victims]
    return candidate.node_name, victims, candidate.violations


def make_harness() -> SchedulerHarness:
    profile = {
        "plugins": {
            "multiPoint": {"enabled": [{"name": "Sides"}, {"name": "Compared"}]},
            "preEnqueue": {"disabled": [{"name": "DefaultPreemption"}]},
            "postFilter": {"disabled": [{"name": "DefaultPreemption"}]},
        }
    }
    return SchedulerHarness(
        plugins={"Sides": Sides, "Compared": Compared},
        config={
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [profile],
        },
    )


def learned() -> tuple[RowMemo, NodeTable]:
    """Return a memo that has a full node with a less important pod, and its table."""
    node = make_node(name="a", allocatable={"cpu": "2", "pods": "5"})
    victim = make_pod(name="victim", node="a", requests={"cpu": "2"})
    harness = PluginHarness(
        DefaultPreemption, nodes=[node], pods=[victim], beside=[NodeResourcesFit]
    )
    pod = make_pod(name="preemptor", requests={"cpu": "2"}, priority=1)
    harness.attempt(pod)
    nodes = harness.snapshot.nodes
    columns = VictimColumns(LOWER_PRIORITY.importance)
    trial = RowTrial(
        harness.handle, harness.state, pod, list(nodes), columns, LOWER_PRIORITY, None
    )
    memo = RowMemo()
    memo.follow(nodes, None)
    memo.learn(list(nodes), trial)
    assert memo.unknown(ROWS).tolist() == []
    assert memo.are_candidates(ROWS).tolist() == [True]
    return memo, nodes


ROWS = np.array([0], dtype=np.intp)


def test_cached_rows_last_while_nothing_changes() -> None:
    memo, nodes = learned()
    nominated: ChangeLog[int] = ChangeLog()
    for log in (None, nominated, nominated):
        memo.follow(nodes, log)
        assert memo.unknown(ROWS).tolist() == []


def test_a_row_is_unknown_when_other_pods_are_nominated_there() -> None:
    memo, nodes = learned()
    nominated: ChangeLog[int] = ChangeLog()
    nominated.note(0)
    memo.follow(nodes, nominated)
    assert memo.unknown(ROWS).tolist() == [0]


def test_all_rows_are_unknown_when_nominations_are_followed_again() -> None:
    memo, nodes = learned()
    memo.follow(nodes, ChangeLog())
    memo.follow(nodes, ChangeLog())
    assert memo.unknown(ROWS).tolist() == [0]


def test_all_rows_are_unknown_when_nominations_are_no_longer_followed() -> None:
    memo, nodes = learned()
    memo.follow(nodes, ChangeLog())
    memo.follow(nodes, None)
    assert memo.unknown(ROWS).tolist() == [0]


def test_there_is_room_for_as_many_rows_as_the_table_has() -> None:
    memo, nodes = learned()
    snapshot = Snapshot()
    cache = Cache(snapshot)
    for number in range(nodes.capacity + 1):
        cache.add_node(make_node(name=f"n{number}"))
    memo.follow(snapshot.nodes, None)
    last = np.array([nodes.capacity], dtype=np.intp)
    assert memo.unknown(last).tolist() == last.tolist()


def test_kinds_that_were_not_used_for_long_are_dropped() -> None:
    memos, nodes = RowMemos(), Snapshot().nodes
    filters = [
        LastingFilters(
            kind=object(), plugins=frozenset(), others=frozenset(), nominated=None
        )
        for _ in range(40)
    ]
    first = memos.of(filters[0], 0, nodes)
    assert memos.of(filters[0], 0, nodes) is first
    assert memos.of(filters[0], 1, nodes) is not first
    for lasting in filters[1:]:
        memos.of(lasting, 0, nodes)
    assert memos.of(filters[0], 0, nodes) is not first


class History(RuleBasedStateMachine):
    """Important pods arrive at full nodes; nodes and pods change."""

    def __init__(self) -> None:
        super().__init__()
        self.harness = make_harness()
        self.made = 0

    @initialize(count=st.sampled_from([2, 9, 62]), is_even=st.booleans())
    def begin(self, count: int, is_even: bool) -> None:
        for number in range(count):
            self._add_node("ssd" if number % 3 else "hdd", "4")
        self.add_pods("small", 2 * count)
        self.add_pods("low", count if is_even else 2 * count // 3)
        self.harness.advance(0)

    @rule(disk=st.sampled_from(["ssd", "hdd"]), cpu=st.sampled_from(["2", "4"]))
    def add_node(self, disk: str, cpu: str) -> None:
        self._add_node(disk, cpu)

    @precondition(lambda self: self._nodes())
    @rule(data=st.data(), is_removed=st.booleans())
    def change_node(self, data: st.DataObject, is_removed: bool) -> None:
        node = data.draw(st.sampled_from(self._nodes()))
        if is_removed:
            self.harness.cluster.delete(Node, node.key)
            return
        spec = replace(node.spec, unschedulable=not node.spec.unschedulable)
        self.harness.cluster.update(replace(node, spec=spec))

    @rule(name=st.sampled_from(IMPORTANT), count=st.sampled_from([1, 2, 5]))
    def add_pods(self, name: str, count: int) -> None:
        for _ in range(count):
            self.made += 1
            fields = TEMPLATES[name]
            pod = make_pod(name=f"{name}-{self.made}", **fields)  # type: ignore[arg-type]  # the maker's
            self.harness.cluster.create(pod)

    @precondition(lambda self: self._pods())
    @rule(data=st.data())
    def remove_pod(self, data: st.DataObject) -> None:
        pod = data.draw(st.sampled_from(self._pods()))
        self.harness.cluster.delete(Pod, pod.key, grace_period_seconds=0)

    @rule(seconds=st.sampled_from([0, 1, 40]))
    def let_time_pass(self, seconds: int) -> None:
        self.harness.advance(seconds)

    @invariant()
    def every_search_is_compared(self) -> None:
        for _ in range(3):  # victims and nominated pods exist for a while
            self.harness.schedule_one()
        assert not self.harness.errors

    def _add_node(self, disk: str, cpu: str) -> None:
        self.made += 1
        allocatable = {"cpu": cpu, "pods": "5"}
        if disk == "ssd":
            allocatable["example.com/gpu"] = "1"
        node = make_node(
            name=f"n{self.made}", labels={"disk": disk}, allocatable=allocatable
        )
        self.harness.cluster.create(node)

    def _nodes(self) -> Sequence[Node]:
        return self.harness.cluster.list(Node).items

    def _pods(self) -> Sequence[Pod]:
        return self.harness.cluster.list(Pod).items


TestHistory = pytest.mark.long(History.TestCase)
TestHistory.settings = fewer(2)
