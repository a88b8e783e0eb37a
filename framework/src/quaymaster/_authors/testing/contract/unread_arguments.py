"""Finds arguments of a plugin that no code reads, so that they have no effect."""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final

import attrs

from quaymaster._authors.testing.contract.own_frames import NOT_PLUGINS

__all__ = [
    "READS_ALL",
    "files_nearby",
    "files_of_packages",
    "name_of",
    "own_args",
    "unread_arguments",
]

READS_ALL: Final = frozenset({"asdict", "astuple", "vars", "fields", "unstructure"})
"""Functions that read arguments without their names."""


@cache
def unread_arguments(plugin: type) -> Sequence[str]:
    """Return the arguments of a plugin that no code of its packages reads.

    The read of a default, as in ``MyArgs().limit``, does not count.

    Args:
        plugin: Its class.
    """
    args = own_args(plugin)
    if args is None:
        return ()
    names = [field.name for field in attrs.fields(args)]
    for find in (files_nearby, files_of_packages):
        # Most are read nearby, and the top package may be large.
        files = dict.fromkeys(find(plugin, args)) if names else ()
        names = [name for name in names if not _is_read(name, args, files)]
    return names


def own_args(plugin: type) -> type | None:
    """Return the class of a plugin's arguments, or None if it has none of its own."""
    args: object = getattr(plugin, "Args", None)
    if not isinstance(args, type) or not attrs.has(args):
        return None
    # Code of the framework reads its own arguments.
    packages = {base.__module__.partition(".")[0] for base in args.__mro__}
    return None if "quaymaster" in packages else args


def _modules(plugin: type, args: type) -> Iterator[str]:
    """Yield the modules of the classes of a plugin and of its arguments."""
    for kind in (*plugin.__mro__, *args.__mro__):
        if kind.__module__.partition(".")[0] not in NOT_PLUGINS:
            yield kind.__module__


def files_nearby(plugin: type, args: type) -> Iterator[Path]:
    """Yield the sources beside the modules of a plugin."""
    for name in dict.fromkeys(_modules(plugin, args)):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None:
            yield from Path(file).parent.glob("*.py")


def files_of_packages(plugin: type, args: type) -> Iterator[Path]:
    """Yield the sources of the packages of a plugin."""
    packages = (name.partition(".")[0] for name in _modules(plugin, args))
    for name in dict.fromkeys(packages):
        for folder in getattr(sys.modules.get(name), "__path__", ()):
            yield from Path(folder).rglob("*.py")


def _is_read(name: str, args: type, files: Iterable[Path]) -> bool:
    return any(
        _reads(node, name, args)
        for file in files
        if name in (text := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
    )


def _reads(node: ast.AST, name: str, args: type) -> bool:
    """Return whether a node of a syntax tree may read an argument."""
    if isinstance(node, ast.Constant):
        return bool(node.value == name)  # such as getattr(args, "name")
    if isinstance(node, ast.MatchClass):
        return name in node.kwd_attrs
    if isinstance(node, ast.Call):
        return name_of(node.func) in READS_ALL
    if not isinstance(node, ast.Attribute) or node.attr != name:
        return False
    value = node.value
    is_default = isinstance(value, ast.Call) and name_of(value.func) == args.__name__
    return isinstance(node.ctx, ast.Load) and not is_default


def name_of(function: ast.expr) -> str:
    """Return the last part of the name of a function that is called, or empty."""
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
