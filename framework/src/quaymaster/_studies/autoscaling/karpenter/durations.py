"""Durations of Karpenter's objects.

Mirrors ``pkg/apis/v1/duration.go`` (sigs.k8s.io/karpenter v1.15).
"""

import functools

from quaymaster._core.config.duration import parse_duration
from quaymaster._studies.autoscaling.errors import AutoscalerError

__all__ = ["nillable_seconds"]


@functools.lru_cache(maxsize=1024)
def nillable_seconds(text: str) -> float | None:
    """Return a duration such as ``1h30m`` in seconds; None for ``Never``.

    Raises:
        AutoscalerError: The text is not a duration.
    """
    if text == "Never":
        return None
    duration = parse_duration(text)
    if duration is None:
        raise AutoscalerError(
            "karpenter", f"expected a duration such as 30s, or Never, got {text!r}"
        )
    return duration.total_seconds()
