"""The values of templates: their kinds, their truth, and how Go prints them.

Go has more types than JSON: an ``int`` and a ``float64`` are different values, and
numbers that come from JSON are always ``float64``.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, TypeAlias

__all__ = ["Value", "as_json_value", "is_true", "kind_of", "text_of"]

Value: TypeAlias = (
    "bool | int | float | str | Sequence[Value] | Mapping[str, Value] | None"
)

_KINDS: Final[Mapping[type, str]] = {
    type(None): "nil",
    bool: "bool",
    int: "int",
    float: "float64",
    str: "string",
}
# Beyond these, Go prints a float64 with an exponent.
_LARGEST_EXPONENT: Final = 5
_SMALLEST_EXPONENT: Final = -4


def kind_of(value: Value) -> str:
    """Return Go's name for the kind of a value."""
    name = _KINDS.get(type(value))
    if name is not None:
        return name
    return "map" if isinstance(value, Mapping) else "list"


def is_true(value: Value) -> bool:
    """Return whether Go's ``if`` takes a value as true: neither zero nor empty."""
    return bool(value)


def as_json_value(value: object) -> Value:
    """Return a value as Go decodes it from JSON: all its numbers are float64."""
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): as_json_value(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [as_json_value(item) for item in value]
    return (
        value if value is None or isinstance(value, bool | float | str) else str(value)
    )


def text_of(value: Value) -> str:
    """Print a value as Go's ``fmt.Print`` does."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_text(value)
    if isinstance(value, Mapping):
        items = (f"{key}:{text_of(value[key])}" for key in sorted(value))
        return f"map[{' '.join(items)}]"
    if isinstance(value, int | str):
        return str(value)
    return f"[{' '.join(map(text_of, value))}]"


def _float_text(value: float) -> str:
    """Print a float64 as Go's verb %v does."""
    if value in (float("inf"), float("-inf")) or value != value:
        return {"inf": "+Inf", "-inf": "-Inf"}.get(repr(value), "NaN")
    decimal = Decimal(repr(value))
    exponent = decimal.adjusted() if value else 0
    if _SMALLEST_EXPONENT <= exponent <= _LARGEST_EXPONENT:
        return format(decimal, "f").removesuffix(".0")
    sign, digits, _ = decimal.normalize().as_tuple()
    first, *rest = map(str, digits)
    fraction = f".{''.join(rest)}" if rest else ""
    return f"{'-' if sign else ''}{first}{fraction}e{exponent:+03d}"
