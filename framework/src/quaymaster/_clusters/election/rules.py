"""The rules of leader election, without a connection and without waiting.

Mirrors ``leaderelection.go`` (k8s.io/client-go v0.36, ``tools/leaderelection``), as
kube-scheduler uses it. It is stricter in these points:

- A leader that reads another holder in the lease has lost it at once.
- A renewal that is answered after the renew deadline is too late.
- If a lease disappears, candidates that have seen it wait for its duration, because its
  holder may not have noticed. A candidate that has never seen it creates it at once,
  because otherwise the first start would take as long. So do not delete the lease and
  start another replica at the same time.
- A lost lease is not released, so that the last writes of its holder have until the
  lease's end to arrive. Only a clean stop releases it.
- A lease's duration is rounded up to whole seconds, not down.
"""

import logging
import math
import time
from collections.abc import Callable, Generator
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import quote

import attrs
import msgspec

from quaymaster._api.objects import MicroTime
from quaymaster._api.objects.core import LeaseSpec
from quaymaster._base.errors import QuaymasterError
from quaymaster._clusters.election.candidate import Candidate, ElectionStatus, HeldLease
from quaymaster._clusters.election.fence import Fence, boot_seconds
from quaymaster._clusters.election.lease import StoredLease, new_lease
from quaymaster._clusters.kubernetes.errors import ApiError
from quaymaster._core.config.settings import LeaderElection

__all__ = ["Answer", "Ask", "Clocks", "Pause", "Rules", "Steps"]

# ``JitterFactor`` of client-go (tools/leaderelection).
_JITTER: Final = 1.2
_NOT_FOUND: Final = 404
# As client-go: a lease must have a duration, and no candidate waits for this one.
_RELEASED_SECONDS: Final = 1

_log = logging.getLogger(__name__)


class Ask(NamedTuple):
    """A request to send; the answer is a body or an error."""

    method: str
    path: str
    body: bytes = b""


class Pause(NamedTuple):
    """Seconds to wait, or less if the election is stopped; the answer is ignored."""

    seconds: float


Answer: TypeAlias = bytes | QuaymasterError
Steps: TypeAlias = Generator[Ask | Pause, Answer, None]
_Tried: TypeAlias = Generator[Ask | Pause, Answer, bool]
_Ended: TypeAlias = Generator[Ask | Pause, Answer, str]


@attrs.frozen(kw_only=True)
class Clocks:
    """The clocks and the randomness of one process.

    Attributes:
        steady: Returns the seconds of a monotonic clock, for all decisions.
        wall: Returns the seconds since the epoch, for people who read the lease.
        jitter: Returns a random number from 0 to 1.
    """

    steady: Callable[[], float] = boot_seconds
    wall: Callable[[], float] = time.time
    jitter: Callable[[], float]


