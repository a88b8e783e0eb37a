"""Columns that plugins compute from the pods on each node."""

from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from quaymaster import NodeInfo, Pod, Snapshot
from quaymaster.columns import PodColumn
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.state import Cache

DEVICES = "example.com/devices"
NODES = ("n1", "n2", "n3")
WIDEST = 4


def devices_of(pod: Pod) -> Sequence[int] | None:
    text = pod.annotations.get(DEVICES)
    return None if text is None else [int(device) for device in text.split(",")]


def row_of(node: NodeInfo, taken: Sequence[Sequence[int]]) -> Sequence[int]:
    left = [1000] * int(node.labels.get("devices", WIDEST))
    for devices in taken:
        for device in devices:
            left[device] -= 100
    return left


def holder(name: str, node: str, devices: str | None = "0") -> Pod:
    annotations = {} if devices is None else {DEVICES: devices}
    return make_pod(name=name, node=node, annotations=annotations)


def annotated(pod: Pod, annotations: Mapping[str, str]) -> Pod:
    return replace(pod, metadata=replace(pod.metadata, annotations=dict(annotations)))


def make_snapshot(*nodes: str) -> Snapshot:
    snapshot = Snapshot()
    for name in nodes:
        snapshot.add_node(make_node(name=name))
    return snapshot


def test_row_is_computed_from_the_values_of_the_pods_on_the_node() -> None:
    snapshot = make_snapshot("n1", "n2")
    snapshot.add_pod(holder("p", "n1", "0,2"))
    snapshot.add_pod(holder("q", "n1", "2"))
    snapshot.add_pod(holder("none", "n1", None))
    left = PodColumn(devices_of, row_of, width=WIDEST).of(snapshot.nodes)
    assert left[snapshot.nodes.rows].tolist() == [
        [900, 1000, 800, 1000],
        [1000, 1000, 1000, 1000],
    ]


def test_short_row_is_filled_up_with_0() -> None:
    snapshot = Snapshot()
    snapshot.add_node(make_node(name="n", labels={"devices": "2"}))
    column = PodColumn(devices_of, row_of, width=WIDEST)
    assert column.of(snapshot.nodes)[0].tolist() == [1000, 1000, 0, 0]
    snapshot.add_node(make_node(name="n", labels={"devices": "1"}))
    assert column.of(snapshot.nodes)[0].tolist() == [1000, 0, 0, 0]


def test_column_without_a_width_has_one_number_for_each_node() -> None:
    snapshot = make_snapshot("n1", "n2")
    snapshot.add_pod(holder("p", "n2", "0,1"))
    column = PodColumn(devices_of, lambda _, taken: sum(map(len, taken)))
    assert column.of(snapshot.nodes)[snapshot.nodes.rows].tolist() == [0, 2]


def test_changed_annotation_is_read_again() -> None:
    snapshot = make_snapshot("n")
    pod = holder("p", "n", "0")
    snapshot.add_pod(pod)
    column = PodColumn(devices_of, row_of, width=WIDEST)
    column.of(snapshot.nodes)
    revision = snapshot.nodes.changes.revision
    snapshot.replace_pod(pod, annotated(pod, {DEVICES: "3"}))
    assert column.of(snapshot.nodes)[0].tolist() == [1000, 1000, 1000, 900]
    assert snapshot.nodes.changes.since(revision) == {0}


def test_equal_annotations_move_no_row() -> None:
    snapshot = make_snapshot("n")
    pod = holder("p", "n", "0")
    snapshot.add_pod(pod)
    revision = snapshot.nodes.changes.revision
    snapshot.replace_pod(pod, annotated(pod, pod.annotations))
    assert snapshot.nodes.changes.since(revision) == set()


