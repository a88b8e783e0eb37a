"""Requests are counted for the metrics."""

from collections.abc import Callable

import attrs
import pytest

from tests.kit.internals.driver import (
    REQUEST_SECONDS,
    Counted,
    CountedRoad,
    Durations,
    RequestCounts,
)
from tests.kit.internals.way_out import Asked, Lane, Lost, Outcome, Reply

BIND = Asked(1, Lane.BIND, "POST", "/api/v1/namespaces/default/pods/a/binding")


@attrs.define
class Road:
    """A road whose requests are answered when a test says so."""

    trouble: str = ""
    done: list[Callable[[Outcome], None]] = attrs.field(factory=list)
    swept: int = 0

    def is_free(self, waiting: int) -> bool:
        return len(self.done) < waiting

    def send(self, asked: Asked, done: Callable[[Outcome], None]) -> None:
        assert asked == BIND
        self.done.append(done)

    def sweep(self) -> None:
        self.swept += 1


@pytest.mark.parametrize(
    ("outcome", "code"),
    [
        (Reply(201), "201"),
        (Reply(409), "409"),
        (Lost("cut off", is_sent=True), "<error>"),
    ],
)
def test_request_is_counted_once_its_outcome_is_known(
    outcome: Outcome, code: str
) -> None:
    road, counts, times = Road(), RequestCounts(), [10.0, 10.02]
    told: list[Outcome] = []
    counted = CountedRoad(road, counts, lambda: times.pop(0))
    counted.send(BIND, told.append)
    assert counts.counted() == Counted({}, {})
    road.done[0](outcome)
    assert told == [outcome]
    found = counts.counted()
    assert found.requests == {(code, "POST"): 1}
    assert found.durations["POST"].counts == [0, 1, *[0] * 11]
    assert found.durations["POST"].total == pytest.approx(0.02)


def test_request_that_never_left_is_not_counted() -> None:
    road, counts = Road(), RequestCounts()
    told: list[Outcome] = []
    CountedRoad(road, counts, lambda: 0.0).send(BIND, told.append)
    road.done[0](Lost("refused", is_sent=False))
    assert counts.counted() == Counted({}, {})
    assert len(told) == 1


def test_road_is_the_same_otherwise() -> None:
    road = Road(trouble="refused")
    counted = CountedRoad(road, RequestCounts())
    assert counted.trouble == "refused"
    assert counted.is_free(1)
    assert not counted.is_free(0)
    counted.sweep()
    assert road.swept == 1


def test_stream_is_counted_but_not_timed() -> None:
    counts = RequestCounts()
    counts.note("GET", 200, None)
    assert counts.counted() == Counted({("200", "GET"): 1}, {})


def test_what_takes_longest_is_in_the_last_bucket() -> None:
    counts = RequestCounts()
    counts.note("GET", 200, 0.005)
    counts.note("GET", 0, 61.0)
    last = [0] * (len(REQUEST_SECONDS) + 1)
    last[0] = last[-1] = 1
    assert counts.counted().durations == {"GET": Durations(last, 61.005)}
