"""The page of a plan has each reason of unplaced pods once."""

from quaymaster.planning import Plan, UnplacedKind
from tests.kit.internals.cli import unplaced_table

FULL = "0/3 nodes are available: 3 Insufficient cpu."
CLOSED = "0/3 nodes are available: 3 node(s) were unschedulable."


def kind(name: str, pods: int, message: str) -> UnplacedKind:
    return UnplacedKind(workload=name, pods=pods, example=name, message=message)


def test_reason_of_several_workloads_has_one_row() -> None:
    kinds = (kind("a", 5, CLOSED), kind("b", 4, FULL), kind("c", 3, FULL))
    found = Plan(groups=(), unplaced_kinds=(*kinds, kind("d", 1, FULL)))
    columns, rows = unplaced_table(found)
    assert columns == ["Pods", "Why", "Unplaced"]
    assert rows == [["8", FULL, "b (4), c (3), d"], ["5", CLOSED, "a (5)"]]


def test_row_names_ten_workloads_and_how_many_more_there_are() -> None:
    kinds = tuple(kind(f"w{number}", 1, FULL) for number in range(12))
    _, rows = unplaced_table(Plan(groups=(), unplaced_kinds=kinds))
    [[pods, _, workloads]] = rows
    assert pods == "12"
    assert workloads.endswith(", w9 and 2 more")
