"""Tasks that wait for the cluster hold no thread and delay no other task."""

import threading
from collections.abc import Callable

import pytest

from tests.kit.internals.engine import Inbox
from tests.kit.internals.outbound import GreenletExecutor, Response, wait_for


class World:
    """An executor, and a server that answers when the test calls ``answer``."""

    def __init__(self) -> None:
        self.inbox = Inbox()
        self.executor = GreenletExecutor(self.inbox.post)
        self.asked: list[Callable[[Response], None]] = []
        self.results: list[object] = []

    def call(self) -> int:
        """Send a request as the cluster does; return the code of the answer."""
        answer = wait_for(self.asked.append)
        assert answer is not None
        return answer.code

    def submit(self, task: Callable[[], object]) -> None:
        self.executor.submit(task, self.results.append, blocks=False)

    def answer(self, code: int) -> None:
        self.asked.pop(0)(Response(1, code))
        self.inbox.drain()


def test_task_continues_where_it_waits() -> None:
    world = World()
    world.submit(lambda: [world.call(), world.call()])
    assert world.results == []
    world.answer(200)
    world.answer(404)
    assert world.results == [[200, 404]]


def test_a_thousand_tasks_wait_on_no_thread() -> None:
    world = World()
    before = threading.active_count()
    for _ in range(1000):
        world.submit(world.call)
    assert threading.active_count() == before
    for index in range(1000):
        world.answer(index)
    assert world.results == list(range(1000))


def test_answers_may_come_in_any_order() -> None:
    world = World()
    for name in "ab":
        world.submit(lambda name=name: (name, world.call()))  # type: ignore[misc]  # mypy reads no defaults of lambdas
    world.asked.reverse()
    world.answer(1)
    world.answer(2)
    assert world.results == [("b", 1), ("a", 2)]


def test_exception_of_a_task_is_raised_on_the_engines_thread() -> None:
    world = World()

    def task() -> None:
        raise LookupError(world.call())

    world.submit(task)
    with pytest.raises(LookupError, match="7"):
        world.answer(7)
    assert world.results == []


def test_result_may_start_another_task_that_waits() -> None:
    world = World()
    world.executor.submit(
        world.call,
        lambda code: world.submit(lambda: (code, world.call())),
        blocks=False,
    )
    world.answer(1)
    world.answer(2)
    assert world.results == [(1, 2)]


def test_result_is_handled_outside_of_the_task() -> None:
    # A wait there would stop halfway while the engine continues.
    world = World()
    waited: list[Response | None] = []
    world.executor.submit(
        world.call,
        lambda _: waited.append(wait_for(world.asked.append)),
        blocks=False,
    )
    world.answer(1)
    assert waited == [None]
    assert world.asked == []


def test_tasks_that_wait_are_cancelled_at_the_end() -> None:
    world = World()
    ended: list[str] = []

    def task() -> None:
        try:
            world.call()
        finally:
            ended.append("cleaned up")

    world.submit(task)
    world.executor.close()
    assert ended == ["cleaned up"]
    world.answer(200)
    assert world.results == []


def test_task_that_may_block_has_a_thread() -> None:
    world = World()
    block, names = threading.Event(), list[str]()

    def task() -> str:
        block.wait()
        return threading.current_thread().name

    world.executor.submit(task, names.append)
    world.submit(world.call)
    world.answer(200)
    assert world.results == [200]
    block.set()
    while not names:
        world.inbox.drain()
    assert names == ["background"]


def test_waiting_outside_of_a_task_is_an_error() -> None:
    world = World()
    assert wait_for(world.asked.append) is None
    assert world.asked == []
