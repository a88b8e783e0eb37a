"""DefaultPreemption: upstream's rules for victims, nodes and messages."""

from collections.abc import Iterable, Sequence

import pytest

from quaymaster import (
    ActionType,
    ClusterEvent,
    EventResource,
    Handle,
    Node,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    NominatingInfo,
    NominatingMode,
    PermitWait,
    Pod,
    PodUse,
    PostFilterResult,
    QueueingHint,
    Rows,
    Status,
    hookimpl,
)
from quaymaster.cluster import ApiError, PodStatusPatch
from quaymaster.config import ConfigErrors, default_config
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import PodCondition, PodDisruptionBudget, pod_requests
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import Preemption, simulate
from quaymaster.testing import (
    PluginHarness,
    SchedulerHarness,
    make_node,
    make_pod,
    make_pod_disruption_budget,
)
from quaymaster_default_preemption import DefaultPreemption, DefaultPreemptionArgs

PREEMPTED = PodCondition(
    type="DisruptionTarget", status="True", reason="PreemptionByScheduler"
)
FULL = "0/{0} nodes are available: {0} Insufficient cpu."


class Room:
    """Rejects nodes whose CPU is requested, or that are too small anyway."""

    pod_use = PodUse.SUMS

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        wanted = pod_requests(pod).milli_cpu
        if wanted > node.allocatable.milli_cpu:
            return Status.unresolvable("too small")
        if wanted > node.allocatable.milli_cpu - node.requested.milli_cpu:
            return Status.unschedulable("Insufficient cpu")
        return None

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        wanted = pod_requests(pod).milli_cpu
        size, used = nodes.allocatable[0, rows], nodes.requested[0, rows]
        codes = (wanted > size - used) * 1 + (wanted > size) * 2
        answers = (
            Status.unschedulable("Insufficient cpu"),
            Status.unresolvable("too small"),
        )
        return NodeVerdicts(codes, lambda code: answers[code > 1])


class RoomOneByOne(Room):
    """The same filter, which must be called pod by pod."""

    pod_use = PodUse.PODS


@pytest.fixture(params=[Room, RoomOneByOne], ids=["at once", "one by one"])
def room(request: pytest.FixtureRequest) -> type:
    found: type = request.param
    return found


def node(name: str = "a", cpu: int = 4) -> Node:
    return make_node(name=name, allocatable={"cpu": str(cpu), "pods": "110"})


def running(
    name: str,
    cpu: int = 1,
    priority: int = 0,
    *,
    node: str = "a",
    start: float = 0,
    labels: dict[str, str] | None = None,
    terminating: bool = False,
    conditions: Iterable[PodCondition] = (),
) -> Pod:
    return make_pod(
        name=name,
        node=node,
        requests={"cpu": str(cpu)},
        priority=priority,
        start_time=start,
        labels=labels,
        conditions=conditions,
        deletion_timestamp=1 if terminating else None,
    )


def preemptor(cpu: int = 4, priority: int = 100, nominated: str = "") -> Pod:
    return make_pod(
        name="preemptor",
        requests={"cpu": str(cpu)},
        priority=priority,
        nominated_node=nominated,
    )


def harness(
    room: type,
    nodes: Sequence[Node],
    pods: Sequence[Pod],
    budgets: Sequence[PodDisruptionBudget] = (),
    nominated: dict[str, Sequence[Pod]] | None = None,
    args: dict[str, object] | None = None,
) -> PluginHarness:
    return PluginHarness(
        DefaultPreemption,
        args=args,
        nodes=nodes,
        pods=pods,
        objects=budgets,
        nominated=nominated,
        beside=[room],
    )


def victims(harness: PluginHarness, pod: Pod) -> dict[str, list[str]]:
    """Map each candidate node to the names of its victims, in order."""
    statuses = harness.attempt(pod)
    plugin = harness.plugin
    assert isinstance(plugin, DefaultPreemption)
    found = plugin.find_candidates(harness.state, pod, statuses)
    return {
        candidate.node_name: [victim.name for victim in candidate.victims]
        for candidate in found.candidates
    }


def nominates(node_name: str, victims: int = 1) -> PostFilterResult:
    info = NominatingInfo(node_name, NominatingMode.OVERRIDE)
    return PostFilterResult(nominating=info, message=found(node_name, victims))


