"""The request counts of the I/O process, as metrics.

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
        requests: (code, method, host) -> the number of requests; the code is
            ``<error>`` without a response.
        durations: (verb, host) -> their durations, in buckets of `REQUEST_SECONDS`.
        lease_name: The name of the lease; empty without an election.
        is_leader: Whether this process holds the lease.
        slow_renewals: How often the lease had to be read before a renewal.
        dropped_events: How many Events were dropped because too many waited.
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
        """Build them from the messages of the I/O process.

        Args:
            host: The host of the API server, with its port.
            counted: The counts of requests, if any was received.
            lease: The state of the election, if any.
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
