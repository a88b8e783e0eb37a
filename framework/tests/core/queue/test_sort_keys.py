"""The active queue is sorted by the plugins' keys, whatever their types are."""

import enum
import functools
import itertools
import logging
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Pod
from quaymaster.objects import MicroTime, Time
from quaymaster.scheduler import VirtualClock
from quaymaster.testing import SchedulerHarness, make_node, make_pod
from tests.kit.internals.queue import Nominator, QueueProfile, SchedulingQueue
from tests.kit.internals.runtime import HookGuards


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Color(enum.StrEnum):
    BLUE = "blue"


class Key(NamedTuple):
    negated: float
    time: float


class Falling(float):
    """A number that is sorted in descending order."""

    def __lt__(self, other: object) -> bool:
        return isinstance(other, float) and float(self) > float(other)

    def __gt__(self, other: object) -> bool:
        return isinstance(other, float) and float(self) < float(other)


@functools.total_ordering
class Silent:
    """Compares with nothing."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __lt__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]  # never called


def popped(keys: Sequence[Any], profiles: int = 1) -> list[int]:
    """Return the order in which pods with these keys are popped, by position."""
    names = [f"s{number}" for number in range(profiles)]
    profile = QueueProfile(sort_key=lambda queued: keys[int(queued.pod.name)])
    queue = SchedulingQueue(
        clock=VirtualClock(),
        profiles=dict.fromkeys(names, profile),
        nominator=Nominator(lambda _key: None),
    )
    for place in range(len(keys)):
        name = names[place % profiles]
        queue.add(make_pod(name=str(place), scheduler_name=name))
    order = []
    while (queued := queue.pop()) is not None:
        order.append(int(queued.pod.name))
    return order


def sorted_places(keys: Sequence[Any]) -> list[int]:
    return sorted(range(len(keys)), key=lambda place: keys[place])


numbers = st.one_of(
    st.integers(-3, 3),
    st.booleans(),
    st.sampled_from([-1.5, 0.0, 2.5, float("inf")]),
    st.sampled_from([Time(1.0), MicroTime(2.5), Level.LOW, Level.HIGH]),
    st.sampled_from([np.float64(1.5), np.int64(-2), np.float32(0.5)]),
)
# NumPy's numbers do not compare with these.
exact = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([Time(1.0), 10**400, -1.5, Decimal("0.5"), Fraction(1, 3)]),
)
texts = st.sampled_from(["a", "blue", "c", Color.BLUE, np.str_("b")])
KINDS = {
    "numbers": numbers,
    "exact": exact,
    "exact pairs": st.tuples(exact, exact),
    "texts": texts,
    "pairs": st.tuples(numbers, texts),
    "named": st.one_of(st.builds(Key, numbers, numbers), st.tuples(numbers, numbers)),
    "of any length": st.lists(texts, max_size=3).map(tuple),
    "nested": st.tuples(numbers, st.tuples(numbers, texts)),
    "falling": st.tuples(st.integers(0, 3).map(Falling), numbers),
    "lists": st.lists(numbers, max_size=3),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data(), profiles=st.sampled_from([1, 2]))
def test_keys_that_compare_are_sorted_as_python_sorts_them(
    kind: str, data: st.DataObject, profiles: int
) -> None:
    keys = data.draw(st.lists(KINDS[kind], max_size=8))
    assert popped(keys, profiles) == sorted_places(keys)


parts = st.one_of(numbers, texts, st.none(), st.just(Silent()), st.just(np.ones(2)))


@given(
    st.lists(st.one_of(parts, st.lists(parts, max_size=2).map(tuple)), max_size=8),
    st.sampled_from([1, 2]),
)
def test_no_pod_is_lost_whatever_the_keys_are(keys: list[Any], profiles: int) -> None:
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        assert sorted(popped(keys, profiles)) == list(range(len(keys)))
    finally:
        logging.disable(before)


def test_numbers_among_texts_come_last() -> None:
    assert popped(["c", 1, "a", 0, "b"]) == [2, 4, 0, 1, 3]
    assert popped([("c", 1), (1, 1), ("a", "b"), ("a", 1)]) == [3, 0, 1, 2]


def test_pods_whose_keys_fail_are_sorted_by_priority() -> None:
    def broken(_queued: object) -> int:
        return 1 // 0

    arguments = ["queued"]
    sort_key = HookGuards().compile("Sort", "queue_sort", arguments, arguments, broken)
    queue = SchedulingQueue(
        clock=VirtualClock(),
        profiles={"default-scheduler": QueueProfile(sort_key=sort_key)},
        nominator=Nominator(lambda _key: None),
    )
    for name, priority in (("a", 1), ("b", 3), ("c", 2), ("d", 3)):
        queue.add(make_pod(name=name, priority=priority))
    assert [queued.pod.name for queued in queue.active()] == ["b", "d", "c", "a"]


def test_priorities_hold_after_a_pod_has_ended_gracefully() -> None:
    harness = SchedulerHarness(
        [make_node(name="n"), make_pod(name="v", node="n"), make_pod(name="first")]
    )
    harness.settle()
    harness.cluster.delete(Pod, "default/v")
    harness.settle()
    for name, priority in (("low", 0), ("high", 1000)):
        harness.cluster.create(make_pod(name=name, priority=priority))
    harness.settle()
    assert list(harness.attempts[-2:]) == ["default/high", "default/low"]


def test_creation_times_and_timestamps_are_sorted_together(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A gang's key is often the time that its first pod was created at."""
    times = [Time(3.0), 2.0, Time(1.0), 4, np.float64(0.5)]
    for keys in itertools.permutations([(-1, time) for time in times]):
        assert popped(keys) == sorted_places(keys)
    assert not caplog.records
