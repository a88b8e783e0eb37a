"""Selectors of labels, evaluated for many nodes at once."""

import numpy as np

from quaymaster._api.objects.requirements import Operator, Requirement
from quaymaster._api.objects.selectors import Selector
from quaymaster._core.state.arrays import BoolArray, Rows
from quaymaster._core.state.node_table import NodeTable

__all__ = ["selector_matches"]


def selector_matches(selector: Selector, nodes: NodeTable, rows: Rows) -> BoolArray:
    """Return which nodes have labels that match a selector.

    Args:
        selector: The selector.
        nodes: The table of nodes.
        rows: The nodes.

    Returns:
        Shape ``(N,)``, in the order of ``rows``; equal to ``selector.matches`` for the
        labels of each node.
    """
    matches: BoolArray = np.full(
        nodes.count(rows), not selector.matches_nothing, dtype=np.bool_
    )
    for requirement in selector.requirements:
        matches &= _requirement_matches(requirement, nodes, rows)
    return matches


def _requirement_matches(
    requirement: Requirement, nodes: NodeTable, rows: Rows
) -> BoolArray:
    column, operator = nodes.label(requirement.key), requirement.operator
    # These four compare codes. The others have to read each distinct value of the
    # label, which may be as many as there are nodes.
    if operator is Operator.IN:
        return column.is_in(requirement.values, rows)
    if operator is Operator.NOT_IN:
        return ~column.is_in(requirement.values, rows)
    if operator is Operator.EXISTS:
        return column.codes[rows] >= 0
    if operator is Operator.DOES_NOT_EXIST:
        return column.codes[rows] < 0
    return column.test(
        lambda value: (
            value is not None and requirement.matches({requirement.key: value})
        ),
        rows,
    )
