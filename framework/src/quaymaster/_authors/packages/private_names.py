"""Finds private names of the framework that the code of a package uses."""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

import attrs

import quaymaster
from quaymaster._authors.packages.candidate import Candidate
from quaymaster._authors.packages.code_files import python_files
from quaymaster._authors.packages.findings import Finding

__all__ = ["private_findings"]

_OURS: Final = "quaymaster"
_IMPORTERS: Final = frozenset(
    {"import_module", "importlib.import_module", "__import__"}
)


@attrs.frozen
class _Use:
    """A use of a private name.

    Attributes:
        line: Its line.
        module: The module, which may be private itself.
        name: The name in the module; empty for the module itself.
    """

    line: int
    module: str
    name: str = ""

    @property
    def is_private(self) -> bool:
        """Whether the name, or a package of its module, is private."""
        parts = [*self.module.split("."), *filter(None, [self.name])]
        return parts[0] == _OURS and any(map(_is_private, parts))

    def __str__(self) -> str:
        return f"{self.module}.{self.name}" if self.name else self.module


def private_findings(candidate: Candidate) -> Iterator[Finding]:
    """Find private modules and names of the framework that a package uses.

    Args:
        candidate: The package, whose plugins have been loaded.
    """
    for file in python_files(candidate):
        for use in _uses(file):
            message = (
                f"uses {str(use)!r}, which is private and may change in any release; "
                f"expected {_remedy(use)}"
            )
            yield Finding.error("imports", f"{file.name}:{use.line}", message)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _remedy(use: _Use) -> str:
    public = _public_name(use)
    if public:
        return repr(public)
    return "a public name of the framework, or code of the package's own"


def _uses(file: Path) -> Sequence[_Use]:
    """Return the private names that a module uses, wherever it does, by line."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ()  # another check reports it
    uses: dict[str, _Use] = {}
    for use in sorted(_all_uses(tree), key=lambda use: (use.line, str(use))):
        if use.is_private:
            uses.setdefault(str(use), use)
    # A module is not reported beside the names that are used of it.
    return [
        use
        for text, use in uses.items()
        if not any(name.startswith(f"{text}.") for name in uses)
    ]


def _all_uses(tree: ast.AST) -> Iterator[_Use]:
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield _Use(node.lineno, node.module, alias.name)
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield _Use(node.lineno, alias.name)
                modules[alias.asname or alias.name] = alias.name
                if alias.asname is None:
                    root = alias.name.partition(".")[0]
                    modules.setdefault(root, root)
        elif isinstance(node, ast.Call):
            yield from _called(node)
    yield from _attributes(tree, modules)


def _called(call: ast.Call) -> Iterator[_Use]:
    """Yield the module that a call imports by a literal name."""
    if ast.unparse(call.func) in _IMPORTERS and call.args:
        name = call.args[0]
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield _Use(call.lineno, name.value)


def _attributes(tree: ast.AST, modules: dict[str, str]) -> Iterator[_Use]:
    """Yield the names that are read from imported modules."""
    ours = {name: of for name, of in modules.items() if of.split(".")[0] == _OURS}
    for node in ast.walk(tree) if ours else ():
        if isinstance(node, ast.Attribute):
            module = ours.get(ast.unparse(node.value))
            if module is not None and _is_module(module):
                yield _Use(node.lineno, module, node.attr)


def _is_module(name: str) -> bool:
    """Return whether a name is that of a module, and not of a class."""
    return name in sys.modules


def _public_name(use: _Use) -> str:
    """Return the first public name of an object, of the root if it has it, or empty."""
    private = getattr(sys.modules.get(use.module), use.name, None) if use.name else None
    if private is None:
        return ""
    for module, names in _public_modules():
        if use.name in names:
            with suppress(ImportError):
                public = getattr(import_module(module), use.name, None)
                # Identity: another object may have the same name.
                if public is private:
                    return f"{module}.{use.name}"
    return ""


@cache
def _public_modules() -> Sequence[tuple[str, frozenset[str]]]:
    """Return the public modules of the framework with their public names."""
    (folder,) = quaymaster.__path__
    files = sorted(Path(folder).glob("*.py"), key=lambda file: file.name)
    modules = []
    for file in files:
        if file.stem == "__init__":
            modules.append((_OURS, frozenset(quaymaster.__all__)))
        elif not file.stem.startswith("_"):
            names = frozenset(_names_of(ast.parse(file.read_bytes()).body))
            modules.append((f"{_OURS}.{file.stem}", names))
    return modules


def _names_of(body: Iterable[ast.stmt]) -> Iterator[str]:
    """Yield the names in the ``__all__`` of a module."""
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            for part in ast.walk(node.value):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value