def found(node_name: str, victims: int) -> str:
    return (
        f"preemption: found a potential placement for pod on node {node_name},"
        f" preempting {victims} victims"
    )


def refuses(text: str) -> PostFilterResult:
    """Assert that the pod does not preempt, and keeps its nomination."""
    return PostFilterResult(Status.unschedulable(f"preemption: {text}"))


def finds_nothing(text: str) -> PostFilterResult:
    """Assert that the pod does not preempt, and loses its nomination."""
    return PostFilterResult(
        Status.unschedulable(f"preemption: {text}"),
        NominatingInfo("", NominatingMode.OVERRIDE),
    )


# Rule 32: which nodes are tried -----------------------------------------------------


def test_rule_32_only_nodes_that_are_unschedulable_are_tried(room: type) -> None:
    made = harness(
        room, [node("a"), node("b", 1)], [running("x"), running("y", node="b")]
    )
    assert victims(made, preemptor()) == {"a": ["x"]}


def test_rule_32_other_nodes_count_as_not_helped(room: type) -> None:
    made = harness(
        room, [node("a", 1), node("b", 1), node("c")], [running("x", node="c")]
    )
    assert made.post_filter(preemptor(priority=0)) == finds_nothing(
        "0/3 nodes are available: 1 No preemption victims found for incoming pod, "
        "2 Preemption is not helpful for scheduling."
    )


def test_rule_32_nodes_where_removal_does_not_help_keep_their_reason(
    room: type,
) -> None:
    pods = [running("low"), running("high", priority=200)]
    made = harness(room, [node("a")], pods)
    assert made.post_filter(preemptor()) == finds_nothing(FULL.format(1))


# Rule 33: victims of a node ---------------------------------------------------------


def test_rule_33_only_pods_of_lower_priority_go(room: type) -> None:
    pods = [running("low", 2, 99), running("same", 2, 100)]
    made = harness(room, [node("a")], pods)
    assert victims(made, preemptor(cpu=2)) == {"a": ["low"]}


def test_rule_33_the_most_important_pods_are_reprieved_first(room: type) -> None:
    pods = [
        running("later", priority=1, start=20),
        running("sooner", priority=1, start=10),
        running("least", priority=0),
        running("most", priority=2),
    ]
    made = harness(room, [node("a")], pods)
    assert victims(made, preemptor(cpu=2)) == {"a": ["later", "least"]}


def test_rule_33_a_smaller_pod_stays_after_a_bigger_one_had_to_go(room: type) -> None:
    pods = [running("big", 3, 2), running("small", 1, 1)]
    made = harness(room, [node("a")], pods)
    assert victims(made, preemptor(cpu=3)) == {"a": ["big"]}


def test_rule_33_pods_that_have_not_started_count_as_started_now(room: type) -> None:
    fresh = make_pod(name="fresh", node="a", requests={"cpu": "1"})
    pods = [fresh, running("old", start=5), running("rest", 2, 100)]
    made = harness(room, [node("a")], pods)
    assert victims(made, preemptor(cpu=1)) == {"a": ["fresh"]}


def test_rule_33_terminating_pods_are_imagined_away_like_others(room: type) -> None:
    pods = [running("gone", 4, terminating=True)]
    made = harness(room, [node("a")], pods)
    assert victims(made, preemptor()) == {"a": ["gone"]}


def test_rule_33_pods_that_a_budget_protects_are_reprieved_first(room: type) -> None:
    pods = [running("important", 2, 5), running("protected", 2, 1, labels={"app": "x"})]
    budget = make_pod_disruption_budget(selector={"app": "x"})
    made = harness(room, [node("a")], pods, [budget])
    assert victims(made, preemptor(cpu=2)) == {"a": ["important"]}


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [
        pytest.param(0, {"third", "second"}, id="none may go"),
        pytest.param(1, {"third", "first"}, id="one may go"),
        pytest.param(2, {"second", "first"}, id="two may go"),
        pytest.param(3, {"third", "second"}, id="all may go"),
    ],
)
def test_rule_33_a_budget_is_used_up_in_order_of_importance(
    room: type, allowed: int, expected: set[str]
) -> None:
    label = {"app": "x"}
    names = enumerate(("first", "second", "third"))
    pods = [running(name, priority=9 - rank, labels=label) for rank, name in names]
    budget = make_pod_disruption_budget(selector=label, disruptions_allowed=allowed)
    made = harness(room, [node("a", 3)], pods, [budget])
    assert set(victims(made, preemptor(cpu=2))["a"]) == expected


