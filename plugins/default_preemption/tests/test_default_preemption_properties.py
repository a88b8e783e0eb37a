"""Properties of every preemption, on random clusters."""

from collections.abc import Mapping, Sequence

import attrs
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
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
from quaymaster.objects import PodDisruptionBudget, pod_requests
from quaymaster.preemption import (
    Candidate,
    DryRun,
    best_candidates,
    is_protected,
    select_victims,
    split_by_budgets,
)
from quaymaster.preemption import importance as by_importance
from quaymaster.testing import (
    PluginHarness,
    make_node,
    make_pod,
    make_pod_disruption_budget,
)
from quaymaster_default_preemption import DefaultPreemption

GPU = "example.com/gpu"


class Room:
    """Rejects nodes without free CPU, GPUs or pod slots."""

    pod_use = PodUse.SUMS

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        return None if fits(pod, node) else Status.unschedulable("no room")

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        wanted = pod_requests(pod)
        full = nodes.pod_count[rows] >= nodes.allowed_pods[rows]
        amounts = {0: wanted.milli_cpu, nodes.resource(GPU): wanted.scalars.get(GPU, 0)}
        for index, amount in amounts.items():
            if index is None:
                full |= amount > 0
            elif amount > 0:
                free = nodes.allocatable[index, rows] - nodes.requested[index, rows]
                full |= free < amount
        return NodeVerdicts.reject_where(full, Status.unschedulable("no room"))


class Closed:
    """Rejects nodes that are cordoned."""

    pod_use = PodUse.NONE

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, node: NodeInfo) -> Status | None:
        return Status.unschedulable("closed") if node.node.spec.unschedulable else None


def fits(pod: Pod, node: NodeInfo) -> bool:
    wanted, offered, used = pod_requests(pod), node.allocatable, node.requested
    gpus = wanted.scalars.get(GPU, 0)
    left = offered.scalars.get(GPU, 0) - used.scalars.get(GPU, 0)
    return (
        len(node.pods) < offered.allowed_pods
        and (not gpus or gpus <= left)
        and (
            not wanted.milli_cpu
            or wanted.milli_cpu <= offered.milli_cpu - used.milli_cpu
        )
    )


@attrs.frozen(kw_only=True)
class World:
    nodes: Sequence[Node]
    pods: Sequence[Pod]
    budgets: Sequence[PodDisruptionBudget]
    nominated: Mapping[str, Sequence[Pod]]
    preemptor: Pod

    def harness(self) -> PluginHarness:
        return PluginHarness(
            DefaultPreemption,
            nodes=self.nodes,
            pods=self.pods,
            objects=self.budgets,
            nominated=self.nominated,
            beside=[Closed, Room],
        )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    small, labels = st.integers(0, 3), st.sampled_from(["x", "y", ""])
    nodes, pods = [], []
    for number in range(draw(st.integers(1, 4))):
        name = f"n{number}"
        places = draw(st.integers(1, 6))
        allocatable = {"cpu": str(draw(st.integers(1, 6))), "pods": str(places)}
        if draw(st.booleans()):
            allocatable[GPU] = str(draw(small))
        closed = draw(st.integers(0, 5)) == 0
        nodes.append(
            make_node(name=name, allocatable=allocatable, unschedulable=closed)
        )
        for place in range(draw(st.integers(0, places))):
            label = draw(labels)
            pods.append(
                make_pod(
                    name=f"{name}-{place}",
                    node=name,
                    requests={"cpu": str(draw(small)), GPU: str(draw(small))},
                    priority=draw(st.integers(-1, 4)),
                    start_time=draw(st.none() | st.integers(0, 3)),
                    labels={"app": label} if label else None,
                )
            )
    nominated = [
        make_pod(
            name=f"nominated-{number}",
            requests={"cpu": str(draw(small))},
            priority=draw(st.integers(0, 4)),
        )
        for number in range(draw(st.integers(0, 2)))
    ]
    budgets = [
        make_pod_disruption_budget(
            name=f"budget-{number}",
            selector={"app": draw(st.sampled_from(["x", "y"]))},
            disruptions_allowed=draw(st.integers(0, 2)),
        )
        for number in range(draw(st.integers(0, 2)))
    ]
    return World(
        nodes=nodes,
        pods=pods,
        budgets=budgets,
        nominated={"n0": nominated},
        preemptor=make_pod(
            name="preemptor",
            requests={"cpu": str(draw(st.integers(1, 4))), GPU: str(draw(small))},
            priority=draw(st.integers(0, 4)),
        ),
    )


def results(world: World, harness: PluginHarness) -> dict[str, Candidate | Status]:
    """Return the result of a dry run on each node that rejected the preemptor."""
    state, handle = harness.state, harness.handle
    return {
        node.name: select_victims(handle, state, world.preemptor, node, world.budgets)
        for node in harness.snapshot
    }


def attempted(world: World) -> PluginHarness | None:
    harness = world.harness()
    try:
        harness.attempt(world.preemptor)
    except ValueError:  # it fits on some node
        return None
    return harness


def facts_of(answer: Candidate | Status) -> object:
    if isinstance(answer, Status):
        return answer
    return [victim.key for victim in answer.victims], answer.violations


