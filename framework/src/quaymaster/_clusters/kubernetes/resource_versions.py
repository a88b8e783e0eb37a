"""Compares resource versions, as far as the API allows it.

Mirrors ``resourceversion.go`` (k8s.io/apimachinery v0.36, ``pkg/util``): the versions
of one resource are growing whole numbers of any length. Versions of any other form can
only be compared for equality.
"""

from typing import Final

__all__ = ["compare_versions", "is_at_least"]

_DIGITS: Final = frozenset("0123456789")


def compare_versions(version: str, other: str) -> int | None:
    """Compare two resource versions.

    Args:
        version: The version of an object or a list.
        other: Another version of the same resource.

    Returns:
        1 if `version` is newer, -1 if `other` is newer, 0 if they are equal; None if
        they differ and cannot be ordered.
    """
    if version == other:
        return 0
    if not (_is_number(version) and _is_number(other)):
        return None
    # Without leading zeros, the longer number is larger. No conversion: a server may
    # send any number of digits.
    return 1 if (len(version), version) > (len(other), other) else -1


def is_at_least(version: str, minimum: str) -> bool:
    """Return whether a version is certainly the wanted one or a newer one."""
    order = compare_versions(version, minimum)
    return order is not None and order >= 0


def _is_number(version: str) -> bool:
    """Return whether it is a positive number without leading zeros."""
    return version[:1] not in ("", "0") and _DIGITS.issuperset(version)
