"""Finds the code that classes of an experiment import, by reading it.

Imports inside functions count as well. What code imports by a computed name is only
seen when it runs; see `quaymaster._studies.experiments.watching`.
"""

import ast
import functools
import hashlib
import importlib.util
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Final

import attrs

from quaymaster._studies.experiments.code_locations import OWN_PACKAGES, is_installed

__all__ = ["UsedCode", "distribution_versions", "python_version", "used_code"]

_END_OF_NAME: Final = " ;[(<>=!~"


@attrs.frozen(kw_only=True)
class UsedCode:
    """The code that some modules use.

    Attributes:
        modules: Module -> the hash of its file, for code that is not installed.
        packages: The installed packages that this code imports.
    """

    modules: Mapping[str, str]
    packages: frozenset[str]


def used_code(names: Iterable[str]) -> UsedCode:
    """Follow the imports of modules.

    Args:
        names: The modules to begin with.
    """
    files: dict[str, Path] = {}
    packages: set[str] = set()
    waiting = list(names)
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        top = name.partition(".")[0]
        # The version of Python covers its library.
        if name in seen or top in sys.stdlib_module_names:
            continue
        seen.add(name)
        if top.startswith(OWN_PACKAGES):
            continue
        spec = _spec(top)
        if spec is None:
            continue
        # Installed code is compared by the version of its distribution.
        if _is_installed(spec):
            packages.add(top)
            continue
        for module, file in _files(spec, name):
            if module not in files:
                files[module] = file
                waiting += _imports(module, file)
    hashes = {
        name: hashlib.sha256(file.read_bytes()).hexdigest()
        for name, file in sorted(files.items())
    }
    return UsedCode(modules=hashes, packages=frozenset(packages))


def python_version() -> str:
    """Return the implementation and the version of Python."""
    return f"{sys.implementation.name} {platform.python_version()}"


def distribution_versions(
    distributions: Iterable[str], packages: Iterable[str]
) -> Mapping[str, str]:
    """Return the versions of distributions and of all that they require.

    Args:
        distributions: Names of distributions.
        packages: Names of packages, whose distributions are added.
    """
    waiting = [*distributions, *_distributions_of(packages)]
    versions: dict[str, str] = {}
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in versions:
            continue
        installed = _distribution(name)
        if installed is not None:
            versions[name], required = installed
            waiting += required
    return dict(sorted(versions.items()))


def _distributions_of(packages: Iterable[str]) -> Iterator[str]:
    for package in packages:
        if _distribution(package.lower().replace("_", "-")) is not None:
            yield package
        else:
            yield from _by_package().get(package, ())


@functools.cache
def _by_package() -> Mapping[str, list[str]]:
    """Return package -> distributions; it reads the lists of all installed files."""
    return metadata.packages_distributions()


@functools.cache
def _distribution(name: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the version of a distribution, and the names that it requires."""
    try:
        installed = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    required = [
        text
        for text in installed.requires or ()
        # Installers do not record which extras were requested.
        if "extra" not in text.partition(";")[2]
    ]
    return installed.version, tuple(map(_name_in, required))


def _name_in(requirement: str) -> str:
    """Return the name at the beginning of a requirement."""
    ends = [requirement.find(end) for end in _END_OF_NAME]
    return requirement[: min((end for end in ends if end >= 0), default=None)]


def _spec(package: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None  # a module without a spec, such as __main__


def _is_installed(spec: ModuleSpec) -> bool:
    places = [*(spec.submodule_search_locations or ())]
    if spec.origin and spec.has_location:
        places.append(spec.origin)
    # Built-in and frozen modules have no place.
    return not places or all(is_installed(Path(place)) for place in places)


def _files(spec: ModuleSpec, name: str) -> Iterator[tuple[str, Path]]:
    """Return the files that are run when a module is imported: its parents' as well.

    The name of a class or a function yields the files of its parents.
    """
    top, *parts = name.split(".")
    if spec.origin and spec.has_location:
        yield top, Path(spec.origin)
    folders = [Path(place) for place in spec.submodule_search_locations or ()]
    module = top
    for part in parts:
        module = f"{module}.{part}"
        inner = [folder / part for folder in folders if (folder / part).is_dir()]
        candidates = [
            *(folder / "__init__.py" for folder in inner),
            *(folder / f"{part}.py" for folder in folders),
            *(file for folder in folders for file in folder.glob(f"{part}.*.so")),
        ]
        for file in candidates:
            if file.is_file():
                yield module, file
                break
        folders = inner


def _imports(module: str, file: Path) -> Iterator[str]:
    """Return the names that a file imports, at any place of it."""
    # A compiled module: its imports cannot be read.
    if file.suffix != ".py":
        return
    try:
        tree = ast.parse(file.read_bytes())
    except SyntaxError:
        return  # it cannot be imported either
    parents = module.split(".")
    if file.name != "__init__.py":
        parents = parents[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # One dot is the package itself, so one part fewer is cut off than there are
            # dots.
            above = parents[: len(parents) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
