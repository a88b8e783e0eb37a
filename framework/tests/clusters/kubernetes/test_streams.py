"""A stream's content is what was sent, however it is cut into chunks and blocks."""

import gzip
import http.client
import itertools
import socket
import threading
import zlib
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.kubernetes import blocks_of

GZIP_HEAD = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"
)
HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def received(parts: list[bytes]) -> bytes:
    """Return the content of an answer that is sent in parts."""
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


def test_a_block_is_empty_before_the_first_content() -> None:
    ours, theirs = socket.socketpair()
    text = gzip.compress(b"{}\n")
    with theirs, closing(ours), closing(http.client.HTTPResponse(ours)) as response:
        theirs.sendall(GZIP_HEAD + chunked([text[:10]]))
        response.begin()
        blocks = blocks_of(response)
        assert next(blocks) == b""
        theirs.sendall(chunked([text[10:]]) + b"0\r\n\r\n")
        assert b"".join(blocks) == b"{}\n"


def chunked(contents: list[bytes]) -> bytes:
    return b"".join(
        b"%x\r\n%s\r\n" % (len(content), content) for content in contents if content
    )


def cut(sent: bytes, cuts: list[int]) -> list[bytes]:
    """Split bytes into several parts."""
    places = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
    return [sent[a:b] for a, b in itertools.pairwise(places)]


@given(
    st.lists(st.binary(max_size=40), max_size=6),
    st.lists(st.integers(0, 200), max_size=5),
)
def test_chunks_may_be_cut_anywhere(contents: list[bytes], cuts: list[int]) -> None:
    sent = HEAD + chunked(contents) + b"0\r\n\r\n"
    assert received(cut(sent, cuts)) == b"".join(contents)


@given(
    st.lists(st.binary(max_size=40), max_size=6),
    st.lists(st.integers(0, 400), max_size=8),
    st.lists(st.integers(0, 600), max_size=5),
)
def test_gzip_members_may_be_cut_anywhere(
    contents: list[bytes], chunk_cuts: list[int], block_cuts: list[int]
) -> None:
    """Each flush of a watch of kube-apiserver 1.37 is a gzip member of its own."""
    members = b"".join(gzip.compress(content) for content in contents)
    sent = GZIP_HEAD + chunked(cut(members, chunk_cuts)) + b"0\r\n\r\n"
    assert received(cut(sent, block_cuts)) == b"".join(contents)


@pytest.mark.parametrize("cuts", [[], [1], [10, 20]], ids=str)
@pytest.mark.parametrize(
    ("rest", "message"),
    [
        (b"garbage", "in gzip member 2: .*it continues with b'"),
        (b"\0", "gzip member 2 is incomplete"),
        (gzip.compress(b"later")[:-1], "gzip member 2 is incomplete"),
    ],
    ids=["garbage", "zero", "cut off"],
)
def test_rest_that_is_not_a_gzip_member_is_an_error(
    rest: bytes, message: str, cuts: list[int]
) -> None:
    members = gzip.compress(b"first") + rest
    sent = GZIP_HEAD + chunked(cut(members, cuts)) + b"0\r\n\r\n"
    with pytest.raises(zlib.error, match=message):
        received([sent])


def test_an_answer_of_known_length_ends_there() -> None:
    head = b"HTTP/1.1 410 Gone\r\nContent-Length: 4\r\n\r\n"
    assert received([head, b"gone"]) == b"gone"


@pytest.mark.parametrize("rest", [b"", b"5\r\nhal", b"zz\r\n"])
def test_a_stream_that_breaks_off_is_an_error(rest: bytes) -> None:
    with pytest.raises((http.client.HTTPException, ValueError)):
        received([HEAD, b"3\r\nabc\r\n", rest])
