"""Limits the rate of requests."""

import math

__all__ = ["Bucket"]


class Bucket:
    """A token bucket: a burst at once, and then a number of requests per second.

    Mirrors ``NewTokenBucketRateLimiter`` (k8s.io/client-go v0.36,
    ``util/flowcontrol/throttle.go``).

    Args:
        qps: The requests per second; 0 for no limit.
        burst: The requests at once.
    """

    def __init__(self, qps: float, burst: int) -> None:
        self._qps = qps
        self._burst = max(1, burst)
        self._tokens = float(self._burst)
        self._filled = -math.inf

    def take(self, now: float) -> float:
        """Take a token.

        Returns:
            0 if there was a token; otherwise in how many seconds to try again.
        """
        if self._qps <= 0:
            return 0.0
        grown = (now - self._filled) * self._qps
        self._tokens = min(self._burst, self._tokens + grown)
        self._filled = now
        if self._tokens < 1:
            return (1 - self._tokens) / self._qps
        self._tokens -= 1
        return 0.0
