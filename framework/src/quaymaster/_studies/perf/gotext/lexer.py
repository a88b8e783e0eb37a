"""Splits templates into texts and actions, and actions into tokens."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from quaymaster._studies.perf.gotext.errors import GoTemplateError

__all__ = ["Action", "Token", "split"]

_TOKEN: Final = re.compile(
    r"""(?P<field>(?:\.[A-Za-z_]\w*)+)
    |(?P<variable>\$\w*(?:\.[A-Za-z_]\w*)*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<number>[-+]?(?:0[xX][0-9a-fA-F_]+|[\d_]*\.?\d[\d_]*(?:[eE][-+]?\d+)?))
    |(?P<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
    |(?P<character>'(?:[^'\\\n]|\\.)+')
    |(?P<mark>:=|[()|,=.])""",
    re.VERBOSE,
)
_SPACE: Final = re.compile(r"\s*")
_END: Final = re.compile(r"\s-}}|}}")
_COMMENT: Final = re.compile(r"\{\{(-\s)?\s*/\*.*?\*/\s*(-)?\}\}", re.DOTALL)


class Token(NamedTuple):
    """A token of an action.

    Attributes:
        kind: ``field``, ``variable``, ``name``, ``number``, ``text``, ``character`` or
            ``mark``.
        text: As it is written.
        is_attached: Whether it follows the token before without a space.
    """

    kind: str
    text: str
    is_attached: bool = False


class Action(NamedTuple):
    """The content between ``{{`` and ``}}``.

    Attributes:
        line: Where it begins, from 1.
        source: As it is written, without the braces.
        tokens: Its tokens.
    """

    line: int
    source: str
    tokens: tuple[Token, ...]


def split(text: str) -> Iterator[str | Action]:
    """Split a template into its texts and actions, without comments.

    Raises:
        GoTemplateError: An action has no end, or is invalid.
    """
    done = 0
    trims = False
    while (start := text.find("{{", done)) >= 0:
        trims_before = re.match(r"-\s", text[start + 2 : start + 4]) is not None
        yield _trimmed(text[done:start], left=trims, right=trims_before)
        comment = _COMMENT.match(text, start)
        if comment is not None:
            done, trims = comment.end(), comment[2] is not None
            continue
        line = text.count("\n", 0, start) + 1
        inside = start + (3 if trims_before else 2)
        tokens, end = _read_action(text, inside, line)
        yield Action(line, text[inside : end.start()].strip(), tuple(tokens))
        done, trims = end.end(), end[0] != "}}"
    yield _trimmed(text[done:], left=trims, right=False)


def _trimmed(text: str, *, left: bool, right: bool) -> str:
    """Return a text without the white space that trim markers of actions remove."""
    text = text.lstrip() if left else text
    return text.rstrip() if right else text


def _read_action(text: str, place: int, line: int) -> tuple[list[Token], re.Match[str]]:
    """Return the tokens from a place on, and the end of the action."""
    tokens: list[Token] = []
    while place < len(text):
        end = _END.match(text, place)
        if end is not None:
            return tokens, end
        match = _TOKEN.match(text, place)
        if match is not None and match.lastgroup is not None:
            is_attached = bool(tokens) and not text[place - 1].isspace()
            tokens.append(Token(match.lastgroup, match[0], is_attached))
            place = match.end()
            continue
        after_space = _SPACE.match(text, place)
        if after_space is None or after_space.end() == place:
            rest = text[place:].split("}}", maxsplit=1)[0].strip()
            raise GoTemplateError(line, f"cannot read {rest!r}")
        # A trim marker needs the space before it.
        place = after_space.end() - (text[after_space.end() :].startswith("-}}"))
    raise GoTemplateError(line, "expected }} after {{")
