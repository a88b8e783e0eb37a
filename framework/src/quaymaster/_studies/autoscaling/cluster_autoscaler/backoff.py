"""The backoff of groups whose scale-up has failed.

Mirrors ``utils/backoff/exponential_backoff.go``.
"""

import attrs

from quaymaster._studies.autoscaling.cluster_autoscaler.options import (
    ClusterAutoscalerOptions,
)

__all__ = ["Backoff"]


@attrs.frozen
class _Failure:
    seconds: float
    until: float
    last: float


class Backoff:
    """Which groups may not grow for a while.

    Args:
        options: The durations.
    """

    def __init__(self, options: ClusterAutoscalerOptions) -> None:
        self._options = options
        self._failures: dict[str, _Failure] = {}

    def fail(self, group: str, now: float) -> None:
        """Note a failure; a further one during the backoff does not double it."""
        options, failure = self._options, self._failures.get(group)
        seconds = options.initial_node_group_backoff_duration
        if failure is not None:
            seconds = failure.seconds
            if failure.until < now:
                longest = options.max_node_group_backoff_duration
                seconds = min(2 * failure.seconds, longest)
        self._failures[group] = _Failure(seconds, now + seconds, now)

    def is_active(self, group: str, now: float) -> bool:
        """Return whether a group may not grow now."""
        failure = self._failures.get(group)
        return failure is not None and failure.until >= now

    def end_of(self, group: str) -> float | None:
        """Return when the last backoff of a group ends; None if it has had none."""
        failure = self._failures.get(group)
        return None if failure is None else failure.until

    def forget_old(self, now: float) -> None:
        """Forget failures that are long ago."""
        limit = now - self._options.node_group_backoff_reset_timeout
        self._failures = {
            group: failure
            for group, failure in self._failures.items()
            if failure.last >= limit
        }
