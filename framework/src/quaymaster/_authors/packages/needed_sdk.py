"""The lowest version of the framework that the code of a package needs.

It is read from the code: the hooks that its plugins implement, and the public names
that its modules import. Nothing is imported for it but the plugins themselves.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import attrs
from packaging.version import Version

from quaymaster._authors.packages.added_names import ADDED
from quaymaster._authors.packages.candidate import Candidate
from quaymaster._authors.packages.code_files import python_files
from quaymaster._authors.packages.findings import Finding
from quaymaster._core.registry.plugin_checks import marked_hooks
from quaymaster._core.registry.registered import RegisteredPlugin
from quaymaster._core.registry.sdk_range import SDK

__all__ = ["Need", "lowest_need", "need_findings", "needs_of"]

_FIRST: Final = Version("0.1")


@attrs.frozen
class Need:
    """Something that came with a version of the framework.

    Attributes:
        version: The version.
        where: The plugin or the file that needs it.
        what: The hook or the name.
    """

    version: Version
    where: str
    what: str


def needs_of(
    candidate: Candidate, plugins: Iterable[RegisteredPlugin]
) -> Sequence[Need]:
    """Return what a package uses that is younger than the first version.

    Args:
        candidate: The package.
        plugins: Its plugins that can be loaded.
    """
    needs = [need for plugin in plugins for need in _hooks(plugin)]
    for file in python_files(candidate):
        needs += _names(file)
    return needs


def lowest_need(needs: Iterable[Need]) -> Version:
    """Return the lowest version that has everything that a package uses."""
    return max((need.version for need in needs), default=_FIRST)


def need_findings(needs: Iterable[Need], lowest: Version) -> Iterator[Finding]:
    """Find hooks and names that some of the declared versions do not have.

    Args:
        needs: What the package uses.
        lowest: The lowest version of the framework that it allows.
    """
    for need in needs:
        if lowest < need.version:
            message = (
                f"{need.what} came with {SDK} {need.version}, but the dependencies "
                f"admit {lowest}; expected '{SDK}>={need.version}'"
            )
            yield Finding.error("sdk", need.where, message)


def _hooks(plugin: RegisteredPlugin) -> Iterator[Need]:
    own = frozenset(marked_hooks(plugin.load()))
    for point in plugin.extension_points:
        for hook in filter(own.__contains__, point.hooks):
            version = Version(point.age(hook).since)
            if version > _FIRST:
                yield Need(version, f"plugin {plugin.name!r}", f"hook {hook!r}")


def _names(file: Path) -> Iterator[Need]:
    """Yield the public names that a file uses and that came later."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return  # another check reports it
    for version, modules in ADDED.items():
        for module, name in sorted(_used(tree)):
            if name in modules.get(module, ()):
                yield Need(Version(version), file.name, f"{module}.{name}")


def _used(tree: ast.AST) -> set[tuple[str, str]]:
    """Return the public modules and names that a module uses."""
    used: set[tuple[str, str]] = set()
    modules: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and _is_ours(node.module):
            module = node.module or ""
            used.update((module, alias.name) for alias in node.names)
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name):
                    modules[alias.asname or alias.name] = alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            module = modules.get(ast.unparse(node.value), "")
            if module:
                used.add((module, node.attr))
    return used


def _is_ours(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == SDK
