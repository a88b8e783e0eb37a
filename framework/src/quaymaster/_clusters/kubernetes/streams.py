"""Reads a streamed response in as few blocks as possible."""

import http.client
import select
from collections.abc import Iterator
from typing import Final

from quaymaster._base.gunzip import Gunzip
from quaymaster._clusters.kubernetes.http1 import LONGEST_LINE, HttpError, chunk_size

__all__ = ["blocks_of"]

_ONCE: Final = 1 << 16  # bytes to read from the connection
_MOST: Final = 1 << 18  # bytes of a block, or slightly more


def blocks_of(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield the content of a response: each block is all that has arrived.

    A block is empty if the received bytes contain no content yet, such as the head of
    a gzip member. So the reader notices that the connection is active.

    Raises:
        OSError: The connection broke.
        HTTPException: The response is incomplete.
        ValueError: The bytes are not valid HTTP.
        zlib.error: The content is not gzip, or ends inside a gzip member.
    """
    blocks = _chunked(response) if response.chunked else _plain(response)
    if response.headers.get("Content-Encoding") == "gzip":
        blocks = _decompressed(blocks)
    yield from blocks


def _decompressed(blocks: Iterator[bytes]) -> Iterator[bytes]:
    stream = Gunzip()
    for block in blocks:
        yield stream.decompress(block)
    stream.end()


def _plain(response: http.client.HTTPResponse) -> Iterator[bytes]:
    while block := response.read1(_ONCE):
        yield block


def _chunked(response: http.client.HTTPResponse) -> Iterator[bytes]:
    chunks = _Chunks()
    for block in _raw_blocks(response):
        yield chunks.content(block)
        if chunks.is_over:
            return
    raise http.client.IncompleteRead(b"")


def _raw_blocks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    # Reads below `http.client`, which takes ten times as long for many small chunks.
    stream = response.fp
    poll = select.poll()
    poll.register(stream.fileno(), select.POLLIN)
    while block := stream.read1(_ONCE):
        parts, size = [block], len(block)
        while size < _MOST and poll.poll(0):
            block = stream.read1(_ONCE)
            parts.append(block)
            size += len(block)
            if not block:
                break
        yield b"".join(parts)


class _Chunks:
    """Decodes chunked content.

    Attributes:
        is_over: Whether the last chunk has been read.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._left = 0  # bytes of the chunk that is being read
        self._rest = b""

    def content(self, data: bytes) -> bytes:
        """Return the content of the received bytes."""
        data = self._rest + data
        parts, at = [], 0
        while at < len(data):
            if self._left:
                part = data[at : at + self._left]
                parts.append(part)
                self._left -= len(part)
                at += len(part)
                continue
            end = data.find(b"\r\n", at)
            if end < 0:
                if len(data) - at > LONGEST_LINE:
                    raise HttpError("a chunk without a valid size")
                break
            line, at = data[at:end], end + 2
            if not line:  # behind a chunk
                continue
            self._left = chunk_size(line)
            if not self._left:
                self.is_over = True
                break
        self._rest = data[at:]
        return b"".join(parts)
