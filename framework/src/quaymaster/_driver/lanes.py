"""Lanes: requests that share connections, so that others do not hold them up."""

import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Final

from quaymaster._driver.frames import Answered, Asked, Lane, Message
from quaymaster._errors import QuaymasterError
from quaymaster._kubernetes.access import Access
from quaymaster._kubernetes.client import ApiClient
from quaymaster._kubernetes.errors import ApiError

__all__ = ["Lanes"]

CONNECTIONS: Final[Mapping[Lane, int]] = {
    Lane.BIND: 16,
    Lane.STATUS: 8,
    Lane.READ: 2,
    Lane.EVENT: 4,
}
"""How many requests of a lane may be under way."""


class Lanes:
    """Makes requests, each lane by connections of its own.

    Args:
        access: Where the server is.
        tell: Takes the answers.
    """

    def __init__(self, access: Access, tell: Callable[[Message], None]) -> None:
        self._access = access
        self._tell = tell
        self._queues: dict[Lane, queue.SimpleQueue[Asked]] = {
            lane: queue.SimpleQueue() for lane in CONNECTIONS
        }

    def start(self) -> None:
        """Begin, on threads that end with the process."""
        for lane, count in CONNECTIONS.items():
            for number in range(count):
                threading.Thread(
                    target=self._work,
                    args=(self._queues[lane],),
                    name=f"{lane}-{number}",
                    daemon=True,
                ).start()

    def take(self, asked: Asked) -> None:
        """Make a request once it is its turn."""
        self._queues[asked.lane].put(asked)

    def _work(self, asked: "queue.SimpleQueue[Asked]") -> None:
        with closing(ApiClient(self._access)) as client:
            while True:
                one = asked.get()
                answer = _made(client, one)
                if one.call:
                    self._tell(answer)


def _made(client: ApiClient, asked: Asked) -> Answered:
    try:
        answer = client.request(
            asked.method,
            asked.target,
            body=asked.body,
            content_type=asked.content_type,
        )
    except ApiError as error:
        return Answered(
            asked.call,
            error.code,
            why=str(error),
            is_in_doubt=error.is_in_doubt,
        )
    except QuaymasterError as error:
        return Answered(asked.call, 0, why=str(error))
    return Answered(asked.call, answer.code, answer.body)
