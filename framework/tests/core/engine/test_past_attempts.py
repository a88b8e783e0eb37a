"""A scheduler keeps past attempts and renders them as they were then."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import ApiObject, Node, NodeInfo, Pod, Snapshot, Status
from quaymaster.config import default_config
from quaymaster.scheduler import (
    AttemptHistory,
    Failure,
    FailureKind,
    PastAttempt,
    PluginRegistry,
    SchedulerOptions,
    VirtualClock,
)
from quaymaster.simulation import Simulation
from quaymaster.testing import make_node, make_pod
from tests.kit.clusters import make_cluster
from tests.kit.internals.cycle import Diagnosis
from tests.kit.internals.queue import QueuedPod
from tests.kit.internals.state import RowHistory

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)


def simulation_of(*objects: ApiObject, kept: int = 4096) -> Simulation:
    options = SchedulerOptions(kept_attempts=kept)
    cluster = make_cluster(*objects)
    return Simulation(cluster, config=CONFIG, registry=REGISTRY, options=options)


def small_node(name: str, cpu: int = 2) -> Node:
    return make_node(name=name, capacity={"cpu": str(cpu), "pods": "9"})


def said(attempt: PastAttempt) -> dict[str, str]:
    assert attempt.rejections is not None
    return {
        rejection.node: ", ".join(rejection.reasons) for rejection in attempt.rejections
    }


def test_failed_attempt_is_kept_with_the_reasons_for_each_node() -> None:
    tainted = make_node(name="b", taints=["x=y:NoSchedule"])
    with simulation_of(
        small_node("a"), tainted, make_pod(name="p", requests={"cpu": "3"})
    ) as run:
        run.settle()
        [attempt] = run.scheduler.past_attempts.of("default/p")
    assert (attempt.number, attempt.outcome) == (1, "unschedulable")
    assert attempt.message.startswith("0/2 nodes are available: 1 Insufficient cpu")
    assert attempt.plugins == ("NodeResourcesFit", "TaintToleration")
    assert said(attempt)["a"] == "Insufficient cpu"
    assert attempt.said_of("b").startswith("it was rejected by TaintToleration")
    assert attempt.said_of("c") == "there was no such node"


def test_decision_is_kept_with_the_other_feasible_nodes() -> None:
    with simulation_of(
        small_node("a", 1),
        small_node("b"),
        small_node("c"),
        make_pod(name="p", requests={"cpu": "2"}),
    ) as run:
        run.settle()
        [attempt] = run.scheduler.past_attempts.of("default/p")
    assert attempt.outcome == "scheduled"
    assert attempt.node in ("b", "c")
    assert attempt.feasible == ("b", "c")
    assert said(attempt) == {"a": "Insufficient cpu"}
    assert (attempt.feasible_nodes, attempt.evaluated_nodes, attempt.nodes) == (2, 3, 3)


def test_nodes_keep_their_names_after_other_nodes_take_their_rows() -> None:
    with simulation_of(
        small_node("a"), small_node("b"), make_pod(name="p", requests={"cpu": "3"})
    ) as run:
        run.settle()
        cluster = run.cluster
        cluster.delete(Node, "a")
        cluster.create(small_node("z"))
        cluster.create(make_node(name="y", taints=["x=y:NoSchedule"]))
        run.settle()
        first, *_, last = run.scheduler.past_attempts.of("default/p")
    assert list(said(first)) == ["a", "b"]
    assert sorted(said(last)) == ["b", "y", "z"]


def test_only_the_last_attempts_are_kept() -> None:
    pods = [make_pod(name=f"p{number}") for number in range(5)]
    with simulation_of(small_node("a"), *pods, kept=3) as run:
        run.settle()
        assert len(run.scheduler.past_attempts) == 3
        assert [attempt.pod for attempt in run.scheduler.past_attempts.last(2)] == [
            "default/p3",
            "default/p4",
        ]
        assert run.scheduler.past_attempts.of("default/p0") == ()


def test_nothing_is_kept_with_a_limit_of_0() -> None:
    with simulation_of(small_node("a"), make_pod(name="p"), kept=0) as run:
        run.settle()
        assert run.scheduler.past_attempts.last() == ()


def test_older_attempts_lose_their_nodes_before_their_message() -> None:
    nodes = Snapshot().nodes
    nodes.add(NodeInfo(small_node("a")))
    history = AttemptHistory(nodes, VirtualClock(), 100, cells=1)
    for number in range(40):
        diagnosis = Diagnosis(nodes)
        diagnosis.reject("a", Status.unschedulable("no"))
        failure = Failure(
            kind=FailureKind.REJECTED, message="none", diagnosis=diagnosis
        )
        pod = make_pod(name=f"p{number}")
        queued = QueuedPod(pod, 0.0, pod.key, attempts=1)
        history.failed(queued, failure)
    [first] = history.of("default/p0")
    [last] = history.of("default/p39")
    assert (first.message, first.rejections) == ("none", None)
    assert first.said_of("a") == "what was said of each node is not remembered"
    assert said(last) == {"a": "no"}


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["add", "remove", "pod", "gone"]),
        st.integers(min_value=0, max_value=3),
        st.integers(min_value=1, max_value=3),
    ),
    max_size=12,
)


def played(
    changes: Sequence[tuple[str, int, int]], *, asking: bool
) -> dict[tuple[str, int], PastAttempt]:
    """Apply changes and return all attempts, read after each change or at the end."""
    found: dict[tuple[str, int], PastAttempt] = {}

    def ask(run: Simulation) -> None:
        for pod in {attempt.pod for attempt in run.scheduler.past_attempts.last()}:
            for attempt in run.scheduler.past_attempts.of(pod):
                found.setdefault((attempt.uid, attempt.number), attempt)

    with simulation_of(small_node("n0"), small_node("n1", 1)) as run:
        for change, which, size in changes:
            _play(run, change, which, size)
            run.settle()
            if asking:
                ask(run)
        ask(run)
    return found


def _play(run: Simulation, change: str, which: int, size: int) -> None:
    cluster = run.cluster
    nodes = [node.name for node in cluster.list(Node).items]
    pods = [pod.key for pod in cluster.list(Pod).items]
    if change == "add" and f"n{which}" not in nodes:
        taints = ["x=y:NoSchedule"] if size == 3 else []
        capacity = {"cpu": str(size), "pods": "3"}
        cluster.create(make_node(name=f"n{which}", capacity=capacity, taints=taints))
    elif change == "remove" and f"n{which}" in nodes:
        cluster.delete(Node, f"n{which}")
    elif change == "pod" and f"default/p{which}" not in pods:
        cluster.create(make_pod(name=f"p{which}", requests={"cpu": str(size)}))
    elif change == "gone" and f"default/p{which}" in pods:
        cluster.delete(Pod, f"default/p{which}")


@pytest.mark.long
@given(changes=CHANGES)
def test_attempts_rendered_later_equal_attempts_rendered_at_once(
    changes: list[tuple[str, int, int]],
) -> None:
    assert played(changes, asking=False) == played(changes, asking=True)


@pytest.mark.parametrize("limit", [1, 2])
def test_node_names_are_dropped_after_too_many_changes(limit: int) -> None:
    history = RowHistory(limit)
    history.came(0, "a")
    history.went(0, "a")
    history.came(0, "b")
    b = NodeInfo(small_node("b"))
    b.row = 0
    assert history.names_at(3, [b]) == {0: "b"}
    assert history.names_at(2, [b]) == {}
    assert history.names_at(3 - limit - 1, [b]) is None
