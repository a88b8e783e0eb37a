"""The topologies in which volumes of a class can be made."""

from collections.abc import Mapping, Sequence

from quaymaster._api.objects import TopologySelectorTerm

__all__ = ["allows_topology"]


def allows_topology(
    terms: Sequence[TopologySelectorTerm], labels: Mapping[str, str]
) -> bool:
    """Whether volumes can be made for a node with these labels.

    Mirrors ``MatchTopologySelectorTerms`` (Kubernetes v1.36,
    ``pkg/apis/core/v1/helper/helpers.go``): without terms they can be made everywhere,
    an empty term allows nothing.
    """
    if not terms:
        return True
    return any(
        term.match_label_expressions
        and all(
            expression.key in labels and labels[expression.key] in expression.values
            for expression in term.match_label_expressions
        )
        for term in terms
    )
