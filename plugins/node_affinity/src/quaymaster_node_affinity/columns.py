"""Node selectors, evaluated for many nodes at once.

The results equal those of the compiled selectors of `quaymaster.objects`, per node.
"""

import numpy as np

from quaymaster import BoolArray, Int64Array, NodeTable, Rows
from quaymaster.columns import selector_matches
from quaymaster.objects import (
    FieldRequirement,
    NodeMatcher,
    NodeTerm,
    PreferredTerms,
    RequiredNodeAffinity,
)

__all__ = ["affinity_matches", "matcher_matches", "preference_scores"]


def affinity_matches(
    required: RequiredNodeAffinity, nodes: NodeTable, rows: Rows
) -> BoolArray:
    """Find the nodes that match a node selector and required node affinity.

    Returns:
        Shape ``(N,)``, in the order of ``rows``.
    """
    matches = selector_matches(required.selector, nodes, rows)
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
    matches = selector_matches(term.labels, nodes, rows)
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
