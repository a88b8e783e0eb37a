"""Finds arguments of a plugin that are read, but that nothing uses after that."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import attrs

from quaymaster._authors.testing.contract.unread_arguments import (
    READS_ALL,
    files_nearby,
    files_of_packages,
    name_of,
    own_args,
)

__all__ = ["idle_arguments"]

_PURE: Final = frozenset(
    {
        "abs",
        "bool",
        "dict",
        "float",
        "frozenset",
        "int",
        "len",
        "list",
        "max",
        "min",
        "round",
        "set",
        "sorted",
        "str",
        "sum",
        "timedelta",
        "tuple",
    }
)
"""Functions whose call does nothing but return a value."""

_CHECKS: Final = frozenset({"validate", "__attrs_post_init__"})
"""Methods of arguments that check them when they are loaded."""

_NOWHERE: Final = "(validation)"
"""Where values are stored that code only checks."""


@cache
def idle_arguments(plugin: type) -> Sequence[str]:
    """Return the arguments of a plugin that are only validated or stored.

    An attribute that is made of an argument, and a method of the arguments that reads
    it, count like the argument: other code has to read them.

    Args:
        plugin: Its class.
    """
    args = own_args(plugin)
    if args is None:
        return ()
    names = [field.name for field in attrs.fields(args)]
    wanted = set(names)
    for find in (files_nearby, files_of_packages):
        # Most are used nearby, and the top package may be large.
        if names:
            reads = _Reads(args)
            for tree in _trees(find(plugin, args), wanted):
                reads.visit(tree)
            names = [name for name in names if reads.is_idle(name, frozenset())]
            wanted = {each for name in names for each in (name, *reads.stored(name))}
    return names


def _trees(files: Iterable[Path], names: Iterable[str]) -> Iterator[ast.Module]:
    for file in dict.fromkeys(files):
        text = file.read_text(encoding="utf-8")
        if any(name in text for name in names):
            yield ast.parse(text)


class _Reads:
    """The reads of all names in the code of a plugin.

    Args:
        args: The class of its arguments.
    """

    def __init__(self, args: type) -> None:
        self._args = {base.__name__ for base in args.__mro__ if base is not object}
        self._places: dict[str, set[str]] = {}
        self._are_all_read = False

    def is_idle(self, name: str, seen: frozenset[str]) -> bool:
        """Return whether a name is read, but only to be stored in idle names."""
        if self._are_all_read or name not in self._places:
            return False
        seen |= {name}
        return all(
            stored != "" and (stored in seen or self._is_unused(stored, seen))
            for stored in self._places[name]
        )

    def _is_unused(self, name: str, seen: frozenset[str]) -> bool:
        return name not in self._places or self.is_idle(name, seen)

    def stored(self, name: str) -> Iterable[str]:
        """Return where a name is stored."""
        return self._places.get(name, ())

    def visit(self, node: ast.AST, stored: str = "", *, is_args: bool = False) -> None:
        """Note the reads in a syntax tree.

        Args:
            node: Its root.
            stored: Where the values of these reads are stored; empty if they are used.
            is_args: Whether it is the class of the arguments.
        """
        if isinstance(node, ast.ClassDef):
            is_args = node.name in self._args
        elif isinstance(node, ast.FunctionDef) and is_args:
            is_args, stored = False, _stored_by(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not stored:
            stored = _attribute_of(node)
        self._note(node, stored)
        if self._is_default(node):
            return
        for child in ast.iter_child_nodes(node):
            self.visit(child, stored, is_args=is_args)

    def _is_default(self, node: ast.AST) -> bool:
        """Return whether it reads the default of an argument."""
        value = node.value if isinstance(node, ast.Attribute) else None
        return isinstance(value, ast.Call) and name_of(value.func) in self._args

    def _note(self, node: ast.AST, stored: str) -> None:
        names: Iterable[str] = ()
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            names = () if self._is_default(node) else (node.attr,)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = (node.value,)  # such as getattr(args, "name")
        elif isinstance(node, ast.MatchClass):
            names = node.kwd_attrs
        elif isinstance(node, ast.Call) and name_of(node.func) in READS_ALL:
            self._are_all_read = self._are_all_read or stored != _NOWHERE
        for name in names:
            self._places.setdefault(name, set()).add(stored)


def _stored_by(function: ast.FunctionDef) -> str:
    """Return the name by which other code reads what a method of arguments returns."""
    is_check = any(
        isinstance(each, ast.Attribute) and each.attr == "validator"
        for each in function.decorator_list
    )
    return _NOWHERE if is_check or function.name in _CHECKS else function.name


def _attribute_of(node: ast.Assign | ast.AnnAssign) -> str:
    """Return the attribute that gets a value, if its value has no other effect."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    calls = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    is_pure = all(name_of(call.func) in _PURE for call in calls)
    (target,) = targets if len(targets) == 1 else (None,)
    is_own = (
        isinstance(target, ast.Attribute)
        and isinstance(target.value, ast.Name)
        and target.value.id == "self"
    )
    return (
        target.attr if isinstance(target, ast.Attribute) and is_own and is_pure else ""
    )
