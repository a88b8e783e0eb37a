"""The state of the input, shared between processes."""

import mmap
import struct
from typing import Final

import msgspec

__all__ = ["Readiness", "SharedReadiness"]

_SIZE: Final = 1 << 16
_HEAD: Final = struct.Struct("=QI")  # number of begun and ended writes; length
_LONGEST: Final = 8192  # characters of an error, of at most six bytes each


class Readiness(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the input.

    Attributes:
        read_at: When the input in use was read, in seconds since the Unix epoch.
        refreshes: How often it has been refreshed.
        failures: How many refreshes have failed since the last success.
        error: The error of the last refresh; empty if it succeeded.
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
        self._last = Readiness()
        self.write(self._last)

    def write(self, readiness: Readiness) -> None:
        """Write the state for all processes."""
        if len(readiness.error) > _LONGEST:
            cut = f"{readiness.error[:_LONGEST]}..."
            readiness = msgspec.structs.replace(readiness, error=cut)
        data = msgspec.json.encode(readiness)
        # An odd number marks an incomplete write.
        _HEAD.pack_into(self._memory, 0, self._writes + 1, len(data))
        self._memory[_HEAD.size : _HEAD.size + len(data)] = data
        self._writes += 2
        _HEAD.pack_into(self._memory, 0, self._writes, len(data))

    def read(self) -> Readiness:
        """Return the last complete state."""
        head = _HEAD.unpack_from(self._memory)
        writes, length = head
        data = self._memory[_HEAD.size : _HEAD.size + length]
        if writes % 2 == 0 and _HEAD.unpack_from(self._memory) == head:
            self._last = msgspec.json.decode(data, type=Readiness)
        return self._last
