"""The order in which pods are placed.

Mirrors ``queue.go`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/provisioning/scheduling``).
"""

from collections import deque
from collections.abc import Callable, Sequence

from quaymaster._api.objects import Pod
from quaymaster._api.objects.resource_names import CPU, MEMORY
from quaymaster._studies.autoscaling.karpenter.amounts import Amounts

__all__ = ["PodQueue", "order_of"]


def order_of(pod: Pod, requests: Amounts) -> tuple[int, int, float, str]:
    """Return when a pod is placed: pods are placed in the order of these.

    Args:
        pod: The pod.
        requests: What it requests.
    """
    created = pod.metadata.creation_timestamp
    return (
        -requests.get(CPU, 0),
        -requests.get(MEMORY, 0),
        float("-inf") if created is None else created,
        pod.uid,
    )


class PodQueue:
    """Pods by size, the largest first. Pods that fail come again at the end.

    Args:
        pods: The pods.
        requests: Returns the requests of a pod.
    """

    def __init__(self, pods: Sequence[Pod], requests: Callable[[Pod], Amounts]) -> None:
        self._pods = deque(sorted(pods, key=lambda pod: order_of(pod, requests(pod))))
        self._length_before: dict[str, int] = {}

    def pop(self) -> Pod | None:
        """Return the next pod; None if all are placed, or no other one can be."""
        if not self._pods:
            return None
        # The pod was in front before, with as many pods behind it: a whole round has
        # placed none. More than one round can be useful, as a pod may follow another by
        # affinity.
        if self._length_before.get(self._pods[0].uid) == len(self._pods):
            return None
        return self._pods.popleft()

    def push(self, pod: Pod) -> None:
        """Add a pod that failed."""
        self._pods.append(pod)
        self._length_before[pod.uid] = len(self._pods)
