"""A search for candidates reports the status of each other node."""

from quaymaster import Snapshot, Status
from quaymaster.testing import make_node
from tests.kit.internals.preemption import NO_VICTIMS, SameStatus, Search
from tests.kit.internals.state import Cache


def test_one_status_for_many_nodes_is_reported_and_counted_like_a_mapping() -> None:
    snapshot = Snapshot()
    cache = Cache(snapshot)
    for name in "abc":
        cache.add_node(make_node(name=name))
    nodes = snapshot.nodes
    rows = nodes.rows_of(["a", "c"])
    same = Search((), SameStatus(nodes, rows, NO_VICTIMS))
    plain = Search((), {"a": NO_VICTIMS, "c": NO_VICTIMS})
    assert same.statuses == plain.statuses
    assert same.counted() == plain.counted() == {NO_VICTIMS: 2}
    assert same.errors == plain.errors == ()


def test_errors_are_reported_once_in_the_order_in_which_they_came() -> None:
    broken, other = Status.from_error("broken"), Status.from_error("other")
    statuses = {"a": broken, "b": NO_VICTIMS, "c": other, "d": broken}
    assert Search((), statuses).errors == ("broken", "other")
