"""Decompresses response bodies, which may have several gzip members.

A few megabytes can expand to gigabytes. Lists of a cluster become some 10 to 100 times
smaller, and nothing becomes more than 1,032 times smaller, so a content that expands
more than 500 times is rejected before it needs much memory.
"""

import zlib
from typing import Final

__all__ = ["MOST_BYTES", "Gunzip", "expands_too_much", "gunzip"]

MOST_BYTES: Final = 4 << 30
"""The most bytes of a content: chosen, more than the largest clusters have."""

_GZIP_BITS: Final = zlib.MAX_WBITS | 16
_LARGEST_RATIO: Final = 500
_SMALL: Final = 1 << 26  # bytes: contents up to this size are always accepted
_STEP: Final = 1 << 24  # bytes that are decompressed at once


def expands_too_much(compressed: int, content: int) -> bool:
    """Return whether a gzip file or body is a bomb.

    Args:
        compressed: How many bytes were decompressed so far.
        content: How many bytes they are.
    """
    return content > _SMALL and content > compressed * _LARGEST_RATIO


class Gunzip:
    """Decompresses a gzip stream block by block.

    A stream is a sequence of members (RFC 1952, section 2.2), which may begin and end
    anywhere in a block. kube-apiserver 1.37 makes a member of each flush of a watch
    (k8s.io/apiserver, ``endpoints/handlers/watch.go``).
    """

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_BITS)
        self._is_inside = False  # whether the current member has begun
        self._complete = 0  # members so far
        self._compressed = self._content = 0  # bytes so far

    def decompress(self, block: bytes) -> bytes:
        """Return the content of the stream up to the end of this block.

        Raises:
            zlib.error: The block is not gzip, or the bytes after a member are not.
        """
        parts: list[bytes] = []
        most = self._content + MOST_BYTES
        while block:
            self._decompress(block, parts, most)
            self._is_inside = not self._member.eof
            block = self._member.unused_data
            if self._member.eof:
                self._complete += 1
                self._member = zlib.decompressobj(_GZIP_BITS)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _decompress(self, block: bytes, parts: list[bytes], most: int) -> None:
        """Append what a block has of the current member, step by step."""
        member = self._member
        is_complete = False
        while not is_complete:
            try:
                part = member.decompress(block, _STEP)
            except zlib.error as error:
                message = f"{self._place}: {error}; it continues with {block[:12]!r}"
                raise zlib.error(message) from None
            left = member.unconsumed_tail
            self._compressed += len(block) - len(left) - len(member.unused_data)
            self._content += len(part)
            self._check_size(most)
            parts.append(part)
            block = left
            # A full step may have more content behind it, without further input.
            is_complete = member.eof or (not left and len(part) < _STEP)

    @property
    def _place(self) -> str:
        return f"in gzip member {self._complete + 1}"

    def _check_size(self, most: int) -> None:
        if expands_too_much(self._compressed, self._content):
            message = f"{self._place}: it expands more than {_LARGEST_RATIO} times"
            raise zlib.error(message)
        if self._content > most:
            raise zlib.error(f"{self._place}: more than {MOST_BYTES >> 30} GiB")

    def end(self) -> None:
        """Check that the stream may end here.

        Raises:
            zlib.error: A member is incomplete.
        """
        if self._is_inside:
            message = f"gzip member {self._complete + 1} is incomplete"
            raise zlib.error(message)


def gunzip(body: bytes) -> bytes:
    """Return the content of a whole body.

    Raises:
        zlib.error: The body is not gzip, or incomplete.
    """
    stream = Gunzip()
    content = stream.decompress(body)
    stream.end()
    return content
