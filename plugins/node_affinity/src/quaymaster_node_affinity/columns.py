"""Node selectors, evaluated for many nodes at once.

The results equal those of the compiled selectors of `quaymaster.objects`, per node.
"""

import numpy as np

from quaymaster import BoolArray, Int64Array, NodeTable, Rows
from quaymaster.objects import (
    FieldRequirement,
    NodeMatcher,
    NodeTerm,
    Operator,
    PreferredTerms,
    RequiredNodeAffinity,
    Requirement,
    Selector,
)

__all__ = ["affinity_matches", "matcher_matches", "preference_scores"]


def affinity_matches(
    required: RequiredNodeAffinity, nodes: NodeTable, rows: Rows
) -> BoolArray:
    """Find the nodes that match a node selector and required node affinity.

    Returns:
        Shape ``(N,)``, in the order of ``rows``.
    """
    matches = _selector_matches(required.selector, nodes, rows)
    if required.affinity is not None:
        matches &= matcher_matches(required.affinity, nodes, rows)
    return matches


def matcher_matches(matcher: NodeMatcher, nodes: NodeTable, rows: Rows) -> BoolArray:
    """Find the nodes that match a term of a node selector, shape ``(N,)``."""
    matches: BoolArray = np.zeros(nodes.count(rows), dtype=np.bool_)
    for term in matcher.terms:
        matches |= _term_matches(term, nodes, rows)
    return matches


def preference_scores(
    preferred: PreferredTerms, nodes: NodeTable, rows: Rows
) -> Int64Array:
    """Add up the weights of the terms that each node matches, shape ``(N,)``."""
    scores: Int64Array = np.zeros(nodes.count(rows), dtype=np.int64)
    for weight, term in preferred.terms:
        scores += weight * _term_matches(term, nodes, rows)
    return scores


def _term_matches(term: NodeTerm, nodes: NodeTable, rows: Rows) -> BoolArray:
    matches = _selector_matches(term.labels, nodes, rows)
    for field in term.fields:
        matches &= _field_matches(field, nodes, rows)
    return matches


def _field_matches(field: FieldRequirement, nodes: NodeTable, rows: Rows) -> BoolArray:
    named: BoolArray = np.zeros(nodes.capacity, dtype=np.bool_)
    if field.key == "metadata.name":
        named[nodes.rows_of([field.value])] = True
    elif not field.value:  # any other field is empty
        named[:] = True
    matches: BoolArray = named[rows] == field.equal
    return matches


def _selector_matches(selector: Selector, nodes: NodeTable, rows: Rows) -> BoolArray:
    matches: BoolArray = np.full(
        nodes.count(rows), not selector.matches_nothing, dtype=np.bool_
    )
    for requirement in selector.requirements:
        matches &= _requirement_matches(requirement, nodes, rows)
    return matches


def _requirement_matches(
    requirement: Requirement, nodes: NodeTable, rows: Rows
) -> BoolArray:
    column = nodes.label(requirement.key)
    operator = requirement.operator
    if operator is Operator.IN:
        return column.is_in(requirement.values, rows)
    if operator is Operator.NOT_IN:
        return ~column.is_in(requirement.values, rows)
    if operator is Operator.EXISTS:
        return column.codes[rows] >= 0
    if operator is Operator.DOES_NOT_EXIST:
        return column.codes[rows] < 0

    def holds(value: str | None) -> bool:
        return value is not None and requirement.matches({requirement.key: value})

    return column.test(holds, rows)
