"""How closely filters look at the pods on a node, and filters on hypothetical nodes."""

import pytest

from quaymaster import (
    CycleState,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Status,
    hookimpl,
)
from quaymaster.columns import CPU
from quaymaster.errors import PluginLoadError
from quaymaster.testing import PluginHarness, make_node, make_pod
from tests.kit.internals.contract import FilteredRows

FULL = Status.unschedulable("full")


class Base:
    def __init__(self, _args: object, _handle: Handle) -> None:
        pass


class Plain(Base):
    """Does not declare its pod use."""

    @hookimpl
    def filter(self) -> Status | None:
        return None


class Blind(Plain):
    pod_use = PodUse.NONE


class Summing(Base):
    pod_use = PodUse.SUMS

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return FULL if node.requested.milli_cpu >= 1000 else None

    @hookimpl
    def filter_nodes(self, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        return NodeVerdicts.reject_where(nodes.requested[CPU, rows] >= 1000, FULL)


class SummingWithoutTwin(Plain):
    pod_use = PodUse.SUMS


class Imagining(Blind):
    @hookimpl
    def pre_filter(self) -> None:
        pass

    @hookimpl
    def add_pod(self) -> None:
        pass


class Skipping(Plain):
    @hookimpl
    def pre_filter(self) -> Status:
        return Status.skip()


class Watching(Base):
    """Wraps the filters of the others."""

    @hookimpl(wrapper=True)
    def filter(self, pod: Pod, node: NodeInfo) -> object:
        return (yield)


class Wrong(Plain):
    pod_use = "none"


@pytest.mark.parametrize(
    ("plugins", "expected"),
    [
        pytest.param([Blind], PodUse.NONE, id="none"),
        pytest.param([Blind, Summing], PodUse.SUMS, id="the most counts"),
        pytest.param([Summing, Plain, Blind], PodUse.PODS, id="nothing said"),
        pytest.param([SummingWithoutTwin], PodUse.PODS, id="sums without a twin"),
        pytest.param([Imagining], PodUse.PODS, id="told of pods that come"),
        pytest.param([Blind, Skipping], PodUse.NONE, id="skipped"),
        pytest.param([Blind, Watching], PodUse.PODS, id="wrapped"),
    ],
)
def test_the_closest_pod_use_of_all_plugins_counts(
    plugins: list[type], expected: PodUse
) -> None:
    *beside, last = plugins
    harness = PluginHarness(last, beside=beside)
    state = CycleState()
    if Skipping in plugins:
        state.skip_filter_plugins = frozenset({"Skipping"})
    assert harness.handle.filters.pod_use(state) is expected


def test_a_wrong_pod_use_stops_the_profile() -> None:
    with pytest.raises(PluginLoadError, match="pod_use: expected a PodUse, got 'none'"):
        PluginHarness(Wrong)


def harness_of_two() -> PluginHarness:
    return PluginHarness(
        Summing,
        nodes=[make_node(name="a"), make_node(name="b")],
        pods=[make_pod(node="a", requests={"cpu": "1"})],
        beside=[Blind],
    )


def filtered(harness: PluginHarness, nodes: NodeTable, use: PodUse | None) -> list[str]:
    handle, state = harness.handle, CycleState()
    found = handle.filters.run_on_rows(state, make_pod(), nodes, nodes.rows, use)
    assert isinstance(found, FilteredRows)
    assert found.statuses["a"].with_plugin("") in (FULL, Status.unresolvable())
    return nodes.names_at(found.passed)


def test_filters_judge_the_given_table() -> None:
    harness = harness_of_two()
    nodes = harness.snapshot.nodes
    imagined = nodes.imagined()
    imagined.requested[CPU, 0] = 0
    assert filtered(harness, nodes, None) == ["b"]
    assert filtered(harness, imagined, None) == ["a", "b"]
    assert nodes.requested[CPU, 0] == 1000


def test_only_filters_of_the_given_pod_use_are_run() -> None:
    harness = harness_of_two()
    nodes = harness.snapshot.nodes
    assert filtered(harness, nodes, PodUse.SUMS) == ["b"]
    assert filtered(harness, nodes, PodUse.NONE) == ["a", "b"]


def test_a_hypothetical_table_shares_nothing_that_may_change() -> None:
    nodes = harness_of_two().snapshot.nodes
    imagined = nodes.imagined()
    imagined.pod_count[0] = 7
    imagined.non_zero_requested[0, 0] = 7
    assert nodes.pod_count[0] == 1
    assert nodes.non_zero_requested[0, 0] == 1000


def test_a_harness_fails_attempts_only_of_pods_that_fit_nowhere() -> None:
    harness = harness_of_two()
    with pytest.raises(ValueError, match="pod default/pod fits"):
        harness.attempt(make_pod())