# Rule 34: the best node -------------------------------------------------------------


def test_rule_34_victims_of_both_groups_are_sorted_by_importance(room: type) -> None:
    pods = [
        running("important", 2, 5),
        running("protected", 2, 1, labels={"app": "x"}),
    ]
    budget = make_pod_disruption_budget(selector={"app": "x"})
    made = harness(room, [node("a")], pods, [budget])
    assert victims(made, preemptor(cpu=4)) == {"a": ["important", "protected"]}


LABEL = {"app": "x"}
CHOICES = {
    "fewest violations": (
        [running("b", 4, 9, node="b")],
        [running("a", 4, 1, labels=LABEL)],
    ),
    "lowest top victim": (
        [running("b1", 2, 4, node="b"), running("b2", 2, 4, node="b")],
        [running("a", 4, 5)],
    ),
    "smallest sum of priorities": (
        [running("b1", 2, 5, node="b"), running("b2", 2, 0, node="b")],
        [running("a1", 2, 5), running("a2", 2, 1)],
    ),
    "fewest victims by their sum": (
        [running("b", 4, -5, node="b")],
        [running("a1", 2, -5), running("a2", 2, -5)],
    ),
    "latest start of the top victims": (
        [running("b1", 2, 5, node="b", start=9), running("b2", 2, node="b", start=1)],
        [running("a1", 2, 5, start=8), running("a2", 2, start=8)],
    ),
}


@pytest.mark.parametrize("choice", CHOICES)
def test_rule_34_the_best_node_is_nominated(room: type, choice: str) -> None:
    on_best, on_other = CHOICES[choice]
    budget = make_pod_disruption_budget(selector=LABEL)
    made = harness(room, [node("a"), node("b")], [*on_other, *on_best], [budget])
    better, _others = CHOICES[choice]
    assert made.post_filter(preemptor()) == nominates("b", len(better))


@pytest.mark.long
def test_rule_34_ties_are_left_to_the_seeded_generator(room: type) -> None:
    names = [f"n{number}" for number in range(8)]
    pods = [running(f"on-{name}", 4, node=name) for name in names]
    objects = [*map(node, names), *pods, preemptor()]

    def winner(seed: int) -> str:
        made = SchedulerHarness(objects, seed=seed)
        made.settle()
        return made.node_of("preemptor")

    winners = [winner(seed) for seed in range(6)]
    assert len(set(winners)) > 1
    assert winners == [winner(seed) for seed in range(6)]


# Rule 35: which pods may preempt ----------------------------------------------------


def test_rule_35_a_pod_that_must_not_preempt_keeps_its_nomination(room: type) -> None:
    made = harness(room, [node("a")], [running("x")])
    pod = make_pod(requests={"cpu": "4"}, priority=9, preemption_policy="Never")
    assert made.post_filter(pod) == refuses(
        "not eligible due to preemptionPolicy=Never."
    )


def test_rule_35_a_pod_waits_for_its_victims_to_end(room: type) -> None:
    pods = [running("x", 4, terminating=True, conditions=[PREEMPTED])]
    made = harness(room, [node("a")], pods)
    assert made.post_filter(preemptor(nominated="a")) == refuses(
        "not eligible due to a terminating pod on the nominated node."
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(running("x", 4, conditions=[PREEMPTED]), id="is not terminating"),
        pytest.param(running("x", 4, terminating=True), id="was not preempted"),
        pytest.param(
            running("x", 4, terminating=True, node="b", conditions=[PREEMPTED]),
            id="is elsewhere",
        ),
    ],
)
def test_rule_35_other_pods_are_not_waited_for(room: type, other: Pod) -> None:
    pods = [other, running("y", 1), running("z", 1, node="b")]
    made = harness(room, [node("a"), node("b")], pods)
    result = made.post_filter(preemptor(nominated="a"))
    assert result.status is None


def test_rule_35_a_pod_does_not_wait_where_it_will_never_fit(room: type) -> None:
    pods = [
        running("x", 1, terminating=True, conditions=[PREEMPTED]),
        running("y", 1, node="b"),
    ]
    made = harness(room, [node("a", 1), node("b")], pods)
    assert made.post_filter(preemptor(nominated="a")) == nominates("b")


