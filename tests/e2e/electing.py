"""A program that takes part in a leader election, and writes while it leads.

``python -m tests.e2e.electing KUBECONFIG NAME`` prints the times of its writes, by a
clock that all processes of a machine share. It ends as a scheduler does: with code 1
after it has lost the lease, with code 0 after SIGTERM.
"""

import signal
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Final

from quaymaster.config import LeaderElection
from tests.kit.internals.election import (
    Candidate,
    HeldLease,
    LeaderElector,
    boot_seconds,
    election_client,
)
from tests.kit.internals.kubernetes import find_access

__all__ = ["SETTINGS", "main"]

SETTINGS: Final = LeaderElection(
    lease_duration=timedelta(seconds=3),
    renew_deadline=timedelta(seconds=2),
    retry_period=timedelta(seconds=0.5),
    resource_name="electing",
    resource_namespace="default",
)
_PAUSE: Final = 0.002  # seconds between two writes


def main(kubeconfig: Path, name: str) -> None:
    """Take part until the lease is lost, or until SIGTERM."""

    def start(_: HeldLease) -> None:
        threading.Thread(target=write, daemon=True).start()

    def write() -> None:
        while not ended.wait(_PAUSE):
            now = boot_seconds()  # read before the fence is checked, so that it counts
            if elector.fence.may_write():
                sys.stdout.write(f"{now}\n")
                sys.stdout.flush()

    def stop(*_: object) -> None:
        ended.set()
        elector.stop()

    ended, lost = threading.Event(), list[str]()
    candidate = Candidate(identity=name, on_started=start, on_lost=lost.append)
    access = find_access(kubeconfig=str(kubeconfig))
    elector = LeaderElector(election_client(access, SETTINGS), SETTINGS, candidate)
    signal.signal(signal.SIGTERM, stop)
    thread = threading.Thread(target=elector.run)
    thread.start()
    thread.join()
    if lost:
        sys.exit(f"lost: {lost[0]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
