"""Preemption by a plugin's own rule is correct and as fast as by priority."""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
    BoolArray,
    CycleState,
    Handle,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    PodUse,
    Rows,
    Status,
    hookimpl,
)
from quaymaster.errors import PluginError
from quaymaster.preemption import (
    Candidate,
    DryRun,
    LowerPriority,
    PodColumns,
    VictimRule,
    select_victims,
)
from quaymaster.testing import PluginHarness, SchedulerHarness, make_node, make_pod
from tests.own_preemption.burst import (
    full_cluster,
    preemptors,
    quota_args,
    quota_config,
)
from tests.own_preemption.quotas import ElasticQuotas, cpu
from tests.perf.bench import median_seconds

NAMES = ("a", "a", "b", "free")
QUOTAS: Mapping[str, tuple[int, int]] = {
    "a": (2000, 3000),
    "b": (3000, 4000),
    "idle": (4000, 9000),
}
ARGS = {
    "quotas": [
        {"namespace": name, "min": least, "max": most}
        for name, (least, most) in QUOTAS.items()
    ]
}


class Room:
    """Rejects nodes without CPU."""

    pod_use = PodUse.SUMS

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        free = node.allocatable.milli_cpu - node.requested.milli_cpu
        return Status.unschedulable("no room") if free < cpu(pod) else None

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        free = nodes.allocatable[0, rows] - nodes.requested[0, rows]
        return NodeVerdicts.reject_where(
            free < cpu(pod), Status.unschedulable("no room")
        )


@attrs.frozen(kw_only=True)
class World:
    nodes: Sequence[Node]
    pods: Sequence[Pod]
    nominated: Mapping[str, Sequence[Pod]]
    preemptor: Pod

    def harness(self) -> PluginHarness | None:
        """Return a cluster on which the preemptor has failed; None if it fits."""
        harness = PluginHarness(
            ElasticQuotas,
            args=ARGS,
            nodes=self.nodes,
            pods=self.pods,
            nominated=self.nominated,
            beside=[Room],
        )
        try:
            harness.attempt(self.preemptor)
        except ValueError:
            return None
        return harness


