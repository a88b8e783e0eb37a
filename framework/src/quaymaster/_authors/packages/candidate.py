"""A package to check: an installed distribution, or a folder with its sources."""

import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import invalidate_caches, metadata
from pathlib import Path
from typing import Final, TypeVar

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._core.registry.kinds import KIND_GROUP
from quaymaster._core.registry.observers import OBSERVER_GROUP
from quaymaster._core.registry.offers import Offer
from quaymaster._core.registry.registry import GROUP

__all__ = ["Candidate", "PackageNotFoundError", "find_package"]

T = TypeVar("T")

_GROUPS: Final = (GROUP, KIND_GROUP, OBSERVER_GROUP)
_PYPROJECT: Final = "pyproject.toml"
_LICENSES: Final = ("LICENSE*", "LICENCE*", "COPYING*")


class PackageNotFoundError(QuaymasterError, LookupError):
    """There is no such package, or it cannot be read.

    Attributes:
        package: The name or the folder that was given.
    """

    def __init__(self, package: str, problem: str) -> None:
        super().__init__(f"{package}: {problem}")
        self.package = package


@attrs.frozen(kw_only=True)
class Candidate:
    """The metadata and the entry points of a package.

    Attributes:
        name: The distribution's name; empty if it has none.
        version: Its version; empty if it has none, or if its build computes it.
        has_version: Whether it has one.
        requires_python: As in the metadata; empty if there is none.
        dependencies: Its dependencies, as in the metadata.
        described: The texts that it has: summary, readme, license.
        offers: The plugins, kinds and observers that it offers.
        folder: The folder with its sources; None for an installed distribution.
        backend: The module that builds it; empty if it is installed, or if its
            ``pyproject.toml`` names none.
    """

    name: str
    version: str
    has_version: bool
    requires_python: str
    dependencies: Sequence[str]
    described: Mapping[str, bool]
    offers: Sequence[Offer]
    folder: Path | None = None
    backend: str = ""

    @property
    def plugins(self) -> Sequence[Offer]:
        """The plugins that it offers."""
        return [offer for offer in self.offers if offer.entry.group == GROUP]

    @property
    def kinds(self) -> Sequence[Offer]:
        """The kinds that it offers without a plugin."""
        return [offer for offer in self.offers if offer.entry.group == KIND_GROUP]

    @property
    def observers(self) -> Sequence[Offer]:
        """The observers of hooks that it offers."""
        return [offer for offer in self.offers if offer.entry.group == OBSERVER_GROUP]


def find_package(package: str) -> Candidate:
    """Find a package by the name of its distribution, or by its folder.

    From then on, the sources of a folder can be imported, before installed packages.

    Args:
        package: The name, or the folder.

    Raises:
        PackageNotFoundError: There is no such package, or the folder is not one.
    """
    if Path(package).is_dir():
        return _from_folder(Path(package))
    try:
        distribution = metadata.distribution(package)
    except (metadata.PackageNotFoundError, ValueError) as error:
        problem = "neither a folder nor the name of an installed distribution"
        raise PackageNotFoundError(package, problem) from error
    return _installed(distribution)


def _installed(distribution: metadata.Distribution) -> Candidate:
    fields = distribution.metadata.json
    licenses = ("license_expression", "license", "license_file")
    return Candidate(
        name=distribution.name,
        version=distribution.version,
        has_version=True,
        requires_python=str(fields.get("requires_python", "")),
        dependencies=tuple(distribution.requires or ()),
        described={
            "summary": bool(fields.get("summary")),
            "readme": bool(fields.get("description")),
            "license": any(fields.get(name) for name in licenses),
        },
        offers=[
            Offer(entry, distribution.name, distribution.version)
            for entry in distribution.entry_points
            if entry.group in _GROUPS
        ],
    )


def _from_folder(folder: Path) -> Candidate:
    document = _document(folder)
    project = _typed(folder, document, "project", dict)
    if project is None:
        problem = "expected a table [project]"
        raise PackageNotFoundError(str(folder / _PYPROJECT), problem)
    build = _typed(folder, document, "build-system", dict) or {}
    sources = folder / "src"
    sys.path.insert(0, str((sources if sources.is_dir() else folder).resolve()))
    invalidate_caches()
    dynamic = _typed(folder, project, "dynamic", list) or []
    has_license = any(any(folder.glob(pattern)) for pattern in _LICENSES)
    name = _typed(folder, project, "name", str) or ""
    version = _typed(folder, project, "version", str) or ""
    return Candidate(
        name=name,
        version=version,
        has_version="version" in project or "version" in dynamic,
        requires_python=_typed(folder, project, "requires-python", str) or "",
        dependencies=[
            str(dependency)
            for dependency in _typed(folder, project, "dependencies", list) or ()
        ],
        described={
            "summary": "description" in project or "description" in dynamic,
            "readme": "readme" in project or "readme" in dynamic,
            "license": "license" in project or has_license,
        },
        offers=[Offer(entry, name, version) for entry in _entries(folder, project)],
        folder=folder,
        # A backend within the folder cannot be imported from elsewhere.
        backend=(
            ""
            if "backend-path" in build
            else _typed(folder, build, "build-backend", str) or ""
        ),
    )


def _document(folder: Path) -> Mapping[str, object]:
    """Return the content of a folder's pyproject.toml."""
    file = folder / _PYPROJECT
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise PackageNotFoundError(str(file), f"{error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PackageNotFoundError(str(file), f"{error}") from error


def _typed(
    folder: Path, table: Mapping[str, object], key: str, kind: type[T]
) -> T | None:
    """Return a value of a table, or None.

    Raises:
        PackageNotFoundError: The value has another type.
    """
    value = table.get(key)
    if value is None or isinstance(value, kind):
        return value
    problem = f"{key}: expected a {kind.__name__}, got {value!r}"
    raise PackageNotFoundError(str(folder / _PYPROJECT), problem)


def _entries(
    folder: Path, project: Mapping[str, object]
) -> Iterator[metadata.EntryPoint]:
    groups = _typed(folder, project, "entry-points", dict) or {}
    for group in _GROUPS:
        for name, value in (_typed(folder, groups, group, dict) or {}).items():
            yield metadata.EntryPoint(name=name, value=str(value), group=group)
