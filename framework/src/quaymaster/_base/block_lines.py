"""Splits a stream of blocks into lines."""

__all__ = ["BlockLines"]


class BlockLines:
    """The lines of one stream, whose last line may be incomplete.

    The time is linear in the bytes, however small the blocks are.
    """

    def __init__(self) -> None:
        self._rest = bytearray()

    @property
    def rest(self) -> int:
        """The number of bytes of the incomplete last line."""
        return len(self._rest)

    def take(self, block: bytes) -> list[bytes]:
        """Return the lines that end in this block, without line ends."""
        *lines, rest = block.split(b"\n")
        if lines and self._rest:
            self._rest += lines[0]
            lines[0] = bytes(self._rest)
            self._rest = bytearray()
        self._rest += rest
        return lines
