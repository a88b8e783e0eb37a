"""Makes a filled-in Python file tidy: nothing unused, no line too long."""

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._packages.templates import without_lines

__all__ = ["tidy"]

_WIDTH: Final = 88
_BRACKETS: Final = re.compile(r"(?P<head>.*?[(\[])(?P<inside>.*)(?P<tail>[)\]].*)")


def tidy(lines: Sequence[str]) -> str:
    """Leave out unused imports and private names; break lines that are too long.

    Args:
        lines: The lines of a module.
    """
    while dropped := _unused_definitions(ast.parse("\n".join(lines))):
        lines = without_lines(lines, dropped)
    lines = _with_used_imports(lines)
    broken = (part for line in lines for part in _broken(line))
    return "".join(f"{line}\n" for line in broken)


def _used(tree: ast.Module) -> frozenset[str]:
    """The names that a module reads, or exports."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(
            node.ctx, ast.Load
        ):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
        elif isinstance(node, ast.Constant):
            found.add(str(node.value))
    return frozenset(found)


def _unused_definitions(tree: ast.Module) -> set[int]:
    """The numbers of the lines, from 0, of private names that nothing uses."""
    used = _used(tree)
    bodies = [tree.body, *(x.body for x in tree.body if isinstance(x, ast.ClassDef))]
    found: set[int] = set()
    for node in (node for body in bodies for node in body):
        name = _name_of(node)
        is_private = name.startswith("_") and not name.startswith("__")
        if is_private and name not in used:
            found.update(range(node.lineno - 1, node.end_lineno or node.lineno))
    return found


def _name_of(node: ast.stmt) -> str:
    """What a statement defines, or empty."""
    if isinstance(node, ast.FunctionDef):
        return node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


def _with_used_imports(lines: Sequence[str]) -> Sequence[str]:
    """The lines, without imports that nothing uses."""
    tree = ast.parse("\n".join(lines))
    used = _used(tree)
    found, dropped = list(lines), set[int]()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [one.name for one in node.names if one.name in used]
            taken = ", ".join(names)
            start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
            found[node.lineno - 1] = f"{start}import {taken}"
            first = node.lineno if names else node.lineno - 1
            dropped.update(range(first, node.end_lineno or node.lineno))
    return without_lines(found, dropped)


def _broken(line: str) -> Iterable[str]:
    """A line as the formatter of ruff would break it, if it is too long."""
    if len(line) <= _WIDTH:
        return [line]
    is_import = " import " in line
    if is_import:
        line = line.replace(" import ", " import (") + ")"
    match = _BRACKETS.fullmatch(line)
    assert match is not None, f"this line of a template cannot be broken: {line}"
    outer = " " * (len(line) - len(line.lstrip()))
    inner = outer + "    "
    inside = [inner + match["inside"]]
    if is_import or len(inside[0]) > _WIDTH:
        inside = [f"{inner}{part}," for part in match["inside"].split(", ")]
    return [match["head"], *inside, outer + match["tail"]]
