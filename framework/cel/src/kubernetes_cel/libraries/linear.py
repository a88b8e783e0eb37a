"""Patterns that are searched for in linear time.

Python tries one way after the other, which takes for ever where repetitions are within
repetitions. RE2 follows all ways at once, and so does this, for such patterns: a
machine of steps whose threads go through a text side by side, the preferred ones first.
"""

import functools
import re
from collections.abc import Callable, Iterator
from typing import Final

import attrs

__all__ = ["LinearPattern", "needs_linear_time"]

_REPEATED_GROUP: Final = re.compile(r"\)[*+{]")
_ATOM: Final = re.compile(
    r"\(\?(?P<flag>[ims]):(?:\\U[0-9a-f]{8}|\\.|\[(?:\\.|[^\]\\])*\]|.)\)"
    r"|\(\?a:\\[bB]\)|\\[AZ]|\\U[0-9a-f]{8}|\\.|\[(?:\\.|[^\]\\])*\]|[^()|*+?{]",
    re.DOTALL,
)
_SIGNS: Final = re.compile(_ATOM.pattern + r"|[()|*+?{]", re.DOTALL)
_SIGN: Final = re.compile(r"([*+?]|\{(\d+)(,(\d*))?\})(\??)")
_TESTS: Final = frozenset({r"\A", r"\Z", "(?m:^)", "(?m:$)", r"(?a:\b)", r"(?a:\B)"})

_Build = Callable[[int], int]
"""Puts steps before the step of a number; returns the number of the first."""


def needs_linear_time(translated: str) -> bool:
    """Say whether a pattern of Python has a repetition of what can go several ways."""
    depth = [0]
    for found in _SIGNS.finditer(translated):
        sign = found.group()
        if sign == "(":
            depth.append(0)
        elif sign == ")":
            inside = depth.pop()
            if inside and _REPEATED_GROUP.match(translated, found.start()):
                return True
            depth[-1] += inside
        elif sign in ("|", "*", "+", "{") or (
            sign == "?" and translated[found.start() - 1] == ")"
        ):
            depth[-1] += 1
    return False


@attrs.define
class _Step:
    """A step of the machine: a character, a test of the place, or a fork.

    Attributes:
        takes: Says whether it takes a character.
        passes: Says whether a place in a text passes.
        ways: Where it goes on, the preferred way first; the end has none.
    """

    takes: Callable[[str], bool] | None
    passes: Callable[[str, int], bool] | None
    ways: list[int]


class LinearPattern:
    """A pattern, of what `translated` makes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._steps = [_Step(None, None, [])]
        self._start = self._alternatives()(0)

    # The machine.

    def _step(self, *ways: int) -> int:
        self._steps.append(_Step(None, None, list(ways)))
        return len(self._steps) - 1

    def _alternatives(self) -> _Build:
        branches: list[_Build] = [self._sequence()]
        while self._text.startswith("|", self._at):
            self._at += 1
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        return lambda end: self._step(*[each(end) for each in branches])

    def _sequence(self) -> _Build:
        parts: list[_Build] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._repeated(self._atom()))

        def build(end: int) -> int:
            for each in reversed(parts):
                end = each(end)
            return end

        return build

    def _atom(self) -> _Build:
        found = _ATOM.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
            return functools.partial(self._single, found.group())
        self._at += 3 if self._text.startswith("(?:", self._at) else 1
        if self._text.startswith("?P<", self._at):
            self._at = self._text.index(">", self._at) + 1
        inside = self._alternatives()
        self._at += 1
        return inside

    def _single(self, atom: str, end: int) -> int:
        step = self._step(end)
        pattern = re.compile(atom, re.DOTALL if atom == "." else 0)
        if atom in _TESTS:
            self._steps[step].passes = lambda text, at: bool(pattern.match(text, at))
        else:
            self._steps[step].takes = functools.lru_cache(maxsize=512)(
                lambda character: pattern.fullmatch(character) is not None
            )
        return step

    def _repeated(self, atom: _Build) -> _Build:
        while found := _SIGN.match(self._text, self._at):
            self._at = found.end()
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(
                found[1], (int(found[2] or 0), _most(found))
            )
            atom = functools.partial(
                self._times, atom, least, most, lazy=bool(found[5])
            )
        return atom

    def _times(
        self, atom: _Build, least: int, most: int | None, end: int, *, lazy: bool
    ) -> int:
        def fork(inside: int) -> list[int]:
            return [end, inside] if lazy else [inside, end]

        first = end
        if most is None:
            # Once at least, then maybe not: so Go keeps the order of empty matches.
            again = self._step()
            first = inside = atom(again)
            self._steps[again].ways = fork(inside)
            if not least:
                return self._step(*fork(inside))
            least -= 1
        else:
            for _ in range(most - least):
                first = self._step(*fork(atom(first)))
        for _ in range(least):
            first = atom(first)
        return first

    # The search.

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Name where matches begin and end, from left to right."""
        at = 0
        while at <= len(text):
            found = self._first(text, at)
            if found is None:
                return
            yield found
            at = found[1] + (found[0] == found[1])

    def _first(self, text: str, start: int) -> tuple[int, int] | None:
        best: tuple[int, int] | None = None
        threads: dict[int, int] = {}
        for at in range(start, len(text) + 1):
            if best is None:
                self._add(threads, self._start, at, text, at)
            following: dict[int, int] = {}
            for number, begun in threads.items():
                step = self._steps[number]
                if not number:
                    best = (begun, at)
                    break
                if at < len(text) and step.takes and step.takes(text[at]):
                    self._add(following, step.ways[0], begun, text, at + 1)
            threads = following
            if best is not None and not threads:
                break
        return best

    def _add(
        self, threads: dict[int, int], number: int, begun: int, text: str, at: int
    ) -> None:
        """Let a thread go on as far as it gets without a character."""
        waiting = [number]
        seen = set(threads)
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            step = self._steps[number]
            threads[number] = begun
            if step.takes is None and (not step.passes or step.passes(text, at)):
                waiting += reversed(step.ways)


def _most(found: re.Match[str]) -> int | None:
    if not found[2]:
        return None
    if not found[3]:
        return int(found[2])
    return int(found[4]) if found[4] else None
