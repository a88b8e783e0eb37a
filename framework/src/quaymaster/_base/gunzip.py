"""Decompresses response bodies, which may have several gzip members."""

import zlib
from typing import Final

__all__ = ["Gunzip", "gunzip"]

_GZIP_BITS: Final = zlib.MAX_WBITS | 16


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

    def decompress(self, block: bytes) -> bytes:
        """Return the content of the stream up to the end of this block.

        Raises:
            zlib.error: The block is not gzip, or the bytes after a member are not.
        """
        parts = []
        while block:
            parts.append(self._decompress(block))
            self._is_inside = not self._member.eof
            block = self._member.unused_data
            if self._member.eof:
                self._complete += 1
                self._member = zlib.decompressobj(_GZIP_BITS)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _decompress(self, block: bytes) -> bytes:
        try:
            return self._member.decompress(block)
        except zlib.error as error:
            place = f"in gzip member {self._complete + 1}"
            message = f"{place}: {error}; it continues with {block[:12]!r}"
            raise zlib.error(message) from None

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
