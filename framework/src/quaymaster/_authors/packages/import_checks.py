"""Finds imports that the dependencies of a package do not provide.

Authors have more installed than users, such as what their test tools require. Only
imports that run when the plugins are loaded are checked: others may belong to an extra.
"""

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from quaymaster._authors.packages.candidate import Candidate
from quaymaster._authors.packages.code_files import own_modules, python_files
from quaymaster._authors.packages.findings import Finding

__all__ = ["import_findings"]

_LATER: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_FOR_CHECKERS: Final = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING"})


def import_findings(candidate: Candidate) -> Iterator[Finding]:
    """Find imports of distributions that users of a package may not have.

    Args:
        candidate: The package, whose plugins have been loaded.
    """
    if not candidate.dependencies:
        return  # its build computes them, or another check reports it
    loaded = {getattr(module, "__file__", None) for module in sys.modules.values()}
    provided = _Provided(candidate)
    found: set[str] = set()
    for file in python_files(candidate):
        if str(file) not in loaded:
            continue
        for name, line in _imports(file):
            owners = provided.missing(name)
            if owners and name not in found:
                found.add(name)
                message = (
                    f"imports {name!r}, which no dependency provides; expected "
                    f"{' or '.join(map(repr, owners))} in the dependencies"
                )
                yield Finding.error("imports", f"{file.name}:{line}", message)


class _Provided:
    """The distributions that are installed together with a package.

    Args:
        candidate: The package.
    """

    def __init__(self, candidate: Candidate) -> None:
        self._own = own_modules(candidate) | sys.stdlib_module_names
        self._name = canonicalize_name(candidate.name)
        self._dependencies = candidate.dependencies

    def missing(self, module: str) -> Sequence[str]:
        """Return the distributions of a module if the package requires none of them.

        Nothing is returned for a module whose distribution is not known.
        """
        if module in self._own:
            return ()
        owners = sorted(set(map(canonicalize_name, self._owners.get(module, ()))))
        return () if self._required.intersection(owners) else owners

    @cached_property
    def _owners(self) -> Mapping[str, Sequence[str]]:
        return metadata.packages_distributions()

    @cached_property
    def _required(self) -> frozenset[str]:
        """The package, its dependencies, and what these require in turn."""
        required = {self._name: frozenset[str]()}
        pending = list(_applying(self._dependencies, frozenset()))
        while pending:
            requirement = pending.pop()
            name = canonicalize_name(requirement.name)
            extras = required.get(name, frozenset())
            wanted = extras.union(requirement.extras)
            if name in required and wanted == extras:
                continue
            required[name] = wanted
            pending += _applying(_requirements_of(name), wanted)
        return frozenset(required)


def _requirements_of(name: str) -> Sequence[str]:
    try:
        return metadata.requires(name) or ()
    except metadata.PackageNotFoundError:
        return ()


def _applying(texts: Iterable[str], extras: frozenset[str]) -> Iterator[Requirement]:
    """Yield the requirements that apply here, with some extras."""
    for text in texts:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue  # another check reports it
        marker = requirement.marker
        if marker is None or any(
            marker.evaluate({"extra": extra}) for extra in ("", *extras)
        ):
            yield requirement


def _imports(file: Path) -> Iterator[tuple[str, int]]:
    """Yield what a module imports when it is imported itself, with the lines."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return  # another check reports it
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").partition(".")[0], node.lineno
        elif isinstance(node, ast.If) and ast.unparse(node.test) in _FOR_CHECKERS:
            pending += node.orelse
        # An import that is tried may fail.
        elif not isinstance(node, (*_LATER, ast.Try)):
            pending += reversed(list(ast.iter_child_nodes(node)))
