"""A process that works keeps the lease; one that is stuck loses it in time."""

import pytest

from tests.kit.internals.driver import Liveness


class Engine:
    """An engine in virtual time, as the I/O process sees it."""

    def __init__(self, renew_seconds: float = 10.0) -> None:
        self.now = 100.0
        self.liveness = Liveness(renew_seconds, lambda: self.now)

    def work(self, seconds: float, *, takes_turns: bool) -> list[bool]:
        """Let it run for some time; return per second whether it seemed to work."""
        seen = []
        for second in range(int(seconds)):
            self.now += 1.0
            if second % 2:
                self.liveness.note_sign()
                if takes_turns:
                    self.liveness.note_turn()
            seen.append(self.liveness.is_alive())
        return seen

    def stand_still(self, seconds: float) -> bool:
        """Stop it for some time; return whether it seems to work then."""
        self.now += seconds
        return self.liveness.is_alive()


def test_engine_that_takes_turns_works() -> None:
    assert all(Engine().work(300.0, takes_turns=True))


def test_first_list_may_take_as_long_as_it_takes() -> None:
    assert all(Engine().work(300.0, takes_turns=False))


def test_a_turn_may_take_much_longer_than_a_renewal_is_valid() -> None:
    engine = Engine()
    engine.work(10.0, takes_turns=True)
    assert all(engine.work(50.0, takes_turns=False))


def test_turn_that_does_not_end_is_noticed_after_a_minute() -> None:
    engine = Engine()
    engine.work(10.0, takes_turns=True)
    assert engine.work(70.0, takes_turns=False).index(False) in (59, 60)


@pytest.mark.parametrize("has_begun", [False, True], ids=["at the start", "at work"])
def test_stopped_process_is_detected_when_a_renewal_expires(
    has_begun: bool,
) -> None:
    engine = Engine(renew_seconds=10.0)
    engine.work(4.0, takes_turns=has_begun)
    assert engine.stand_still(10.0)
    assert not engine.stand_still(0.1)


def test_process_that_goes_on_works_again() -> None:
    engine = Engine()
    engine.work(4.0, takes_turns=True)
    engine.stand_still(11.0)
    assert all(engine.work(4.0, takes_turns=True)[1:])


def test_short_leases_allow_for_a_busy_machine() -> None:
    assert Engine(renew_seconds=1.0).stand_still(5.0)
