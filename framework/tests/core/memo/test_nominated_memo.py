"""Cached verdicts on nodes with nominated pods equal new calls."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import attrs
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import (
    CycleState,
    Handle,
    Int64Array,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    NominatingInfo,
    NominatingMode,
    Pod,
    PodUse,
    Rows,
    Scope,
    Snapshot,
    Status,
    hookimpl,
)
from quaymaster.columns import CPU
from quaymaster.objects import pod_requests
from quaymaster.testing import make_node, make_pod
from tests.kit.cycles import make_algorithm
from tests.kit.internals.cycle import Algorithm, Decision, FitError, Ties
from tests.kit.internals.queue import Nominator

T = TypeVar("T")

FULL = Status.unschedulable("full")
LONELY = Status.unschedulable("lonely")


class Fussy:
    """Rejects nodes that are full, and those that are empty; likes full ones."""

    scope = Scope.NODE
    pod_use = PodUse.SUMS

    def __init__(self, _args: object, _handle: Handle) -> None:
        pass

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return pod_requests(pod).milli_cpu

    @hookimpl
    def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
        wanted = pod_requests(pod).milli_cpu
        if wanted > node.allocatable.milli_cpu - node.requested.milli_cpu:
            return FULL
        return None if node.pods else LONELY

    @hookimpl
    def filter_nodes(self, pod: Pod, nodes: NodeTable, rows: Rows) -> NodeVerdicts:
        wanted = pod_requests(pod).milli_cpu
        free = nodes.allocatable[CPU, rows] - nodes.requested[CPU, rows]
        full, empty = free < wanted, nodes.pod_count[rows] == 0
        codes = full * 1 + (~full & empty) * 2
        return NodeVerdicts(codes, lambda code: FULL if code == 1 else LONELY)

    @hookimpl
    def score(self, node: NodeInfo) -> int:
        return node.requested.milli_cpu // 1000

    @hookimpl
    def score_nodes(self, nodes: NodeTable, rows: Rows) -> Int64Array:
        return nodes.requested[CPU, rows] // 1000


@attrs.define(eq=False)
class NominatingCluster:
    """A cluster and its pending pods."""

    snapshot: Snapshot = attrs.field(factory=Snapshot)
    waiting: dict[str, Pod] = attrs.field(factory=dict)
    nominator: Nominator = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.nominator = Nominator(self.waiting.get)

    def algorithm(self, *, remembers: bool) -> Algorithm:
        return make_algorithm(
            self.snapshot, Fussy, nominator=self.nominator, remembers=remembers
        )

    def nominate(self, pod: Pod, node_name: str) -> None:
        self.waiting[pod.key] = pod
        self.nominator.add(pod, NominatingInfo(node_name, NominatingMode.OVERRIDE))


def outcome(algorithm: Algorithm, pod: Pod) -> object:
    """Return the result of an attempt, with all nodes that tie for the best."""
    best: list[Sequence[int]] = []

    def pick(_nodes: NodeTable, rows: Ties) -> int:
        best.append([int(row) for row in rows])
        return best[-1][0]

    found = algorithm.schedule(CycleState(), pod, pick)
    if isinstance(found, Decision):
        return found.node.name, best, found.feasible_nodes, found.evaluated_nodes
    assert isinstance(found, FitError)
    assert found.diagnosis is not None
    diagnosis = found.diagnosis
    return (
        dict(diagnosis.by_node()),
        diagnosis.processed(),
        diagnosis.message(),
        diagnosis.nodes_with(FULL.code),
    )


class Story:
    """Draws the changes of a cluster, step by step."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data
        self._made = 0
        self.world = NominatingCluster()
        # Many at once are judged in another way.
        count = data.draw(st.sampled_from([3, 6, 40]))
        self._names = [f"n{number}" for number in range(count)]
        for number, name in enumerate(self._names):
            self._set_node(name, 4)
            if number % 3:
                pod = make_pod(name=f"on-{name}", node=name, requests={"cpu": "1"})
                self.world.snapshot.add_pod(pod)

    def go_on(self) -> None:
        steps = (
            self._run,
            self._nominate,
            self._nominate_everywhere,
            self._withdraw,
            self._change_node,
        )
        self._data.draw(st.sampled_from(steps))()

    def pods(self) -> list[Pod]:
        """Return pods to schedule, of which one is nominated if possible."""
        priority = self._data.draw(st.integers(0, 2))
        pods = [make_pod(requests={"cpu": cpu}, priority=priority) for cpu in "13"]
        waiting = self.world.waiting
        return [*pods, *([self._some(waiting.values())] if waiting else [])]

    def _run(self) -> None:
        self.world.snapshot.add_pod(self._new_pod(self._some(self._names)))

    def _nominate(self) -> None:
        self.world.nominate(self._new_pod(), self._some(self._names))

    def _nominate_everywhere(self) -> None:
        pod = self._new_pod()
        for name in self._names:
            nominated = make_pod(
                name=f"{pod.name}-{name}", requests={"cpu": "2"}, priority=pod.priority
            )
            self.world.nominate(nominated, name)

    def _withdraw(self) -> None:
        if self.world.waiting:
            pod = self._some(self.world.waiting.values())
            self.world.nominator.delete(self.world.waiting.pop(pod.key))

    def _change_node(self) -> None:
        self._set_node(self._some(self._names), self._data.draw(st.integers(1, 6)))

    def _set_node(self, name: str, cpu: int) -> None:
        allocatable = {"cpu": str(cpu), "pods": "9"}
        self.world.snapshot.add_node(make_node(name=name, allocatable=allocatable))

    def _new_pod(self, node: str = "") -> Pod:
        self._made += 1
        return make_pod(
            name=f"p{self._made}",
            node=node,
            requests={"cpu": str(self._data.draw(st.integers(0, 4)))},
            priority=self._data.draw(st.integers(0, 2)),
        )

    def _some(self, choice: Iterable[T]) -> T:
        return self._data.draw(st.sampled_from(list(choice)))


@given(data=st.data())
def test_cached_verdicts_with_nominated_pods_equal_new_calls(
    data: st.DataObject,
) -> None:
    story = Story(data)
    remembering = story.world.algorithm(remembers=True)
    forgetful = story.world.algorithm(remembers=False)
    for _ in range(data.draw(st.integers(1, 6))):
        story.go_on()
        for pod in story.pods():
            assert outcome(remembering, pod) == outcome(forgetful, pod)
