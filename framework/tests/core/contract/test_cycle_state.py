"""The cycle state of an attempt logs writes for those that cache them."""

from quaymaster import CycleState, StateKey

A, B = StateKey[int]("A"), StateKey[int]("B")
C = StateKey[object]("C")


def test_writes_by_key_are_logged_from_then_on() -> None:
    state = CycleState()
    state[A] = 1
    log = state.log_writes()
    assert list(log) == []
    state[B] = 2
    state[A] = 3
    del state[B]
    state.update({C: 4})
    assert list(log) == [B, A]
    assert state.values() == {A: 3, C: 4}


def test_a_second_log_begins_empty_and_the_first_ends() -> None:
    state = CycleState()
    first = state.log_writes()
    state[A] = 1
    second = state.log_writes()
    state[B] = 2
    assert (list(first), list(second)) == ([A], [B])


def test_what_is_written_to_a_copy_is_not_logged() -> None:
    state = CycleState()
    log = state.log_writes()
    state.clone()[A] = 1
    assert list(log) == []