def test_rule_35_without_a_candidate_the_nomination_is_cleared(room: type) -> None:
    made = harness(room, [node("a")], [running("x", 4, 200)])
    assert made.post_filter(preemptor(nominated="a")) == finds_nothing(
        "0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )


# Nominated pods ---------------------------------------------------------------------


def test_nominated_pods_of_the_same_priority_keep_their_room(room: type) -> None:
    other = make_pod(name="other", requests={"cpu": "2"}, priority=100)
    made = harness(room, [node("a")], [running("x")], nominated={"a": [other]})
    assert made.post_filter(preemptor()) == finds_nothing(FULL.format(1))


def test_nominated_pods_of_lower_priority_do_not_count(room: type) -> None:
    other = make_pod(name="other", requests={"cpu": "2"}, priority=99)
    made = harness(room, [node("a")], [running("x")], nominated={"a": [other]})
    assert victims(made, preemptor()) == {"a": ["x"]}


# How many nodes are tried -----------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "found"),
    [
        pytest.param({}, 20, id="defaults try all of a few"),
        pytest.param({"minCandidateNodesAbsolute": 0}, 2, id="10 percent"),
        pytest.param({"minCandidateNodesAbsolute": 7}, 7, id="at least 7"),
        pytest.param(
            {"minCandidateNodesAbsolute": 1, "minCandidateNodesPercentage": 0},
            1,
            id="a single one",
        ),
    ],
)
def test_the_search_ends_with_enough_candidates(
    room: type, args: dict[str, object], found: int
) -> None:
    names = [f"n{number:02}" for number in range(20)]
    pods = [running(f"on-{name}", 4, node=name) for name in names]
    made = harness(room, list(map(node, names)), pods, args=args)
    assert len(victims(made, preemptor())) == found


def test_the_search_goes_on_while_every_candidate_breaks_a_budget(room: type) -> None:
    label = {"app": "x"}
    pods = [
        running("a", 4, labels=label),
        running("b", 4, node="b", labels=label),
        running("c", 4, node="c"),
    ]
    budget = make_pod_disruption_budget(selector=label)
    args = {"minCandidateNodesAbsolute": 1, "minCandidateNodesPercentage": 0}
    nodes = [node("a"), node("b"), node("c")]
    made = harness(room, nodes, pods, [budget], args=dict(args))
    assert made.post_filter(preemptor()) == nominates("c")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            {"minCandidateNodesPercentage": 101},
            "minCandidateNodesPercentage: expected an integer from 0 to 100, got 101",
        ),
        ({"minCandidateNodesPercentage": -1}, "minCandidateNodesPercentage: expected"),
        ({"minCandidateNodesAbsolute": -1}, "minCandidateNodesAbsolute: expected"),
        (
            {"minCandidateNodesAbsolute": 0, "minCandidateNodesPercentage": 0},
            "minCandidateNodesPercentage: expected more than 0",
        ),
        ({"minCandidates": 1}, "minCandidates"),
    ],
)
def test_wrong_arguments_are_refused(args: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigErrors, match=message):
        PluginHarness(DefaultPreemption, args=args)


def test_defaults_are_upstreams() -> None:
    args = DefaultPreemptionArgs()
    assert args.min_candidate_nodes_percentage == 10
    assert args.min_candidate_nodes_absolute == 100


# What happens to the victims --------------------------------------------------------


def test_victims_are_told_deleted_and_replaced_in_time() -> None:
    made = SchedulerHarness([node("a"), running("victim", 4), preemptor()])
    assert made.schedule_one() == "default/preemptor"
    victim = made.pod("victim")
    (condition,) = (
        condition
        for condition in victim.status.conditions
        if condition.type == "DisruptionTarget"
    )
    assert condition.reason == "PreemptionByScheduler"
    assert condition.message == (
        "default-scheduler: preempting to accommodate a higher priority pod"
    )
    assert victim.is_terminating
    pod = made.pod("preemptor")
    assert pod.status.nominated_node_name == "a"
    (event,) = (event for event in made.cluster.events() if event.reason == "Preempted")
    assert event.note == f"Preempted by pod {pod.uid} on node a"
    assert (event.type, event.action) == ("Normal", "Preempting")
    assert event.regarding.name == "victim"
    assert event.related is not None
    assert event.related.name == "preemptor"
    assert made.message("preemptor") == f"{FULL.format(1)} {found('a', 1)}"
    made.settle()
    assert made.node_of("preemptor") == "a"


