"""The versions of the framework that a distribution supports."""

import functools
import operator
from collections.abc import Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

__all__ = ["SDK", "declared_range", "range_problem", "sdk_version", "usual_range"]

SDK: Final = "quaymaster"
"""The distribution that plugins are written for."""


@functools.cache
def sdk_version() -> str:
    """Return the version of the framework that is installed."""
    return metadata.version(SDK)


def usual_range() -> str:
    """Return the range that packages for the installed version declare.

    A minor version may add and remove hooks, so the range ends before the next one:
    ``>=0.1,<0.2``.
    """
    major, minor = sdk_version().split(".")[:2]
    return f">={major}.{minor},<{major}.{int(minor) + 1}"


def declared_range(requires: Sequence[str]) -> "SpecifierSet | None":
    """Return the versions of the framework that requirements admit, or None.

    Args:
        requires: Requirements as in a distribution's metadata. Those of extras, of
            other platforms and of other distributions do not count, nor do texts that
            are not requirements.
    """
    # Imported here: it takes longer than a small profile takes to load.
    from packaging.requirements import (  # noqa: PLC0415 - above
        InvalidRequirement,
        Requirement,
    )
    from packaging.utils import canonicalize_name  # noqa: PLC0415 - above

    ranges: list[SpecifierSet] = []
    for text in requires:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        marker = requirement.marker
        applies = marker is None or marker.evaluate({"extra": ""})
        if applies and canonicalize_name(requirement.name) == SDK:
            ranges.append(requirement.specifier)
    return functools.reduce(operator.and_, ranges) if ranges else None


def range_problem(owner: str, requires: Sequence[str]) -> str:
    """Return a message if the installed framework is outside a distribution's range.

    Args:
        owner: The distribution with its version, for the message.
        requires: Its requirements, as in its metadata.

    Returns:
        The message, or an empty string.
    """
    if _is_usual(requires):
        return ""
    declared = declared_range(requires)
    if declared is None or declared.contains(sdk_version(), prereleases=True):
        return ""
    return f"{owner} requires {SDK}{declared}, but {sdk_version()} is installed"


def _is_usual(requires: Sequence[str]) -> bool:
    """Whether the range is the usual one, which needs no parser of requirements."""
    usual = frozenset(usual_range().split(","))
    return any(
        text.startswith(SDK)
        and frozenset(text.removeprefix(SDK).replace(" ", "").split(",")) == usual
        for text in requires
    )
