"""Tidies a filled-in Python file: removes unused names, breaks long lines."""

import ast
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from quaymaster._authors.packages.templates import without_lines

__all__ = ["tidy"]

_Part: TypeAlias = ast.stmt | ast.expr
_Names: TypeAlias = Mapping[_Part, set[str]]
"""The names that each part of a module reads."""

_WIDTH: Final = 88
_BRACKETS: Final = re.compile(r"(?P<head>.*?[(\[])(?P<inside>.*)(?P<tail>[)\]].*)")


def tidy(lines: Sequence[str]) -> str:
    """Remove unused imports and private names; break lines that are too long.

    Args:
        lines: The lines of a module.
    """
    body = ast.parse("\n".join(lines)).body
    names = {part: _names_in(part) for part in _parts(body)}
    unused = _unused(names)
    used = _used(names, unused)
    tidied, gone = list(lines), {line for part in unused for line in _lines(part)}
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            first, *others = _lines(node)
            tidied[first] = _import(node, used)
            gone.update(others if tidied[first] else (first, *others))
    broken = (part for line in without_lines(tidied, gone) for part in _broken(line))
    return "".join(f"{line}\n" for line in broken)


def _parts(body: Iterable[ast.stmt]) -> Iterator[_Part]:
    """Yield the statements of a module and of its classes, with comments above."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from node.decorator_list
            yield from node.bases
            yield from node.body
        else:
            yield node


def _unused(names: _Names) -> set[_Part]:
    """Return the definitions of private names that only unused parts use, or none."""
    private = {part: name for part in names if (name := _private_name(part))}
    unused: set[_Part] = set()
    while True:
        used = _used(names, unused)
        more = {part for part, name in private.items() if name not in used}
        if more == unused:
            return unused
        unused = more


def _used(names: _Names, unused: Container[_Part]) -> set[str]:
    return {name for part in names if part not in unused for name in names[part]}


def _private_name(part: _Part) -> str:
    """Return the private name that a function or an assignment defines, or empty."""
    name = ""
    if isinstance(part, ast.FunctionDef):
        name = part.name
    elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
        name = part.targets[0].id
    return name if name.startswith("_") and not name.startswith("__") else ""


def _names_in(part: _Part) -> set[str]:
    """Return the names that a part reads or exports."""
    names: set[str] = set()
    for node in ast.walk(part):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Constant):
            names.add(str(node.value))
    return names


def _lines(part: _Part) -> range:
    """Return the line numbers of a part without decorators, from 0."""
    return range(part.lineno - 1, part.end_lineno or part.lineno)


def _import(node: ast.Import | ast.ImportFrom, used: Container[str]) -> str:
    """Return an import in one line, without unused names; or empty."""
    aliases = (alias for alias in node.names if (alias.asname or alias.name) in used)
    taken = ", ".join(map(ast.unparse, aliases))
    start = f"from {node.module} " if isinstance(node, ast.ImportFrom) else ""
    return f"{start}import {taken}" if taken else ""


def _broken(line: str) -> Iterable[str]:
    """Yield a line, broken as ruff's formatter would if it is too long."""
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