@st.composite
def pods_of_quotas(draw: st.DrawFn, name: str, node: str = "") -> Pod:
    return make_pod(
        name=name,
        namespace=draw(st.sampled_from(NAMES)),
        node=node,
        requests={"cpu": str(draw(st.integers(0, 3)))},
        priority=draw(st.integers(0, 3)),
        start_time=draw(st.none() | st.integers(0, 3)),
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    nodes = [
        make_node(name=f"n{number}", allocatable={"cpu": str(draw(st.integers(1, 6)))})
        for number in range(draw(st.integers(1, 3)))
    ]
    pods = [
        draw(pods_of_quotas(f"{node.name}-{place}", node.name))
        for node in nodes
        for place in range(draw(st.integers(0, 4)))
    ]
    nominated = {
        node.name: [draw(pods_of_quotas(f"nominated-{node.name}"))]
        for node in nodes
        if draw(st.booleans())
    }
    preemptor = draw(pods_of_quotas("preemptor"))
    return World(nodes=nodes, pods=pods, nominated=nominated, preemptor=preemptor)


def naive_victims(world: World, node: Node) -> set[str] | None:
    """Return the victims on a node by counting; None if eviction does not help."""
    pod = world.preemptor
    here = [running for running in world.pods if running.node_name == node.name]
    first_to_stay = sorted(
        here, key=lambda running: (-running.priority, started(running))
    )
    may_go = naive_potential(world, first_to_stay)
    kept = [running for running in here if running not in may_go]
    if not may_go or not naive_fits(world, node, kept, may_go):
        return None
    gone = list(may_go)
    for running in [each for each in first_to_stay if each in may_go]:
        left = [other for other in gone if other is not running]
        if naive_fits(world, node, [*kept, running], left):
            gone, kept = left, [*kept, running]
    assert pod not in gone
    return {running.name for running in gone}


def naive_potential(world: World, first_to_stay: Sequence[Pod]) -> list[Pod]:
    pod = world.preemptor
    lower = [running for running in first_to_stay if running.priority < pod.priority]
    if pod.namespace not in QUOTAS:
        return [running for running in lower if running.namespace not in QUOTAS]
    if used(world, pod.namespace) + promised(world)[0] > QUOTAS[pod.namespace][0]:
        return [running for running in lower if running.namespace == pod.namespace]
    left = {name: used(world, name) for name in QUOTAS if name != pod.namespace}
    found = []
    for running in reversed(first_to_stay):
        if (
            running.namespace in left
            and left[running.namespace] > QUOTAS[running.namespace][0]
        ):
            left[running.namespace] -= cpu(running)
            found.append(running)
    return found


def naive_fits(
    world: World, node: Node, kept: Sequence[Pod], gone: Sequence[Pod]
) -> bool:
    pod = world.preemptor
    offered = NodeInfo(node).allocatable.milli_cpu
    ahead = [
        nominated
        for nominated in world.nominated.get(node.name, ())
        if nominated.priority >= pod.priority
    ]
    if sum(map(cpu, [*kept, *ahead])) + cpu(pod) > offered:
        return False
    if pod.namespace not in QUOTAS:
        return True
    own, everybody = promised(world)
    own_gone = sum(
        cpu(running) for running in gone if running.namespace == pod.namespace
    )
    all_gone = sum(cpu(running) for running in gone if running.namespace in QUOTAS)
    total = sum(used(world, name) for name in QUOTAS) + everybody - all_gone
    return used(world, pod.namespace) + own - own_gone <= QUOTAS[pod.namespace][1] and (
        total <= sum(least for least, _ in QUOTAS.values())
    )


def used(world: World, namespace: str) -> int:
    return sum(cpu(running) for running in world.pods if running.namespace == namespace)


def promised(world: World) -> tuple[int, int]:
    """Return the CPU of the pod and nominated pods: of its namespace, and of all."""
    pod = world.preemptor
    own = everybody = cpu(pod)
    for nominated in (each for pods in world.nominated.values() for each in pods):
        if nominated.namespace == pod.namespace:
            amount = cpu(nominated) if nominated.priority >= pod.priority else 0
            own, everybody = own + amount, everybody + amount
            continue
        least = QUOTAS.get(nominated.namespace, (-1, 0))[0]
        everybody += cpu(nominated) if used(world, nominated.namespace) <= least else 0
    return own, everybody


def started(pod: Pod) -> float:
    start = pod.status.start_time
    return float("inf") if start is None else float(start)


def comparable(answer: Candidate | Status) -> object:
    if isinstance(answer, Status):
        return answer.code, answer.reasons
    return [victim.name for victim in answer.victims]


def plugin_of(harness: PluginHarness) -> ElasticQuotas:
    plugin = harness.plugin
    assert isinstance(plugin, ElasticQuotas)
    return plugin


@given(world=worlds())
def test_quotas_choose_the_victims_that_plain_counting_chooses(world: World) -> None:
    harness = world.harness()
    if harness is None:
        return
    rule = plugin_of(harness).rule
    for node in world.nodes:
        info = harness.snapshot.get(node.name)
        assert info is not None
        found = select_victims(
            harness.handle,
            harness.state,
            world.preemptor,
            info,
            (),
            rule=rule,
            limit=rule,
        )
        expected = naive_victims(world, node)
        if isinstance(found, Candidate):
            assert {victim.name for victim in found.victims} == expected
        else:
            assert not expected, found


class Slow(VictimRule):
    """A rule without batch twins."""

    def __init__(self, rule: VictimRule) -> None:
        self._rule = rule

    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        return self._rule.victims(state, pod, node)


@given(world=worlds())
def test_a_rule_has_the_same_victims_on_columns_with_and_without_twins(
    world: World,
) -> None:
    harness = world.harness()
    if harness is None:
        return
    state, handle, pod = harness.state, harness.handle, world.preemptor
    rule = plugin_of(harness).rule
    nodes = list(harness.snapshot)
    expected = {
        node.name: comparable(
            select_victims(handle, state, pod, node, (), rule=rule, limit=rule)
        )
        for node in nodes
    }
    for victim_rule in (rule, Slow(rule)):
        trial = DryRun(handle, rule=victim_rule, limit=rule).prepare(
            state, pod, nodes, ()
        )
        assert {node.name: comparable(trial(node)) for node in nodes} == expected


@given(world=worlds(), data=st.data())
def test_the_search_finds_the_candidates_of_each_node_as_pods_come_and_go(
    world: World, data: st.DataObject
) -> None:
    harness = world.harness()
    if harness is None:
        return
    state, handle, pod = harness.state, harness.handle, world.preemptor
    plugin = plugin_of(harness)
    for gone in data.draw(st.permutations(world.pods))[: len(world.pods) // 2]:
        rows = harness.snapshot.nodes.row_numbers(harness.snapshot.nodes.rows)
        found = plugin.dry_run.find(state, pod, rows)
        for node in harness.snapshot:
            answer = select_victims(
                handle, state, pod, node, (), rule=plugin.rule, limit=plugin.rule
            )
            if isinstance(answer, Status):
                assert comparable(found.statuses[node.name]) == comparable(answer)
            else:
                (same,) = (
                    each for each in found.candidates if each.node_name == node.name
                )
                assert comparable(same) == comparable(answer)
        harness.snapshot.remove_pod(gone)


class Ordered(VictimRule):
    """All pods may be evicted; a label gives the order in which they are kept."""

    def victims(self, _state: CycleState, _pod: Pod, node: NodeInfo) -> Collection[Pod]:
        return list(node.pods.values())

    def importance(self, pod: Pod) -> tuple[float, ...]:
        return (int(pod.metadata.labels["rank"]),)

    def group(self, pod: Pod) -> Hashable:
        return pod.metadata.labels.get("rank")


@given(world=worlds(), data=st.data())
def test_an_order_of_ones_own_decides_who_stays(
    world: World, data: st.DataObject
) -> None:
    ranks = data.draw(st.permutations(range(len(world.pods))))
    pods = [
        make_pod(
            name=pod.name,
            node=pod.node_name,
            requests={"cpu": f"{cpu(pod)}m"},
            priority=pod.priority,
            start_time=pod.status.start_time,
            labels={"rank": str(rank)},
        )
        for pod, rank in zip(world.pods, ranks, strict=True)
    ]
    harness = attrs.evolve(world, pods=pods, nominated={}).harness()
    if harness is None:
        return
    state, handle, pod = harness.state, harness.handle, world.preemptor
    dry_run = DryRun(handle, rule=Ordered())
    nodes = harness.snapshot.nodes
    found = dry_run.find(state, pod, nodes.row_numbers(nodes.rows))
    for candidate in found.candidates:
        order = [int(victim.metadata.labels["rank"]) for victim in candidate.victims]
        assert order == sorted(order)
    answers = (
        select_victims(handle, state, pod, node, (), rule=Ordered()) for node in nodes
    )
    expected = {
        answer.node_name: comparable(answer)
        for answer in answers
        if isinstance(answer, Candidate)
    }
    assert {
        candidate.node_name: comparable(candidate) for candidate in found.candidates
    } == expected


class Misshapen(VictimRule):
    """Its batch twin returns an array of ranks only."""

    def victims(self, _state: CycleState, _pod: Pod, node: NodeInfo) -> Collection[Pod]:
        return list(node.pods.values())

    def victims_on_rows(
        self, _state: CycleState, _pod: Pod, pods: PodColumns
    ) -> BoolArray:
        return np.ones(len(pods.priority), dtype=np.bool_)


class Numbers(Misshapen):
    """Its batch twin returns numbers."""

    def victims_on_rows(
        self, _state: CycleState, _pod: Pod, pods: PodColumns
    ) -> BoolArray:
        return pods.priority  # type: ignore[return-value]  # the mistake


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (Misshapen, r"'Misshapen': victims_on_rows returned shape \(1,\), dtype bool"),
        (Numbers, r"'Numbers': .* dtype int64, expected shape \(1, 1\), dtype bool"),
    ],
)
def test_a_batch_twin_with_a_wrong_shape_is_reported(
    make: Callable[[], VictimRule], text: str
) -> None:
    harness = World(
        nodes=[make_node(name="n0", allocatable={"cpu": "1"})],
        pods=[make_pod(name="v", node="n0", requests={"cpu": "1"})],
        nominated={},
        preemptor=make_pod(requests={"cpu": "1"}),
    ).harness()
    assert harness is not None
    dry_run = DryRun(harness.handle, rule=make())
    rows = harness.snapshot.nodes.rows_of(["n0"])
    with pytest.raises(PluginError, match=text):
        dry_run.find(harness.state, make_pod(), rows)


