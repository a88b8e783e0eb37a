"""The leader election, as the I/O process takes part in it."""

import threading
from collections.abc import Callable
from datetime import timedelta

from quaymaster._clusters.driver.frames import (
    Election,
    Leads,
    LeaseLost,
    LeaseSeen,
    Message,
)
from quaymaster._clusters.driver.liveness import Liveness
from quaymaster._clusters.driver.suspects import Suspects
from quaymaster._clusters.election.candidate import Candidate, ElectionStatus, HeldLease
from quaymaster._clusters.election.elector import LeaderElector, election_client
from quaymaster._clusters.election.fence import Fence
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.client import Count
from quaymaster._clusters.kubernetes.issuing import Issuer
from quaymaster._core.config.settings import LeaderElection

__all__ = ["Leading"]


class Leading:
    """Renews the lease, and lets writes pass only while this process has it.

    Args:
        access: The server and the credentials.
        election: The election; without one, writes are sent at once.
        send: Sends a message to the engine.
        count: Counts each request by its method, status and seconds.
        issuer: Runs the credential program, if any.
        suspects: The unfinished attempts to note in the lease.
        on_lost: Called with the reason when the lease is lost.
    """

    def __init__(
        self,
        access: Access,
        election: Election | None,
        send: Callable[[Message], None],
        count: Count | None = None,
        issuer: Issuer | None = None,
        *,
        suspects: Suspects | None = None,
        on_lost: Callable[[str], None] = lambda _why: None,
    ) -> None:
        self._send = send
        self._suspects = suspects or Suspects()
        self._on_lost = on_lost
        self._liveness: Liveness | None = None
        self._elector = None
        self._thread: threading.Thread | None = None
        if election is not None:
            settings = _settings(election)
            self._liveness = Liveness(election.renew_seconds)
            self._elector = LeaderElector(
                election_client(access, settings, count, issuer),
                settings,
                Candidate(
                    identity=election.identity,
                    on_started=self._won,
                    on_lost=self._lost,
                    is_alive=self._liveness.is_alive,
                    on_status=self._seen,
                    unfinished=self._suspects.text,
                ),
            )

    @property
    def fence(self) -> Fence:
        """The fence, which decides whether a write may be sent."""
        if self._elector is None:
            return Fence.always_open()
        return self._elector.fence

    def start(self) -> None:
        """Take part in the election, if any, on a separate thread."""
        if self._elector is not None:
            run = self._elector.run
            self._thread = threading.Thread(target=run, name="election", daemon=True)
            self._thread.start()

    def note_sign(self) -> None:
        """Note that the engine's process runs."""
        if self._liveness is not None:
            self._liveness.note_sign()

    def note_turn(self) -> None:
        """Note that the engine's loop has completed a turn."""
        if self._liveness is not None:
            self._liveness.note_turn()

    def stop(self) -> None:
        """Release the lease; all writes must have been answered."""
        if self._elector is not None and self._thread is not None:
            self._elector.stop()
            self._thread.join()

    def _won(self, lease: HeldLease) -> None:
        self._send(Leads(self._suspects.inherit(lease.unfinished)))

    def _lost(self, why: str) -> None:
        self._send(LeaseLost(why))
        self._on_lost(why)

    def _seen(self, status: ElectionStatus) -> None:
        self._send(
            LeaseSeen(
                status.name,
                status.is_leader,
                status.leader,
                status.transitions,
                status.slow_renewals,
            )
        )


def _settings(election: Election) -> LeaderElection:
    return LeaderElection(
        lease_duration=timedelta(seconds=election.lease_seconds),
        renew_deadline=timedelta(seconds=election.renew_seconds),
        retry_period=timedelta(seconds=election.retry_seconds),
        resource_name=election.name,
        resource_namespace=election.namespace,
    )
