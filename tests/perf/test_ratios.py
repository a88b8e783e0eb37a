"""Ratios of durations on one machine, for what makes decisions fast."""

from collections.abc import Hashable

import pytest

from quaymaster import CycleState, Handle, NodeInfo, Pod, Status, hookimpl
from tests.memo.world import Recording
from tests.perf.bench import Bench, median_seconds


class Trivial:
    """A simple plugin: two hooks, for one node at a time."""

    def __init__(self, args: object, handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        if node.labels.get("team") == "other":
            return Status.unschedulable("node belongs to another team")
        return None

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return 100 if node.labels.get("disk") == "ssd" else 0


class Counted(Recording):
    """A plugin that declares its scope and signs pods."""

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return "all alike"

    @hookimpl
    def filter(self, node: NodeInfo) -> None:
        self.calls.append(node.name)


@pytest.mark.long
def test_memory_makes_decisions_much_faster() -> None:
    with_memory = Bench(5000).seconds_per_pod(50)
    without = Bench(5000, remembers=False).seconds_per_pod(10)
    assert with_memory * 2 < without


@pytest.mark.long
def test_batch_twins_make_decisions_much_faster() -> None:
    twins = Bench(2000, remembers=False).seconds_per_pod(10)
    scalars = Bench(2000, remembers=False, twins=False).seconds_per_pod(1)
    assert twins * 8 < scalars


@pytest.mark.long
def test_ten_times_the_nodes_take_far_less_than_ten_times_as_long() -> None:
    few, many = Bench(500), Bench(5000)
    assert many.seconds_per_pod(100) < 4 * few.seconds_per_pod(100)


@pytest.mark.long
def test_a_plugin_with_scalar_hooks_only_costs_what_its_own_calls_cost() -> None:
    alone, joined = Bench(3000), Bench(3000, Trivial)
    (judge,) = (
        call.hooks["filter"]
        for call in joined.profile.plan("filter")
        if call.plugin == "Trivial"
    )
    (rate,) = (
        call.hooks["score"]
        for call in joined.profile.plan("score")
        if call.plugin == "Trivial"
    )
    state, pod, infos = CycleState(), joined.example, list(joined.snapshot)

    def call_it_alone() -> None:
        for node in infos:
            judge(state, pod, node)
        for node in infos:
            rate(state, pod, node)

    own = median_seconds(call_it_alone, 15)
    cost = joined.seconds_per_pod(10) - alone.seconds_per_pod(50)
    assert cost < 20 * own  # about twice that on a quiet machine


@pytest.mark.long
def test_such_a_plugin_does_not_make_others_forget() -> None:
    bench = Bench(2000, Counted, Trivial)
    counted = bench.profile.plugins["Counted"]
    assert isinstance(counted, Counted)
    bench.schedule(1)
    assert len(counted.calls) == 2000
    bench.schedule(10)
    assert len(counted.calls) == 2010  # each pod changed one node
