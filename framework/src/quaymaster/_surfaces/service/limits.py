"""The limits of the service."""

import attrs

__all__ = ["ServiceLimits"]


@attrs.frozen(kw_only=True)
class ServiceLimits:
    """The limits of a service.

    Attributes:
        body_bytes: How long the body of a request may be.
        pods: How many pods one request for a fit may have.
        timeout_seconds: How long an answer may take.
        simulations: How many simulations may be under way at once; more are refused.
    """

    body_bytes: int = 4 << 20
    pods: int = 1000
    timeout_seconds: float = 30.0
    simulations: int = 1
