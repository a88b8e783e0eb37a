"""Columns that plugins read from the node objects."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from msgspec.structs import replace

from quaymaster import Node, Snapshot
from quaymaster.columns import NodeColumn
from quaymaster.testing import make_node, make_pod

PRICE = "example.com/price"
NAMES = tuple(f"n{number}" for number in range(12))


def price_of(node: Node) -> float:
    return float(node.annotations.get(PRICE, "nan"))


def priced(name: str, price: str | None) -> Node:
    node = make_node(name=name)
    annotations = {} if price is None else {PRICE: price}
    return replace(node, metadata=replace(node.metadata, annotations=annotations))


class Counting:
    """Reads prices, and counts how often."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, node: Node) -> float:
        self.calls += 1
        return price_of(node)


def test_value_is_read_once_per_change_of_the_node() -> None:
    snapshot, read = Snapshot(), Counting()
    snapshot.add_node(priced("n0", "1.5"))
    snapshot.add_node(priced("n1", "2"))
    column = NodeColumn(read, dtype=float)
    assert column.of(snapshot.nodes)[snapshot.nodes.rows].tolist() == [1.5, 2.0]
    snapshot.add_pod(make_pod(node="n0"))
    (first, _) = snapshot.nodes
    assert column.on(first) == 1.5
    assert column.of(snapshot.nodes)[snapshot.nodes.rows].tolist() == [1.5, 2.0]
    assert read.calls == 2
    snapshot.add_node(priced("n1", "3"))
    assert column.of(snapshot.nodes)[snapshot.nodes.rows].tolist() == [1.5, 3.0]
    assert read.calls == 3


def test_values_may_be_any_objects() -> None:
    snapshot = Snapshot()
    snapshot.add_node(priced("n0", "1,2"))
    column = NodeColumn(lambda node: node.annotations[PRICE].split(","))
    assert column.of(snapshot.nodes)[0] == ["1", "2"]


def test_trial_table_has_the_values_of_the_nodes() -> None:
    snapshot = Snapshot()
    snapshot.add_node(priced("n0", "1.5"))
    column = NodeColumn(price_of, dtype=float)
    assert column.of(snapshot.nodes.imagined())[0] == 1.5


def test_another_table_is_read_from_the_beginning() -> None:
    column = NodeColumn(price_of, dtype=float)
    for price in ("1", "2"):
        snapshot = Snapshot()
        snapshot.add_node(priced("n0", price))
        assert column.of(snapshot.nodes)[0] == float(price)


def test_node_that_cannot_be_read_fails_again_the_next_time() -> None:
    snapshot = Snapshot()
    snapshot.add_node(priced("n0", "cheap"))
    column = NodeColumn(price_of, dtype=float)
    for _ in range(2):
        with pytest.raises(ValueError, match="cheap"):
            column.of(snapshot.nodes)
    snapshot.add_node(priced("n0", "1"))
    assert column.of(snapshot.nodes)[0] == 1.0


class History(RuleBasedStateMachine):
    """The column equals a new one, after any history."""

    def __init__(self) -> None:
        super().__init__()
        self.snapshot = Snapshot()
        self.column = NodeColumn(price_of, dtype=float)

    @rule(name=st.sampled_from(NAMES), price=st.sampled_from([None, "1", "2.5"]))
    def add_or_change(self, name: str, price: str | None) -> None:
        self.snapshot.add_node(priced(name, price))

    @rule(name=st.sampled_from(NAMES))
    def remove(self, name: str) -> None:
        if self.snapshot.nodes.get(name) is not None:
            self.snapshot.remove_node(name)

    @invariant()
    def equals_a_new_column(self) -> None:
        nodes = self.snapshot.nodes
        values = self.column.of(nodes)
        new = NodeColumn(price_of, dtype=float).of(nodes)
        assert np.array_equal(values[nodes.rows], new[nodes.rows], equal_nan=True)
        for node in nodes:
            value = self.column.on(node)
            assert value == price_of(node.node) or math.isnan(value)


TestHistory = History.TestCase
