"""Format strings: ``"%s-%d".format([...])``.

Mirrors ``ext/formatting.go`` (cel-go v0.26.0), which separates thousands of numbers by
commas, as in the United States.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Final

import attrs

from kubernetes_cel.dispatch import type_name
from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.libraries.conversions import double_text
from kubernetes_cel.libraries.times import duration_text, timestamp_text
from kubernetes_cel.values import (
    MAP_TYPES,
    Duration,
    Timestamp,
    TypeValue,
    Uint,
    Value,
    from_key,
)

__all__ = ["UNEXPECTED_END", "Clause", "clauses_of", "formatted"]

UNEXPECTED_END: Final = "unexpected end of string"
"""The error of a format string whose last clause has no letter."""

_PLACES: Final = 6
# A line break after ``%`` is an unknown clause, too.
_CLAUSE: Final = re.compile(r"%(?:%|(?:\.([0-9]+))?(.))", re.DOTALL)
_RAISED: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_TIMES: Final = "\u00d7"
_WORDS: Final = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


@attrs.frozen
class Clause:
    """A clause of a format string, such as ``%.2f``.

    Attributes:
        letter: The letter that selects the notation.
        places: The number of decimal places.
    """

    letter: str
    places: int


def clauses_of(text: str) -> Iterator[str | Clause]:
    """Yield the texts and the clauses of a format string, in order.

    Raises:
        CelEvaluationError: A clause is invalid.
    """
    end = 0
    for match in _CLAUSE.finditer(text):
        yield text[end : match.start()]
        end = match.end()
        if match.group() == "%%":
            yield "%"
        elif match[2] in _WRITERS:
            yield Clause(match[2], int(match[1]) if match[1] else _PLACES)
        else:
            raise CelEvaluationError(
                "could not parse formatting clause: unrecognized formatting clause "
                f'"{match[2]}"'
            )
    rest = text[end:]
    if "%" in rest:
        raise CelEvaluationError(UNEXPECTED_END)
    yield rest


def formatted(text: str, values: list[Value]) -> str:
    """Return a format string with its clauses replaced by values."""
    parts: list[str] = []
    count = 0
    for part in clauses_of(text):
        if isinstance(part, str):
            parts.append(part)
            continue
        if count >= len(values):
            raise CelEvaluationError(f"index {count} out of range")
        parts.append(_WRITERS[part.letter](values[count], part.places))
        count += 1
    return "".join(parts)


def _type_error(what: str, value: Value) -> CelEvaluationError:
    return CelEvaluationError(
        f"error during formatting: {what}, was given {type_name(value)}"
    )


def _string(value: Value, _places: int = 0) -> str:
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bytes:
        try:
            return bytes.decode(value)
        except UnicodeDecodeError as error:
            raise CelEvaluationError("could not convert argument to string") from error
    if kind is bool:
        return str(value).lower()
    if kind is int or kind is Uint:
        return str(int(value))
    if value is None:
        return "null"
    writer = _STRINGS.get(kind)
    if writer is None:
        raise _type_error(
            "string clause can only be used on strings, bools, bytes, ints, doubles, "
            "maps, lists, types, durations, and timestamps",
            value,
        )
    return writer(value)


def _member(value: Value) -> str:
    """Return the text of a member of a list or a map, as an expression writes it."""
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is bytes:
        return f"b{_quoted(_string(value))}"
    if kind is float:
        text = _fixed_text(value, _PLACES)
        # Only infinity and NaN differ from themselves or from zero here; they are
        # written as texts.
        return text if value - value == 0 else f'"{text}"'
    if kind is Timestamp:
        return f'timestamp("{timestamp_text(value)}")'
    if kind is Duration:
        return f'duration("{duration_text(value)}")'
    if kind not in _STRINGS and kind not in (bool, int, Uint, type(None)):
        raise CelEvaluationError(f"no formatting function for {type_name(value)}")
    return _string(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _list(values: list[Value]) -> str:
    return f"[{', '.join(map(_member, values))}]"


def _map(values: dict[Value, Value]) -> str:
    # Go maps have no order, so upstream sorts their texts.
    pairs = sorted(
        (_member(_key(from_key(key))), _member(value)) for key, value in values.items()
    )
    return f"{{{', '.join(f'{key}:{value}' for key, value in pairs)}}}"


def _key(key: Value) -> Value:
    if type(key) not in (str, bool, int, Uint):
        raise CelEvaluationError(
            f"no formatting function for map key of type {type_name(key)}"
        )
    return key


_STRINGS: Final[dict[type, Callable[[Value], str]]] = {
    float: double_text,
    list: _list,
    **dict.fromkeys(MAP_TYPES, _map),
    Timestamp: timestamp_text,
    Duration: duration_text,
    TypeValue: lambda value: str(value.name),
}


def _decimal(value: Value, _places: int) -> str:
    if type(value) in (int, Uint):
        return str(int(value))
    raise _type_error("decimal clause can only be used on integers", value)


def _double(value: Value, what: str) -> float:
    if type(value) is float:
        return float(value)
    # These three words are accepted for doubles that JSON cannot write.
    if type(value) is str and value in _WORDS:
        return float(_WORDS[value])
    raise _type_error(f"{what} clause can only be used on doubles", value)


def _fixed_text(value: float, places: int, comma: str = "") -> str:
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    return f"{value:{comma}.{places}f}"


def _fixed(value: Value, places: int) -> str:
    number = _double(value, "fixed-point")
    if number - number != 0:
        return "NaN" if number != number else "∞" if number > 0 else "-∞"
    # Negative zero is written without its sign.
    return _fixed_text(number or 0.0, places, ",")


def _scientific(value: Value, places: int) -> str:
    number = _double(value, "scientific")
    # Upstream uses the number of places as the minimum width.
    if number - number != 0:
        return _fixed(number, 0).rjust(places)
    mantissa, _, exponent = f"{number or 0.0:.{_PLACES}e}".partition("e")
    power = exponent.lstrip("+").translate(_RAISED)
    return f"{mantissa}{_TIMES}10{power}".rjust(places)


def _binary(value: Value, _places: int) -> str:
    if type(value) in (int, Uint, bool):
        return f"{int(value):b}"
    raise _type_error("only integers and bools can be formatted as binary", value)


def _hexadecimal(value: Value, _places: int) -> str:
    if type(value) is str:
        return value.encode().hex()
    if type(value) is bytes:
        return value.hex()
    if type(value) in (int, Uint):
        return f"{int(value):x}"
    raise _type_error(
        "only integers, byte buffers, and strings can be formatted as hex", value
    )


def _octal(value: Value, _places: int) -> str:
    if type(value) in (int, Uint):
        return f"{int(value):o}"
    raise _type_error("octal clause can only be used on integers", value)


_WRITERS: Final[dict[str, Callable[[Value, int], str]]] = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hexadecimal,
    "X": lambda value, places: _hexadecimal(value, places).upper(),
    "o": _octal,
}
