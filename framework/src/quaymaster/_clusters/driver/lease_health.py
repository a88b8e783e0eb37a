"""Whether the lease that is held is renewed, as far as this process can tell."""

import time
from collections.abc import Callable
from typing import Final

from quaymaster._clusters.driver.frames import Election

__all__ = ["LeaseHealth"]

_SECONDS_OVER: Final = 20.0  # as kube-scheduler has it


class LeaseHealth:
    """Notices that the process for input and output is silent.

    It tells what it has counted every few seconds while it renews the lease. Mirrors
    ``HealthzAdaptor`` (k8s.io/client-go v0.36, ``tools/leaderelection``).

    Args:
        election: The election; without one there is no lease.
        now: Seconds, by a clock that nobody sets.
    """

    def __init__(
        self, election: Election | None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._election = election
        self._now = now
        self._heard_at = now()

    def heard(self) -> None:
        """Take note of a message; from any thread."""
        self._heard_at = self._now()

    def problem(self) -> str:
        """What is wrong with a lease that is held; empty if nothing is."""
        election = self._election
        if election is None:
            return ""
        silent = self._now() - self._heard_at
        if silent <= election.lease_seconds + _SECONDS_OVER:
            return ""
        lease = f"{election.namespace}/{election.name}"
        return f"nobody has said for {silent:.0f} s that the lease {lease} is renewed"
