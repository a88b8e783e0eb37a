"""Calls to an engine that may be stuck."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import pytest

from tests.kit.internals.operation import EngineBusyError, EngineIdleError, EngineProbe

T = TypeVar("T")


class StuckInbox:
    """Accepts calls and never runs them."""

    def __init__(self) -> None:
        self.answers: list[Future[object]] = []

    def ask(self, call: Callable[[], T], /) -> Future[T]:
        answer: Future[T] = Future()
        self.answers.append(answer)  # type: ignore[arg-type]  # of any type
        return answer


class WorkingInbox:
    """Runs calls on another thread, as an engine does."""

    def ask(self, call: Callable[[], T], /) -> Future[T]:
        answer: Future[T] = Future()
        threading.Thread(target=lambda: answer.set_result(call())).start()
        return answer


def test_engine_that_turns_answers() -> None:
    probe = EngineProbe(WorkingInbox(), 30.0)
    assert probe.ask(lambda: 7) == 7
    assert probe.problem() == ""


def test_probe_of_a_stuck_engine_times_out() -> None:
    inbox = StuckInbox()
    probe = EngineProbe(inbox, 0.001)
    with pytest.raises(EngineBusyError, match=r"has not responded for 0\.001 s"):
        probe.ask(lambda: 7)
    assert inbox.answers[0].cancelled()


def test_replica_that_waits_for_the_lease_is_not_probed() -> None:
    inbox = StuckInbox()
    probe = EngineProbe(inbox, 30.0, lambda: False)
    with pytest.raises(EngineIdleError, match="waits for the lease"):
        probe.ask(lambda: 7)
    assert probe.problem() == ""
    assert inbox.answers == []


def test_stuck_engine_is_a_problem_and_not_an_error() -> None:
    probe = EngineProbe(StuckInbox(), 0.001)
    assert probe.problem() == "the engine has not responded for 0.001 s"
