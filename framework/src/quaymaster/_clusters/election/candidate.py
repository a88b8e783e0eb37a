"""Who takes part in an election, and what it is told."""

from collections.abc import Callable

import attrs

__all__ = ["Candidate", "ElectionStatus", "HeldLease"]


@attrs.frozen
class HeldLease:
    """The lease as it was when it was acquired.

    Attributes:
        resource_version: Its version.
        transitions: How often it has changed hands.
    """

    resource_version: str
    transitions: int


@attrs.frozen
class ElectionStatus:
    """What metrics and health checks tell of an election.

    Attributes:
        name: The lease's name.
        is_leader: Whether this process has the lease, as far as it knows.
        leader: Who had it when it was last seen; empty for nobody.
        transitions: How often it had changed hands then.
        slow_renewals: How often the leader had to read the lease before a renewal.
    """

    name: str
    is_leader: bool = False
    leader: str = ""
    transitions: int = 0
    slow_renewals: int = 0


@attrs.frozen(kw_only=True)
class Candidate:
    """Who takes part in an election, and what it wants to be told, on its thread.

    Attributes:
        identity: A name that no other process has.
        on_started: Called once, when the lease is acquired and the fence is open.
        on_lost: Called once, with the reason, when it is lost: the process must end.
            A clean stop is no loss.
        is_alive: Whether the work goes on for which the lease is wanted; while it does
            not, the lease is neither acquired nor renewed.
        on_status: Called whenever the status has changed.
    """

    identity: str
    on_started: Callable[[HeldLease], None]
    on_lost: Callable[[str], None]
    is_alive: Callable[[], bool] = lambda: True
    on_status: Callable[[ElectionStatus], None] = lambda _: None
