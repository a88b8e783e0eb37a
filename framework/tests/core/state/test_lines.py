"""The values of some rows are copied once for consecutive readers."""

import numpy as np

from quaymaster import NodeTable, Rows, Snapshot
from quaymaster.columns import lines_at
from quaymaster.testing import make_node, make_pod

BOTH = slice(0, 2)
MEBI = 1 << 20
MEMORY = 16 << 30  # as `make_node` has it, and storage, too
STORAGE = 100 << 30


def cluster() -> Snapshot:
    made = Snapshot()
    for name in "abc":
        made.add_node(make_node(name=name, capacity={"cpu": "4", "memory": "8Mi"}))
    return made


def add_pod(made: Snapshot, node: str) -> None:
    made.add_pod(make_pod(node=node, requests={"cpu": "1", "memory": "2Mi"}))


def test_lines_are_taken_alone_and_together() -> None:
    lines = np.array([[1, 2, 3], [4, 5, 6]])
    rows: Rows = np.array([0, 2])
    assert lines_at(lines, rows).tolist() == [[1, 3], [4, 6]]
    assert lines_at(lines[1], rows).tolist() == [4, 6]
    assert lines_at(lines, slice(0, 2)).tolist() == [[1, 2], [4, 5]]
    assert lines_at(lines[1], slice(0, 2)).tolist() == [4, 5]


def test_readers_of_the_same_rows_get_the_same_array() -> None:
    nodes = cluster().nodes
    rows = np.array([0, 2])
    taken = nodes.offered_at(rows, BOTH)
    assert taken.tolist() == [[4000, 4000], [8 * MEBI, 8 * MEBI]]
    assert nodes.offered_at(rows, BOTH) is taken
    assert nodes.offered_at(np.array([0, 2]), BOTH) is not taken


def test_each_column_and_each_line_is_its_own() -> None:
    made = cluster()
    made.add_pod(make_pod(node="a"))
    nodes, rows = made.nodes, np.array([0, 1])
    assert nodes.offered_at(rows, BOTH).shape == (2, 2)
    assert nodes.offered_at(rows, slice(1, 2)).tolist() == [[8 * MEBI, 8 * MEBI]]
    assert nodes.offered_at(rows, slice(0, 3, 2)).tolist() == [
        [4000, 4000],
        [STORAGE, STORAGE],
    ]
    assert nodes.requested_at(rows, BOTH).tolist() == [[0, 0], [0, 0]]
    counted = nodes.requested_at(rows, BOTH, with_defaults=True)
    assert counted.tolist() == [[100, 0], [200 * MEBI, 0]]


def test_changed_values_are_read_again() -> None:
    made = cluster()
    nodes, rows = made.nodes, np.array([0, 1])
    before = nodes.requested_at(rows, BOTH)
    add_pod(made, "a")
    assert nodes.requested_at(rows, BOTH).tolist() == [[1000, 0], [2 * MEBI, 0]]
    assert before.tolist() == [[0, 0], [0, 0]]
    made.add_node(make_node(name="b", capacity={"cpu": "1"}))
    assert nodes.offered_at(rows, BOTH).tolist() == [[4000, 1000], [8 * MEBI, MEMORY]]


def test_a_hypothetical_table_is_read_each_time() -> None:
    made = cluster()
    rows = np.array([0, 1])
    made.nodes.requested_at(rows, BOTH)
    other: NodeTable = made.nodes.imagined()
    assert other.requested_at(rows, BOTH).tolist() == [[0, 0], [0, 0]]
    info = made.nodes.get("a")
    assert info is not None
    usage = info.usage_of(make_pod(requests={"cpu": "1", "memory": "2Mi"}))
    other.imagine_pod(0, usage)
    assert other.requested_at(rows, BOTH).tolist() == [[1000, 0], [2 * MEBI, 0]]
    assert made.nodes.requested_at(rows, BOTH).tolist() == [[0, 0], [0, 0]]


def test_all_rows_are_a_view() -> None:
    nodes = cluster().nodes
    assert np.shares_memory(nodes.offered_at(nodes.rows, BOTH), nodes.allocatable)
