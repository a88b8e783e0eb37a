"""Pods that a scheduler was trying when it stopped to respond, in the Lease.

Upstream has no counterpart: there, one pod can stop every replica in turn.
"""

import logging
import threading
from typing import Final

import msgspec

from quaymaster._clusters.driver.frames import Suspect

__all__ = ["Suspects", "pause_seconds"]

_log = logging.getLogger(__name__)

_MOST: Final = 16
_LONGEST: Final = 16_384  # characters; of an annotation, which other programs may write
_FIRST_PAUSE: Final = 60.0
_LONGEST_PAUSE: Final = 3_600.0
_DECODER: Final = msgspec.json.Decoder(list[Suspect])


def pause_seconds(times: int) -> float:
    """Return how long a new leader waits before it tries a pod.

    Args:
        times: How many leaders in a row the pod has stopped.
    """
    return min(_FIRST_PAUSE * 2.0 ** (min(times, _MOST) - 1), _LONGEST_PAUSE)


class Suspects:
    """The pods in the annotation of a lease. Any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inherited: dict[str, Suspect] = {}
        self._current: Suspect | None = None

    def inherit(self, text: str) -> list[Suspect]:
        """Read what earlier leaders have written, and return it.

        Args:
            text: The value of the annotation; may be empty.
        """
        suspects: list[Suspect] = []
        try:
            if text and len(text) <= _LONGEST:
                suspects = _DECODER.decode(text)
        except msgspec.MsgspecError as error:
            _log.warning(
                "the lease's list of unfinished attempts is ignored: %s", error
            )
        with self._lock:
            self._inherited = {
                suspect.uid: suspect for suspect in suspects[-_MOST:] if suspect.uid
            }
            return list(self._inherited.values())

    def suspect(self, uid: str, pod: str, where: str) -> None:
        """Note an attempt that takes too long."""
        with self._lock:
            before = self._inherited.get(uid)
            times = 1 if before is None else before.times + 1
            self._current = Suspect(uid, pod, times, where)

    def clear(self) -> None:
        """Note that no attempt takes too long."""
        self._current = None

    def finished(self, uid: str) -> None:
        """Note that an attempt of an inherited pod has ended."""
        with self._lock:
            self._inherited.pop(uid, None)

    def text(self) -> str:
        """Return the value of the annotation; empty for none."""
        with self._lock:
            suspects = dict(self._inherited)
            if self._current is not None:
                suspects.pop(self._current.uid, None)
                suspects[self._current.uid] = self._current
        kept = list(suspects.values())[-_MOST:]
        return msgspec.json.encode(kept).decode() if kept else ""
