"""What differs between two solves of Karpenter."""

from collections.abc import Iterator
from typing import Any, Final

from tests.autoscale.cases import Tree

__all__ = ["claim_shape", "solve_differences"]

_IGNORED: Final = frozenset(
    {"karpenter.sh/nodepool", "karpenter.kwok.sh/kwoknodeclass"}
)
"""Labels that follow from the pool."""


def solve_differences(recorded: list[Tree], answer: Tree) -> Iterator[str]:
    """Yield what no recorded answer has, compared with the one that is most alike.

    Upstream leaves some choices to the order of a map, so all its answers are right.
    """
    found = [[*_differences(each, answer)] for each in recorded]
    yield from min(found, key=len)


def _differences(recorded: Tree, answer: Tree) -> Iterator[str]:
    theirs = sorted(map(claim_shape, recorded["new"]), key=repr)
    ours = sorted(map(claim_shape, answer["new"]), key=repr)
    for shape in theirs:
        if shape not in ours:
            yield f"upstream claims {shape}"
    for shape in ours:
        if shape not in theirs:
            yield f"here claims {shape}"
    if _placed(recorded) != _placed(answer):
        yield f"existing: upstream {_placed(recorded)} here {_placed(answer)}"
    if recorded.get("errors", {}).keys() != answer["errors"].keys():
        yield f"errors: upstream {recorded.get('errors')} here {answer['errors']}"


def _placed(answer: Tree) -> dict[str, list[str]]:
    placed = answer.get("existing", {})
    return {node: sorted(pods) for node, pods in placed.items() if pods}


def claim_shape(claim: Tree) -> tuple[Any, ...]:
    """Return what must agree in a claim, in an order of its own."""
    requirements = sorted(
        (
            tree["key"],
            tree["operator"],
            tuple(sorted(tree.get("values") or ())),
            tree.get("minValues"),
        )
        for tree in claim.get("requirements", ())
        if tree["key"] not in _IGNORED
    )
    return (
        claim["pool"],
        sorted(claim.get("pods", ())),
        sorted(claim["types"]),
        requirements,
        claim["requests"],
    )
