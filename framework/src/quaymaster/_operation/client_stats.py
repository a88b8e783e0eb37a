"""What the process for input and output counts, and how it is told.

Mirrors the metrics of k8s.io/client-go v0.36 as k8s.io/component-base v0.36 registers
them (``metrics/prometheus/restclient``, ``metrics/prometheus/clientgo``).
"""

from typing import Final

import msgspec

from quaymaster._runtime.measures import Measured

__all__ = ["REQUEST_SECONDS", "ClientStats"]

REQUEST_SECONDS: Final = (
    0.005,
    0.025,
    0.1,
    0.25,
    0.5,
    1.0,
    2.0,
    4.0,
    8.0,
    15.0,
    30.0,
    60.0,
)
"""The bounds of the buckets for the durations of requests, in seconds."""


class ClientStats(msgspec.Struct, frozen=True, kw_only=True):
    """Requests to the API server since the start, and the lease.

    It may be sent from process to process as it is.

    Attributes:
        requests: (code, method, host) -> how many were answered so; the code is
            ``<error>`` if no answer came.
        durations: (verb, host) -> how long they took, in buckets of `REQUEST_SECONDS`.
        lease_name: The name of the lease; empty if there is no election.
        is_leader: Whether this process holds it.
    """

    requests: dict[tuple[str, str, str], int] = {}
    durations: dict[tuple[str, str], Measured] = {}
    lease_name: str = ""
    is_leader: bool = False
