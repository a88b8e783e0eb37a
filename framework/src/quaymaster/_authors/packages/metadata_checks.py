"""Checks of what a package says of itself, before anything of it is imported."""

import platform
from collections.abc import Iterator
from importlib import metadata
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from quaymaster._authors.packages.candidate import Candidate
from quaymaster._authors.packages.findings import Finding
from quaymaster._core.registry.registry import GROUP

__all__ = ["metadata_findings", "sdk_findings"]

_SDK: Final = "quaymaster"
_BOUNDS: Final = frozenset({"<", "<=", "==", "===", "~="})
"""Operators that keep later versions out."""


def metadata_findings(candidate: Candidate) -> Iterator[Finding]:
    """Find what is missing in a package's metadata."""
    check = "metadata"
    if not candidate.name:
        yield Finding.error(check, "name", "expected a name, got none")
    if not candidate.has_version:
        yield Finding.error(check, "version", "expected a version, got none")
    elif candidate.version and not _is_version(candidate.version):
        found = f"expected a version such as 0.1.0, got {candidate.version!r}"
        yield Finding.error(check, "version", found)
    yield from _python_findings(candidate)
    for text, has_it in candidate.described.items():
        if not has_it:
            yield Finding.warning(check, text, "there is none")
    if not candidate.offers:
        message = f"expected a plugin in the group '{GROUP}', got none"
        yield Finding.error(check, "entry points", message)


def sdk_findings(candidate: Candidate) -> Iterator[Finding]:
    """Find what is wrong with the range of versions of the framework."""
    check, where = "sdk", "dependencies"
    version = Version(metadata.version(_SDK))
    usual = (
        f"{_SDK}>={version.major}.{version.minor},<{version.major}.{version.minor + 1}"
    )
    ranges = []
    for text in candidate.dependencies:
        try:
            needed = Requirement(text)
        except InvalidRequirement as error:
            problem = str(error).splitlines()[0]
            yield Finding.error("metadata", where, f"{text!r}: {problem}")
            continue
        holds = needed.marker is None or needed.marker.evaluate({"extra": ""})
        if holds and canonicalize_name(needed.name) == _SDK:
            ranges.append(needed.specifier)
    if not ranges:
        yield Finding.error(check, where, f"expected {usual!r}, got no {_SDK}")
    for found in ranges:
        if not found.contains(version, prereleases=True):
            message = f"'{_SDK}{found}' keeps out {version}, which is installed"
            yield Finding.error(check, where, message)
        elif not any(one.operator in _BOUNDS for one in found):
            message = f"expected an end as in {usual!r}, got '{_SDK}{found}'"
            yield Finding.warning(check, where, message)


def _python_findings(candidate: Candidate) -> Iterator[Finding]:
    check, where, text = "metadata", "requires-python", candidate.requires_python
    if not text:
        yield Finding.warning(check, where, "expected one, such as '>=3.11', got none")
        return
    try:
        wanted = SpecifierSet(text)
    except InvalidSpecifier:
        found = f"expected one such as '>=3.11', got {text!r}"
        yield Finding.error(check, where, found)
        return
    running = platform.python_version()
    if not wanted.contains(running, prereleases=True):
        yield Finding.error(check, where, f"{text!r} keeps out {running}, which runs")


def _is_version(text: str) -> bool:
    try:
        Version(text)
    except InvalidVersion:
        return False
    return True