class Rules:
    """The actions of one candidate, step by step.

    Args:
        settings: The lease, and the durations.
        candidate: The candidate.
        clocks: Its clocks.
    """

    def __init__(
        self, settings: LeaderElection, candidate: Candidate, clocks: Clocks
    ) -> None:
        self._settings = settings
        self._candidate = candidate
        self._clocks = clocks
        self._now = clocks.steady
        self._retry = settings.retry_period.total_seconds()
        namespace = quote(settings.resource_namespace)
        self._all = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._path = f"{self._all}/{quote(settings.resource_name)}"
        self._seen: StoredLease | None = None
        self._seen_at = -math.inf
        self._gone_since: float | None = None
        self._status = ElectionStatus(settings.resource_name)
        self._reported: ElectionStatus | None = None
        self._is_leading = False
        self._is_stopped = False
        self._failure = "no attempt was made"
        deadline = settings.renew_deadline.total_seconds()
        self.fence = Fence(deadline, clock=clocks.steady)

    def stop(self) -> None:
        """End the election at the next step; shut the fence at once."""
        self._is_stopped = True
        self.fence.shut()

    def run(self) -> Steps:
        """Acquire the lease, and renew it until it is lost or the election stops."""
        self._report()
        yield from self._acquire()
        if not self._is_leading:
            if self._is_mine:  # stopped just now
                yield from self._release(None)
            return
        reason = yield from self._keep()
        self.fence.shut()
        self._is_leading = False
        self._report()
        if reason:
            _log.error("leader election: %s was lost: %s", self._path, reason)
            self._candidate.on_lost(reason)
        else:
            yield from self._release(self._candidate.unfinished())

    def _acquire(self) -> Steps:
        while not self._is_stopped:
            started = self._now()
            if self._candidate.is_alive():
                is_acquired = yield from self._tried(started)
                if is_acquired and self.fence.open(started):
                    self._begin()
                    return
                self._report()
            yield Pause(self._retry * (1 + _JITTER * self._clocks.jitter()))

    def _begin(self) -> None:
        assert self._seen is not None
        self._is_leading = True
        self._report()
        _log.info("leader election: %s was acquired", self._path)
        seen = self._seen
        held = HeldLease(seen.version, seen.transitions, seen.unfinished)
        self._candidate.on_started(held)

    def _keep(self) -> _Ended:
        """Renew the lease; return why it was lost, or an empty text after a stop."""
        while True:
            left = self.fence.seconds_left()
            yield Pause(min(self._retry, left))
            if self._is_stopped:
                return ""
            if not self.fence.may_write():
                length = self._settings.renew_deadline.total_seconds()
                return f"not renewed for {length:g} seconds: {self._failure}"
            if not self._candidate.is_alive():
                self._failure = "the engine does not respond"
                yield from self._noted()
                continue
            started = self._now()
            is_renewed = yield from self._tried(started)
            self._report()
            if is_renewed and not self.fence.renew(started):
                self._failure = "the response was too late"
            if not self._is_mine:
                return f"it is held by {self._holder or 'nobody'}"

    def _tried(self, started: float) -> _Tried:
        """Try once to acquire or renew the lease."""
        # One write instead of a read and a write. It fails if another has written, and
        # the longer way follows.
        may_be_quick = self._is_mine and self._is_valid(started)
        if may_be_quick and (yield from self._updated()):
            return True
        if self._is_leading:
            slow = self._status.slow_renewals + 1
            self._status = attrs.evolve(self._status, slow_renewals=slow)
        answer = yield Ask("GET", self._path)
        if isinstance(answer, ApiError) and answer.code == _NOT_FOUND:
            if self._must_wait_while_gone(started):
                return False
            return (yield from self._created())
        stored = self._read(answer)
        if stored is None:
            return False
        # The time of our own observation counts, and never the time in the lease: the
        # clocks of machines differ.
        if self._seen is None or stored.spec != self._seen.spec:
            self._seen_at = self._now()
        self._seen, self._gone_since = stored, None
        if self._is_anothers and self._is_valid(started):
            return False
        if self._is_leading and not self._is_mine:
            return False
        return (yield from self._updated())

    def _must_wait_while_gone(self, now: float) -> bool:
        """Return whether another process may still hold the deleted lease."""
        if self._is_leading or self._seen is None:
            return False
        if self._gone_since is None:
            self._gone_since = now
        length = self._settings.lease_duration.total_seconds()
        return now < self._gone_since + length

    def _created(self) -> _Tried:
        settings = self._settings
        lease = new_lease(
            settings.resource_namespace, settings.resource_name, self._spec(None)
        )
        return self._written((yield Ask("POST", self._all, lease)))

    def _updated(self) -> _Tried:
        assert self._seen is not None
        body = self._seen.with_spec(self._spec(self._seen), self._unfinished)
        return self._written((yield Ask("PUT", self._path, body)))

    def _noted(self) -> Steps:
        """Note unfinished attempts in the lease, without a renewal."""
        seen, unfinished = self._seen, self._unfinished
        if seen is None or unfinished in (None, seen.unfinished):
            return
        stored = self._read(
            (yield Ask("PUT", self._path, seen.with_spec(seen.spec, unfinished)))
        )
        if stored is not None:
            self._seen = stored

    def _written(self, answer: Answer) -> bool:
        stored = self._read(answer)
        if stored is None:
            return False
        self._seen, self._seen_at = stored, self._now()
        return self._is_mine

    def _read(self, answer: Answer) -> StoredLease | None:
        """Return the lease in an answer; for an error, log it and return None."""
        try:
            if isinstance(answer, QuaymasterError):
                raise answer
            return StoredLease.read(answer)
        except (QuaymasterError, msgspec.DecodeError) as error:
            self._failure = str(error)
            level = logging.WARNING if self._is_leading else logging.INFO
            _log.log(level, "leader election: %s", error)
            return None

    def _spec(self, before: StoredLease | None) -> LeaseSpec:
        """Return the spec with this process as the holder from now on."""
        now = MicroTime(self._clocks.wall())
        since, transitions = now, 0
        if before is not None and self._is_mine:
            since = before.spec.acquire_time or now
            transitions = before.transitions
        elif before is not None:
            transitions = before.transitions + 1
        return LeaseSpec(
            holder_identity=self._candidate.identity,
            lease_duration_seconds=math.ceil(
                self._settings.lease_duration.total_seconds()
            ),
            acquire_time=since,
            renew_time=now,
            lease_transitions=transitions,
        )

    def _release(self, unfinished: str | None) -> Steps:
        """Release the lease, so that other candidates need not wait for its end."""
        stored = self._read((yield Ask("GET", self._path)))
        if stored is None or stored.holder != self._candidate.identity:
            return
        now = MicroTime(self._clocks.wall())
        spec = LeaseSpec(
            holder_identity="",
            lease_duration_seconds=_RELEASED_SECONDS,
            acquire_time=now,
            renew_time=now,
            lease_transitions=stored.transitions,
        )
        body = stored.with_spec(spec, unfinished)
        self._read((yield Ask("PUT", self._path, body)))

    @property
    def _unfinished(self) -> str | None:
        """The attempts to note; None as long as another candidate's note must stay."""
        return self._candidate.unfinished() if self._is_leading else None

    @property
    def _holder(self) -> str:
        return self._seen.holder if self._seen is not None else ""

    @property
    def _is_mine(self) -> bool:
        return self._holder == self._candidate.identity

    @property
    def _is_anothers(self) -> bool:
        return bool(self._holder) and not self._is_mine

    def _is_valid(self, now: float) -> bool:
        """Return whether the last read version of the lease may still be valid."""
        return self._seen is not None and self._seen_at + self._seen.seconds > now

    def _report(self) -> None:
        """Report the status, if it has changed or was never reported."""
        self._status = attrs.evolve(
            self._status,
            is_leader=self._is_leading,
            leader=self._holder,
            transitions=self._seen.transitions if self._seen is not None else 0,
        )
        if self._status != self._reported:
            self._reported = self._status
            self._candidate.on_status(self._status)
