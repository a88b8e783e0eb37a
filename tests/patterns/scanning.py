"""Finds the regular expressions of the product in its source."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.kit.sources import ROOT, parsed, syntax_nodes

__all__ = ["Use", "uses"]

_METHODS: Final = frozenset(
    ("match", "fullmatch", "search", "sub", "subn", "split", "finditer", "findall")
)
_FOLDERS: Final = ("framework/src", "framework/cel/src", "plugins")


class Use(NamedTuple):
    """A regular expression of the product.

    Attributes:
        module: The module that has it, such as ``quaymaster._base.logs``.
        name: The name of the compiled pattern, or the source of the call.
        methods: How it is applied; empty if the module does not show it.
    """

    module: str
    name: str
    methods: tuple[str, ...]


def uses() -> Iterator[Use]:
    """Find all of them, in the order of modules."""
    for folder in _FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if "/src/" in path.as_posix():
                yield from _uses_of(path)


def _uses_of(path: Path) -> Iterator[Use]:
    parts = path.with_suffix("").parts
    module = ".".join(parts[parts.index("src") + 1 :]).removesuffix(".__init__")
    names = {
        id(node.value): _target(node)
        for node in parsed(path).body
        if isinstance(node, ast.Assign | ast.AnnAssign)
    }
    for node in syntax_nodes(path):
        if not isinstance(node, ast.Call):
            continue
        function = ast.unparse(node.func)
        if function == "re.compile":
            name = names.get(id(node), "")
            source = name or ast.unparse(node)
            yield Use(module, source, tuple(sorted(_methods_of(path, name))))
        elif function.startswith("re.") and function[3:] in _METHODS:
            yield Use(module, ast.unparse(node.args[0]), (function[3:],))


def _target(node: ast.Assign | ast.AnnAssign) -> str:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return ast.unparse(targets[0])


def _methods_of(path: Path, name: str) -> set[str]:
    return {
        node.attr
        for node in syntax_nodes(path)
        if isinstance(node, ast.Attribute)
        and node.attr in _METHODS
        and ast.unparse(node.value) == name
    }
