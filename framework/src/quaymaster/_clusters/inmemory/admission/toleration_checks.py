"""Checks the tolerations of pods and runtime classes.

Mirrors ``ValidateTolerations`` (Kubernetes v1.37,
``pkg/apis/core/validation/validation.go``), and
``allowTaintTolerationComparisonOperators`` (``pkg/api/pod/util.go``), which decides
which pods may compare numbers.
"""

from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects import PodSpec, Toleration
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import LABEL_KEY, LABEL_VALUE
from quaymaster._api.objects.tolerations import (
    COMPARISON_OPERATORS,
    TOLERATION_COMPARISONS,
    is_decimal_integer,
)

__all__ = ["TAINT_EFFECTS", "check_tolerations", "has_comparisons"]

TAINT_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def has_comparisons(spec: PodSpec) -> bool:
    """Return whether a spec has tolerations that compare numbers."""
    return any(each.operator in COMPARISON_OPERATORS for each in spec.tolerations)


def check_tolerations(
    tolerations: Sequence[Toleration],
    path: str,
    report: Report,
    allows_comparisons: bool,
) -> None:
    """Check that operator, key, value and effect of each toleration go together.

    Args:
        tolerations: The tolerations.
        path: The path of the tolerations.
        report: Collects the problems.
        allows_comparisons: Whether ``Gt`` and ``Lt`` may be used: their feature gate is
            on, or the pod used them before.
    """
    for index, toleration in enumerate(tolerations):
        place = f"{path}[{index}]"
        _check_key(toleration, place, report)
        if toleration.operator in COMPARISON_OPERATORS and allows_comparisons:
            _check_number(toleration.value, f"{place}.value", report)
        else:
            _check_value(toleration, f"{place}.operator", report)
        report.one_of(toleration.effect, ("", *TAINT_EFFECTS), f"{place}.effect")


def _check_key(toleration: Toleration, path: str, report: Report) -> None:
    operator, effect = toleration.operator, toleration.effect
    if toleration.key:
        report.formed(toleration.key, LABEL_KEY, f"{path}.key")
    # An empty key with Exists tolerates each taint; with Equal it could match nothing.
    elif operator != "Exists":
        expected = "Exists, since there is no key"
        report.expect(False, f"{path}.operator", expected, operator)
    # Only NoExecute evicts, so only it can have a delay.
    if toleration.toleration_seconds is not None and effect != "NoExecute":
        expected = "NoExecute, since there are tolerationSeconds"
        report.expect(False, f"{path}.effect", expected, effect)


def _check_number(value: str, path: str, report: Report) -> None:
    expected = "a decimal integer of 64 bits without leading zeros"
    report.expect(is_decimal_integer(value), path, expected, value)


def _check_value(toleration: Toleration, path: str, report: Report) -> None:
    operator, value = toleration.operator, toleration.value
    if operator in ("", "Equal"):
        # The path of upstream: the error of a value is reported at the operator.
        report.formed(value, LABEL_VALUE, path)
    elif operator == "Exists":
        report.expect(not value, path, "no value beside Exists", value)
    elif operator in COMPARISON_OPERATORS:
        expected = f"Equal or Exists (the feature gate {TOLERATION_COMPARISONS} is off)"
        report.expect(False, path, expected, operator)
    else:
        report.one_of(operator, ("Equal", "Exists"), path)
