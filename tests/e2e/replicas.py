"""Replicas of a scheduler, kept running as kubelets would."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tests.e2e.loads import processes
from tests.e2e.processes import ProcessError, Program
from tests.e2e.records import Record

__all__ = ["ELECTION", "LEASE_SECONDS", "USERS", "Replica", "leader_of", "running"]

USERS: Final[Mapping[str, Sequence[str]]] = {
    "replica-1": ["system:masters"],
    "replica-2": ["system:masters"],
}
"""As whom replicas ask, so that the audit log tells them apart."""

LEASE_SECONDS: Final = 6.0
ELECTION: Final = {
    "leaderElect": True,
    "leaseDuration": f"{LEASE_SECONDS:g}s",
    "renewDeadline": "4s",
    "retryPeriod": "1s",
    "resourceNamespace": "kube-system",
}
"""How two replicas agree on who schedules."""

_RESTART: Final = 0.5  # seconds until it is started again


class Replica:
    """A scheduler that is started again whenever it has ended.

    Args:
        name: The user as whom it asks.
        program: The scheduler.

    Attributes:
        restarts: How often it was started again.
    """

    def __init__(self, name: str, program: Program) -> None:
        self.name = name
        self.program = program
        self.restarts = 0
        self._closed = threading.Event()
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    def start(self) -> None:
        """Start it, and keep it running."""
        self.program.start()
        self._keeper.start()

    def close(self) -> None:
        """Let it end."""
        self._closed.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self.program.kill()

    def kill(self, role: str, how: signal.Signals = signal.SIGKILL) -> None:
        """Kill one of its processes: ``engine`` or ``io``, as `processes` has them."""
        with contextlib.suppress(ProcessLookupError, KeyError):
            os.kill(processes(self.program)[role], how)

    def _keep(self) -> None:
        while not self._closed.wait(_RESTART):
            if not self.program.is_running:
                self.restarts += 1
                self.program.start(wait=False)


@contextlib.contextmanager
def running(replicas: Sequence[Replica]) -> Iterator[None]:
    """Keep replicas running meanwhile."""
    with contextlib.ExitStack() as stack:
        for replica in replicas:
            stack.callback(replica.close)
            replica.start()
        yield


def leader_of(replicas: Sequence[Replica], record: Record) -> Replica:
    """The replica that has written the lease last.

    Raises:
        ProcessError: None has.
    """
    named = {replica.name: replica for replica in replicas}
    for _, user in reversed(record.read().leases):
        if user in named:
            return named[user]
    raise ProcessError("no replica leads")
