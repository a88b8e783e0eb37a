"""The input of a service is read again, and one that is wrong changes nothing."""

import pytest

from quaymaster.errors import QuaymasterError
from quaymaster.scheduler import VirtualClock
from tests.kit.internals.service import Readiness, Refresher, SharedReadiness


class Input:
    """An input that changes, and what became of it."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.clock = VirtualClock()
        self.begun = self.clock.now()
        self.text = "first"
        self.error: Exception | None = None
        self.in_use: list[str] = []
        self.told: list[str] = []
        self.readiness = SharedReadiness()
        self.refresher = Refresher(
            self._read,
            self.in_use.append,
            clock=self.clock,
            readiness=self.readiness,
            seconds=seconds,
            on_trouble=self.told.append,
        )

    def _read(self) -> str:
        if self.error is not None:
            raise self.error
        return self.text

    def later(self, seconds: float) -> None:
        """Let time pass, and do what is due then."""
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


def test_a_refresh_takes_over_what_is_there_then() -> None:
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


def test_it_refreshes_every_so_often() -> None:
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
    ("error", "told"),
    [
        (QuaymasterError("nodes.yaml: spec: unknown field"), "nodes.yaml: spec: un"),
        (RuntimeError("a plugin broke"), "RuntimeError: a plugin broke"),
    ],
    ids=["a wrong input", "a bug"],
)
def test_an_input_that_cannot_be_used_leaves_the_old_one(
    error: Exception, told: str
) -> None:
    it = Input(seconds=30)
    it.refresher.start()
    it.error = error
    it.later(30)
    it.later(30)
    assert it.in_use == ["first"]
    readiness = it.readiness.read()
    assert (readiness.read_at, readiness.failures) == (it.begun, 2)
    assert readiness.error.startswith(told)
    assert len(it.told) == 2
    assert it.told[0].startswith(f"not refreshed, the old input stays: {told}")


def test_a_good_input_ends_the_trouble() -> None:
    it = Input(seconds=30)
    it.refresher.start()
    it.error = QuaymasterError("wrong")
    it.later(30)
    it.error = None
    it.later(30)
    assert it.in_use == ["first", "first"]
    assert it.readiness.read() == Readiness(read_at=it.begun + 60, refreshes=1)


def test_an_error_without_end_is_cut() -> None:
    it = Input()
    it.refresher.start()
    it.error = QuaymasterError("\N{SNOWMAN}" * 100_000)
    it.refresher.refresh()
    assert it.readiness.read().error.endswith("...")
