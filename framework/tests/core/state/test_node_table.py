"""The columns always agree with the nodes and pods."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Node, NodeInfo, NodeTable, Pod, Snapshot
from quaymaster.columns import CPU, EPHEMERAL_STORAGE, MEMORY
from quaymaster.testing import make_container, make_node, make_pod

NODES = ("a", "b", "c")
STEPS = st.lists(
    st.tuples(
        st.sampled_from(("add node", "remove node", "add pod", "remove pod")),
        st.sampled_from(NODES),
        st.integers(0, 3),
    ),
    max_size=40,
)


def node_of(name: str, kind: int) -> Node:
    return make_node(
        name=name,
        capacity={"cpu": str(kind + 1), "memory": "4Gi", "pods": "10"}
        | ({"example.com/gpu": str(kind)} if kind else {}),
        labels={"kind": str(kind)} if kind else {},
        taints=["dedicated=x:NoSchedule"] if kind == 1 else [],
        unschedulable=kind == 2,
        images={f"image-{kind}": 1000 + kind},
    )


def pod_of(node: str, kind: int) -> Pod:
    requests = {"cpu": f"{kind}00m"} | ({"example.com/gpu": "1"} if kind == 3 else {})
    container = make_container(requests=requests, host_ports=[8000 + kind])
    return make_pod(name=f"{node}-{kind}", node=node, containers=[container])


def play(steps: Sequence[tuple[str, str, int]]) -> Snapshot:
    """Take the steps that are possible and skip the others."""
    snapshot = Snapshot()
    pods: dict[str, Pod] = {}
    for action, name, kind in steps:
        pod = pod_of(name, kind)
        if action == "add node":
            snapshot.add_node(node_of(name, kind))
        elif action == "remove node":
            snapshot.remove_node(name)
        elif action == "add pod" and pod.uid not in pods:
            pods[pod.uid] = pod
            snapshot.add_pod(pod)
        elif action == "remove pod" and pod.uid in pods:
            snapshot.remove_pod(pods.pop(pod.uid))
    return snapshot


@given(STEPS)
def test_columns_repeat_the_node_infos(steps: list[tuple[str, str, int]]) -> None:
    nodes = play(steps).nodes
    for info in nodes:
        row = info.row
        offered, used = info.allocatable, info.requested
        assert nodes.allocatable[CPU, row] == offered.milli_cpu
        assert nodes.allocatable[MEMORY, row] == offered.memory
        assert nodes.requested[CPU, row] == used.milli_cpu
        assert nodes.requested[EPHEMERAL_STORAGE, row] == used.ephemeral_storage
        assert nodes.non_zero_requested[MEMORY, row] == info.non_zero_memory
        assert nodes.pod_count[row] == len(info.pods)
        assert nodes.allowed_pods[row] == offered.allowed_pods
        assert nodes.unschedulable[row] == info.node.spec.unschedulable
        gpu = nodes.resource("example.com/gpu")
        if gpu is not None:
            assert nodes.allocatable[gpu, row] == offered.get("example.com/gpu")
            assert nodes.requested[gpu, row] == used.get("example.com/gpu")


@given(STEPS)
def test_incremental_sums_equal_a_recount(steps: list[tuple[str, str, int]]) -> None:
    for info in play(steps):
        fresh = NodeInfo(info.node, pods=info.pods.values())
        assert info.requested.milli_cpu == fresh.requested.milli_cpu
        assert info.non_zero_milli_cpu == fresh.non_zero_milli_cpu
        assert sorted(info.used_ports) == sorted(fresh.used_ports)


@given(STEPS)
def test_indexes_name_the_right_rows(steps: list[tuple[str, str, int]]) -> None:
    nodes = play(steps).nodes
    kinds = nodes.label("kind")
    is_tainted = nodes.taints.test(bool, nodes.rows)
    for index, info in enumerate(nodes):
        code = int(kinds.codes[info.row])
        assert (kinds.values[code] if code >= 0 else None) == info.labels.get("kind")
        assert is_tainted[index] == bool(info.taints)
        for port in range(8000, 8004):
            takes = info.row in nodes.rows_with_host_port("TCP", port)
            assert takes == (("TCP", port) in set(info.used_ports))
    for name, image in nodes.images.items():
        assert image.rows == {node.row for node in nodes if name in node.images}


@given(STEPS)
def test_rows_follow_the_order_of_the_nodes(
    steps: list[tuple[str, str, int]],
) -> None:
    nodes = play(steps).nodes
    assert nodes.names_at(nodes.rows) == [info.name for info in nodes]
    assert nodes.count(nodes.rows) == len(nodes)
    assert [nodes.row_of(info.name) for info in nodes] == [node.row for node in nodes]


def test_row_of_a_removed_node_is_used_again() -> None:
    snapshot = Snapshot()
    for name in NODES:
        snapshot.add_node(make_node(name=name))
    snapshot.remove_node("b")
    assert isinstance(snapshot.nodes.rows, np.ndarray)
    snapshot.add_node(make_node(name="d"))
    assert snapshot.nodes.row_of("d") == 1
    assert snapshot.nodes.rows == slice(0, 3)


def test_pod_that_comes_before_its_node_is_counted_once_it_is_there() -> None:
    snapshot = Snapshot()
    snapshot.add_pod(make_pod(name="early", node="a", requests={"cpu": "1"}))
    snapshot.add_node(make_node(name="a"))
    info = snapshot.get("a")
    assert info is not None
    assert info.requested.milli_cpu == 1000


def test_moved_rows_are_reported_since_any_position() -> None:
    snapshot = Snapshot()
    for name in NODES:
        snapshot.add_node(make_node(name=name))
    revision = snapshot.nodes.changes.revision
    assert snapshot.nodes.changes.since(revision) == set()
    snapshot.add_pod(make_pod(name="p", node="c"))
    assert snapshot.nodes.changes.since(revision) == {2}


@pytest.mark.long
def test_revision_that_is_too_old_means_every_row_changed() -> None:
    snapshot = Snapshot()
    snapshot.add_node(make_node(name="a"))
    revision = snapshot.nodes.changes.revision
    for _ in range(1 << 17):
        snapshot.nodes.note_pod_change(next(iter(snapshot)))
    assert snapshot.nodes.changes.since(revision) is None


def test_table_grows_with_the_cluster() -> None:
    snapshot = Snapshot()
    zone = snapshot.nodes.label("topology.kubernetes.io/zone")
    for number in range(300):
        snapshot.add_node(make_node(name=f"n{number}", zone=f"z{number % 3}"))
    assert len(snapshot) == 300
    assert zone.is_in(["z1"], snapshot.nodes.rows).sum() == 100
    assert snapshot.nodes.allocatable[CPU][snapshot.nodes.rows].all()


@given(STEPS, STEPS)
def test_names_are_ranked_as_if_they_had_just_been_sorted(
    before: list[tuple[str, str, int]], after: list[tuple[str, str, int]]
) -> None:
    snapshot = play(before)
    nodes = snapshot.nodes
    assert names_by_rank(nodes) == sorted(node.name for node in nodes)
    for action, name, kind in after:
        if action == "add node":
            snapshot.add_node(node_of(name, kind))
        elif action == "remove node":
            snapshot.remove_node(name)
        assert names_by_rank(nodes) == sorted(node.name for node in nodes)


def names_by_rank(nodes: NodeTable) -> list[str | None]:
    ranks = nodes.name_ranks[nodes.rows].tolist()
    found: list[str | None] = [None] * len(nodes)
    for name, rank in zip(nodes.names_at(nodes.rows), ranks, strict=True):
        found[rank] = name
    return found


def test_ranks_grow_with_the_table() -> None:
    snapshot = Snapshot()
    nodes = snapshot.nodes
    assert not nodes.name_ranks.any()
    for number in range(300):
        snapshot.add_node(make_node(name=f"n{number}"))
    assert names_by_rank(nodes) == sorted(f"n{number}" for number in range(300))


def test_taints_that_differ_only_in_time_share_a_value() -> None:
    snapshot = Snapshot()
    for name in NODES:
        snapshot.add_node(make_node(name=name, taints=["k=v:NoExecute"]))
    assert len(snapshot.nodes.taints.values) == 1


def test_second_node_of_the_same_name_is_rejected() -> None:
    nodes = Snapshot().nodes
    nodes.add(NodeInfo(make_node(name="a")))
    with pytest.raises(ValueError, match="'a' is in the table already"):
        nodes.add(NodeInfo(make_node(name="a")))
