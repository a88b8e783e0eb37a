"""Requests are counted for the metrics."""

from tests.kit.internals.driver import (
    REQUEST_SECONDS,
    Counted,
    Durations,
    RequestCounts,
)


def test_stream_is_counted_but_not_timed() -> None:
    counts = RequestCounts()
    counts.note("GET", 200, None)
    assert counts.counted() == Counted({("200", "GET"): 1}, {})


def test_longest_duration_is_in_the_last_bucket() -> None:
    counts = RequestCounts()
    counts.note("GET", 200, 0.005)
    counts.note("GET", 0, 61.0)
    last = [0] * (len(REQUEST_SECONDS) + 1)
    last[0] = last[-1] = 1
    assert counts.counted().durations == {"GET": Durations(last, 61.005)}
