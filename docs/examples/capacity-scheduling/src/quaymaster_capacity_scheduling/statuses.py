"""Update the status of quotas.

Mirrors ``ElasticQuotaReconciler`` (sigs.k8s.io/scheduler-plugins v0.34.7,
``pkg/controllers/elasticquota_controller.go``), which runs in a process of its own
there.
"""

from collections.abc import Iterable

from quaymaster import Handle, Pod
from quaymaster.cluster import ApiError
from quaymaster.objects import Quantity, pod_request_list

from quaymaster_capacity_scheduling.elastic_quota import ElasticQuota

__all__ = ["Statuses", "used_of"]

_ZERO = Quantity(0)


def used_of(quota: ElasticQuota, running: Iterable[Pod]) -> dict[str, Quantity]:
    """Return the status that a quota should have.

    Args:
        quota: The quota; resources of its bounds are always listed.
        running: The running pods of its namespace.
    """
    used = dict.fromkeys((*quota.spec.min, *quota.spec.max), _ZERO)
    for pod in running:
        for name, amount in pod_request_list(pod).items():
            used[name] = used.get(name, _ZERO) + amount
    return used


class Statuses:
    """Writes the status of every quota whose status is outdated.

    Args:
        handle: The framework.
        period_seconds: The time between checks.
    """

    def __init__(self, handle: Handle, period_seconds: float) -> None:
        self._handle = handle
        self._period_seconds = period_seconds
        self._running = handle.informers.index(Pod, by=_namespace_if_running)
        self._logs = [handle.informers.changes(kind) for kind in (ElasticQuota, Pod)]
        self._revisions: list[int] = []

    def begin(self) -> None:
        """Check periodically, from the end of the first period on."""
        self._handle.clock.call_later(self._period_seconds, self._keep, background=True)

    def _keep(self) -> None:
        self.begin()
        revisions = [log.revision for log in self._logs]
        if revisions != self._revisions:
            self._revisions = revisions
            for quota in self._handle.informers.list(ElasticQuota):
                used = used_of(quota, self._running.get(quota.namespace))
                if used != quota.status.used:
                    self._write(quota, used)

    def _write(self, quota: ElasticQuota, used: dict[str, Quantity]) -> None:
        cluster = self._handle.cluster

        def write() -> ApiError | None:
            try:
                cluster.patch_status(quota, {"used": used})
            except ApiError as error:
                return error
            return None

        self._handle.run_in_background(write, self._written)

    def _written(self, error: ApiError | None) -> None:
        if error is not None:
            self._revisions = []  # check again, even without another change


def _namespace_if_running(pod: Pod) -> str | None:
    return pod.namespace if pod.status.phase == "Running" else None
