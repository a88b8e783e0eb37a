"""Regular expressions that input reaches take time linear in its length.

`re` backtracks, so a pattern may take the square of the length, or more, for texts that
someone wrote for that purpose. RE2, which CEL uses, cannot: `framework/cel/tests`.
"""

import re
import time
from typing import Final

import pytest

from tests.patterns.attacks import Attack, attacks
from tests.patterns.listed import Case, cases, is_guarded, listed
from tests.patterns.scanning import Use

pytestmark = pytest.mark.long

LENGTHS: Final = (8, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 256, 1024, 8192)
SECONDS: Final = 0.03
"""The square of the last length takes 0.3 s or more; linear time is a millisecond."""


def name_of(line: str) -> str:
    module, name, _ = line.split("\t")
    return f"{module}-{name[:40]}"


def as_text(case: Case) -> tuple[re.Pattern[str], int]:
    """Return a pattern for texts, with its flags; bytes are read as Latin-1."""
    flags = case.flags & ~re.UNICODE
    is_text = isinstance(case.pattern, str)
    pattern = case.pattern if is_text else case.pattern.decode("latin-1")
    return re.compile(pattern, flags), flags


def seconds(case: Case, compiled: re.Pattern[str], text: str) -> float:
    """Measure the processor time, the best of three if it is too long."""
    best = SECONDS
    for _ in range(3):
        begin = time.process_time()
        if case.method in ("sub", "subn"):
            getattr(compiled, case.method)("", text)
        elif case.method == "finditer":
            for _match in compiled.finditer(text):
                pass
        else:
            getattr(compiled, case.method)(text)
        best = min(best, time.process_time() - begin)
        if best < SECONDS:
            break
    return best


def slow_length(case: Case, compiled: re.Pattern[str], attack: Attack) -> int | None:
    """Return the length from which a text takes too long, if any."""
    for length in LENGTHS:
        if seconds(case, compiled, attack.text(length)) >= SECONDS:
            return length
    return None


@pytest.mark.parametrize("line", listed(), ids=name_of)
def test_time_is_linear_in_the_text(line: str) -> None:
    slow = {}
    for case in cases(line):
        if is_guarded(case.use):
            continue
        compiled, flags = as_text(case)
        for attack in attacks(compiled.pattern, flags):
            if length := slow_length(case, compiled, attack):
                slow[case.method, attack] = length
    assert slow == {}


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "a*a*a*b", r"\s+$", r"(x\w*)+!", "(?:.*a){9}b"]
)
def test_slow_patterns_are_found(pattern: str) -> None:
    compiled = re.compile(pattern)
    case = Case(Use("", "", ()), pattern, 0, "search")
    assert any(slow_length(case, compiled, each) for each in attacks(pattern, 0))
