"""Shrinks a failing example: delta debugging over lists, then over fields.

The lists are halved, then quartered and so on, as in ``ddmin`` (Zeller and Hildebrandt,
2002); fields are removed, the largest first.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias, TypeVar

__all__ = ["Budget", "BudgetSpent", "smaller_list", "smaller_tree"]

T = TypeVar("T")
Tree: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]

_FIXED: Final = frozenset(
    {
        ("apiVersion",),
        ("kind",),
        ("metadata",),
        ("metadata", "name"),
        ("spec", "nodeName"),
    }
)


class BudgetSpent(Exception):
    """No trials are left."""


class Budget:
    """Limits the number of trials.

    Args:
        trials: The limit.
        on_trial: Called with the number so far, and the limit.
    """

    def __init__(self, trials: int, on_trial: Callable[[int, int], None]) -> None:
        self._trials = trials
        self._on_trial = on_trial
        self.used = 0

    def take(self) -> None:
        """Use one trial.

        Raises:
            BudgetSpent: No trial is left.
        """
        if self.used >= self._trials:
            raise BudgetSpent
        self.used += 1
        self._on_trial(self.used, self._trials)


def smaller_list(items: Sequence[T], holds: Callable[[list[T]], bool]) -> list[T]:
    """Return a part of a list for which a condition still holds.

    Args:
        items: The list, for which the condition holds.
        holds: Evaluates the condition.

    Returns:
        A part from which no single item can be removed.
    """
    left, parts = list(items), 2
    if left and holds([]):
        return []
    while len(left) >= 2:
        size = -(-len(left) // parts)
        chunks = [left[at : at + size] for at in range(0, len(left), size)]
        for place in range(len(chunks)):
            rest = [
                item for at, chunk in enumerate(chunks) if at != place for item in chunk
            ]
            if holds(rest):
                left, parts = rest, max(parts - 1, 2)
                break
        else:
            if parts >= len(left):
                return left
            parts = min(len(left), 2 * parts)
    return left


def smaller_tree(tree: Tree, holds: Callable[[Tree], bool]) -> Tree:
    """Return an object without the fields that a condition does not need.

    Args:
        tree: The object, for which the condition holds.
        holds: Evaluates the condition.
    """
    tried: set[Path] = set()
    while True:
        path = next((path for path in _paths(tree) if path not in tried), None)
        if path is None:
            return tree
        tried.add(path)
        without = _without(tree, path)
        if holds(without):
            tree = without
            # Items after a removed one have moved up.
            tried = {place for place in tried if place[: len(path) - 1] != path[:-1]}


def _paths(tree: Tree) -> Iterator[Path]:
    """Return the places of all fields and items, the outer ones first."""
    level: list[tuple[Path, Any]] = [((), tree)]
    while level:
        deeper: list[tuple[Path, Any]] = []
        for path, value in level:
            for key, inner in _inside(value):
                place = (*path, key)
                if place not in _FIXED:
                    yield place
                deeper.append((place, inner))
        level = deeper


def _inside(value: object) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list | tuple):
        # From the end, so that earlier items keep their indices.
        yield from reversed(list(enumerate(value)))


def _without(value: Any, path: Path) -> Any:  # noqa: ANN401 - any JSON
    first, *rest = path
    if isinstance(value, dict):
        if rest:
            return {**value, first: _without(value[first], tuple(rest))}
        return {key: inner for key, inner in value.items() if key != first}
    items = list(value)
    if rest:
        items[int(first)] = _without(items[int(first)], tuple(rest))
    else:
        del items[int(first)]
    return items
