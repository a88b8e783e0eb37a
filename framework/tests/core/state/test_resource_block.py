"""Several resources in one array agree with each of them alone."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import NodeTable, Rows, Snapshot
from quaymaster.columns import ResourceBlock, ResourceColumn
from quaymaster.testing import make_node, make_pod

GPU = "nvidia.com/gpu"
NAMES = ("cpu", "memory", "ephemeral-storage", GPU, "example.com/nobody-has-it")

amounts = st.dictionaries(
    st.sampled_from(NAMES[:4]), st.integers(0, 50).map(str), max_size=4
)


def table(nodes: Sequence[dict[str, str]], pods: Sequence[dict[str, str]]) -> NodeTable:
    """Return nodes with pods that are distributed in turn."""
    made = Snapshot()
    for number, capacity in enumerate(nodes):
        made.add_node(make_node(name=f"n{number}", capacity=capacity))
    for number, requests in enumerate(pods):
        node = f"n{number % len(nodes)}"
        made.add_pod(make_pod(name=f"p{number}", node=node, requests=requests))
    return made.nodes


@given(
    nodes=st.lists(amounts, min_size=1, max_size=5),
    pods=st.lists(amounts, max_size=6),
    names=st.lists(st.sampled_from(NAMES), min_size=1, unique=True),
    non_zero=st.booleans(),
    data=st.data(),
)
def test_a_block_agrees_with_its_resources(
    nodes: list[dict[str, str]],
    pods: list[dict[str, str]],
    names: list[str],
    non_zero: bool,
    data: st.DataObject,
) -> None:
    columns = table(nodes, pods)
    resources = [ResourceColumn(name, non_zero=non_zero) for name in names]
    numbers = data.draw(st.sets(st.integers(0, len(nodes) - 1), min_size=1))
    rows: Rows = np.array(sorted(numbers), dtype=np.intp)
    if data.draw(st.booleans()):
        rows = columns.rows
    more = data.draw(
        st.lists(st.integers(0, 9), min_size=len(names), max_size=len(names))
    )
    block = ResourceBlock(resources)
    capacities = block.capacities(columns)
    used = block.used_with(np.array(more)[:, None], columns, rows)
    for line, resource in enumerate(resources):
        nothing = [0] * columns.count(rows)
        capacity = resource.capacity(columns)
        offered = nothing if capacity is None else capacity.amounts[rows].tolist()
        assert capacities.amounts[line][rows].tolist() == offered
        assert block.offered(columns, rows)[line].tolist() == offered
        divisors = capacities.divisors_of(block.offered(columns, rows), rows)
        assert divisors[line].tolist() == [max(1, amount) for amount in offered]
        if capacity is not None:
            expected = resource.usage(columns, rows) + more[line]
            assert used[line].tolist() == expected.tolist()
    found = [resource.capacity(columns) for resource in resources]
    assert capacities.is_everywhere is all(
        column and column.is_everywhere for column in found
    )


def test_returned_arrays_are_copies() -> None:
    columns = table([{"cpu": "4"}], [])
    block = ResourceBlock([ResourceColumn("cpu")])
    used = block.used_with(np.array([[0]]), columns, columns.rows)
    used += 1000
    assert columns.requested[0, 0] == 0


@pytest.mark.parametrize(("amount", "is_exact"), [(2**53 // 101, True), (2**60, False)])
def test_a_block_is_as_exact_as_its_least_exact_resource(
    amount: int, is_exact: bool
) -> None:
    columns = table([{"cpu": "1", GPU: str(amount)}], [])
    block = ResourceBlock([ResourceColumn("cpu"), ResourceColumn(GPU)])
    assert block.capacities(columns).is_exact is is_exact


def test_capacities_are_measured_again_when_a_node_changes() -> None:
    made = Snapshot()
    made.add_node(make_node(name="n", capacity={"cpu": "1"}))
    block = ResourceBlock([ResourceColumn("cpu")])
    before = block.capacities(made.nodes)
    made.add_pod(make_pod(node="n", requests={"cpu": "1"}))
    assert block.capacities(made.nodes) is before
    made.add_node(make_node(name="n", capacity={"cpu": "2"}))
    rows = made.nodes.rows
    assert block.capacities(made.nodes).amounts[:, rows].tolist() == [[2000]]
    assert block.offered(made.nodes, rows).tolist() == [[2000]]
