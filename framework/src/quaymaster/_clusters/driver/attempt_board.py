"""Memory that the engine's process and the I/O process share: what the engine does.

Writing to it takes a fraction of a microsecond and no system call, and it can be read
even if the engine's process cannot run Python.
"""

import itertools
import mmap
import os
import tempfile
from collections.abc import Callable
from typing import IO, Final

import attrs

from quaymaster._api.objects import Pod

__all__ = ["AttemptBoard", "BoardReader", "Mark"]

_SIZE: Final = 4096
_HALF: Final = _SIZE // 2
_MOST: Final = _HALF - 1
_END: Final = b"\n"
_PARTS: Final = 5
_SEPARATOR: Final = "\0"


@attrs.frozen
class Mark:
    """What the engine does.

    Attributes:
        number: A number that no other mark of this process has.
        uid: The uid of the pod.
        pod: The key of the pod.
        plugin: The plugin of a hook outside of an attempt, or empty.
        hook: That hook, or empty.
    """

    number: int
    uid: str
    pod: str
    plugin: str = ""
    hook: str = ""


class AttemptBoard:
    """The engine's end. One slot is for the attempt, one for the latest hook outside.

    See `quaymaster._core.contract.attempt_marks.AttemptMarks`.

    Args:
        on_end: Called with a uid when an attempt of one of `notable` pods has ended.

    Attributes:
        notable: The uids of pods whose attempts are reported at their end.
    """

    def __init__(self, on_end: Callable[[str], None] = lambda _uid: None) -> None:
        self.notable: set[str] = set()
        self._on_end = on_end
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - see `close`
        self._file.truncate(_SIZE)
        self._map = mmap.mmap(self._file.fileno(), _SIZE)
        self._numbers = itertools.count(1)
        self._uid = ""

    @property
    def descriptor(self) -> int:
        """The descriptor that the I/O process inherits."""
        return self._file.fileno()

    def begin(self, pod: Pod) -> None:
        """Mark that an attempt begins."""
        uid = self._uid = pod.metadata.uid
        mark = f"{next(self._numbers)}\0{uid}\0{pod.key}\0\0\n".encode()[:_MOST]
        self._map[: len(mark)] = mark

    def end(self) -> None:
        """Mark that the attempt has ended."""
        # While an attempt lasts, this byte is a digit.
        self._map[0] = 0
        if self.notable and self._uid in self.notable:
            self.notable.discard(self._uid)
            self._on_end(self._uid)

    def begin_hook(self, pod: Pod, plugin: str, hook: str) -> bytes:
        """Mark that a hook outside of an attempt begins; return the mark."""
        number, uid = next(self._numbers), pod.metadata.uid
        mark = f"{number}\0{uid}\0{pod.key}\0{plugin}\0{hook}\n".encode()[:_MOST]
        self._map[_HALF : _HALF + len(mark)] = mark
        return mark

    def end_hook(self, mark: bytes) -> None:
        """Mark that this hook has ended, unless a later one has begun."""
        # Hooks on other threads may overlap, and the slot has the latest one.
        if self._map[_HALF : _HALF + len(mark)] == mark:
            self._map[_HALF] = 0

    def close(self) -> None:
        """Close the memory."""
        self._map.close()
        self._file.close()


class BoardReader:
    """The other process's end.

    Args:
        descriptor: The inherited descriptor.
    """

    def __init__(self, descriptor: int) -> None:
        self._map = mmap.mmap(descriptor, _SIZE, access=mmap.ACCESS_READ)
        os.close(descriptor)

    def attempt(self) -> Mark | None:
        """Return the attempt in progress, or None."""
        return _mark(self._map[:_HALF])

    def hook(self) -> Mark | None:
        """Return the latest hook outside of an attempt, if it has not ended."""
        return _mark(self._map[_HALF:])


def _mark(slot: bytes) -> Mark | None:
    """Decode a slot; the engine may be writing it, so anything may be in it."""
    text, end, _ = slot.partition(_END)
    parts = text.decode(errors="replace").split(_SEPARATOR)
    if not end or len(parts) != _PARTS or not parts[0].isdecimal():
        return None
    number, uid, pod, plugin, hook = parts
    return Mark(int(number), uid, pod, plugin, hook)
