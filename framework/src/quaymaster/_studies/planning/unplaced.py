"""Explains which kinds of pods a plan does not place, and what they lack."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from quaymaster._api.objects import Pod
from quaymaster._base.natural_order import natural_key
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._studies.planning.amounts import Amounts, requested
from quaymaster._studies.planning.plans import Lack, UnplacedKind
from quaymaster._studies.planning.pod_kinds import signature
from quaymaster._studies.simulation.owners import workload_of
from quaymaster._studies.simulation.results import UnscheduledPod

__all__ = ["unplaced_kinds"]


def unplaced_kinds(
    verdicts: Iterable[tuple[Pod, UnscheduledPod]],
    cluster: InMemoryCluster,
    offers: Sequence[Amounts],
) -> list[UnplacedKind]:
    """Group pods without a node by their workload and the reason.

    Args:
        verdicts: The pods, each with the scheduler's verdict.
        cluster: A cluster with the owners of the pods.
        offers: What the nodes offer: one entry for each shape.
    """
    by_kind: dict[tuple[Hashable, str], list[tuple[Pod, UnscheduledPod]]] = {}
    for pod, verdict in verdicts:
        # Pods without an owner are grouped if they are alike.
        has_owner = pod.metadata.controller is not None
        family = workload_of(pod, cluster) if has_owner else signature(pod)
        by_kind.setdefault((family, verdict.message), []).append((pod, verdict))
    kinds = [
        UnplacedKind(
            workload=workload_of(pods[0][0], cluster),
            pods=len(pods),
            example=pods[0][0].key,
            message=message,
            lacks=_lacks(requested(pods[0][0]), offers),
        )
        for (_, message), pods in by_kind.items()
    ]
    return sorted(kinds, key=lambda kind: (-kind.pods, natural_key(kind.workload)))


def _lacks(amounts: Amounts, offers: Sequence[Amounts]) -> Mapping[str, Lack]:
    """Return the resources of which the pod requests more than any node offers."""
    largest = {
        name: max((offer.get(name, 0) for offer in offers), default=0)
        for name in amounts
    }
    return {
        name: Lack(requested=amount, largest=largest[name])
        for name, amount in amounts.items()
        if amount > largest[name]
    }
