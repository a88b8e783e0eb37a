"""Replicas of a scheduler, which are restarted as by kubelets."""

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
"""The users of the replicas' requests, which identify them in the audit log."""

LEASE_SECONDS: Final = 6.0
ELECTION: Final = {
    "leaderElect": True,
    "leaseDuration": f"{LEASE_SECONDS:g}s",
    "renewDeadline": "4s",
    "retryPeriod": "1s",
    "resourceNamespace": "kube-system",
}
"""The leader election of two replicas."""

_RESTART: Final = 0.5  # seconds before a restart


class Replica:
    """A scheduler that is started again whenever it has ended.

    Args:
        name: The user of its requests.
        program: The scheduler.

    Attributes:
        restarts: The number of restarts.
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
        """Kill one of its processes: ``engine`` or ``io``, see `processes`."""
        with contextlib.suppress(ProcessLookupError, KeyError):
            os.kill(processes(self.program)[role], how)

    def _keep(self) -> None:
        while not self._closed.wait(_RESTART):
            if not self.program.is_running:
                self.restarts += 1
                self.program.start(wait=False)


@contextlib.contextmanager
def running(replicas: Sequence[Replica]) -> Iterator[None]:
    """Keep replicas running inside the block."""
    with contextlib.ExitStack() as stack:
        for replica in replicas:
            stack.callback(replica.close)
            replica.start()
        yield


def leader_of(replicas: Sequence[Replica], record: Record) -> Replica:
    """Return the replica that has written the lease last.

    Raises:
        ProcessError: No replica has written it.
    """
    named = {replica.name: replica for replica in replicas}
    for _, user in reversed(record.read().leases):
        if user in named:
            return named[user]
    raise ProcessError("no replica leads")
