"""Quantities and versions.

Mirrors ``pkg/cel/library/quantity.go`` and ``pkg/cel/library/semverlib.go``
(k8s.io/apiserver v0.36), which parses versions with ``github.com/blang/semver/v4``.
"""

import functools
import re
from typing import Final

import attrs

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.dispatch import TYPE_NAMES
from kubernetes_cel.equality import comparable_with_own_class
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.libraries.amounts import Amount, parse_amount
from kubernetes_cel.lookups import without_native_form
from kubernetes_cel.values import MAX_UINT, Value, no_such_overload

__all__ = ["OVERLOADS", "Semver", "parse_semver"]

_LETTERS: Final = "0-9A-Za-z-"
_SEMVER: Final = re.compile(
    rf"(\d+)\.(\d+)\.(\d+)(?:-([{_LETTERS}.]*))?(?:\+([{_LETTERS}.]*))?", re.ASCII
)


@attrs.frozen(eq=False)
class Semver:
    """A version such as ``1.2.3-beta.1+build``, without the part after ``+``.

    Attributes:
        numbers: Major, minor and patch.
        pre: The identifiers between ``-`` and ``+``, which are separated by dots.
    """

    numbers: tuple[int, int, int]
    pre: tuple[int | str, ...] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Semver):
            return NotImplemented
        return self.numbers == other.numbers and self.pre == other.pre

    def __hash__(self) -> int:
        return hash((self.numbers, self.pre))

    @property
    def rank(self) -> tuple[Value, ...]:
        """The sort key: numbers come before words, and releases after pre-releases."""
        return (
            self.numbers,
            not self.pre,
            tuple(
                (isinstance(each, str), each if isinstance(each, int) else 0, str(each))
                for each in self.pre
            ),
        )


def _number(text: str) -> int:
    if len(text) > 1 and text.startswith("0"):
        raise ValueError(f"Version number must not contain leading zeroes {text!r}")
    # Go reads 64 bits; Python would read any number.
    if int(text) > MAX_UINT:
        raise ValueError(f"version number {text!r} is out of range")
    return int(text)


def _identifier(text: str) -> int | str:
    if not text:
        raise ValueError("Prerelease is empty")
    # Identifiers of digits only are compared as numbers.
    return _number(text) if text.isdecimal() else text


@functools.lru_cache(maxsize=4096)
def parse_semver(text: str) -> Semver:
    """Parse a version.

    Raises:
        ValueError: The text is not a version.
    """
    if not text:
        raise ValueError("Version string empty")
    match = _SEMVER.fullmatch(text)
    if match is None:
        raise ValueError("No Major.Minor.Patch elements found")
    major, minor, patch, pre, build = match.groups()
    if build is not None and "" in build.split("."):
        raise ValueError("Build meta data is empty")
    parts = () if pre is None else tuple(map(_identifier, pre.split(".")))
    return Semver((_number(major), _number(minor), _number(patch)), parts)


def _normalized(text: str) -> str:
    """Remove a leading ``v`` and leading zeros, and add missing numbers."""
    # At most three parts: a pre-release may contain dots.
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part) > 1:
            stripped = part.lstrip("0")
            # One zero stays if nothing else is left of the number.
            if not stripped or stripped[0] not in "0123456789":
                stripped = f"0{stripped}"
            parts[index] = stripped
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise ValueError("short version cannot contain PreRelease/Build meta data")
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


def _semver(text: str, normalize: bool = False) -> Semver:
    try:
        return parse_semver(_normalized(text) if normalize else text)
    except ValueError as error:
        raise CelEvaluationError(str(error)) from error


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except CelEvaluationError:
        return False
    return True


def _order(left: Value, right: Value) -> int:
    return int(left > right) - int(left < right)


def _semver_order(left: Semver, right: Semver) -> int:
    return _order(left.rank, right.rank)


def _is_quantity(text: str) -> bool:
    try:
        parse_amount(text)
    except CelEvaluationError:
        return False
    return True


