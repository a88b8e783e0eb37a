"""A pod's node selector and node affinity, compiled once per spec."""

from collections.abc import Hashable
from typing import Final

import msgspec

from quaymaster import Pod
from quaymaster.errors import SelectorError
from quaymaster.objects import (
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    PodSpec,
    PreferredTerms,
    RequiredNodeAffinity,
    SpecKey,
    compile_preferred_terms,
    required_node_affinity,
)

__all__ = ["NodeAffinityTerms", "node_affinity_terms"]


class NodeAffinityTerms(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A pod's node selector and node affinity.

    Attributes:
        required: The requirements for nodes; invalid terms match nothing.
        has_required: Whether there are any requirements.
        node_names: The only names of nodes that can match; None if any name can.
        preferred: The preferences; None if there are none, or if some of them are
            invalid.
        problem: Why they are invalid.
        fragment: The signature: all of this in a hashable form.
    """

    required: RequiredNodeAffinity
    has_required: bool
    node_names: frozenset[str] | None
    preferred: PreferredTerms | None
    problem: str | None
    fragment: Hashable


def node_affinity_terms(pod: Pod) -> NodeAffinityTerms:
    """Return a pod's node selector and node affinity."""
    return _TERMS.of(pod)


def _compile(spec: PodSpec) -> NodeAffinityTerms:
    if not spec.node_selector and spec.affinity is None:
        return _NOTHING
    return _compiled(spec)


def _compiled(spec: PodSpec) -> NodeAffinityTerms:
    selector = spec.node_selector
    affinity = _node_affinity(spec)
    required = affinity.required_during_scheduling_ignored_during_execution
    terms = affinity.preferred_during_scheduling_ignored_during_execution
    preferred = problem = None
    try:
        preferred = compile_preferred_terms(terms) if terms else None
    except SelectorError as error:
        problem = str(error)
    return NodeAffinityTerms(
        required=required_node_affinity(Pod(spec=spec)),
        has_required=bool(selector) or required is not None,
        node_names=None if required is None else _node_names(required),
        preferred=preferred,
        problem=problem,
        fragment=(tuple(sorted(selector.items())), affinity),
    )


_TERMS: Final = SpecKey(_compile)


def _node_affinity(spec: PodSpec) -> NodeAffinity:
    affinity = spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return NodeAffinity()
    return affinity.node_affinity


def _node_names(selector: NodeSelector) -> frozenset[str] | None:
    """Return the node names that the terms allow, or None if some term allows any."""
    allowed: set[str] = set()
    for term in selector.node_selector_terms:
        names = _names_in_term(term)
        if names is None:
            return None
        # Terms are alternatives, so that one without a name admits all nodes.
        allowed |= names
    return frozenset(allowed) if selector.node_selector_terms else None


def _names_in_term(term: NodeSelectorTerm) -> frozenset[str] | None:
    listed = [
        frozenset(field.values)
        for field in term.match_fields
        if field.key == "metadata.name" and field.operator == "In"
    ]
    # Requirements within a term must all hold; ``PreFilter`` (node_affinity.go)
    # intersects them as well.
    return frozenset.intersection(*listed) if listed else None


_NOTHING: Final = _compiled(PodSpec())
"""The terms of pods without node affinity."""
