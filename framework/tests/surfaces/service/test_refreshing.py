"""A service reads its input again; a wrong input changes nothing."""

import pytest

from quaymaster.errors import QuaymasterError
from quaymaster.scheduler import VirtualClock
from tests.kit.internals.service import Readiness, Refresher, SharedReadiness


class Input:
    """A changing input, and the results of its refreshes."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.clock = VirtualClock()
        self.begun = self.clock.now()
        self.text = "first"
        self.error: Exception | None = None
        self.in_use: list[str] = []
        self.problems: list[str] = []
        self.readiness = SharedReadiness()
        self.refresher = Refresher(
            self._read,
            self.in_use.append,
            clock=self.clock,
            readiness=self.readiness,
            seconds=seconds,
            on_trouble=self.problems.append,
        )

    def _read(self) -> str:
        if self.error is not None:
            raise self.error
        return self.text

    def later(self, seconds: float) -> None:
        """Let time pass and run the timers that are due."""
        self.clock.advance(seconds)
        self.clock.run_due()


def test_the_first_input_is_taken_over() -> None:
    it = Input()
    it.refresher.start()
    assert it.in_use == ["first"]
    assert it.readiness.read() == Readiness(read_at=it.begun)


def test_a_first_input_that_is_wrong_is_an_error() -> None:
    it = Input()
    it.error = QuaymasterError("nodes.yaml: wrong")
    with pytest.raises(QuaymasterError, match=r"nodes\.yaml: wrong"):
        it.refresher.start()


def test_a_refresh_loads_the_current_input() -> None:
    it = Input()
    it.refresher.start()
    it.clock.advance(60)
    it.text = "second"
    assert it.refresher.refresh()
    assert it.in_use == ["first", "second"]
    assert it.readiness.read() == Readiness(read_at=it.begun + 60, refreshes=1)


def test_without_a_period_there_is_no_refresh_by_itself() -> None:
    it = Input()
    it.refresher.start()
    assert it.clock.next_due() is None


def test_it_refreshes_periodically() -> None:
    it = Input(seconds=30)
    it.refresher.start()
    it.later(29)
    assert it.in_use == ["first"]
    for number in range(1, 4):
        it.text = f"number {number}"
        it.later(30)
        assert it.in_use[-1] == it.text
        assert it.readiness.read().refreshes == number


@pytest.mark.parametrize(
    ("error", "problem"),
    [
        (QuaymasterError("nodes.yaml: spec: unknown field"), "nodes.yaml: spec: un"),
        (RuntimeError("a plugin broke"), "RuntimeError: a plugin broke"),
    ],
    ids=["a wrong input", "a bug"],
)
def test_an_input_that_cannot_be_used_leaves_the_old_one(
    error: Exception, problem: str
) -> None:
    it = Input(seconds=30)
    it.refresher.start()
    it.error = error
    it.later(30)
    it.later(30)
    assert it.in_use == ["first"]
    readiness = it.readiness.read()
    assert (readiness.read_at, readiness.failures) == (it.begun, 2)
    assert readiness.error.startswith(problem)
    assert len(it.problems) == 2
    assert it.problems[0].startswith(f"not refreshed, the old input stays: {problem}")


def test_a_good_input_clears_the_problem() -> None:
    it = Input(seconds=30)
    it.refresher.start()
    it.error = QuaymasterError("wrong")
    it.later(30)
    it.error = None
    it.later(30)
    assert it.in_use == ["first", "first"]
    assert it.readiness.read() == Readiness(read_at=it.begun + 60, refreshes=1)


def test_a_very_long_error_is_shortened() -> None:
    it = Input()
    it.refresher.start()
    it.error = QuaymasterError("\N{SNOWMAN}" * 100_000)
    it.refresher.refresh()
    assert it.readiness.read().error.endswith("...")
