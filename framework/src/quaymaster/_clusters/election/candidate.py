"""A candidate of an election, with its callbacks."""

from collections.abc import Callable

import attrs

__all__ = ["Candidate", "ElectionStatus", "HeldLease"]


@attrs.frozen
class HeldLease:
    """The lease at the time of its acquisition.

    Attributes:
        resource_version: Its resource version.
        transitions: How often its holder has changed.
        unfinished: The unfinished attempts that earlier leaders have noted in it.
    """

    resource_version: str
    transitions: int
    unfinished: str = ""


@attrs.frozen
class ElectionStatus:
    """The state of an election, for metrics and health checks.

    Attributes:
        name: The lease's name.
        is_leader: Whether this process holds the lease, from its own point of view.
        leader: The holder when the lease was last read, or empty.
        transitions: How often the holder had changed then.
        slow_renewals: How often the leader had to read the lease before a renewal.
    """

    name: str
    is_leader: bool = False
    leader: str = ""
    transitions: int = 0
    slow_renewals: int = 0


@attrs.frozen(kw_only=True)
class Candidate:
    """A candidate of an election. The callbacks run on the thread of the election.

    Attributes:
        identity: The unique name of this process.
        on_started: Called once, when the lease is acquired and the fence is open.
        on_lost: Called once with the reason, when the lease is lost: the process must
            end. It is not called after a clean stop.
        is_alive: Returns whether the engine works; otherwise the lease is neither
            acquired nor renewed.
        on_status: Called whenever the status has changed.
        unfinished: Returns the unfinished attempts to note in the lease; empty for
            none.
    """

    identity: str
    on_started: Callable[[HeldLease], None]
    on_lost: Callable[[str], None]
    is_alive: Callable[[], bool] = lambda: True
    on_status: Callable[[ElectionStatus], None] = lambda _: None
    unfinished: Callable[[], str] = str
