"""Times: read and written as Kubernetes does, to the microsecond."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster.errors import TimeError
from quaymaster.objects import (
    Event,
    MicroTime,
    Time,
    to_wire,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2030-01-01T00:00:01Z", 1893456001),
        ("2030-01-01t01:00:01+01:00", 1893456001),
        ("2030-01-01T00:00:01.250000Z", 1893456001.25),
        ("2030-01-01T00:00:01.250000999Z", 1893456001.25),
    ],
)
def test_times_are_seconds_since_the_epoch(text: str, seconds: float) -> None:
    assert Time.parse(text) == seconds


@given(st.integers(0, 4_000_000_000_000_000))
def test_times_are_exact_to_the_microsecond(micros: int) -> None:
    moment = Time(micros / 1_000_000)
    assert Time.parse(str(moment)) == moment
    assert MicroTime.parse(str(MicroTime(moment))) == moment


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2030-01-01",
        "2030-01-01T00:00:00",
        "2030-13-01T00:00:00Z",
        "20300101T000000Z",
    ],
)
def test_texts_that_are_not_rfc_3339_times_are_errors(text: str) -> None:
    with pytest.raises(TimeError, match="RFC 3339") as caught:
        Time.parse(text)
    assert caught.value.text == text


def test_micro_times_always_have_six_digits() -> None:
    assert str(Time(1.0)) == "1970-01-01T00:00:01Z"
    assert str(MicroTime(1.0)) == "1970-01-01T00:00:01.000000Z"
    assert repr(Time(1.0)) == "Time.parse('1970-01-01T00:00:01Z')"


def test_times_are_written_as_texts() -> None:
    event = Event(event_time=MicroTime(1.5))
    assert to_wire(event)["eventTime"] == "1970-01-01T00:00:01.500000Z"
