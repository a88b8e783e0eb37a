"""Makes the in-memory cluster of a simulation."""

from collections.abc import Sequence

from quaymaster._api.objects import ApiObject
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._clusters.inmemory.limits import MAX_PODS
from quaymaster._clusters.inmemory.pod_times import INSTANT_POD_TIMES, PodTimes
from quaymaster._core.contract.clock import VirtualClock

__all__ = ["filled_cluster"]


def filled_cluster(
    objects: Sequence[ApiObject],
    seed: int,
    max_pods: int = MAX_PODS,
    *,
    kubernetes: Kubernetes,
    as_it_is: bool = False,
    times: PodTimes = INSTANT_POD_TIMES,
) -> InMemoryCluster:
    """Make an in-memory cluster in virtual time, with these objects.

    Args:
        objects: The objects.
        seed: As for `InMemoryCluster`.
        max_pods: As for `InMemoryCluster`.
        kubernetes: As for `InMemoryCluster`.
        as_it_is: As for `InMemoryCluster.load`.
        times: As for `InMemoryCluster`.

    Raises:
        AdmissionError: Some objects break rules.
    """
    cluster = InMemoryCluster(
        VirtualClock(),
        seed=seed,
        max_pods=max_pods,
        kubernetes=kubernetes,
        times=times,
    )
    cluster.load(objects, as_it_is=as_it_is)
    return cluster
