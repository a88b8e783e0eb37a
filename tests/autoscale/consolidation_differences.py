"""Compares disruptions of Karpenter with recorded ones."""

from collections.abc import Iterator, Sequence
from typing import Final

from tests.autoscale.cases import Tree

__all__ = ["consolidation_differences"]

_DIGITS: Final = 6


def consolidation_differences(recorded: Sequence[Tree], ours: Tree) -> Iterator[str]:
    """Yield what differs from the nearest of the recorded answers; nothing if none.

    Args:
        recorded: All answers that upstream gave.
        ours: Our answer.
    """
    found = [list(_differences(theirs, ours)) for theirs in recorded]
    yield from min(found, key=len)


def _differences(theirs: Tree, ours: Tree) -> Iterator[str]:
    for name, node in theirs["nodes"].items():
        expected, actual = _node(node), _node(ours["nodes"].get(name, {}))
        if expected != actual:
            yield f"{name}: upstream {expected} here {actual}"
    methods = {method["method"]: method for method in ours["methods"]}
    for method in theirs["methods"]:
        expected, actual = _method(method), _method(methods[method["method"]])
        if expected != actual:
            yield f"{method['method']}: upstream {expected} here {actual}"


def _node(node: Tree) -> Tree:
    return {key: _rounded(value) for key, value in node.items()}


def _rounded(value: object) -> object:
    # Sums of floats differ in their last digits by the order of their parts.
    return round(value, _DIGITS) if isinstance(value, int | float) else value


def _method(method: Tree) -> Tree:
    return {
        "eligible": sorted(method["eligible"]),
        "budgets": method["budgets"],
        "commands": [_command(each) for each in method.get("commands") or ()],
        "totals": {
            pool: _node(totals) for pool, totals in method.get("totals", {}).items()
        },
    }


def _command(command: Tree) -> Tree:
    replacements = command.get("replacements") or ()
    return {
        "decision": command["decision"],
        "nodes": sorted(command["nodes"]),
        "savings": _rounded(command["savings"]),
        "types": [sorted(claim["types"]) for claim in replacements],
    }
