"""Functions of strings. Positions count code points.

Mirrors ``ext/strings.go`` version 2 (cel-go v0.26.0).
"""

from typing import Final

from kubernetes_cel.declarations import Overload, function, method
from kubernetes_cel.errors import CelCostError, CelEvaluationError
from kubernetes_cel.libraries.formatting import formatted
from kubernetes_cel.limits import LONGEST_TEXT

__all__ = ["OVERLOADS"]

_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
# The characters of Go's unicode.IsSpace; Python's str.strip removes others too.
_SPACE: Final = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_QUOTED: Final = str.maketrans(
    {
        "\a": r"\a",
        "\b": r"\b",
        "\f": r"\f",
        "\n": r"\n",
        "\r": r"\r",
        "\t": r"\t",
        "\v": r"\v",
        "\\": r"\\",
        '"': r"\"",
    }
)


def _at(index: int, text: str) -> int:
    if 0 <= index <= len(text):
        return index
    raise CelEvaluationError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    # One past the end is the empty string, and not an error.
    return text[_at(index, text)] if index != len(text) else ""


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise CelEvaluationError(f"index out of range: {offset}")
    return text.find(part, offset)


def _last_index_of(text: str, part: str) -> int:
    return text.rfind(part)


def _last_index_of_before(text: str, part: str, offset: int) -> int:
    if not part:
        return offset
    if offset < 0:
        raise CelEvaluationError(f"index out of range: {offset}")
    if offset >= len(text):
        return -1
    # The match may begin at the offset, and reach beyond it.
    return text.rfind(part, 0, offset + len(part))


def _substring(text: str, start: int) -> str:
    return text[_at(start, text) :]


def _substring_to(text: str, start: int, end: int) -> str:
    if start > end:
        raise CelEvaluationError(f"invalid substring range. start: {start}, end: {end}")
    return text[_at(start, text) : _at(end, text)]


def _split(text: str, separator: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    if separator:
        # Python counts splits, Go counts parts.
        return text.split(separator, most - 1 if most > 0 else -1)
    if 0 < most < len(text):
        return [*text[: most - 1], text[most - 1 :]]
    # Without a separator, each character is a part.
    return list(text)


def _replace(text: str, old: str, new: str, most: int = -1) -> str:
    count = text.count(old) if most < 0 else min(most, text.count(old))
    # Checked before the text is made: a short expression could fill the memory.
    if len(text) + count * len(new) > LONGEST_TEXT:
        raise CelCostError
    return text.replace(old, new, most)


def _join(texts: list[str], separator: str = "") -> str:
    for text in texts:
        if type(text) is not str:
            raise CelEvaluationError(f"join: invalid input: {text}")
    return separator.join(texts)


def _quote(text: str) -> str:
    return f'"{text.translate(_QUOTED)}"'


OVERLOADS: Final[tuple[Overload, ...]] = (
    method("contains_string", "string.contains(string) -> bool", str.__contains__),
    method("starts_with_string", "string.startsWith(string) -> bool", str.startswith),
    method("ends_with_string", "string.endsWith(string) -> bool", str.endswith),
    method("string_char_at_int", "string.charAt(int) -> string", _char_at),
    method("string_index_of_string", "string.indexOf(string) -> int", _index_of),
    method(
        "string_index_of_string_int", "string.indexOf(string, int) -> int", _index_of
    ),
    method(
        "string_last_index_of_string",
        "string.lastIndexOf(string) -> int",
        _last_index_of,
    ),
    method(
        "string_last_index_of_string_int",
        "string.lastIndexOf(string, int) -> int",
        _last_index_of_before,
    ),
    method(
        "string_lower_ascii",
        "string.lowerAscii() -> string",
        lambda text: text.translate(_LOWER),
    ),
    method(
        "string_upper_ascii",
        "string.upperAscii() -> string",
        lambda text: text.translate(_UPPER),
    ),
    method(
        "string_replace_string_string",
        "string.replace(string, string) -> string",
        _replace,
    ),
    method(
        "string_replace_string_string_int",
        "string.replace(string, string, int) -> string",
        _replace,
    ),
    method("string_split_string", "string.split(string) -> list(string)", _split),
    method(
        "string_split_string_int", "string.split(string, int) -> list(string)", _split
    ),
    method("string_substring_int", "string.substring(int) -> string", _substring),
    method(
        "string_substring_int_int",
        "string.substring(int, int) -> string",
        _substring_to,
    ),
    method("string_trim", "string.trim() -> string", lambda text: text.strip(_SPACE)),
    method("string_format", "string.format(list(dyn)) -> string", formatted),
    function("strings_quote", "strings.quote(string) -> string", _quote),
    method("list_join", "list(string).join() -> string", _join),
    method("list_join_string", "list(string).join(string) -> string", _join),
)
