"""What goes when something else has gone.

Mirrors the default of ``pkg/controller/garbagecollector`` (dependents follow their
owner) and ``pkg/controller/podgc`` (the pods of a lost node are removed after a while),
Kubernetes v1.36.
"""

from functools import partial
from typing import Final

from quaymaster._inmemory.workbench import Workbench
from quaymaster._objects import Node, Pod

__all__ = ["remove_pods_later"]

_QUARANTINE_SECONDS: Final = 40.0


def remove_pods_later(bench: Workbench, node_name: str) -> None:
    """Remove what is bound to a lost node, unless the node is back by then."""
    callback = partial(_remove_pods, bench, node_name)
    bench.clock.call_later(_QUARANTINE_SECONDS, callback)


def _remove_pods(bench: Workbench, node_name: str) -> None:
    if node_name in bench.objects(Node):
        return
    pods = bench.objects(Pod).values()
    for pod in [pod for pod in pods if pod.node_name == node_name]:
        bench.delete(pod, 0.0)
