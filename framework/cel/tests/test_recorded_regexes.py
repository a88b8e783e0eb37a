"""Recorded patterns, in which Go found what we find; and the time that searches take.

`data/go_regexes.go.txt` is the program that recorded them, with Go 1.26. The evil
patterns are from OWASP's page on denial of service by regular expressions, from
published reports on packages, and from the outages of Stack Overflow (2016) and
Cloudflare (2019).
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

from kubernetes_cel import (
    CelEvaluationError,
    Selector,
    compile_selector,
    device_environment,
    device_value,
)

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
TOO_LARGE: Final = "too large to search a text"
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


DEVICE: Final = 'device.attributes["d"]'
FINDS_ALL: Final = compile_selector(
    f"{DEVICE}.text.findAll({DEVICE}.pattern).size() == {DEVICE}.count && "
    f'{DEVICE}.text.findAll({DEVICE}.pattern).join("|") == {DEVICE}.matches',
    device_environment("1.37"),
)
MATCHES: Final = compile_selector(
    f"{DEVICE}.text.matches({DEVICE}.pattern)", device_environment("1.37")
)


def _is_true(selector: Selector, **attributes: str | int) -> bool:
    typed: Json = {
        name: {"string" if isinstance(value, str) else "int": value}
        for name, value in attributes.items()
    }
    return selector.matches(device_value("d", {"attributes": typed}))


def _difference(record: Json) -> object:
    """Return what differs from Go's answer, if anything."""
    pattern = record["pattern"]
    try:
        if "error" in record:
            _is_true(MATCHES, text="", pattern=pattern)
        return [
            (pattern, text, matches)
            for text, matches in record.get("matches", {}).items()
            if not _is_true(
                FINDS_ALL,
                text=text,
                pattern=pattern,
                count=len(matches),
                matches="|".join(matches),
            )
        ]
    except CelEvaluationError as error:
        return None if str(error) == record.get("error") else (pattern, str(error))


@pytest.mark.long
@pytest.mark.parametrize("tenth", range(10))
def test_patterns_match_or_are_rejected_as_in_go(tenth: int) -> None:
    records = list(_recorded())[tenth::10]
    assert list(filter(None, map(_difference, records))) == []


def _seconds(pattern: str, text: str) -> float:
    """Return the least CPU time of three searches, which may be refused at once."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        try:
            _is_true(MATCHES, text=text, pattern=pattern)
        except CelEvaluationError as error:
            if TOO_LARGE not in str(error):
                raise
        times.append(time.process_time() - begun)
    return min(times)


def _assert_linear(evil: Evil) -> None:
    short, long = (
        evil.first + evil.repeated * count + evil.last
        for count in (SHORT, SHORT * TIMES_LONGER)
    )
    # A search of a harmless pattern is the noise of this machine.
    noise = _seconds("x(b|c)y", long)
    limit = 3 * TIMES_LONGER * _seconds(evil.pattern, short) + 30 * noise + 1e-3
    assert _seconds(evil.pattern, long) <= limit, evil.pattern


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


@pytest.mark.long
def test_pattern_that_is_too_large_is_rejected() -> None:
    with pytest.raises(CelEvaluationError, match="expression too large"):
        _is_true(MATCHES, text="", pattern=r"\pL{1000}")


def test_text_that_is_too_long_for_a_large_pattern_is_rejected() -> None:
    with pytest.raises(CelEvaluationError, match=TOO_LARGE):
        _is_true(MATCHES, text="x" * 10_000, pattern="(x?){1000}" * 20)


@pytest.mark.long
def test_searches_behind_each_match_are_bounded_in_all() -> None:
    with pytest.raises(CelEvaluationError, match=TOO_LARGE):
        _is_true(FINDS_ALL, text="a" * 40_000, pattern="[^x]*x|a", count=0, matches="")


def test_half_characters_are_replaced() -> None:
    assert _is_true(FINDS_ALL, text="\ud800", pattern="^.$", count=1, matches="\ufffd")
