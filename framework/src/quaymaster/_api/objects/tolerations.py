"""Which taints tolerations cover.

Mirrors ``ToleratesTaint`` (k8s.io/api v0.37, ``core/v1/toleration.go``) and
``FindMatchingUntoleratedTaint`` (k8s.io/component-helpers v0.37,
``scheduling/corev1/helpers.go``).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from quaymaster._api.objects import Taint, Toleration

__all__ = [
    "COMPARISON_OPERATORS",
    "TOLERATION_COMPARISONS",
    "find_untolerated_taint",
    "is_decimal_integer",
    "is_tolerated",
    "tolerates",
]

COMPARISON_OPERATORS: Final = ("Gt", "Lt")
"""The operators of tolerations that compare numbers."""

TOLERATION_COMPARISONS: Final = "TaintTolerationComparisonOperators"
"""The feature gate of these operators."""

_DECIMAL: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")


def tolerates(
    toleration: Toleration, taint: Taint, *, compares_numbers: bool = False
) -> bool:
    """Return whether a toleration covers a taint.

    An empty key or effect covers all. ``Gt`` covers taints whose value is a greater
    number than the toleration's, and ``Lt`` those with a smaller one.

    Mirrors ``ToleratesTaint`` (Kubernetes v1.37,
    ``staging/src/k8s.io/api/core/v1/toleration.go``).

    Args:
        toleration: The toleration.
        taint: The taint.
        compares_numbers: Whether the feature gate TaintTolerationComparisonOperators
            is on; ``Gt`` and ``Lt`` cover nothing without it.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    if toleration.operator == "Exists":
        return True
    return compares_numbers and _covers_number(toleration, taint.value)


def is_tolerated(
    taint: Taint, tolerations: Iterable[Toleration], *, compares_numbers: bool = False
) -> bool:
    """Return whether a toleration covers a taint; arguments as for `tolerates`."""
    # A plain loop costs less than ``any`` with a generator.
    for toleration in tolerations:
        if tolerates(toleration, taint, compares_numbers=compares_numbers):
            return True
    return False


def find_untolerated_taint(
    taints: Iterable[Taint],
    tolerations: Sequence[Toleration],
    effects: Sequence[str] = ("NoSchedule", "NoExecute"),
    *,
    compares_numbers: bool = False,
) -> Taint | None:
    """Return the first uncovered taint with one of the effects, or None.

    Args:
        taints: The taints.
        tolerations: The tolerations.
        effects: The effects that count.
        compares_numbers: As for `tolerates`.
    """
    for taint in taints:
        if taint.effect in effects and not is_tolerated(
            taint, tolerations, compares_numbers=compares_numbers
        ):
            return taint
    return None


def is_decimal_integer(text: str) -> bool:
    """Return whether a text is a 64-bit integer without leading zeros.

    Mirrors ``IsDecimalInteger`` (Kubernetes v1.37,
    ``staging/src/k8s.io/apimachinery/pkg/api/validate/content/decimal_int.go``) and
    Go's ``strconv.ParseInt``.
    """
    return bool(_DECIMAL.fullmatch(text)) and -(2**63) <= int(text) < 2**63


def _covers_number(toleration: Toleration, value: str) -> bool:
    """Return whether a toleration with ``Gt`` or ``Lt`` covers the value of a taint."""
    if not (is_decimal_integer(toleration.value) and is_decimal_integer(value)):
        return False
    if toleration.operator == "Gt":
        return int(value) > int(toleration.value)
    return toleration.operator == "Lt" and int(value) < int(toleration.value)
