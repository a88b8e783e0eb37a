"""Recorded patterns, in which Go found what we find; and the time that searches take.

`data/go_regexes.go.txt` is the program that recorded them, with Go 1.26. The patterns of
`data/evil_regexes.json` are from OWASP's page on denial of service by regular
expressions, from published reports on packages, and from the outages of Stack Overflow
(2016) and Cloudflare (2019).
"""

import gzip
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubernetes_cel.errors import CelEvaluationError
from kubernetes_cel.libraries.regexes import Pattern, prepared

RECORDED: Final = Path(__file__).parent / "data" / "regexes.jsonl.gz"
Json: TypeAlias = dict[str, Any]


class Evil(NamedTuple):
    """A pattern, and the text for which it is slow: ``first + n * repeated + last``."""

    pattern: str
    first: str
    repeated: str
    last: str


EVIL: Final = [
    Evil(**record)
    for record in json.loads(
        Path(__file__)
        .with_name("data")
        .joinpath("evil_regexes.json")
        .read_text("utf-8")
    )
]
SHORT: Final = 2_000
TIMES_LONGER: Final = 8
PATTERNS: Final = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^b]", r"\w", r"\pL", "^", "$", r"\b"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["*", "+", "?", "*?", "{0,9}", "{2,}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
        st.lists(inner, min_size=2, max_size=6).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map("({})".format),
    ),
    max_leaves=12,
)


def _recorded() -> Iterator[Json]:
    with gzip.open(RECORDED, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _emitted(record: Json) -> Json:
    try:
        pattern = prepared(record["pattern"])
    except CelEvaluationError as error:
        return {"pattern": record["pattern"], "error": str(error)}
    matches = {text: list(pattern.matches_in(text)) for text in record["matches"]}
    return {"pattern": record["pattern"], "matches": matches}


@pytest.mark.parametrize("tenth", range(10))
def test_patterns_match_or_are_rejected_as_in_go(tenth: int) -> None:
    records = list(_recorded())[tenth::10]
    differences = [record for record in records if _emitted(record) != record]
    assert not differences


def _seconds(pattern: Pattern, text: str) -> float:
    """Return the least CPU time of three searches."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        pattern.is_in(text)
        times.append(time.process_time() - begun)
    return min(times)


def _assert_linear(evil: Evil) -> None:
    pattern = prepared(evil.pattern)
    short, long = (
        evil.first + evil.repeated * count + evil.last
        for count in (SHORT, SHORT * TIMES_LONGER)
    )
    # A search of a harmless pattern is the noise of this machine.
    noise = _seconds(prepared("x(b|c)y"), long)
    limit = 3 * TIMES_LONGER * _seconds(pattern, short) + 30 * noise + 1e-3
    assert _seconds(pattern, long) <= limit, evil.pattern


@pytest.mark.parametrize("evil", EVIL, ids=[evil.pattern for evil in EVIL])
def test_time_of_an_evil_pattern_is_linear_in_the_length_of_the_text(
    evil: Evil,
) -> None:
    _assert_linear(evil)


@given(PATTERNS, st.text("ab", min_size=1, max_size=4), st.sampled_from(["", "!"]))
def test_time_of_any_pattern_is_linear_in_the_length_of_the_text(
    pattern: str, repeated: str, last: str
) -> None:
    _assert_linear(Evil(pattern, "", repeated, last))


def test_pattern_that_is_too_large_is_rejected() -> None:
    with pytest.raises(CelEvaluationError, match="expression too large"):
        prepared(r"\pL{1000}")


def test_text_that_is_too_long_for_a_large_pattern_is_rejected() -> None:
    with pytest.raises(CelEvaluationError, match="too large to search a text"):
        prepared("(x?){1000}" * 20).is_in("x" * 10_000)


def test_searches_behind_each_match_are_bounded_in_all() -> None:
    with pytest.raises(CelEvaluationError, match="too large to search a text"):
        list(prepared("[^x]*x|a").matches_in("a" * 60_000))


def test_half_characters_are_replaced() -> None:
    assert list(prepared("^.$").matches_in("\ud800")) == ["\ufffd"]