def test_victims_that_are_terminating_already_are_left_alone() -> None:
    doomed = running("doomed", 4, terminating=True)
    made = harness(Room, [node("a")], [doomed])
    assert made.post_filter(preemptor()) == nominates("a")
    assert made.cluster.events() == ()


def test_less_important_pods_lose_their_nomination_to_the_node() -> None:
    low = make_pod(name="low", requests={"cpu": "4"}, priority=10, nominated_node="a")
    made = SchedulerHarness([node("a"), running("victim", 4), low, preemptor()])
    made.schedule_one()
    assert made.attempts == ["default/preemptor"]
    assert made.pod("low").status.nominated_node_name == ""
    made.settle()
    assert made.node_of("preemptor") == "a"
    assert not made.node_of("low")


class Gatekeeper:
    """Makes pods of priority 0 wait on Permit."""

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        return None if pod.priority else PermitWait(600)


def test_a_waiting_victim_is_rejected_and_not_deleted() -> None:
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"permit": {"enabled": [{"name": "Gatekeeper"}]}}}],
    }
    waiting = make_pod(name="waiting", requests={"cpu": "4"})
    made = SchedulerHarness(
        [node("a"), waiting], plugins={"Gatekeeper": Gatekeeper}, config=config
    )
    made.schedule_one()
    assert made.waiting_pods() == ["default/waiting"]
    pod = made.cluster.create(preemptor())
    made.advance(20)
    assert made.node_of("preemptor") == "a"
    assert not made.pod("waiting").is_terminating
    assert not made.node_of("waiting")
    (event,) = (event for event in made.cluster.events() if event.reason == "Preempted")
    assert event.note == (
        f"Preempted by pod {pod.uid} on node a (in kube-scheduler memory)."
    )


@pytest.mark.parametrize("call", ["patch_pod_status", "delete"])
def test_after_a_failed_call_the_pod_looks_for_another_way(
    monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    made = SchedulerHarness([node("a"), running("victim", 4), preemptor()])
    works = getattr(InMemoryCluster, call)
    failures: list[object] = []

    def fail_once(cluster: InMemoryCluster, *args: object, **options: object) -> None:
        is_ours = call == "delete" or any(
            isinstance(value, PodStatusPatch)
            and value.condition is not None
            and value.condition.type == "DisruptionTarget"
            for value in args
        )
        if is_ours and not failures:
            failures.append(args)
            raise ApiError("the server is busy")
        works(cluster, *args, **options)

    monkeypatch.setattr(InMemoryCluster, call, fail_once)
    made.settle()
    assert failures
    assert made.node_of("preemptor") == "a"


def test_a_victim_that_has_gone_meanwhile_is_no_failure() -> None:
    made = harness(Room, [node("a")], [running("victim", 4)])
    made.cluster.delete(Pod, "default/victim", grace_period_seconds=0)
    assert made.post_filter(preemptor()) == nominates("a")
    assert made.cluster.events() == ()


def test_no_pod_is_gated_without_a_preemption_under_way() -> None:
    assert PluginHarness(DefaultPreemption).pre_enqueue(make_pod()) is None


def test_the_deletion_of_a_pod_only_opens_the_gate() -> None:
    event = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
    made = PluginHarness(DefaultPreemption)
    assert [registration.event for registration in made.events()] == [
        ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
    ]
    assert made.hint(make_pod(), event, running("x")) is QueueingHint.SKIP


def test_a_pod_that_the_cluster_has_lost_is_an_error() -> None:
    made = harness(Room, [node("a")], [running("x", 4)])
    pod = preemptor()
    statuses = made.attempt(make_pod(name="other", requests={"cpu": "4"}, priority=9))
    plugin = made.plugin
    assert isinstance(plugin, DefaultPreemption)
    result = plugin.post_filter(made.state, pod, statuses)
    assert result == Status.from_error('preemption: pod "preemptor" not found')


def test_simulations_tell_who_was_preempted_by_whom() -> None:
    registry = PluginRegistry.discover()
    result = simulate(
        [node("a"), running("victim", 4), preemptor()],
        config=default_config(registry),
        registry=registry,
    )
    preemption = Preemption(pod="default/victim", by="default/preemptor", node="a")
    assert result.preempted == (preemption,)
    assert [placement.pod for placement in result.placements] == ["default/preemptor"]