def test_pod_is_read_once_and_a_row_made_once_per_change() -> None:
    read: list[str] = []
    made: list[str] = []

    def note(pod: Pod) -> str:
        read.append(pod.name)
        return pod.name

    def count(node: NodeInfo, pods: Sequence[str]) -> int:
        made.append(node.name)
        return len(pods)

    snapshot = make_snapshot("n1", "n2")
    snapshot.add_pod(holder("p", "n1"))
    column = PodColumn(note, count)
    column.of(snapshot.nodes)
    read.clear()
    made.clear()
    snapshot.add_pod(holder("q", "n1"))
    column.of(snapshot.nodes)
    column.of(snapshot.nodes)
    assert (read, made) == (["q"], ["n1"])


def test_row_of_a_copy_is_made_of_the_pods_on_the_copy() -> None:
    snapshot = make_snapshot("n")
    pod = holder("p", "n", "0")
    snapshot.add_pod(pod)
    column = PodColumn(devices_of, row_of, width=WIDEST)
    column.of(snapshot.nodes)
    info = snapshot.get("n")
    assert info is not None
    imagined = info.clone()
    imagined.remove_pod(pod)
    imagined.add_pod(holder("nominated", "n", "1"))
    assert column.on(imagined) == [1000, 900, 1000, 1000]
    assert column.on(info) == [900, 1000, 1000, 1000]


def test_node_in_the_row_of_another_one_has_only_its_own_pods() -> None:
    snapshot = make_snapshot("old", "other")
    snapshot.add_pod(holder("p", "old", "0"))
    column = PodColumn(devices_of, row_of, width=WIDEST)
    column.of(snapshot.nodes)
    snapshot.remove_node("old")
    assert column.of(snapshot.nodes)[0].tolist() == [0, 0, 0, 0]
    snapshot.add_node(make_node(name="new"))
    assert snapshot.nodes.row_of("new") == 0
    assert column.of(snapshot.nodes)[0].tolist() == [1000] * WIDEST


def test_column_grows_with_the_table() -> None:
    snapshot = Snapshot()
    column = PodColumn(devices_of, lambda _, taken: len(taken))
    for number in range(300):
        snapshot.add_node(make_node(name=f"n{number}"))
        snapshot.add_pod(holder(f"p{number}", f"n{number}"))
        assert len(column.of(snapshot.nodes)) == snapshot.nodes.capacity
    assert column.of(snapshot.nodes)[snapshot.nodes.rows].tolist() == [1] * 300


def test_column_of_another_table_is_that_of_its_nodes() -> None:
    first, other = make_snapshot("n1"), make_snapshot("n1", "n2")
    first.add_pod(holder("p", "n1"))
    column = PodColumn(devices_of, lambda _, taken: len(taken))
    for snapshot, expected in ((first, [1]), (other, [0, 0]), (first, [1])):
        nodes = snapshot.nodes
        assert column.of(nodes)[nodes.rows].tolist() == expected


def test_hypothetical_table_is_rejected() -> None:
    column = PodColumn(devices_of, row_of, width=WIDEST)
    with pytest.raises(ValueError, match=r"says so by pod_use = PodUse\.PODS"):
        column.of(make_snapshot("n").nodes.imagined())


@pytest.mark.parametrize(
    ("row", "error", "message"),
    [
        ([1, 2, 3], ValueError, "'n' has 3 numbers, expected at most 2"),
        ([1, 0.5], TypeError, "'n': expected a whole number, got 0.5"),
        (7, TypeError, "'n': expected a sequence of whole numbers, got 7"),
    ],
    ids=["too long", "a fraction", "no sequence"],
)
def test_wrong_row_is_named(row: object, error: type[Exception], message: str) -> None:
    column = PodColumn(devices_of, _answering(row), width=2)
    with pytest.raises(error, match=message):
        column.of(make_snapshot("n").nodes)


def test_sequence_is_rejected_by_a_column_without_a_width() -> None:
    column = PodColumn(devices_of, _answering([1]))
    with pytest.raises(TypeError, match=r"'n': expected a whole number, got \[1\]"):
        column.of(make_snapshot("n").nodes)


