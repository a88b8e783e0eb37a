"""The public modules of the framework, and the places that define their names."""

import ast
import importlib
from collections.abc import Mapping
from pathlib import Path

from tests.kit.sources import CORE, parsed

__all__ = [
    "EXPORTS",
    "MODULES",
    "defined_by",
    "docstring_of",
    "origin",
]


def _files() -> Mapping[str, Path]:
    found = {"quaymaster": CORE / "__init__.py"}
    for path in sorted(CORE.iterdir()):
        if not path.name.startswith("_") and path.suffix in ("", ".py"):
            found[f"quaymaster.{path.stem}"] = path
    return found


MODULES = _files()
"""The public modules by name."""


def _exports() -> Mapping[str, tuple[str, ...]]:
    modules = {name: importlib.import_module(name) for name in MODULES}
    return {name: tuple(module.__all__) for name, module in modules.items()}


EXPORTS = _exports()
"""Module -> the names that it exports."""


def origin(module: str, name: str) -> tuple[Path, ast.stmt, ast.stmt | None]:
    """Return where a name is defined: file, statement, and the statement after it."""
    while True:
        path = Path(importlib.import_module(module).__file__ or "")
        body = _statements(path)
        source = None
        for statement, following in zip(body, [*body[1:], None], strict=True):
            if name in defined_by(statement):
                return path, statement, following
            if isinstance(statement, ast.ImportFrom) and any(
                (alias.asname or alias.name) == name for alias in statement.names
            ):
                source = statement.module
        assert source is not None, (module, name)
        module = source


def _statements(path: Path) -> list[ast.stmt]:
    """Return the statements of a module, with those for type checkers only."""
    return [
        statement
        for outer in parsed(path).body
        for statement in (outer.body if isinstance(outer, ast.If) else [outer])
    ]


def defined_by(statement: ast.stmt) -> set[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
        return {statement.name}
    if isinstance(statement, ast.Assign):
        nodes = (node for target in statement.targets for node in ast.walk(target))
        return {node.id for node in nodes if isinstance(node, ast.Name)}
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return {statement.target.id}
    return set()


def docstring_of(module: str, name: str) -> str:
    """Return the docstring of a name, or the string after its assignment."""
    _, statement, following = origin(module, name)
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
        return ast.get_docstring(statement) or ""
    if isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant):
        return str(following.value.value)
    return ""
