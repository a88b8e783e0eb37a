"""The garbage collector: deletes the dependents of removed objects.

Mirrors the default of ``pkg/controller/garbagecollector`` (dependents follow their
owner) and ``pkg/controller/podgc`` (the pods of a lost node are removed after a while),
Kubernetes v1.36.
"""

from functools import partial
from typing import Final

from quaymaster._api.objects import Node, Pod
from quaymaster._clusters.inmemory.access import ClusterAccess

__all__ = ["remove_pods_later"]

_QUARANTINE_SECONDS: Final = 40.0  # upstream's ``quarantineTime``


def remove_pods_later(cluster: ClusterAccess, node_name: str) -> None:
    """Remove the pods of a lost node later, unless the node is back by then."""
    callback = partial(_remove_pods, cluster, node_name)
    cluster.clock.call_later(_QUARANTINE_SECONDS, callback)


def _remove_pods(cluster: ClusterAccess, node_name: str) -> None:
    if node_name in cluster.objects(Node):
        return
    pods = cluster.objects(Pod).values()
    for pod in [pod for pod in pods if pod.node_name == node_name]:
        cluster.delete(pod, 0.0)
