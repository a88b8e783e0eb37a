r"""RE2's regular expressions as Python's.

Mirrors the syntax of Go's ``regexp/syntax``: no references back and no looking around;
``$`` is the very end, classes of letters are those of ASCII, and repetitions do not
follow each other. A script such as ``\p{Greek}`` has the characters whose names begin
with it; those that Unicode counts to a script without naming it so are not found.
"""

import functools
import re
import sys
import unicodedata
from typing import Final, NoReturn

import attrs

__all__ = ["Re2Error", "translated"]

_MOST_REPEATED: Final = 1000
_PERL: Final = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_POSIX: Final = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_CONTROL: Final = {"a": 7, "f": 12, "t": 9, "n": 10, "r": 13, "v": 11}
_REPEAT: Final = re.compile(r"\{(\d+)(,(\d*))?\}", re.ASCII)
_GROUP: Final = re.compile(r"\(\?(?:P?<(\w+)>|([imsU]*(?:-[imsU]+)?)([:)]))", re.ASCII)
_CATEGORIES: Final = frozenset(
    (
        *("C", "Cc", "Cf", "Co", "Cs"),
        *("L", "Ll", "Lm", "Lo", "Lt", "Lu"),
        *("M", "Mc", "Me", "Mn"),
        *("N", "Nd", "Nl", "No"),
        *("P", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps"),
        *("S", "Sc", "Sk", "Sm", "So"),
        *("Z", "Zl", "Zp", "Zs"),
    )
)
_SCRIPT_NAMES: Final = """
    Arabic Armenian Bengali Bopomofo Cyrillic Devanagari Ethiopic Georgian Greek
    Gujarati Gurmukhi Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Latin Malayalam
    Mongolian Myanmar Oriya Sinhala Syriac Tamil Telugu Thaana Thai Tibetan
    """
_SCRIPTS: Final = {
    **{name: f"{name.upper()} " for name in _SCRIPT_NAMES.split()},
    "Han": "CJK UNIFIED",
}


class Re2Error(ValueError):
    """A pattern that RE2 does not have."""


@attrs.frozen
class _Flags:
    """What letters of a group switch on."""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


def translated(pattern: str) -> str:
    """Return Python's pattern for RE2's.

    Raises:
        Re2Error: RE2 has no such pattern.
    """
    return _Translation(pattern).whole()


def _fail(problem: str) -> NoReturn:
    raise Re2Error(problem)


def _literal(code: int) -> str:
    return f"\\U{code:08x}" if code > 0x7F else re.escape(chr(code))


class _Translation:
    """One pattern on its way."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._names: set[str] = set()

    def whole(self) -> str:
        text, _ = self._alternatives(_Flags())
        if self._at < len(self._pattern):
            _fail("unexpected ): `" + self._pattern + "`")
        return text

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _take(self) -> str:
        character = self._next()
        if not character:
            _fail("trailing backslash at end of expression")
        self._at += 1
        return character

    def _accept(self, text: str) -> bool:
        if self._pattern.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _alternatives(self, flags: _Flags) -> tuple[str, int]:
        """Translate up to a closing parenthesis; return the most repetitions too."""
        parts: list[str] = []
        most = 1
        while self._next() not in ("", ")"):
            if self._accept("|"):
                parts.append("|")
                continue
            if self._pattern.startswith("(?", self._at):
                found = _GROUP.match(self._pattern, self._at)
                if found and found[3] == ")":
                    self._at = found.end()
                    flags = _changed(flags, found[2])
                    continue
            text, count = self._repeated(flags)
            parts.append(text)
            most = max(most, count)
        return "".join(parts), most

    def _repeated(self, flags: _Flags) -> tuple[str, int]:
        if self._next() in "*+?":
            _fail(f"missing argument to repetition operator: `{self._next()}`")
        if _REPEAT.match(self._pattern, self._at):
            _fail("missing argument to repetition operator: `{`")
        text, most = self._atom(flags)
        operator = self._operator()
        if operator is None:
            return text, most
        sign, count = operator
        most *= max(count, 1)
        if most > _MOST_REPEATED:
            _fail("invalid repeat count")
        lazy = self._accept("?")
        if self._operator() is not None:
            _fail(f"invalid nested repetition operator: `{sign}`")
        return f"(?:{text}){sign}{'?' if lazy is not flags.U else ''}", most

    def _operator(self) -> tuple[str, int] | None:
        """Take a sign of repetition; return it and how often it may repeat."""
        if self._next() and self._next() in "*+?":
            return self._take(), 1
        found = _REPEAT.match(self._pattern, self._at)
        if found is None:
            return None
        self._at = found.end()
        low = int(found[1])
        high = int(found[3]) if found[3] else low
        if low > _MOST_REPEATED or high > _MOST_REPEATED or high < low:
            _fail(f"invalid repeat count: `{found.group()}`")
        return found.group(), high

    def _atom(self, flags: _Flags) -> tuple[str, int]:
        character = self._take()
        match character:
            case "(":
                return self._group(flags)
            case "[":
                return _folded(self._class(), flags), 1
            case ".":
                return (r"(?s:.)" if flags.s else r"[^\n]"), 1
            case "^":
                return (r"(?m:^)" if flags.m else r"\A"), 1
            case "$":
                return (r"(?m:$)" if flags.m else r"\Z"), 1
            case "\\":
                return self._escape(flags), 1
        return _folded(_literal(ord(character)), flags), 1

    def _group(self, flags: _Flags) -> tuple[str, int]:
        start = "("
        if self._next() == "?":
            found = _GROUP.match(self._pattern, self._at - 1)
            if found is None:
                _fail(f"invalid or unsupported Perl syntax: `{self._pattern}`")
            self._at = found.end()
            if found[1]:
                if found[1] in self._names:
                    _fail(f"duplicate capture group name: `{found[1]}`")
                self._names.add(found[1])
            else:
                start, flags = "(?:", _changed(flags, found[2])
        text, most = self._alternatives(flags)
        if not self._accept(")"):
            _fail(f"missing closing ): `{self._pattern}`")
        return f"{start}{text})", most

    def _escape(self, flags: _Flags) -> str:
        if self._accept("Q"):
            end = self._pattern.find("\\E", self._at)
            text = self._pattern[self._at : end if end >= 0 else None]
            self._at = end + 2 if end >= 0 else len(self._pattern)
            return "".join(_folded(_literal(ord(each)), flags) for each in text)
        letter = self._next()
        if letter and letter in "bB":
            self._at += 1
            return f"(?a:\\{letter})"
        if letter and letter in "Az":
            self._at += 1
            return r"\A" if letter == "A" else r"\Z"
        known = self._letters()
        if known is not None:
            negated, inside = known
            return _folded(f"[{'^' if negated else ''}{inside}]", flags)
        return _folded(_literal(self._code()), flags)

    def _letters(self) -> tuple[bool, str] | None:
        """Take a class like ``d`` or ``pL``; return whether not, and what is in it."""
        letter = self._next()
        if letter and letter.lower() in _PERL:
            self._at += 1
            return letter.isupper(), _PERL[letter.lower()]
        if letter in ("p", "P"):
            self._at += 1
            name = self._take()
            if name == "{":
                end = self._pattern.find("}", self._at)
                if end < 0:
                    _fail("invalid character class range")
                name, self._at = self._pattern[self._at : end], end + 1
            negated = (letter == "P") is not name.startswith("^")
            return negated, _category(name.removeprefix("^"))
        return None

    def _code(self) -> int:
        """Take the rest of an escape that stands for one character."""
        letter = self._take()
        if letter in "1234567" and self._next() and self._next() in "01234567":
            return self._octal(letter)
        if letter == "0":
            return self._octal(letter)
        if letter == "x":
            return self._hexadecimal()
        if letter in _CONTROL:
            return _CONTROL[letter]
        if ord(letter) < 0x80 and not letter.isalnum():
            return ord(letter)
        _fail(f"invalid escape sequence: `\\{letter}`")

    def _octal(self, digits: str) -> int:
        while len(digits) < 3 and self._next() and self._next() in "01234567":
            digits += self._take()
        return int(digits, 8)

    def _hexadecimal(self) -> int:
        found = re.compile(r"\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2})").match(
            self._pattern, self._at
        )
        code = int(found[1] or found[2], 16) if found else sys.maxunicode + 1
        if found is None or code > sys.maxunicode:
            _fail("invalid escape sequence: `\\x`")
        self._at = found.end()
        return code

    def _class(self) -> str:
        negated = self._accept("^")
        parts: list[str] = []
        first = True
        while first or self._next() != "]":
            if not self._next():
                _fail(f"missing closing ]: `{self._pattern}`")
            first = False
            parts.append(self._in_class())
        self._at += 1
        return f"[{'^' if negated else ''}{''.join(parts)}]"

    def _in_class(self) -> str:
        if self._pattern.find(":]", self._at + 2) >= 0 and self._accept("[:"):
            return self._posix()
        if self._pattern.startswith("\\", self._at):
            self._at += 1
            known = self._letters()
            if known is not None:
                negated, inside = known
                return _complement(inside) if negated else inside
            low = self._code()
        else:
            low = ord(self._take())
        if self._next() != "-" or self._pattern.startswith("-]", self._at):
            return _literal(low)
        self._at += 1
        high = self._code() if self._accept("\\") else ord(self._take())
        if high < low:
            _fail(f"invalid character class range: `{chr(low)}-{chr(high)}`")
        return f"{_literal(low)}-{_literal(high)}"

    def _posix(self) -> str:
        end = self._pattern.find(":]", self._at)
        name = self._pattern[self._at : end]
        if name.removeprefix("^") not in _POSIX:
            _fail(f"invalid character class range: `[:{name}:]`")
        self._at = end + 2
        inside = _POSIX[name.removeprefix("^")]
        return _complement(inside) if name.startswith("^") else inside


def _changed(flags: _Flags, letters: str) -> _Flags:
    on, _, off = letters.partition("-")
    changes = {**dict.fromkeys(on, True), **dict.fromkeys(off, False)}
    return attrs.evolve(flags, **changes)


def _folded(text: str, flags: _Flags) -> str:
    return f"(?i:{text})" if flags.i else text


def _ranges(codes: list[int]) -> str:
    """Write sorted codes as the inside of a class."""
    parts: list[str] = []
    start = end = codes[0]
    for code in [*codes[1:], sys.maxunicode + 2]:
        if code == end + 1:
            end = code
            continue
        parts.append(f"\\U{start:08x}-\\U{end:08x}")
        start = end = code
    return "".join(parts)


@functools.cache
def _category(name: str) -> str:
    if name == "Any":
        return r"\U00000000-\U0010ffff"
    if name in _SCRIPTS:
        return _script(name)
    if name not in _CATEGORIES:
        _fail(f"invalid character class range: `\\p{{{name}}}`")
    return _ranges(
        [
            code
            for code in range(sys.maxunicode + 1)
            if unicodedata.category(chr(code)).startswith(name)
        ]
    )


def _script(name: str) -> str:
    beginning = _SCRIPTS[name]
    return _ranges(
        [
            code
            for code in range(sys.maxunicode + 1)
            if unicodedata.name(chr(code), "").startswith(beginning)
        ]
    )


@functools.cache
def _complement(inside: str) -> str:
    pattern = re.compile(f"[^{inside}]")
    return _ranges(
        [code for code in range(sys.maxunicode + 1) if pattern.match(chr(code))]
    )
