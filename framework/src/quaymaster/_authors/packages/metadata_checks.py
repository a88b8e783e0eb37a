"""Checks the metadata of a package, before any of its code is imported."""

import platform
from collections.abc import Iterator
from importlib import metadata
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from quaymaster._authors.packages.candidate import Candidate
from quaymaster._authors.packages.findings import Finding
from quaymaster._core.registry.registry import GROUP
from quaymaster._core.registry.sdk_range import (
    SDK,
    declared_range,
    sdk_version,
    usual_range,
)

__all__ = ["lowest_sdk", "metadata_findings", "sdk_findings"]

_BOUNDS: Final = frozenset({"<", "<=", "==", "===", "~="})
"""Operators that exclude later versions."""
_STARTS: Final = frozenset({">", ">=", "==", "===", "~="})
"""Operators that exclude earlier versions."""
_FIRST_RELEASE: Final = Version("0.1")
"""The earliest version of the framework."""
_PYTHONS: Final = 100
"""More minor versions of Python than there will be."""


def metadata_findings(candidate: Candidate) -> Iterator[Finding]:
    """Find missing metadata of a package."""
    check = "metadata"
    if not candidate.name:
        yield Finding.error(check, "name", "expected a name, got none")
    if not candidate.has_version:
        yield Finding.error(check, "version", "expected a version, got none")
    elif candidate.version and not _is_version(candidate.version):
        problem = f"expected a version such as 0.1.0, got {candidate.version!r}"
        yield Finding.error(check, "version", problem)
    yield from _python_findings(candidate)
    for text, has_it in candidate.described.items():
        if not has_it:
            yield Finding.warning(check, text, "there is none")
    if not candidate.offers:
        message = f"expected a plugin in the group '{GROUP}', got none"
        yield Finding.error(check, "entry points", message)


def sdk_findings(candidate: Candidate) -> Iterator[Finding]:
    """Check the range of versions of the framework."""
    check, where, usual = "sdk", "dependencies", f"{SDK}{usual_range()}"
    for text in candidate.dependencies:
        try:
            Requirement(text)
        except InvalidRequirement as error:
            problem = str(error).splitlines()[0]
            yield Finding.error("metadata", where, f"{text!r}: {problem}")
    declared = declared_range(candidate.dependencies)
    if declared is None:
        yield Finding.error(check, where, f"expected {usual!r}, got no {SDK}")
    elif not declared.contains(sdk_version(), prereleases=True):
        message = f"'{SDK}{declared}' keeps out {sdk_version()}, which is installed"
        yield Finding.error(check, where, message)
    elif not any(clause.operator in _BOUNDS for clause in declared):
        message = f"expected an end as in {usual!r}, got '{SDK}{declared}'"
        yield Finding.warning(check, where, message)


def lowest_sdk(candidate: Candidate) -> Version:
    """Return the lowest version of the framework that a package allows.

    Pre-releases count as their final version, which has the same hooks.
    """
    starts = (
        Version(clause.version.removesuffix(".*"))
        for clause in declared_range(candidate.dependencies) or ()
        if clause.operator in _STARTS
    )
    versions = (Version(start.base_version) for start in starts)
    return max(versions, default=_FIRST_RELEASE)


def _python_findings(candidate: Candidate) -> Iterator[Finding]:
    check, where, text = "metadata", "requires-python", candidate.requires_python
    if not text:
        yield Finding.warning(check, where, "expected one, such as '>=3.11', got none")
        return
    try:
        versions = SpecifierSet(text)
    except InvalidSpecifier:
        message = f"expected one such as '>=3.11', got {text!r}"
        yield Finding.error(check, where, message)
        return
    running = platform.python_version()
    if not versions.contains(running, prereleases=True):
        yield Finding.error(check, where, f"{text!r} keeps out {running}, which runs")
    needed = metadata.metadata(SDK)["Requires-Python"]
    older = [
        f"3.{minor}"
        for minor in range(_PYTHONS)
        if versions.contains(f"3.{minor}.0")
        and not SpecifierSet(needed).contains(f"3.{minor}.0")
    ]
    if older:
        message = f"{text!r} allows Python {older[-1]}, but {SDK} needs {needed}"
        yield Finding.warning(check, where, message)


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
