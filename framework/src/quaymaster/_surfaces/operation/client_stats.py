"""What the process for input and output counts, and how it is told.

Mirrors the metrics of k8s.io/client-go v0.36 as k8s.io/component-base v0.36 registers
them (``metrics/prometheus/restclient``, ``metrics/prometheus/clientgo``).
"""

from collections.abc import Mapping

import attrs

from quaymaster._clusters.driver.frames import Counted, LeaseSeen
from quaymaster._core.runtime.measures import Measured

__all__ = ["ClientStats"]


@attrs.frozen(kw_only=True)
class ClientStats:
    """Requests to the API server since the start, and the lease.

    Attributes:
        requests: (code, method, host) -> how many were answered so; the code is
            ``<error>`` if no answer came.
        durations: (verb, host) -> how long they took, in buckets of `REQUEST_SECONDS`.
        lease_name: The name of the lease; empty if there is no election.
        is_leader: Whether this process holds it.
        slow_renewals: How often it had to be read before a renewal.
        dropped_events: How many Events were not written, since too many waited.
    """

    requests: Mapping[tuple[str, str, str], int] = attrs.field(factory=dict)
    durations: Mapping[tuple[str, str], Measured] = attrs.field(factory=dict)
    lease_name: str = ""
    is_leader: bool = False
    slow_renewals: int = 0
    dropped_events: int = 0

    @classmethod
    def of(
        cls, host: str, counted: Counted | None, lease: LeaseSeen | None
    ) -> "ClientStats":
        """Make them of what the other process has told.

        Args:
            host: The host of the API server, with its port.
            counted: What it has counted so far, if it has told.
            lease: How the election stands, if there is one.
        """
        counted = counted or Counted({}, {})
        return cls(
            requests={
                (code, method, host): count
                for (code, method), count in counted.requests.items()
            },
            durations={
                (verb, host): Measured(tuple(times.counts), times.total)
                for verb, times in counted.durations.items()
            },
            lease_name=lease.name if lease is not None else "",
            is_leader=lease is not None and lease.is_leader,
            slow_renewals=lease.slow_renewals if lease is not None else 0,
            dropped_events=counted.dropped_events,
        )