def test_all_nominated_pods_are_returned_by_node() -> None:
    first, second = make_pod(name="first"), make_pod(name="second")
    harness = PluginHarness(
        ElasticQuotas,
        args=ARGS,
        nodes=[make_node(name="n0")],
        nominated={"n0": [first, second], "gone": [make_pod(name="third")], "n1": []},
    )
    nominated_pods = harness.handle.nominated_pods()
    names = {name: [pod.name for pod in pods] for name, pods in nominated_pods.items()}
    assert names == {"n0": ["first", "second"], "gone": ["third"]}
    assert nominated_pods["n0"] is harness.handle.nominated_pods("n0")


def test_a_burst_takes_back_exactly_what_was_borrowed() -> None:
    nodes, number = 4, 14
    harness = SchedulerHarness(
        [*full_cluster(nodes), *preemptors(number)],
        plugins={"ElasticQuotas": ElasticQuotas},
        config=quota_config(nodes),
    )
    harness.settle()
    running = Counter(
        pod.namespace for pod in harness.cluster.list(Pod).items if pod.node_name
    )
    assert running == {"lender": 10, "borrower": 10}
    assert harness.errors == []


@pytest.mark.long
def test_a_rule_of_ones_own_is_about_as_fast_as_that_of_priorities() -> None:
    nodes = 2000
    objects = list(full_cluster(nodes))
    harness = PluginHarness(
        ElasticQuotas,
        args=quota_args(nodes),
        nodes=[item for item in objects if isinstance(item, Node)],
        pods=[item for item in objects if isinstance(item, Pod)],
        beside=[Room],
    )
    (pod,) = preemptors(1)
    harness.attempt(pod)
    table = harness.snapshot.nodes
    rows = table.row_numbers(table.rows)
    quotas = plugin_of(harness).dry_run
    by_priority = DryRun(harness.handle, rule=LowerPriority())

    def seconds(dry_run: DryRun) -> float:
        assert len(dry_run.find(harness.state, pod, rows).candidates) == nodes
        return median_seconds(lambda: dry_run.find(harness.state, pod, rows))

    assert seconds(quotas) < 8 * seconds(by_priority)