def _integer(amount: Amount) -> int:
    if amount.integer is None:
        raise CelEvaluationError("cannot convert value to integer")
    return amount.integer


def _same_amount(left: Amount, right: Amount) -> bool:
    # Upstream cannot compare with sums on the right: they are of another class.
    if right.is_result:
        raise no_such_overload()
    return left.compare(right) == 0


comparable_with_own_class(Semver)
comparable_with_own_class(Amount, _same_amount)
without_native_form(Semver)
without_native_form(Amount)
TYPE_NAMES[Semver] = "kubernetes.Semver"
TYPE_NAMES[Amount] = "kubernetes.Quantity"


OVERLOADS: Final[tuple[Overload, ...]] = (
    function(
        "string_to_quantity", "quantity(string) -> kubernetes.Quantity", parse_amount
    ),
    function("is_quantity_string", "isQuantity(string) -> bool", _is_quantity),
    function(
        "quantity_sign",
        "sign(kubernetes.Quantity) -> int",
        lambda amount: amount.sign,
    ),
    method(
        "quantity_is_greater_than",
        "kubernetes.Quantity.isGreaterThan(kubernetes.Quantity) -> bool",
        lambda left, right: left.compare(right) > 0,
    ),
    method(
        "quantity_is_less_than",
        "kubernetes.Quantity.isLessThan(kubernetes.Quantity) -> bool",
        lambda left, right: left.compare(right) < 0,
    ),
    method(
        "quantity_compare_to",
        "kubernetes.Quantity.compareTo(kubernetes.Quantity) -> int",
        Amount.compare,
    ),
    method(
        "quantity_get_float",
        "kubernetes.Quantity.asApproximateFloat() -> double",
        float,
    ),
    method("quantity_get_int", "kubernetes.Quantity.asInteger() -> int", _integer),
    method(
        "quantity_is_integer",
        "kubernetes.Quantity.isInteger() -> bool",
        lambda amount: amount.integer is not None,
    ),
    method(
        "quantity_add",
        "kubernetes.Quantity.add(kubernetes.Quantity) -> kubernetes.Quantity",
        Amount.plus,
    ),
    method(
        "quantity_add_int",
        "kubernetes.Quantity.add(int) -> kubernetes.Quantity",
        lambda amount, number: amount.plus(Amount(number)),
    ),
    method(
        "quantity_sub",
        "kubernetes.Quantity.sub(kubernetes.Quantity) -> kubernetes.Quantity",
        Amount.minus,
    ),
    method(
        "quantity_sub_int",
        "kubernetes.Quantity.sub(int) -> kubernetes.Quantity",
        lambda amount, number: amount.minus(Amount(number)),
    ),
    function("string_to_semver", "semver(string) -> kubernetes.Semver", _semver),
    function(
        "string_bool_to_semver", "semver(string, bool) -> kubernetes.Semver", _semver
    ),
    function("is_semver_string", "isSemver(string) -> bool", _is_semver),
    function("is_semver_string_bool", "isSemver(string, bool) -> bool", _is_semver),
    method(
        "semver_is_greater_than",
        "kubernetes.Semver.isGreaterThan(kubernetes.Semver) -> bool",
        lambda left, right: left.rank > right.rank,
    ),
    method(
        "semver_is_less_than",
        "kubernetes.Semver.isLessThan(kubernetes.Semver) -> bool",
        lambda left, right: left.rank < right.rank,
    ),
    method(
        "semver_compare_to",
        "kubernetes.Semver.compareTo(kubernetes.Semver) -> int",
        _semver_order,
    ),
    method("semver_major", "kubernetes.Semver.major() -> int", lambda v: v.numbers[0]),
    method("semver_minor", "kubernetes.Semver.minor() -> int", lambda v: v.numbers[1]),
    method("semver_patch", "kubernetes.Semver.patch() -> int", lambda v: v.numbers[2]),
)
