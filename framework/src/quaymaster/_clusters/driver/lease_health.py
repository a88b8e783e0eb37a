"""Checks in the engine's process that the I/O process renews the lease."""

import time
from collections.abc import Callable
from typing import Final

from quaymaster._clusters.driver.frames import Election

__all__ = ["LeaseHealth"]

_SECONDS_OVER: Final = 20.0  # as in kube-scheduler


class LeaseHealth:
    """Notices that the I/O process is silent.

    That process sends its counts every few seconds while it renews the lease. Mirrors
    ``HealthzAdaptor`` (k8s.io/client-go v0.36, ``tools/leaderelection``).

    Args:
        election: The election; without one there is no lease.
        now: Returns the seconds of a monotonic clock.
    """

    def __init__(
        self, election: Election | None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._election = election
        self._now = now
        self._last_message = now()

    def note_message(self) -> None:
        """Note a message; any thread may call it."""
        self._last_message = self._now()

    def problem(self) -> str:
        """Return what is wrong with the lease that is held; empty if it is renewed."""
        election = self._election
        if election is None:
            return ""
        silent = self._now() - self._last_message
        if silent <= election.lease_seconds + _SECONDS_OVER:
            return ""
        lease = f"{election.namespace}/{election.name}"
        return f"no renewal of the lease {lease} was reported for {silent:.0f} s"
