"""The functions of templates: Go's own, and those that scheduler_perf adds.

Mirrors ``getTemplateFuncs`` (Kubernetes v1.37, ``test/integration/scheduler_perf/
operations.go``) and ``builtins`` (Go, ``text/template/funcs.go``). ``and`` and ``or``
are not here: they evaluate no more of their arguments than they need.
"""

import json
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from quaymaster._studies.perf.gotext.values import Value, is_true, kind_of, text_of

__all__ = ["FUNCTIONS", "Function"]

_Arguments = Sequence[Value]


class Function(NamedTuple):
    """A function of templates.

    Attributes:
        call: Computes the result; a ValueError or an ArithmeticError says what is
            wrong.
        least: The fewest arguments.
        most: The most arguments; None: any number.
        gives_number: Whether its result is always a number.
    """

    call: Callable[[_Arguments], Value]
    least: int
    most: int | None
    gives_number: bool = False


def _numbers(arguments: _Arguments) -> list[float]:
    return [_number(value) for value in arguments]


def _number(value: Value) -> float:
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            return float(value)
        except ValueError:
            pass
    raise ValueError(f"expected a number, got {_shown(value)}")


def _integer(arguments: _Arguments) -> int:
    (value,) = arguments
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            raise ValueError(f"expected an integer, got {value!r}") from None
    return int(_number(value))


def _remainder(arguments: _Arguments) -> int:
    """Go's remainder, which has the sign of the dividend."""
    dividend, divisor = map(int, _numbers(arguments))
    return int(math.fmod(dividend, divisor))


def _quotient(arguments: _Arguments) -> float:
    dividend, divisor = _numbers(arguments)
    return dividend / divisor


def _difference(arguments: _Arguments) -> float:
    left, right = _numbers(arguments)
    return left - right


def _encoded(arguments: _Arguments) -> str:
    (value,) = arguments
    plain = _whole_numbers(value)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _whole_numbers(value: Value) -> Value:
    """Return a value whose whole numbers have no fraction, as Go encodes them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_whole_numbers(item) for item in value]
    return value


def _is_equal(left: Value, right: Value) -> bool:
    if left is None or right is None:
        return left == right
    kinds = kind_of(left), kind_of(right)
    for kind in kinds:
        if kind in ("list", "map"):
            raise ValueError(f"a {kind} cannot be compared")
    _expect_same_kind(*kinds)
    return left == right


def _equals(arguments: _Arguments) -> bool:
    first, *others = arguments
    return any(_is_equal(first, other) for other in others)


def _comparison(compare: Callable[[Any, Any], bool]) -> Function:
    def call(arguments: _Arguments) -> bool:
        left, right = arguments
        for value in arguments:
            if kind_of(value) not in ("int", "float64", "string"):
                raise ValueError(f"{_shown(value)} has no order")
        _expect_same_kind(kind_of(left), kind_of(right))
        return bool(compare(left, right))

    return Function(call, 2, 2)


def _expect_same_kind(left: str, right: str) -> None:
    if left != right:
        raise ValueError(f"incompatible types for comparison: {left} and {right}")


def _length(arguments: _Arguments) -> int:
    (value,) = arguments
    if isinstance(value, str):
        # Bytes, as Go counts.
        return len(value.encode())
    if isinstance(value, Sequence | Mapping):
        return len(value)
    raise ValueError(f"{_shown(value)} has no length")


def _indexed(arguments: _Arguments) -> Value:
    value, *keys = arguments
    for key in keys:
        value = _item(value, key)
    return value


def _item(value: Value, key: Value) -> Value:
    if isinstance(value, Mapping):
        if not isinstance(key, str):
            raise ValueError(f"expected a name to look up in a map, got {_shown(key)}")
        return value.get(key)
    if isinstance(value, Sequence) and not isinstance(value, str):
        if not isinstance(key, int) or not 0 <= key < len(value):
            raise ValueError(f"expected an index below {len(value)}, got {_shown(key)}")
        return value[key]
    raise ValueError(f"expected a list or a map to look into, got {_shown(value)}")


def _printed(arguments: _Arguments) -> str:
    """As Go's ``print``: spaces stand between operands when neither is a string."""
    text, last_is_text = "", True
    for value in arguments:
        is_text = isinstance(value, str)
        text += " " * (not last_is_text and not is_text) + text_of(value)
        last_is_text = is_text
    return text


def _shown(value: Value) -> str:
    return repr(value) if isinstance(value, str) else text_of(value)


FUNCTIONS: Final[Mapping[str, Function]] = {
    "AddFloat": Function(lambda values: sum(_numbers(values), 0.0), 0, None, True),
    "AddInt": Function(lambda values: int(sum(_numbers(values))), 0, None, True),
    "DivideFloat": Function(_quotient, 2, 2, True),
    "DivideInt": Function(lambda values: int(_quotient(values)), 2, 2, True),
    "Int": Function(_integer, 1, 1, True),
    "JSON": Function(_encoded, 1, 1),
    "Mod": Function(_remainder, 2, 2, True),
    "MultiplyFloat": Function(
        lambda values: math.prod(_numbers(values), start=1.0), 0, None, True
    ),
    "MultiplyInt": Function(
        lambda values: int(math.prod(_numbers(values))), 0, None, True
    ),
    "SubtractFloat": Function(_difference, 2, 2, True),
    "SubtractInt": Function(lambda values: int(_difference(values)), 2, 2, True),
    "eq": Function(_equals, 2, None),
    "ge": _comparison(operator.ge),
    "gt": _comparison(operator.gt),
    "index": Function(_indexed, 1, None),
    "le": _comparison(operator.le),
    "len": Function(_length, 1, 1, True),
    "lt": _comparison(operator.lt),
    "ne": Function(lambda values: not _is_equal(values[0], values[1]), 2, 2),
    "not": Function(lambda values: not is_true(values[0]), 1, 1),
    "print": Function(_printed, 0, None),
}
"""The functions by name, except ``and`` and ``or``."""