def _answering(row: object) -> Callable[[NodeInfo, Sequence[object]], Sequence[int]]:
    # A plugin without types can return anything.
    return lambda _node, _values: row  # type: ignore[return-value]


def test_value_that_could_not_be_read_is_read_next_time() -> None:
    fails = True

    def read(pod: Pod) -> int:
        if fails:
            raise RuntimeError(f"cannot read {pod.name}")
        return 1

    snapshot = make_snapshot("n1", "n2")
    snapshot.add_pod(holder("p", "n1"))
    column = PodColumn(read, lambda _, ones: sum(ones))
    with pytest.raises(RuntimeError, match="cannot read p"):
        column.of(snapshot.nodes)
    fails = False
    assert column.of(snapshot.nodes)[snapshot.nodes.rows].tolist() == [1, 0]


names = st.sampled_from(["p", "q", "r", "s"])
nodes = st.sampled_from(NODES)
devices = st.sampled_from([None, "0", "1", "0,1", "2,2"])


class Histories(RuleBasedStateMachine):
    """Columns that are read at random times are compared with a recount."""

    def __init__(self) -> None:
        super().__init__()
        self.snapshot = Snapshot()
        self.cache = Cache(self.snapshot)
        self.pods: dict[str, Pod] = {}
        self.sizes: dict[str, int] = {}
        # One is read after every step, one only now and then.
        self.kept = PodColumn(devices_of, row_of, width=WIDEST)
        self.seldom = PodColumn(devices_of, row_of, width=WIDEST)

    @rule(name=names, node=nodes, held=devices)
    def assume(self, name: str, node: str, held: str | None) -> None:
        pod = holder(name, node, held)
        if pod.uid not in self.pods:
            self.cache.assume(pod)
            self.pods[pod.uid] = pod

    @rule(name=names)
    def forget(self, name: str) -> None:
        old = self.pods.get(holder(name, "").uid)
        if old is not None and self.cache.is_assumed(old.uid):
            assert self.cache.forget(old)
            del self.pods[old.uid]

    @rule(name=names, node=nodes, held=devices)
    def watch_adds_or_updates(self, name: str, node: str, held: str | None) -> None:
        pod = holder(name, node, held)
        old = self.pods.get(pod.uid)
        if old is not None and old.node_name == node:
            pod = annotated(old, pod.annotations)
        self.cache.add_pod(pod)
        self.pods[pod.uid] = pod

    @rule(name=names)
    def watch_deletes(self, name: str) -> None:
        pod = holder(name, "")
        self.cache.remove_pod(pod)
        self.pods.pop(pod.uid, None)

    @rule(node=nodes, count=st.sampled_from([3, WIDEST]))
    def node_comes_or_changes(self, node: str, count: int) -> None:
        self.cache.add_node(make_node(name=node, labels={"devices": str(count)}))
        self.sizes[node] = count

    @rule(node=nodes)
    def node_goes(self, node: str) -> None:
        self.cache.remove_node(make_node(name=node))
        self.sizes.pop(node, None)

    @rule()
    def look(self) -> None:
        self.agrees(self.seldom)

    @invariant()
    def kept_column_agrees(self) -> None:
        self.agrees(self.kept)

    def agrees(self, column: PodColumn[Sequence[int], Sequence[int]]) -> None:
        table = self.snapshot.nodes
        shown = column.of(table)
        for info in self.snapshot:
            expected = self.recount(info.name)
            assert shown[info.row].tolist() == expected
            assert column.on(info) == expected[: self.sizes[info.name]]

    def recount(self, node: str) -> list[int]:
        size = self.sizes[node]
        left = [1000] * size + [0] * (WIDEST - size)
        for pod in self.pods.values():
            if pod.node_name == node:
                for device in devices_of(pod) or ():
                    left[device] -= 100
        return left


TestHistories = Histories.TestCase
