"""The limits of the service."""

import attrs

__all__ = ["ServiceLimits"]


@attrs.frozen(kw_only=True)
class ServiceLimits:
    """The limits of a service.

    Attributes:
        body_bytes: The longest body of a request.
        pods: The most pods of one request to ``/v1/fit``.
        timeout_seconds: The longest time for a response.
        simulations: The most simulations at once; more are rejected.
        requests: The most requests at once, for each worker; more are rejected.
    """

    body_bytes: int = 4 << 20
    pods: int = 1000
    timeout_seconds: float = 30.0
    simulations: int = 1
    requests: int = 64
