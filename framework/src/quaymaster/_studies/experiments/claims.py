"""Claims of runs, so that processes that share a folder do not make a run twice."""

import os
import platform
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["Claims"]

_REFRESH_SECONDS: Final = 30.0
_LIFETIME_SECONDS: Final = 300.0
"""After this time without a refresh, the process of a claim counts as dead. It is long,
because the clocks of machines that share a folder may differ."""


class Claims:
    """The runs that this process makes, as files that other processes see.

    A claim is a file that is created only if it does not exist. A thread refreshes its
    time, so that the claims of a process that was killed end after five minutes.

    Args:
        folder: The folder of the finished runs.
        now: Returns the time, in seconds since the Unix epoch.
    """

    def __init__(self, folder: Path, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now
        self._files: set[Path] = set()
        self._is_over = threading.Event()
        self._refreshing = threading.Thread(target=self._refresh, daemon=True)
        self._refreshing.start()

    def take(self, key: str) -> bool:
        """Claim a run; return whether no living process has claimed it before."""
        file = self._folder / f"{key}.claim"
        with suppress(OSError):
            if self._is_stale(file):
                self._remove_stale(file)
        try:
            with file.open("x") as claim:
                claim.write(f"{platform.node()} {os.getpid()}\n")
        except FileExistsError:
            return False
        self._files.add(file)
        return True

    def _is_stale(self, file: Path) -> bool:
        return self._now() - file.stat().st_mtime > _LIFETIME_SECONDS

    def _remove_stale(self, file: Path) -> None:
        """Remove the claim of a dead process, unless another process was faster.

        Another process may have replaced the claim since it was looked at. Only one
        process gets a file that it renames, and puts a fresh claim back.
        """
        taken = file.with_suffix(f".{uuid.uuid4().hex}.stale")
        file.rename(taken)
        if self._is_stale(taken):
            taken.unlink()
        else:
            taken.rename(file)

    def release(self, key: str) -> None:
        """End a claim: the run is done, or has failed."""
        file = self._folder / f"{key}.claim"
        self._files.discard(file)
        file.unlink(missing_ok=True)

    def close(self) -> None:
        """End all claims."""
        self._is_over.set()
        self._refreshing.join()
        for file in tuple(self._files):
            file.unlink(missing_ok=True)
        self._files.clear()

    def _refresh(self) -> None:
        while not self._is_over.wait(_REFRESH_SECONDS):
            for file in tuple(self._files):
                with suppress(OSError):
                    os.utime(file)
