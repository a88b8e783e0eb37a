r"""Regular expressions of Go, written for RE2.

Mirrors ``regexp/syntax`` (Go 1.26), which upstream uses. RE2's syntax differs a little:
it accepts ``\C``, and has other names of Unicode classes and other messages. So Go's
rules are applied here, and each character is written in one way for RE2. No group is
captured, because nothing reads captured groups and they cost memory.
"""

import re
import sys
from typing import Final, NoReturn

import attrs

from kubernetes_cel.libraries.unicode_classes import class_of

__all__ = ["RegexSyntaxError", "re2_pattern"]

_MOST_REPEATED: Final = 1000
_DEEPEST: Final = 1000
_LARGEST_NUMBER: Final = 10**8
_REPEAT: Final = re.compile(r"\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\}", re.ASCII)
_FLAGS: Final = re.compile(r"\(\?([imsU]*(?:-[imsU]+)?)([:)])", re.ASCII)
_FLAG_PREFIX: Final = re.compile(r"\(\?[imsU]*(?:-[imsU]*)?.?", re.DOTALL)
_NAME: Final = re.compile(r"[0-9A-Za-z_]+", re.ASCII)
_BRACED_CODE: Final = re.compile(r"\{0*([0-9a-fA-F]{1,6})\}")
_DIGIT: Final = re.compile(r"[0-9a-fA-F]")
_TWO_DIGITS: Final = re.compile(r"[0-9a-fA-F]{2}")
_POSIX: Final = frozenset(
    (
        *("alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph"),
        *("lower", "print", "punct", "space", "upper", "word", "xdigit"),
    )
)
_CONTROL: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}


class RegexSyntaxError(ValueError):
    """A pattern that Go rejects, in Go's words."""


def re2_pattern(pattern: str) -> str:
    """Return RE2's pattern for Go's.

    Raises:
        RegexSyntaxError: Go rejects the pattern.
    """
    return _Reader(pattern).whole()


def _fail(problem: str, part: str = "") -> NoReturn:
    raise RegexSyntaxError(f"{problem}: `{part}`")


def _character(code: int) -> str:
    return f"\\x{{{code:x}}}"


@attrs.define
class _Group:
    """A group that is being read.

    Attributes:
        folded: Whether upper and lower case are the same from here on.
        repeated: The largest product of nested repetitions in it.
        last: The same of its last part, or None if there is nothing to repeat.
    """

    folded: bool = False
    repeated: int = 1
    last: int | None = None

    def add(self, repeated: int = 1) -> None:
        self.last = repeated
        self.repeated = max(self.repeated, repeated)