@given(world=worlds())
def test_trying_many_nodes_at_once_says_what_trying_one_by_one_says(
    world: World,
) -> None:
    harness = attempted(world)
    if harness is None:
        return
    dry_run = DryRun(harness.handle)
    nodes = list(harness.snapshot)
    pod, budgets = world.preemptor, world.budgets
    expected = {
        name: facts_of(result) for name, result in results(world, harness).items()
    }
    assert harness.handle.filters.pod_use(harness.state) is PodUse.SUMS
    trial = dry_run.prepare(harness.state, pod, nodes, budgets)
    assert {node.name: facts_of(trial(node)) for node in nodes} == expected


@given(world=worlds())
def test_a_search_of_all_nodes_says_what_trying_one_by_one_says(world: World) -> None:
    harness = attempted(world)
    if harness is None:
        return
    rows = harness.snapshot.nodes.rows_of([node.name for node in harness.snapshot])
    found = DryRun(harness.handle).find(harness.state, world.preemptor, rows)
    said: dict[str, Candidate | Status] = dict(found.statuses)
    said |= {candidate.node_name: candidate for candidate in found.candidates}
    expected = results(world, harness)
    assert {name: facts_of(result) for name, result in said.items()} == {
        name: facts_of(result) for name, result in expected.items()
    }


@given(world=worlds(), data=st.data())
def test_the_search_on_columns_finds_what_the_search_node_by_node_finds(
    world: World, data: st.DataObject
) -> None:
    harness = attempted(world)
    if harness is None:
        return
    dry_run = DryRun(harness.handle)
    nodes = list(harness.snapshot)
    rows = harness.snapshot.nodes.rows_of([node.name for node in nodes])
    first = data.draw(st.integers(0, len(nodes) - 1))
    wanted = data.draw(st.integers(1, len(nodes)))
    found = dry_run.search(harness.state, world.preemptor, rows, first, wanted)
    expected: list[Candidate] = []
    reasons: dict[str, Status] = {}
    for node in (*nodes[first:], *nodes[:first]):
        answer = select_victims(
            harness.handle, harness.state, world.preemptor, node, ()
        )
        if isinstance(answer, Status):
            reasons[node.name] = answer
        elif len(expected) < wanted:
            expected.append(answer)
        if len(expected) == wanted:
            break
    assert found is not None
    candidates, statuses = found
    assert listed(candidates) == listed(expected)
    assert dict(statuses) == reasons
    if candidates:
        best = best_candidates(expected)
        assert listed(best_candidates(candidates)) == listed(best)


def listed(candidates: Sequence[Candidate]) -> list[tuple[str, object]]:
    return [(candidate.node_name, facts_of(candidate)) for candidate in candidates]


@given(world=worlds(), data=st.data())
def test_columns_follow_the_pods_that_come_and_go(
    world: World, data: st.DataObject
) -> None:
    harness = attempted(world)
    if harness is None:
        return
    dry_run = DryRun(harness.handle)
    nodes = list(harness.snapshot)
    pod, budgets = world.preemptor, world.budgets
    dry_run.prepare(harness.state, pod, nodes, budgets)
    for number in data.draw(st.sets(st.integers(0, max(0, len(world.pods) - 1)))):
        if number < len(world.pods):
            harness.snapshot.remove_pod(world.pods[number])
    for number, node in enumerate(nodes):
        new = make_pod(
            name=f"new-{number}",
            node=node.name,
            requests={"cpu": "1", "example.com/new": "1"},
            priority=data.draw(st.integers(-1, 4)),
        )
        harness.snapshot.add_pod(new)
    expected = {
        name: facts_of(result) for name, result in results(world, harness).items()
    }
    trial = dry_run.prepare(harness.state, pod, nodes, budgets)
    assert {node.name: facts_of(trial(node)) for node in nodes} == expected


@given(world=worlds())
def test_victims_leave_room_and_none_goes_for_nothing(world: World) -> None:
    harness = attempted(world)
    if harness is None:
        return
    for name, found in results(world, harness).items():
        if isinstance(found, Status):
            continue
        info = harness.snapshot.get(name)
        assert info is not None
        left = info.clone()
        for victim in found.victims:
            assert victim.priority < world.preemptor.priority
            left.remove_pod(victim)
        assert passes(world, left)
        for victim in found.victims:
            left.add_pod(victim)
            assert not passes(world, left)
            left.remove_pod(victim)


@given(world=worlds())
def test_budgets_are_respected_where_that_is_possible(world: World) -> None:
    harness = attempted(world)
    if harness is None:
        return
    found = [
        result
        for result in results(world, harness).values()
        if isinstance(result, Candidate)
    ]
    for candidate in found:
        info = harness.snapshot.get(candidate.node_name)
        assert info is not None
        lower = [
            pod for pod in info.pods.values() if pod.priority < world.preemptor.priority
        ]
        protected, free = split_by_budgets(
            sorted(lower, key=by_importance), world.budgets
        )
        assert all(is_protected(pod, world.budgets) for pod in protected)
        left = info.clone()
        for pod in free:
            left.remove_pod(pod)
        assert (candidate.violations == 0) == passes(world, left)
    if found:
        least = min(candidate.violations for candidate in found)
        assert all(
            candidate.violations == least for candidate in best_candidates(found)
        )


def passes(world: World, node: NodeInfo) -> bool:
    """Whether the preemptor fits, with and without nominated pods."""
    pod = world.preemptor
    if node.node.spec.unschedulable:
        return False
    crowded = node.clone()
    for other in world.nominated.get(node.name, ()):
        if other.priority >= pod.priority:
            crowded.add_pod(other)
    return fits(pod, crowded) and fits(pod, node)
