"""The repository's sources, for tests of its layout."""

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

__all__ = ["CEL", "CORE", "ROOT", "imports", "parsed", "syntax_nodes"]

ROOT = Path(__file__).parents[2]
CORE = ROOT / "framework" / "src" / "quaymaster"
CEL = ROOT / "framework" / "cel" / "src" / "kubernetes_cel"


@cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def syntax_nodes(path: Path) -> Sequence[ast.AST]:
    """Return all nodes of a file's tree."""
    return tuple(ast.walk(parsed(path)))


@cache
def imports(path: Path) -> Sequence[tuple[str, str]]:
    """Yield the modules that a file imports, with the imported names, if any."""
    found: list[tuple[str, str]] = []
    for node in syntax_nodes(path):
        if isinstance(node, ast.Import):
            found += ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += ((node.module, alias.name) for alias in node.names)
    return found
