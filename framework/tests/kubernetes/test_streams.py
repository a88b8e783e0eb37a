"""A stream's content is what was sent, however it is cut into chunks and blocks."""

import http.client
import itertools
import socket
import threading
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.kubernetes import blocks_of

HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def received(parts: list[bytes]) -> bytes:
    """The content of an answer that is sent part by part."""
    ours, theirs = socket.socketpair()

    def send() -> None:
        with theirs:
            for part in parts:
                theirs.sendall(part)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        with closing(http.client.HTTPResponse(ours)) as response:
            response.begin()
            return b"".join(blocks_of(response))
    finally:
        sender.join()
        ours.close()


def chunked(contents: list[bytes]) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(one), one) for one in contents if one)


@given(
    st.lists(st.binary(max_size=40), max_size=6),
    st.lists(st.integers(0, 200), max_size=5),
)
def test_chunks_may_be_cut_anywhere(contents: list[bytes], cuts: list[int]) -> None:
    sent = HEAD + chunked(contents) + b"0\r\n\r\n"
    places = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    parts = [sent[a:b] for a, b in itertools.pairwise(places)]
    assert received(parts) == b"".join(contents)


def test_an_answer_of_known_length_ends_there() -> None:
    head = b"HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\n"
    assert received([head, b"gone"]) == b"gone"


@pytest.mark.parametrize("rest", [b"", b"5\r\nhal", b"zz\r\n"])
def test_a_stream_that_breaks_off_is_an_error(rest: bytes) -> None:
    with pytest.raises((http.client.HTTPException, ValueError)):
        received([HEAD, b"3\r\nabc\r\n", rest])
