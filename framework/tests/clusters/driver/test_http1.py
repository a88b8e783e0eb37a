"""HTTP/1.1 as bytes."""

import gzip
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.outbound import (
    AnswerReader,
    HttpError,
    Reply,
    fixed_lines,
    request_bytes,
)

CREATED = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\n\r\n"
)
TRAILED = CHUNKED[:-2] + b"Audit-Id: 1\r\n\r\n"
EMPTY = b"HTTP/1.1 204 No Content\r\n\r\n"
CONTINUED = b"HTTP/1.1 100 Continue\r\n\r\n" + CREATED


@pytest.mark.parametrize(
    ("data", "code", "body"),
    [
        (CREATED, 201, b"{}"),
        (CHUNKED, 200, b"hello, world"),
        (TRAILED, 200, b"hello, world"),
        (EMPTY, 204, b""),
        (CONTINUED, 201, b"{}"),
    ],
    ids=["length", "chunks", "trailer", "no content", "continue"],
)
def test_answers_are_read(data: bytes, code: int, body: bytes) -> None:
    reply = AnswerReader().feed(data)
    assert reply is not None
    assert (reply.code, reply.body) == (code, body)


@given(
    st.lists(st.sampled_from([CREATED, CHUNKED, TRAILED, EMPTY]), max_size=4),
    st.data(),
)
def test_answers_are_the_same_however_they_are_cut(
    answers: list[bytes], data: st.DataObject
) -> None:
    reader = AnswerReader()
    for answer in answers:
        whole = AnswerReader().feed(answer)
        cuts = data.draw(st.lists(st.integers(1, len(answer) - 1), unique=True))
        edges = [0, *sorted(cuts), len(answer)]
        pieces = [answer[a:b] for a, b in itertools.pairwise(edges)]
        *early, last = [reader.feed(piece) for piece in pieces]
        assert early == [None] * len(early)
        assert last == whole


def test_answer_without_a_length_ends_with_the_connection() -> None:
    reader = AnswerReader()
    assert reader.feed(b"HTTP/1.1 500 Oh\r\n\r\nbroken") is None
    reply = reader.end()
    assert reply is not None
    assert (reply.code, reply.body) == (500, b"broken")


def test_answer_that_is_cut_off_is_not_an_answer() -> None:
    reader = AnswerReader()
    reader.feed(CREATED[:-1])
    assert reader.end() is None


@pytest.mark.parametrize("members", [[b"{}"], [b"", b"{", b"", b"}"]], ids=len)
def test_compressed_content_is_decompressed(members: list[bytes]) -> None:
    body = b"".join(gzip.compress(content) for content in members)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}"
    reply = AnswerReader().feed(head.encode() + b"\r\n\r\n" + body)
    assert reply is not None
    assert reply.body == b"{}"


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
        b"x" * 70_000,
    ],
    ids=["no HTTP", "length", "chunk", "gzip", "endless"],
)
def test_bytes_that_are_not_an_answer_are_an_error(data: bytes) -> None:
    with pytest.raises(HttpError):
        AnswerReader().feed(data)


def test_server_announces_that_it_closes() -> None:
    assert Reply(200, headers={"connection": "close"}).is_last
    assert not Reply(200).is_last


def test_requests_have_their_length() -> None:
    lines = fixed_lines([("Host", "here")])
    assert request_bytes("POST", "/x", lines, b"{}", "application/json") == (
        b"POST /x HTTP/1.1\r\nHost: here\r\n"
        b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    )
    assert request_bytes("GET", "/x", lines, b"", "") == (
        b"GET /x HTTP/1.1\r\nHost: here\r\n\r\n"
    )


@pytest.mark.parametrize("value", ["a\r\nb", "tök"])
def test_header_that_cannot_be_sent_is_an_error_that_does_not_quote_it(
    value: str,
) -> None:
    with pytest.raises(ValueError, match="the header Authorization has characters"):
        fixed_lines([("Authorization", value)])


@pytest.mark.parametrize("size", [b"-6", b"-1", b"+5", b"0x5", b"1_0", b"", b"f" * 16])
def test_chunk_needs_a_size(size: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with pytest.raises(HttpError, match="a chunk without a valid size"):
        AnswerReader().feed(head + size + b"\r\nabcdefghij\r\n0\r\n\r\n")


@pytest.mark.parametrize(
    "head", [b"Content-Length: 99999999999", b"Transfer-Encoding: chunked"]
)
def test_response_that_is_too_large_is_rejected(head: bytes) -> None:
    response = b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\nfffffffff\r\n"
    with pytest.raises(HttpError, match="exceeds 256 MiB"):
        AnswerReader().feed(response)
