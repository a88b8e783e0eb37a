"""A run handles arrivals one by one, and nothing else happens in between."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from quaymaster import (
    ApiObject,
    CycleState,
    Handle,
    Int64Array,
    Node,
    NodeInfo,
    NodeTable,
    PermitWait,
    Pod,
    Rows,
    Status,
    hookimpl,
)
from quaymaster.cluster import ConflictError, InvalidError, NotFoundError
from quaymaster.config import parse_config
from quaymaster.errors import VerificationError
from quaymaster.inmemory import InMemoryCluster
from quaymaster.scheduler import PluginRegistry, SchedulerOptions, VirtualClock
from quaymaster.simulation import (
    AttemptOutcome,
    InfeasibleNodeError,
    Run,
    Simulation,
    Step,
)
from quaymaster.testing import (
    PluginNotFoundError,
    make_deployment,
    make_node,
    make_pod,
    profile_config,
)

REGISTRY = PluginRegistry.discover()


def a_run(
    objects: Iterable[ApiObject],
    *plugins: type,
    disable: Iterable[str] = (),
    **settings: Any,
) -> Run:
    """Begin a run with the default profile and these plugins of a test."""
    registry = REGISTRY
    for plugin in plugins:
        registry = registry.with_plugin(plugin)
    config = profile_config(
        enable=[plugin.__name__ for plugin in plugins], disable=list(disable)
    )
    return Run(
        objects, config=parse_config(config, registry), registry=registry, **settings
    )


def a_node(name: str = "n", cpu: str = "4") -> Node:
    return make_node(name=name, capacity={"cpu": cpu, "memory": "8Gi", "pods": "110"})


def a_pod(name: str, cpu: str = "1", **fields: Any) -> Pod:
    return make_pod(name=name, requests={"cpu": cpu}, **fields)


@pytest.fixture
def run() -> Iterator[Run]:
    with a_run([a_node()]) as run:
        yield run


def tried(step: Step | None) -> Step:
    assert step is not None, "some pod is tried"
    return step


def arrive(run: Run, pod: Pod) -> Step:
    run.create(pod)
    return tried(run.attempt())


# One arrival after the other ----------------------------------------------------------


def test_an_arrival_is_tried_once_and_bound(run: Run) -> None:
    step = arrive(run, a_pod("p"))
    assert (step.pod.key, step.outcome, step.node) == (
        "default/p",
        AttemptOutcome.SCHEDULED,
        "n",
    )
    assert (step.number, step.message, step.preempted) == (1, "", ())
    assert run.cluster.get(Pod, "default/p").node_name == "n"


def test_no_attempt_is_made_before_it_is_requested(run: Run) -> None:
    run.create(a_pod("p"))
    run.advance(3600)
    assert run.cluster.get(Pod, "default/p").node_name == ""
    assert run.observe().attempts == 0


def test_without_a_pod_that_is_ready_there_is_no_attempt(run: Run) -> None:
    assert run.attempt() is None


def test_an_attempt_is_of_one_pod_even_if_more_are_ready(run: Run) -> None:
    for name in ("a", "b"):
        run.create(a_pod(name))
    assert tried(run.attempt()).pod.name == "a"
    assert run.observe().active == 1
    assert tried(run.attempt()).pod.name == "b"
    assert run.attempt() is None


def test_attempts_without_a_record_count_as_others_do(run: Run) -> None:
    stored = [run.create(a_pod(name)) for name in ("a", "b")]
    assert run.try_next()
    assert tried(run.attempt()).number == 1
    assert not run.try_next()
    assert run.observe().attempts == 2
    assert run.simulation.tried_pods() == {pod.uid for pod in stored}


def test_the_pod_with_the_highest_priority_is_tried_first(run: Run) -> None:
    run.create(a_pod("low"))
    run.create(a_pod("high", priority=10))
    assert tried(run.attempt()).pod.name == "high"


def test_attempt_of_a_pod_that_fits_nowhere_has_a_message(run: Run) -> None:
    step = arrive(run, a_pod("big", cpu="5"))
    assert step.outcome is AttemptOutcome.UNSCHEDULABLE
    assert step.node == ""
    assert step.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_cluster_without_nodes_rejects_every_pod() -> None:
    with a_run([]) as run:
        step = arrive(run, a_pod("p"))
        assert step.outcome is AttemptOutcome.UNSCHEDULABLE
        assert step.message == "no nodes available to schedule pods"


def test_initial_pods_are_bound_or_queued() -> None:
    with a_run([a_node(), a_pod("on", node="n"), a_pod("new")]) as run:
        observation = run.observe()
        assert (observation.pods.tolist(), observation.active) == ([1], 1)
        assert tried(run.attempt()).pod.name == "new"


def test_any_object_may_arrive_and_workloads_get_their_pods(run: Run) -> None:
    run.create(make_deployment(name="web", replicas=2))
    assert run.observe().active == 2
    run.create(a_node("second"))
    assert run.observe().nodes == ("n", "second")


def test_changes_of_the_cluster_itself_are_seen_with_the_next_call(
    run: Run,
) -> None:
    run.cluster.create(a_pod("p"))
    run.cluster.delete(Node, "n")
    assert run.observe().nodes == ()
    assert tried(run.attempt()).outcome is AttemptOutcome.UNSCHEDULABLE


def test_a_wrong_object_is_rejected_and_the_run_continues(run: Run) -> None:
    with pytest.raises(InvalidError, match="Pod default/Wrong"):
        run.create(a_pod("Wrong"))
    assert run.attempt() is None
    assert arrive(run, a_pod("right")).node == "n"


# Pods leave ---------------------------------------------------------------------------


def test_a_rejected_pod_that_is_deleted_is_never_tried_again(run: Run) -> None:
    big = arrive(run, a_pod("big", cpu="3"))
    assert big.node == "n"
    rejected = arrive(run, a_pod("other", cpu="3"))
    run.delete(rejected.pod)
    run.delete(big.pod)
    run.advance(3600)
    assert run.attempt() is None
    assert run.observe().pending == 0


def test_a_rejected_pod_is_tried_again_once_another_leaves(run: Run) -> None:
    first = arrive(run, a_pod("first", cpu="3"))
    assert arrive(run, a_pod("second", cpu="3")).node == ""
    assert run.attempt() is None
    run.delete(first.pod)
    again = tried(run.attempt())
    assert (again.pod.name, again.number, again.node) == ("second", 2, "n")


def test_a_pod_that_leaves_makes_room_at_once(run: Run) -> None:
    step = arrive(run, a_pod("p", cpu="3"))
    assert run.observe().free[0].tolist() == [1000]
    run.delete(step.pod)
    assert run.observe().free[0].tolist() == [4000]


def test_a_pod_uses_its_grace_period_on_request(run: Run) -> None:
    step = arrive(run, a_pod("p", termination_grace_period_seconds=20))
    run.delete(step.pod, grace_period_seconds=None)
    run.advance(19)
    assert run.observe().pods.tolist() == [1]
    run.advance(1)
    assert run.observe().pods.tolist() == [0]


def test_another_pod_of_the_same_name_is_not_deleted_by_mistake(run: Run) -> None:
    step = arrive(run, a_pod("p"))
    run.delete(step.pod)
    other = arrive(run, a_pod("p"))
    with pytest.raises(ConflictError, match="its uid is"):
        run.delete(step.pod)
    run.delete(other.pod)
    with pytest.raises(NotFoundError, match="Pod default/p"):
        run.delete(other.pod)


# Time ---------------------------------------------------------------------------------


def test_time_passes_only_on_request(run: Run) -> None:
    for number in range(4):
        step = arrive(run, a_pod(f"p-{number}"))
        run.delete(step.pod)
    assert (run.now, run.observe().at) == (0, 0)
    run.advance(1.5)
    assert run.now == 1.5
    assert arrive(run, a_pod("late")).at == 1.5


@pytest.mark.parametrize("seconds", [-1, float("inf"), float("nan")])
def test_time_passes_by_a_finite_number_of_seconds(run: Run, seconds: float) -> None:
    with pytest.raises(ValueError, match=r"seconds: expected a finite number from 0"):
        run.advance(seconds)
    assert run.now == 0


def test_a_pod_that_runs_for_some_time_ends_by_itself(run: Run) -> None:
    annotations = {"simulation.quaymaster.io/run-seconds": "90"}
    arrive(run, a_pod("job", cpu="4", annotations=annotations))
    assert arrive(run, a_pod("next", cpu="4")).node == ""
    run.advance(89)
    assert run.attempt() is None
    run.advance(1)
    assert tried(run.attempt()).node == "n"


def test_wait_advances_to_the_next_due_timer(run: Run) -> None:
    for name, seconds in (("a", "90"), ("b", "60.25")):
        annotations = {"simulation.quaymaster.io/run-seconds": seconds}
        arrive(run, a_pod(name, annotations=annotations))
    moments = []
    while run.wait():
        moments.append(run.now)
    assert moments == [60.25, 90]
    assert run.now == 90


class Stumbles:
    """Raises once."""

    def __init__(self, _args: object, _handle: Handle) -> None:
        self.calls = 0

    @hookimpl
    def reserve(self, pod: Pod) -> None:
        self.calls += 1
        if self.calls == 1:
            raise RuntimeError(f"no luck with {pod.name}")


def test_a_pod_that_met_an_error_is_ready_again_after_its_backoff() -> None:
    with a_run([a_node()], Stumbles) as run:
        step = arrive(run, a_pod("p"))
        assert step.outcome is AttemptOutcome.ERROR
        assert "no luck with p" in step.message
        assert run.attempt() is None
        assert run.observe().backoff == 1
        while run.attempt() is None:
            assert run.wait()
        assert run.cluster.get(Pod, "default/p").node_name == "n"


# Preemption ---------------------------------------------------------------------------


def test_a_victim_goes_first_and_the_preemptor_is_tried_again(run: Run) -> None:
    arrive(run, a_pod("low", cpu="3", termination_grace_period_seconds=10))
    step = arrive(run, a_pod("high", cpu="3", priority=10))
    assert step.outcome is AttemptOutcome.UNSCHEDULABLE
    assert (step.nominated_node, step.preempted) == ("n", ("default/low",))
    assert run.attempt() is None, "the victim has not ended"
    run.advance(10)
    again = tried(run.attempt())
    assert (again.pod.name, again.node, again.preempted) == ("high", "n", ())
    assert run.observe().preempted == 1


def test_a_victim_that_ends_at_once_makes_room_at_once(run: Run) -> None:
    arrive(run, a_pod("low", cpu="3", termination_grace_period_seconds=0))
    arrive(run, a_pod("high", cpu="3", priority=10))
    assert tried(run.attempt()).node == "n"
    assert run.now == 0


def test_a_preemptor_that_leaves_gives_up_its_nomination(run: Run) -> None:
    arrive(run, a_pod("low", cpu="3", termination_grace_period_seconds=10))
    run.delete(arrive(run, a_pod("high", cpu="3", priority=10)).pod)
    run.advance(10)
    assert run.attempt() is None
    assert arrive(run, a_pod("other", cpu="4")).node == "n"


# Permit and binding -------------------------------------------------------------------


class Pairs:
    """Lets every first pod wait for the second, for a minute."""

    def __init__(self, _args: object, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait | None:
        waiting = list(self._handle.waiting_pods())
        if not waiting:
            return PermitWait(timeout_seconds=60)
        for other in waiting:
            other.allow("Pairs")
        return None


def test_a_pod_that_waits_on_permit_keeps_its_place() -> None:
    with a_run([a_node()], Pairs) as run:
        step = arrive(run, a_pod("first", cpu="3"))
        assert (step.outcome, step.node) == (AttemptOutcome.WAITING, "n")
        observation = run.observe()
        assert (observation.waiting, observation.pods.tolist()) == (1, [1])
        assert (observation.pending, observation.placed) == (0, 0)


def test_an_allowed_pod_is_bound_at_the_same_time_as_the_other() -> None:
    with a_run([a_node()], Pairs) as run:
        arrive(run, a_pod("first"))
        assert arrive(run, a_pod("second")).outcome is AttemptOutcome.SCHEDULED
        assert run.observe().placed == 2
        assert run.cluster.get(Pod, "default/first").node_name == "n"


def test_a_wait_on_permit_ends_when_time_passes() -> None:
    with a_run([a_node()], Pairs) as run:
        arrive(run, a_pod("first", cpu="3"))
        run.advance(59)
        assert run.observe().waiting == 1
        run.advance(1)
        observation = run.observe()
        assert (observation.waiting, observation.pods.tolist()) == (0, [0])
        assert observation.pending == 1


def test_a_pod_that_waits_on_permit_may_leave() -> None:
    with a_run([a_node()], Pairs) as run:
        run.delete(arrive(run, a_pod("first", cpu="3")).pod)
        observation = run.observe()
        assert (observation.waiting, observation.pending) == (0, 0)
        assert observation.pods.tolist() == [0]


class Vanishes:
    """Makes the pod wait and deletes it."""

    def __init__(self, _args: object, handle: Handle) -> None:
        self._handle = handle

    @hookimpl
    def permit(self, pod: Pod) -> PermitWait:
        self._handle.cluster.delete(Pod, pod.key)
        return PermitWait(timeout_seconds=60)


def test_a_pod_that_is_deleted_while_it_is_tried_is_gone() -> None:
    with a_run([a_node()], Vanishes) as run:
        step = arrive(run, a_pod("p"))
        assert (step.outcome, step.node) == (AttemptOutcome.GONE, "")
        assert run.observe().pods.tolist() == [0]


class Refuses:
    """Refuses to bind."""

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def pre_bind(self, pod: Pod) -> Status:
        return Status.unschedulable(f"{pod.name} is not to be bound")


def test_a_pod_that_cannot_be_bound_frees_its_place() -> None:
    with a_run([a_node()], Refuses) as run:
        step = arrive(run, a_pod("p"))
        assert step.outcome is AttemptOutcome.UNSCHEDULABLE
        assert step.message == "p is not to be bound"
        assert run.observe().pods.tolist() == [0]


# Choosing the node -------------------------------------------------------------------


def test_the_upcoming_pod_is_returned_with_its_feasible_nodes() -> None:
    with a_run([a_node("a"), a_node("b", cpu="1"), a_node("c")]) as run:
        assert run.peek() is None
        run.create(a_pod("low"))
        run.create(a_pod("p", cpu="2", priority=1))
        for _ in range(2):
            upcoming = run.peek()
            assert upcoming is not None
            assert (upcoming.pod.name, upcoming.names) == ("p", ["a", "c"])
            assert upcoming.why_not("a") == ""
            assert upcoming.why_not("b") == "Insufficient cpu"
            assert upcoming.why_not("x") == "there is no such node"
        assert run.observe().attempts == 0


def test_scores_of_the_upcoming_pod_are_those_of_its_attempt() -> None:
    with a_run([a_node("a"), a_node("b", cpu="8"), a_node("c", cpu="1")]) as run:
        run.create(a_pod("p", cpu="2"))
        upcoming = run.peek()
        assert upcoming is not None
        scores = upcoming.scores()
        step = tried(run.attempt(explain=True))
    assert step.explanation is not None
    for node_score in step.explanation.scores:
        index = upcoming.names.index(node_score.node)
        for plugin, score in node_score.plugins.items():
            assert scores[plugin][index] == score.normalized


def test_a_pod_goes_to_the_feasible_node_that_was_chosen() -> None:
    with a_run([a_node("a"), a_node("b", cpu="8"), a_node("c")]) as run:
        for node in ("c", "a", "b"):
            run.create(a_pod(f"on-{node}"))
            step = tried(run.attempt(on=node))
            assert (step.outcome, step.node) == (AttemptOutcome.SCHEDULED, node)
        assert run.attempt(on="a") is None
        assert arrive(run, a_pod("usual")).node == "b"


@pytest.mark.parametrize(
    ("node", "reason"),
    [("small", "Insufficient cpu"), ("x", "there is no such node")],
)
def test_a_node_that_is_not_feasible_cannot_be_chosen(node: str, reason: str) -> None:
    with a_run([a_node("a"), a_node("small", cpu="1")]) as run:
        run.create(a_pod("p", cpu="2"))
        with pytest.raises(
            InfeasibleNodeError,
            match=f"pod 'default/p': expected a feasible node, got '{node}': {reason}",
        ):
            run.attempt(on=node)
        assert run.observe().attempts == 0
        assert tried(run.attempt()).node == "a"


def test_a_choice_is_among_all_nodes_even_if_the_profile_takes_samples() -> None:
    nodes = [a_node(f"n-{number}") for number in range(150)]
    profile = profile_config()
    config = parse_config({**profile, "percentageOfNodesToScore": 10}, REGISTRY)
    with Run(nodes, config=config, registry=REGISTRY) as run:
        run.create(a_pod("p"))
        upcoming = run.peek()
        assert upcoming is not None
        assert len(upcoming.rows) == 150
        assert tried(run.attempt(on="n-149")).node == "n-149"


def test_filters_are_verified_where_the_node_is_chosen() -> None:
    class Hides:
        """Its twin rejects other nodes than its filter."""

        def __init__(self, _args: object, _handle: Handle) -> None:
            pass

        @hookimpl
        def filter(self, node: NodeInfo) -> Status | None:
            return Status.unschedulable("hidden") if node.name == "a" else None

        @hookimpl
        def filter_nodes(self, nodes: NodeTable, rows: Rows) -> None:
            return None

    options = SchedulerOptions(verify=1)
    with a_run([a_node("a"), a_node("b")], Hides, options=options) as run:
        run.create(a_pod("p"))
        with pytest.raises(VerificationError, match="hidden"):
            run.attempt(on="b")
    with a_run([a_node("a"), a_node("b", cpu="8")], options=options) as run:
        run.create(a_pod("p"))
        assert tried(run.attempt(on="a")).node == "a", "scores have no say"


def test_a_preemptor_may_be_sent_only_where_it_is_nominated(run: Run) -> None:
    run.create(a_node("other"))
    for name in ("n", "other"):
        run.create(a_pod(f"on-{name}", cpu="4", termination_grace_period_seconds=5))
        tried(run.attempt(on=name))
    nominated = arrive(run, a_pod("high", cpu="4", priority=1)).nominated_node
    run.advance(5)
    upcoming = run.peek()
    assert upcoming is not None
    assert upcoming.names == [nominated]


def test_a_terminating_pod_is_not_upcoming(run: Run) -> None:
    pod = make_pod(name="held")
    metadata = replace(pod.metadata, finalizers=("example.com/hold",))
    run.delete(run.create(replace(pod, metadata=metadata)))
    assert run.peek() is None


# Observations -------------------------------------------------------------------------


def test_columns_have_allocatable_and_requested_amounts() -> None:
    gpu = {"cpu": "2", "memory": "1Gi", "pods": "5", "example.com/gpu": "4"}
    with a_run([a_node(), make_node(name="gpu", capacity=gpu)]) as run:
        run.create(make_pod(name="p", requests={"example.com/gpu": "3"}))
        assert tried(run.attempt()).node == "gpu"
        observation = run.observe()
    assert observation.nodes == ("n", "gpu")
    assert observation.resources == (
        "cpu",
        "memory",
        "ephemeral-storage",
        "example.com/gpu",
    )
    assert observation.allocatable[0].tolist() == [4000, 2000]
    assert observation.requested[3].tolist() == [0, 3]
    assert observation.free[3].tolist() == [0, 1]
    assert observation.allowed_pods.tolist() == [110, 5]
    assert observation.pods.tolist() == [0, 1]


def test_observations_do_not_change_later(run: Run) -> None:
    before = run.observe()
    step = arrive(run, a_pod("p"))
    run.create(a_node("more"))
    run.delete(step.pod)
    assert before.nodes == ("n",)
    assert before.requested[0].tolist() == [0]
    for column in (before.requested, before.allocatable, before.pods):
        assert not column.flags.writeable


def test_a_resource_that_only_pods_request_gets_a_row(run: Run) -> None:
    assert len(run.observe().resources) == 3
    run.create(make_pod(name="p", requests={"example.com/gpu": "1"}, node="n"))
    observation = run.observe()
    assert observation.resources[3:] == ("example.com/gpu",)
    assert observation.requested.shape == observation.allocatable.shape == (4, 1)


def test_the_snapshot_is_what_plugins_see(run: Run) -> None:
    snapshot = run.snapshot
    arrive(run, a_pod("p"))
    info = snapshot.get("n")
    assert info is not None
    assert [pod.name for pod in info.pods.values()] == ["p"]


def test_an_attempt_is_explained_only_on_request() -> None:
    with a_run([a_node("a"), a_node("b", cpu="8"), a_node("c", cpu="1")]) as run:
        run.create(a_pod("p", cpu="2"))
        step = tried(run.attempt(explain=True))
        assert step.explanation is not None
        best = step.explanation.scores[0]
        assert best.node == step.node == "b"
        assert "NodeResourcesFit" in best.plugins
        assert [rejection.node for rejection in step.explanation.rejections] == ["c"]
        assert arrive(run, a_pod("q")).explanation is None


def test_the_result_has_all_placements_and_pending_pods(run: Run) -> None:
    arrive(run, a_pod("p", cpu="3"))
    arrive(run, a_pod("q", cpu="3"))
    result = run.result()
    assert [placement.pod for placement in result.placements] == ["default/p"]
    assert [pod.pod for pod in result.unscheduled] == ["default/q"]


class Counts:
    """Counts the bound pods."""

    def __init__(self, _args: object, _handle: Handle) -> None:
        self.bound = 0

    @hookimpl
    def post_bind(self) -> None:
        self.bound += 1


def test_the_instance_of_a_plugin_is_found_by_name_and_by_class() -> None:
    with a_run([a_node()], Counts) as run:
        arrive(run, a_pod("p"))
        assert run.plugin(Counts).bound == 1
        assert run.plugin("Counts") is run.plugin(Counts)


@pytest.mark.parametrize(
    ("plugin", "profile"),
    [("Nobody", "default-scheduler"), (Counts, "default-scheduler"), ("Counts", "x")],
    ids=["no such name", "no such class", "no such profile"],
)
def test_a_missing_plugin_is_an_error(run: Run, plugin: str, profile: str) -> None:
    with pytest.raises(PluginNotFoundError, match=f"profile '{profile}': no plugin"):
        run.plugin(plugin, profile=profile)


def test_plugins_are_closed_at_the_end() -> None:
    closed = []

    class Closes:
        def __init__(self, _args: object, _handle: Handle) -> None:
            pass

        @hookimpl
        def post_bind(self) -> None:
            pass

        @hookimpl
        def close(self) -> None:
            closed.append(self)

    with a_run([a_node()], Closes) as run:
        assert not closed
    assert len(closed) == 1
    run.close()
    assert len(closed) == 1


# Exactness ----------------------------------------------------------------------------


class Lies:
    """Its twin scores nodes differently."""

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int:
        return len(node.name)

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return np.arange(nodes.count(rows), dtype=np.int64)


def test_a_decision_that_differs_from_the_plain_one_ends_the_attempt() -> None:
    with a_run(
        [a_node("long-name"), a_node("x")], Lies, options=SchedulerOptions(verify=1)
    ) as run:
        run.create(a_pod("p"))
        with pytest.raises(VerificationError, match="not the one of the scalar hooks"):
            run.attempt()


SIZES = st.lists(st.integers(1, 12), min_size=1, max_size=30)


def by_run(sizes: list[int], seed: int) -> dict[str, str]:
    with a_run(
        map(a_node, "abcd"), seed=seed, options=SchedulerOptions(verify=1)
    ) as run:
        steps = [
            arrive(run, a_pod(f"p-{number}", cpu=f"{size * 100}m"))
            for number, size in enumerate(sizes)
        ]
    return {step.pod.key: step.node for step in steps if step.node}


def by_simulation(sizes: list[int], seed: int) -> dict[str, str]:
    cluster = InMemoryCluster(VirtualClock(), seed=seed)
    cluster.load(map(a_node, "abcd"))
    config = parse_config(profile_config(), REGISTRY)
    with Simulation(cluster, config=config, registry=REGISTRY, seed=seed) as simulation:
        for number, size in enumerate(sizes):
            cluster.create(a_pod(f"p-{number}", cpu=f"{size * 100}m"))
        simulation.settle()
        return {
            placement.pod: placement.node
            for placement in simulation.result().placements
        }


@pytest.mark.long
@given(sizes=SIZES, seed=st.integers(0, 5))
def test_arrivals_one_by_one_go_where_a_simulation_puts_them(
    sizes: list[int], seed: int
) -> None:
    assert by_run(sizes, seed) == by_simulation(sizes, seed)
