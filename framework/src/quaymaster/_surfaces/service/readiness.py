"""What is known of the input's freshness, shared between processes."""

import mmap
import struct
from typing import Final

import msgspec

__all__ = ["Readiness", "SharedReadiness"]

_SIZE: Final = 1 << 16
_HEAD: Final = struct.Struct("=QI")  # how often it was begun or ended to write; length
_LONGEST: Final = 8192  # characters of an error; with six bytes each they have room


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """How the input was read last.

    Attributes:
        read_at: When what answers was read, in seconds since the Unix epoch.
        refreshes: How often it was read again since the beginning.
        failures: How often that failed in a row, up to now.
        error: Why it failed the last time; empty if it did not.
    """

    read_at: float = 0.0
    refreshes: int = 0
    failures: int = 0
    error: str = ""


class SharedReadiness:
    """A `Readiness` that one process writes, and those that it forks read."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SIZE)
        self._writes = 0
        self._known = Readiness()
        self.write(self._known)

    def write(self, readiness: Readiness) -> None:
        """Tell all processes."""
        if len(readiness.error) > _LONGEST:
            cut = f"{readiness.error[:_LONGEST]}..."
            readiness = msgspec.structs.replace(readiness, error=cut)
        data = msgspec.json.encode(readiness)
        # An odd number: what stands there is not whole.
        _HEAD.pack_into(self._memory, 0, self._writes + 1, len(data))
        self._memory[_HEAD.size : _HEAD.size + len(data)] = data
        self._writes += 2
        _HEAD.pack_into(self._memory, 0, self._writes, len(data))

    def read(self) -> Readiness:
        """Return what was written last, or before that if it is being written."""
        head = _HEAD.unpack_from(self._memory)
        writes, length = head
        data = self._memory[_HEAD.size : _HEAD.size + length]
        if writes % 2 == 0 and _HEAD.unpack_from(self._memory) == head:
            self._known = msgspec.json.decode(data, type=Readiness)
        return self._known
