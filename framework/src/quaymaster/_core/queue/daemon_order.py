"""Sort keys that put the pods of DaemonSets before all other pods.

No kube-scheduler does so. Plans assume it, as autoscalers do: cluster-autoscaler and
Karpenter reserve room for these pods on every new node.
"""

from quaymaster._core.contract.queueing import QueuedPodInfo, SortKey
from quaymaster._core.contract.status import Status
from quaymaster._core.queue.profile import SortKeyOf

__all__ = ["daemons_first"]


def daemons_first(sort_key: SortKeyOf) -> SortKeyOf:
    """Return a sort key that orders pods of DaemonSets before the others.

    Args:
        sort_key: A profile's ``queue_sort``: the order among each of the two.
    """

    def key_of(queued: QueuedPodInfo) -> SortKey:
        key = sort_key(queued)
        if isinstance(key, Status):
            return key
        parts = key if isinstance(key, tuple) else (key,)
        # False sorts before True.
        return not _is_of_daemon_set(queued), *parts

    return key_of


def _is_of_daemon_set(queued: QueuedPodInfo) -> bool:
    controller = queued.pod.metadata.controller
    return controller is not None and controller.kind == "DaemonSet"
