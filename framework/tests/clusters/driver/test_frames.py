"""Messages arrive whole and in order, or an error is raised."""

import socket
import struct
import threading
from contextlib import closing
from typing import Any

import msgspec
import pytest

from tests.kit.internals.driver import Changed, FrameError, FrameSocket, ToEngine

MESSAGES: msgspec.msgpack.Decoder[Any] = msgspec.msgpack.Decoder(ToEngine)
SIZES = [0, 1, 70_000, (1 << 20) - 20, 1 << 20, 3 << 20, 5, 900_000, 900_000, 7]


def test_messages_of_all_sizes_arrive_as_they_were_sent() -> None:
    ours, theirs = (FrameSocket(end, MESSAGES) for end in socket.socketpair())
    sent = [Changed(number, b"x" * size) for number, size in enumerate(SIZES)]

    def send() -> None:
        for message in sent:
            theirs.send(message)
        theirs.close()

    sender = threading.Thread(target=send)
    sender.start()
    with closing(ours):
        assert list(ours.messages()) == sent
    sender.join()


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        (struct.pack("<I", 3) + b"\xc1\xc1\xc1", "an invalid message"),
        (struct.pack("<I", 1) + b"\x05", "an invalid message"),
        (b"GET / HTTP/1.1\r\n", "a frame of .* bytes"),
    ],
    ids=["no message pack", "another message", "no frame"],
)
def test_bytes_that_are_not_a_message_are_an_error(sent: bytes, error: str) -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(sent)
    with ours, pytest.raises(FrameError, match=error):
        list(FrameSocket(ours, MESSAGES).messages())


def test_the_end_of_the_other_side_ends_the_messages() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(struct.pack("<I", 100) + b"half of it")
    with ours:
        assert list(FrameSocket(ours, MESSAGES).messages()) == []


def test_joined_messages_arrive_at_once_and_in_order() -> None:
    ours, theirs = (FrameSocket(end, MESSAGES) for end in socket.socketpair())
    sent = [Changed(number, b"") for number in range(3)]
    with closing(ours), closing(theirs):
        theirs.put(sent[0])
        theirs.put(sent[1])
        theirs.send(sent[2])
        assert ours.received() == sent


def test_joined_messages_have_a_maximum_size() -> None:
    ours, theirs = (FrameSocket(end, MESSAGES) for end in socket.socketpair())
    large = Changed(1, b"x" * 70_000)
    with closing(ours), closing(theirs):
        theirs.put(large)
        messages = ours.messages()
        assert next(messages) == large
