"""An event or a watch that does not end is given up, and the next one is read."""

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping

import pytest

from tests.kit.internals.driver import (
    Changed,
    Message,
    Reflector,
    Trouble,
    as_text,
)

POD = b'{"metadata": {"name": "a", "uid": "1", "resourceVersion": "7"}}'
ADDED = b'{"type": "ADDED", "object": ' + POD + b"}\n"
END = b'{"k8s.io/initial-events-end": "true"}'
BOOKMARK = (
    b'{"type": "BOOKMARK", "object": '
    b'{"metadata": {"resourceVersion": "7", "annotations": ' + END + b"}}}\n"
)
LIST = ADDED + BOOKMARK
PAGE = b'{"metadata": {"resourceVersion": "7"}, "items": [' + POD + b"]}"
STEP = 1 << 18  # bytes: as much as a block has


class Stage:
    """A reflector of a server whose streams may have no end, in virtual time.

    Args:
        streams: The blocks of each stream.
        pause: The seconds after each block.
    """

    def __init__(self, *streams: Iterable[bytes], pause: float = 10.0) -> None:
        self.seconds, self._pause = 0.0, pause
        self.messages: list[Message] = []
        self.requests: list[str] = []
        self._streams = list(streams)
        self.reflector = Reflector(
            self,
            0,
            "/things",
            as_text,
            self.messages.append,
            wait=lambda _: None,
            now=lambda: self.seconds,
            uniform=lambda low, _high: low,
        )

    def get(self, path: str, query: Mapping[str, str | int]) -> bytes:
        self.requests.append("page")
        return PAGE

    @contextlib.contextmanager
    def stream(
        self, path: str, query: Mapping[str, str | int]
    ) -> Iterator[Iterator[bytes]]:
        self.requests.append("list" if "sendInitialEvents" in query else "watch")
        yield self._blocks(self._streams.pop(0))

    def _blocks(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        for block in blocks:
            yield block
            self.seconds += self._pause

    @property
    def troubles(self) -> list[str]:
        return [
            message.why for message in self.messages if isinstance(message, Trouble)
        ]


def endless(block: bytes) -> Iterator[bytes]:
    return itertools.repeat(block)


def test_event_that_does_not_end_is_given_up_and_everything_is_listed() -> None:
    stage = Stage([LIST], endless(b"x" * STEP), [LIST], pause=1.0)
    for _ in range(3):
        stage.reflector.step()
    assert stage.requests == ["list", "watch", "list"]
    assert stage.troubles == ["/things: an event exceeds 32 MiB", ""]


def test_pages_are_read_if_an_event_of_a_list_does_not_end() -> None:
    stage = Stage(endless(b"x" * STEP), [b""], pause=1.0)
    stage.reflector.step()
    stage.reflector.step()
    assert stage.requests == ["list", "page"]
    assert any(isinstance(message, Changed) for message in stage.messages)


@pytest.mark.parametrize(
    "block", [b"", b"x", ADDED], ids=["no content", "no event", "events"]
)
def test_watch_that_its_server_does_not_end_is_given_up_after_a_minute(
    block: bytes,
) -> None:
    stage = Stage([LIST], endless(block), [b""])
    stage.reflector.step()
    start = stage.seconds
    stage.reflector.step()
    assert 360 < stage.seconds - start <= 380
    assert "/things: the server did not end the watch in time" in stage.troubles
    stage.reflector.step()
    assert stage.requests == ["list", "watch", "watch"]


def test_list_that_its_server_does_not_end_is_read_in_pages() -> None:
    stage = Stage(endless(ADDED), [b""])
    stage.reflector.step()
    stage.reflector.step()
    assert stage.requests == ["list", "page"]
