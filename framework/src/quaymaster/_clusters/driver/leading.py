"""The part that the process for input and output takes in a leader election."""

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
from quaymaster._clusters.driver.life import Life
from quaymaster._clusters.election.candidate import Candidate, ElectionStatus, HeldLease
from quaymaster._clusters.election.elector import LeaderElector, election_client
from quaymaster._clusters.election.fence import Fence
from quaymaster._clusters.kubernetes.access import Access
from quaymaster._clusters.kubernetes.client import Count
from quaymaster._clusters.kubernetes.issuing import Issuer
from quaymaster._core.config.settings import LeaderElection

__all__ = ["Leading"]


class Leading:
    """Keeps the lease, and the fence before all writes.

    Args:
        access: Where the server is.
        election: The election; without one, writes leave at once.
        tell: Takes what the engine has to know.
        count: Takes the method, the status and the seconds of each request.
        issuer: Asks the program that gives credentials, if there is one.
    """

    def __init__(
        self,
        access: Access,
        election: Election | None,
        tell: Callable[[Message], None],
        count: Count | None = None,
        issuer: Issuer | None = None,
    ) -> None:
        self._tell = tell
        self._life: Life | None = None
        self._elector = None
        self._thread: threading.Thread | None = None
        if election is not None:
            settings = _settings(election)
            self._life = Life(election.renew_seconds)
            self._elector = LeaderElector(
                election_client(access, settings, count, issuer),
                settings,
                Candidate(
                    identity=election.identity,
                    on_started=self._won,
                    on_lost=lambda why: tell(LeaseLost(why)),
                    is_alive=self._life.is_there,
                    on_status=self._seen,
                ),
            )

    @property
    def fence(self) -> Fence:
        """What says whether a write may leave."""
        if self._elector is None:
            return Fence.always_open()
        return self._elector.fence

    def start(self) -> None:
        """Take part, if there is an election, on a thread of its own."""
        if self._elector is not None:
            run = self._elector.run
            self._thread = threading.Thread(target=run, name="election", daemon=True)
            self._thread.start()

    def note_life(self) -> None:
        """Take note that the engine's process runs."""
        if self._life is not None:
            self._life.note_sign()

    def note_turn(self) -> None:
        """Take note that the engine has taken a turn."""
        if self._life is not None:
            self._life.note_turn()

    def stop(self) -> None:
        """Give the lease back; the answers of all writes have come."""
        if self._elector is not None and self._thread is not None:
            self._elector.stop()
            self._thread.join()

    def _won(self, _lease: HeldLease) -> None:
        self._tell(Leads())

    def _seen(self, status: ElectionStatus) -> None:
        self._tell(
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
