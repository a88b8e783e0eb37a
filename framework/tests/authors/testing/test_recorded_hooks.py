"""Each hook of a plugin in Go can be recorded, and compared with a port.

``all_hooks.jsonl`` was recorded from a plugin in Go that has every hook, with the
recorder of the how-to "Port a Go plugin"; the class below is its port.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Code,
    CycleState,
    Handle,
    Int64Array,
    Node,
    NodeInfo,
    NodeStatuses,
    NodeTable,
    NominatingInfo,
    NominatingMode,
    PermitWait,
    Pod,
    PostFilterResult,
    PreBindPreFlightResult,
    PreFilterResult,
    QueuedPodInfo,
    QueueingHint,
    Rows,
    StateKey,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.testing import ContractError, check_recorded

RECORD = Path(__file__).with_name("all_hooks.jsonl")


class Counts:
    def __init__(self, pods: dict[str, int]) -> None:
        self.pods = pods

    def clone(self) -> "Counts":
        return Counts(dict(self.pods))


COUNTS = StateKey[Counts]("AllHooks")
NO_COUNTS = Status.from_error("no counts")


class AllHooks:
    def __init__(self, args: object, handle: Handle) -> None:
        self.reserved: dict[str, str] = {}

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return Status.unresolvable("pod is held") if "held" in pod.labels else None

    @hookimpl
    def queue_sort(self, queued: QueuedPodInfo) -> tuple[int, float]:
        return -queued.pod.priority, queued.timestamp

    @hookimpl
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable
    ) -> PreFilterResult | Status | None:
        if "app" not in pod.labels:
            return Status.skip()
        state[COUNTS] = Counts({node.name: len(node.pods) for node in nodes})
        if "any" in pod.labels:
            return None
        open_nodes = (node for node in nodes if node.labels.get("open") == "yes")
        return PreFilterResult(frozenset(node.name for node in open_nodes))

    @hookimpl
    def add_pod(self, state: CycleState, node: NodeInfo) -> Status | None:
        return self._count(state, node, 1)

    @hookimpl
    def remove_pod(self, state: CycleState, node: NodeInfo) -> Status | None:
        return self._count(state, node, -1)

    def _count(self, state: CycleState, node: NodeInfo, by: int) -> Status | None:
        counts = state.get(COUNTS)
        if counts is None:
            return NO_COUNTS
        counts.pods[node.name] += by
        return None

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        counts = state.get(COUNTS)
        if counts is None:
            return NO_COUNTS
        if counts.pods[node.name] > 1:
            return Status.unschedulable("node is full", "two pods are enough")
        return None

    @hookimpl
    def post_filter(self, statuses: NodeStatuses) -> PostFilterResult | Status:
        for name in ("a", "b"):
            if statuses[name].code is Code.UNSCHEDULABLE:
                info = NominatingInfo(name, NominatingMode.OVERRIDE)
                return PostFilterResult(nominating=info)
        return Status.unschedulable("nothing to evict")

    @hookimpl
    def pre_score(self, nodes: NodeTable, rows: Rows) -> Status | None:
        return Status.skip() if nodes.count(rows) < 2 else None

    @hookimpl
    def score(self, node: NodeInfo) -> int | Status:
        if "broken" in node.labels:
            return Status.from_error("node is broken")
        return len(node.pods) * 7

    @hookimpl
    def normalize_score(self, scores: Int64Array) -> Int64Array:
        return 100 - scores

    @hookimpl
    def reserve(self, pod: Pod, node_name: str) -> Status | None:
        if node_name in self.reserved:
            return Status.unschedulable("node is reserved")
        self.reserved[node_name] = pod.name
        return None

    @hookimpl
    def unreserve(self, node_name: str) -> None:
        self.reserved.pop(node_name, None)

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | Status | None:
        if pod.labels.get("permit") == "wait":
            return PermitWait(timeout_seconds=90)
        is_rejected = pod.labels.get("permit") == "no"
        return Status.unschedulable("not permitted") if is_rejected else None

    @hookimpl
    def pre_bind_pre_flight(self, pod: Pod) -> PreBindPreFlightResult | Status:
        if "app" not in pod.labels:
            return Status.skip()
        return PreBindPreFlightResult(allow_parallel=pod.labels["app"] == "web")

    @hookimpl
    def pre_bind(self, pod: Pod, node_name: str) -> Status | None:
        if self.reserved.get(node_name) == pod.name:
            return None
        return Status.from_error("node is not reserved")

    @hookimpl
    def bind(self, pod: Pod) -> Status | None:
        return None if "app" in pod.labels else Status.skip()

    @hookimpl
    def post_bind(self, node_name: str) -> None:
        self.reserved.pop(node_name, None)

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_node(Change.ADD | Change.UPDATE_NODE_LABEL, self.after_node_change),
            on_pod.assigned(Change.DELETE),
        ]

    def after_node_change(
        self, _pod: Pod, _old: Node | None, new: Node
    ) -> QueueingHint:
        is_open = new.labels.get("open") == "yes"
        return QueueingHint.QUEUE if is_open else QueueingHint.SKIP


def test_a_port_answers_each_recorded_hook_as_the_original() -> None:
    calls = check_recorded(AllHooks, RECORD)
    assert (calls.equal, calls.not_played) == (75, {})


def test_record_has_each_hook() -> None:
    lines = RECORD.read_text(encoding="utf-8").splitlines()
    cases = [json.loads(line)["case"] for line in lines]
    assert {call["call"] for case in cases for call in case["calls"]} == {
        "AddPod",
        "Bind",
        "EventsToRegister",
        "Filter",
        "Hint",
        "Less",
        "NormalizeScore",
        "Permit",
        "PostBind",
        "PostFilter",
        "PreBind",
        "PreBindPreFlight",
        "PreEnqueue",
        "PreFilter",
        "PreScore",
        "RemovePod",
        "Reserve",
        "Score",
        "Unreserve",
    }


def test_a_port_that_keeps_its_reservation_after_the_bind_differs() -> None:
    class Forgetful(AllHooks):
        @hookimpl
        def post_bind(self, node_name: str) -> None:
            self.reserved[node_name] = "new"

        @hookimpl
        def unreserve(self, node_name: str) -> None:
            pass

    with pytest.raises(ContractError, match="node is reserved"):
        check_recorded(Forgetful, RECORD, name="AllHooks")
