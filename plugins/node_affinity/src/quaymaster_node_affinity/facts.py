"""Explain which requirements a node does not meet, and the values that it has."""

from collections.abc import Iterable, Iterator, Sequence

from quaymaster import NodeInfo
from quaymaster.objects import (
    NodeMatcher,
    NodeTerm,
    RequiredNodeAffinity,
    Requirement,
    Selector,
)

__all__ = ["explain_matcher", "explain_required"]


def explain_required(required: RequiredNodeAffinity, node: NodeInfo) -> Sequence[str]:
    """Return the unmet requirements of a pod, and the node's values of these labels.

    Args:
        required: The node selector and the required node affinity of the pod.
        node: The node.
    """
    needs: list[str] = []
    values: list[str] = []
    unmet = _unmet(required.selector, node)
    if unmet:
        needs.append(f"node selector needs {_joined(unmet)}")
        values += _values(unmet, node)
    affinity = required.affinity
    if affinity is not None and not affinity.matches(node.node):
        need, *more = explain_matcher("node affinity", affinity, node)
        needs.append(need)
        values += more
    return ["; ".join(needs), *dict.fromkeys(values)] if needs else ()


def explain_matcher(name: str, matcher: NodeMatcher, node: NodeInfo) -> Sequence[str]:
    """Return what the terms need, of which a node meets none, and the node's values.

    Args:
        name: What has the terms.
        matcher: The terms.
        node: The node.
    """
    problems = [
        f"{name} has a term that matches nothing: {text}" for text in matcher.problems
    ]
    if not matcher.terms:
        return problems or [f"{name} has no term that can match"]
    terms = [_unmet_term(term, node) for term in matcher.terms]
    needs = ", or ".join(dict.fromkeys(text for text, _ in terms))
    values = dict.fromkeys(text for _, texts in terms for text in texts)
    return [f"{name} needs {needs}", *problems, *values]


def _unmet_term(term: NodeTerm, node: NodeInfo) -> tuple[str, Sequence[str]]:
    """Return the requirements of a term that fail, and the node's values for them."""
    unmet = _unmet(term.labels, node)
    fields = () if term.matches_name(node.name) else term.fields
    return _joined([*unmet, *fields]), list(_values(unmet, node))


def _unmet(selector: Selector, node: NodeInfo) -> Sequence[Requirement]:
    return [
        requirement
        for requirement in selector.requirements
        if not requirement.matches(node.labels)
    ]


def _joined(requirements: Iterable[object]) -> str:
    return " and ".join(map(str, requirements))


def _values(requirements: Iterable[Requirement], node: NodeInfo) -> Iterator[str]:
    for key in dict.fromkeys(requirement.key for requirement in requirements):
        value = node.labels.get(key)
        yield f"no label {key} here" if value is None else f"{key}={value} here"
