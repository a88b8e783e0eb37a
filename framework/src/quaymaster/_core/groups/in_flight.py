"""The nominations of the pods of a group during its cycle.

Mirrors ``nominatedPodToInfo`` (Kubernetes v1.37,
``pkg/scheduler/backend/queue/scheduling_queue.go``). Upstream's nominator has only
references: it looks nominated pods up in the queue. The pods of a group that was popped
are not there, so each counts as a pod of priority 0 without labels and requests.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from quaymaster._api.objects import ObjectMeta, Pod, PodSpec
from quaymaster._core.queue.nominator import Nominator

__all__ = ["nominations_in_flight", "reference_to"]


def reference_to(pod: Pod) -> Pod:
    """Return the pod that upstream takes for a nominated pod that is not queued."""
    meta = pod.metadata
    named = ObjectMeta(name=meta.name, namespace=meta.namespace, uid=meta.uid)
    return Pod(metadata=named, spec=PodSpec(scheduling_group=pod.spec.scheduling_group))


@contextmanager
def nominations_in_flight(nominator: Nominator, pods: Sequence[Pod]) -> Iterator[None]:
    """Let the nominations of popped pods count as references until the block ends."""
    if nominator.is_empty:
        yield
        return
    for pod in pods:
        nominator.substitute(reference_to(pod))
    try:
        yield
    finally:
        for pod in pods:
            nominator.substitute(pod)
