"""The number of parallel requests grows only where it raises the throughput."""

from collections.abc import Callable

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.outbound import Parallelism

STEP = 0.05  # seconds

Rate = Callable[[int], float]
"""The answers per second of a server, by its number of parallel requests."""


def waiting(seconds: float) -> Rate:
    """Return a server with a fixed latency, whatever its load."""
    return lambda under_way: under_way / seconds


def busy(most: float) -> Rate:
    """Return a server with a fixed throughput, whatever its load."""
    return lambda _: most


@attrs.define
class Crowd:
    """Requests that always wait.

    Attributes:
        width: What is tested.
        now: The time.
        seen: The limits that there were.
    """

    width: Parallelism
    now: float = 100.0
    seen: list[int] = attrs.field(factory=list)
    _answers: float = 0.0

    def ask(self, rate: Rate, seconds: float) -> None:
        """Send requests to a server for some time."""
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            self._answers += rate(self.width.limit) * STEP
            while self._answers >= 1:
                self._answers -= 1
                self.width.answered()
            self.width.press(self.now)
            self.seen.append(self.width.limit)


def test_slow_server_that_answers_in_parallel_gets_the_maximum() -> None:
    crowd = Crowd(Parallelism(16, 128))
    crowd.ask(waiting(0.3), 4.0)
    assert crowd.width.limit == 128


def test_busy_server_gets_more_for_one_try() -> None:
    crowd = Crowd(Parallelism(16, 128))
    crowd.ask(busy(300.0), 30.0)
    assert crowd.width.limit == 16
    assert sorted(set(crowd.seen)) == [16, 32]
    assert crowd.seen.count(32) * STEP < 1.5


def test_increase_that_helped_is_kept_and_others_are_undone() -> None:
    def up_to_70_at_once(under_way: int) -> float:
        return min(under_way, 70) / 0.3

    crowd = Crowd(Parallelism(16, 128))
    crowd.ask(up_to_70_at_once, 30.0)
    assert max(crowd.seen) == 128
    assert crowd.width.limit == 64


def test_more_are_tried_again_after_a_minute() -> None:
    crowd = Crowd(Parallelism(16, 128))
    crowd.ask(busy(300.0), 10.0)
    crowd.ask(waiting(0.3), 65.0)
    assert crowd.width.limit == 128


def test_measurements_are_dropped_after_a_quiet_minute() -> None:
    crowd = Crowd(Parallelism(16, 128))
    crowd.ask(waiting(0.3), 4.0)
    crowd.now += 61.0
    crowd.ask(busy(300.0), STEP)
    assert crowd.width.limit == 16


def test_pauses_do_not_count_as_slowness() -> None:
    crowd = Crowd(Parallelism(16, 128))
    for _ in range(5):
        crowd.ask(waiting(0.3), 0.4)
        crowd.now += 2.0
    assert crowd.width.limit == 16


@pytest.mark.parametrize(("few", "most"), [(16, 8), (16, 16)])
def test_narrow_lane_stays_narrow(few: int, most: int) -> None:
    crowd = Crowd(Parallelism(few, most))
    crowd.ask(waiting(0.3), 10.0)
    assert crowd.width.limit == most


@given(
    st.lists(
        st.tuples(st.floats(0.01, 3.0), st.booleans(), st.floats(0.1, 90.0)), max_size=6
    )
)
def test_limit_stays_between_few_and_most(
    servers: list[tuple[float, bool, float]],
) -> None:
    crowd = Crowd(Parallelism(16, 100))
    for seconds, is_busy, pause in servers:
        crowd.ask(busy(1 / seconds) if is_busy else waiting(seconds), 2.0)
        crowd.now += pause
    assert all(16 <= limit <= 100 for limit in crowd.seen)
