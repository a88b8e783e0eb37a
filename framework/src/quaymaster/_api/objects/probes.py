"""Probes and hooks of containers: what decides when a pod is ready, and when it ends.

Mirrors k8s.io/api v0.36, ``core/v1/types.go``. How a probe is made does not matter to
scheduling, so actions are kept unchanged.
"""

from quaymaster._api.objects.meta import ApiValue
from quaymaster._api.objects.numbers import Int32, Int64
from quaymaster._api.objects.volumes import JsonObject

__all__ = ["Lifecycle", "LifecycleHandler", "Probe", "SleepAction"]


class Probe(ApiValue, frozen=True, kw_only=True):
    """When a container is probed; 0 is the default, as on an API server.

    Attributes:
        period_seconds: The time between two probes; 10 by default.
        success_threshold: How many probes must succeed in a row; 1 by default.
        failure_threshold: How many probes must fail in a row; 3 by default.
    """

    exec: JsonObject | None = None
    http_get: JsonObject | None = None
    tcp_socket: JsonObject | None = None
    grpc: JsonObject | None = None
    initial_delay_seconds: Int32 = 0
    period_seconds: Int32 = 0
    success_threshold: Int32 = 0
    failure_threshold: Int32 = 0

    @property
    def period(self) -> int:
        """The time between two probes, in seconds."""
        return self.period_seconds or 10

    @property
    def successes(self) -> int:
        """How many probes must succeed in a row."""
        return self.success_threshold or 1

    @property
    def failures(self) -> int:
        """How many probes must fail in a row."""
        return self.failure_threshold or 3


class SleepAction(ApiValue, frozen=True, kw_only=True):
    """A hook that only waits."""

    seconds: Int64 = 0


class LifecycleHandler(ApiValue, frozen=True, kw_only=True):
    """What a hook does."""

    exec: JsonObject | None = None
    http_get: JsonObject | None = None
    tcp_socket: JsonObject | None = None
    sleep: SleepAction | None = None


class Lifecycle(ApiValue, frozen=True, kw_only=True):
    """The hooks of a container."""

    pre_stop: LifecycleHandler | None = None
