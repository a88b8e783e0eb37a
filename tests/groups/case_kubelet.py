"""The kubelet of a recording: pods run from the end of the step that binds them."""

from typing import Final

from quaymaster import Pod
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import Time

__all__ = ["CaseKubelet"]

_START: Final = 1_893_456_000  # 2030-01-01T00:00:00Z


class CaseKubelet:
    """Starts the pods of a cluster.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self._seconds = 0

    def start_pods(self) -> None:
        """Start the bound pods that do not run yet, one second after the other."""
        pods = self._cluster.list(Pod).items
        for pod in sorted(pods, key=lambda pod: pod.name):
            if pod.node_name and pod.status.phase == "Pending":
                self._seconds += 1
                time = Time(_START + self._seconds)
                status = {"phase": "Running", "start_time": time}
                self._cluster.patch_status(pod, status)