class _Reader:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._parts: list[str] = []
        self._groups = [_Group()]
        self._repetition = -1  # where the last part begins, if it is a repetition

    def whole(self) -> str:
        while self._at < len(self._pattern):
            begin, repetition = self._at, self._repetition
            self._repetition = -1
            self._part(self._pattern[begin], repetition)
        if len(self._groups) > 1:
            _fail("missing closing )", self._pattern)
        return "".join(self._parts)

    def _part(self, sign: str, repetition: int) -> None:
        match sign:
            case "(":
                self._open()
            case ")":
                self._close()
            case "|":
                self._groups[-1].last = None
                self._write("|", 1)
            case "^" | "$" | ".":
                self._add(sign, 1)
            case "[":
                self._class()
            case "*" | "+" | "?":
                self._repeat(sign, 1, repetition)
            case "{":
                self._braces(repetition)
            case "\\":
                self._escape()
            case _:
                self._add(_character(ord(sign)), 1)

    def _write(self, text: str, length: int) -> None:
        self._parts.append(text)
        self._at += length

    def _add(self, text: str, length: int) -> None:
        """Write an atom: a part that ``*`` or ``{2}`` after it would repeat."""
        self._groups[-1].add()
        self._write(text, length)

    # Groups.

    def _open(self) -> None:
        rest = self._pattern[self._at :]
        if not rest.startswith("(?"):
            self._begin(1)
        elif rest.startswith(("(?P<", "(?<")):
            self._named(rest)
        elif flags := _FLAGS.match(rest):
            self._change(flags)
        else:
            prefix = _FLAG_PREFIX.match(rest)
            _fail("invalid or unsupported Perl syntax", prefix[0] if prefix else rest)

    def _begin(self, length: int, text: str = "(?:") -> None:
        self._groups.append(_Group(folded=self._groups[-1].folded))
        if len(self._groups) > _DEEPEST:
            _fail("expression nests too deeply", self._pattern)
        self._write(text, length)

    def _named(self, rest: str) -> None:
        end = rest.find(">")
        if end < 0:
            _fail("invalid named capture", rest)
        if not _NAME.fullmatch(rest[rest.index("<") + 1 : end]):
            _fail("invalid named capture", rest[: end + 1])
        self._begin(end + 1)

    def _change(self, flags: re.Match[str]) -> None:
        if flags[2] == ":":
            self._begin(flags.end(), flags[0])
        else:
            self._write(flags[0], flags.end())
        switched_on, _, switched_off = flags[1].partition("-")
        if "i" in flags[1]:
            self._groups[-1].folded = "i" in switched_on and "i" not in switched_off

    def _close(self) -> None:
        if len(self._groups) == 1:
            _fail("unexpected )", self._pattern)
        group = self._groups.pop()
        self._groups[-1].add(group.repeated)
        self._write(")", 1)

    # Repetitions.

    def _braces(self, repetition: int) -> None:
        numbers = _REPEAT.match(self._pattern, self._at)
        if numbers is None:
            self._add(_character(ord("{")), 1)
            return
        least = int(numbers[1]) if len(numbers[1]) < 9 else _LARGEST_NUMBER
        most = int(numbers[3]) if numbers[3] and len(numbers[3]) < 9 else least
        if numbers[3] and len(numbers[3]) >= 9:
            most = _LARGEST_NUMBER
        if max(least, most) > _MOST_REPEATED or most < least:
            _fail("invalid repeat count", numbers[0])
        self._repeat(numbers[0], most, repetition)

    def _repeat(self, operator: str, most: int, repetition: int) -> None:
        begin = self._at
        end = begin + len(operator)
        lazy = self._pattern.startswith("?", end)
        end += lazy
        if repetition >= 0:
            _fail("invalid nested repetition operator", self._pattern[repetition:end])
        group = self._groups[-1]
        if group.last is None:
            _fail("missing argument to repetition operator", self._pattern[begin:end])
        repeated = group.last * most
        if repeated > _MOST_REPEATED:
            _fail("invalid repeat count", self._pattern[begin:end])
        group.add(repeated or 1)
        self._write(self._pattern[begin:end], end - begin)
        self._repetition = begin

    # Escapes.

    def _escape(self) -> None:
        letter = self._pattern[self._at + 1 : self._at + 2]
        if letter and letter in "AbBz":
            self._add(f"\\{letter}", 2)
        elif letter == "Q":
            self._quoted()
        elif (inside := self._letters()) is not None:
            self._add(f"[{inside}]", 0)
        else:
            self._add(_character(self._code()), 0)

    def _quoted(self) -> None:
        literal, end, _ = self._pattern[self._at + 2 :].partition("\\E")
        if literal:
            self._groups[-1].add()
        text = "".join(_character(ord(each)) for each in literal)
        # Without a character, it still ends what a repetition repeats.
        self._write(text or "\\Q\\E", 2 + len(literal) + len(end))

    def _letters(self) -> str | None:
        r"""Take a class like ``\d`` or ``\pL``; return the inside of a class."""
        letter = self._pattern[self._at + 1 : self._at + 2]
        if letter and letter in "dDsSwW":
            self._at += 2
            return f"\\{letter}"
        if letter not in ("p", "P"):
            return None
        begin = self._at
        name = self._pattern[begin + 2 : begin + 3]
        if not name:
            _fail("invalid character class range", self._pattern[begin:])
        self._at += 3
        if name == "{":
            end = self._pattern.find("}", begin)
            if end < 0:
                _fail("invalid character class range", self._pattern[begin:])
            name, self._at = self._pattern[begin + 3 : end], end + 1
        negated = (letter == "P") is not name.startswith("^")
        inside = class_of(
            name.removeprefix("^"), negated=negated, folded=self._groups[-1].folded
        )
        if inside is None:
            _fail("invalid character class range", self._pattern[begin : self._at])
        return inside

    def _code(self) -> int:
        """Parse an escape of one character, and return its code point."""
        begin = self._at
        letter = self._pattern[begin + 1 : begin + 2]
        self._at += 2
        if not letter:
            _fail("trailing backslash at end of expression")
        if letter in _CONTROL:
            return _CONTROL[letter]
        if letter == "x":
            return self._hexadecimal(begin)
        if letter == "0" or (letter in "1234567" and self._octal_digit()):
            return self._octal(letter)
        if letter.isascii() and not letter.isalnum():
            return ord(letter)
        _fail("invalid escape sequence", self._pattern[begin : self._at])

    def _octal_digit(self) -> str:
        digit = self._pattern[self._at : self._at + 1]
        return digit if digit and digit in "01234567" else ""

    def _octal(self, digits: str) -> int:
        while len(digits) < 3 and (digit := self._octal_digit()):
            digits += digit
            self._at += 1
        return int(digits, 8)

    def _hexadecimal(self, begin: int) -> int:
        digits = _BRACED_CODE.match(self._pattern, self._at)
        if digits is None:
            digits = _TWO_DIGITS.match(self._pattern, self._at)
        code = int(digits[digits.lastindex or 0], 16) if digits else sys.maxunicode + 1
        if digits is None or code > sys.maxunicode:
            _fail("invalid escape sequence", self._wrong_hexadecimal(begin))
        self._at = digits.end()
        return code

    def _wrong_hexadecimal(self, begin: int) -> str:
        """Return the part of a wrong escape that Go quotes: up to the first fault."""
        if not self._pattern.startswith("{", self._at):
            return self._pattern[begin : self._at + 2]
        end = self._at + 1
        value = 0
        while digit := _DIGIT.match(self._pattern, end):
            end += 1
            value = value * 16 + int(digit[0], 16)
            if value > sys.maxunicode:
                return self._pattern[begin:end]
        return self._pattern[begin : end + 1]

    # Classes.

    def _class(self) -> None:
        begin = self._at
        self._at += 1
        negated = self._pattern.startswith("^", self._at)
        self._at += negated
        parts: list[str] = []
        while not parts or not self._pattern.startswith("]", self._at):
            parts.append(self._in_class(begin))
        self._add(f"[{'^' if negated else ''}{''.join(parts)}]", 1)

    def _in_class(self, begin: int) -> str:
        posix = self._posix()
        if posix is not None:
            return posix
        if self._pattern.startswith("\\", self._at):
            inside = self._letters()
            if inside is not None:
                return inside
        start = self._at
        low = high = self._class_character(begin)
        following = self._pattern[self._at : self._at + 2]
        if following.startswith("-") and following != "-]" and len(following) > 1:
            self._at += 1
            high = self._class_character(begin)
            if high < low:
                _fail("invalid character class range", self._pattern[start : self._at])
        return f"{_character(low)}-{_character(high)}"

    def _class_character(self, begin: int) -> int:
        character = self._pattern[self._at : self._at + 1]
        if not character:
            _fail("missing closing ]", self._pattern[begin:])
        if character == "\\":
            return self._code()
        self._at += 1
        return ord(character)

    def _posix(self) -> str | None:
        if not self._pattern.startswith("[:", self._at):
            return None
        end = self._pattern.find(":]", self._at + 2)
        if end < 0:
            return None
        text = self._pattern[self._at : end + 2]
        if text[2:-2].removeprefix("^") not in _POSIX:
            _fail("invalid character class range", text)
        self._at = end + 2
        return text
