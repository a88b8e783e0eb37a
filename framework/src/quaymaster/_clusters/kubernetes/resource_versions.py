"""How resource versions are compared, as far as the API allows it.

Mirrors ``resourceversion.go`` (k8s.io/apimachinery v0.36, ``pkg/util``): those of one
resource are whole numbers of any length, which grow. A server that numbers otherwise
has versions that are the same or are not, and nothing more can be said.
"""

from typing import Final

__all__ = ["compare_versions", "is_at_least"]

_DIGITS: Final = frozenset("0123456789")


def compare_versions(one: str, other: str) -> int | None:
    """Say which of two resource versions is newer.

    Args:
        one: The version of an object or a list.
        other: Another one of the same resource.

    Returns:
        1 if the one is newer, -1 if the other is, 0 if they are the same; None if they
        differ and cannot be put in order.
    """
    if one == other:
        return 0
    if not (_is_number(one) and _is_number(other)):
        return None
    return 1 if (len(one), one) > (len(other), other) else -1


def is_at_least(version: str, wanted: str) -> bool:
    """Whether a version is known to be the wanted one or a newer one."""
    order = compare_versions(version, wanted)
    return order is not None and order >= 0


def _is_number(version: str) -> bool:
    """Whether it is a number above zero, written in the one way there is."""
    return version[:1] not in ("", "0") and _DIGITS.issuperset(version)
