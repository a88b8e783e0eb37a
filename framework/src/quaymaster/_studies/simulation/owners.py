"""Finds the owners of a pod: its controller, the controller's own, and so on."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from quaymaster._api.objects import KINDS, ApiObject, Pod
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError

__all__ = ["Owner", "owners_of", "top_owners", "workload_name", "workload_of"]

_DEEPEST: Final = 8
"""At most this many owners of owners: in a dump they may form a circle."""


class Owner(NamedTuple):
    """An owner that may be missing in the cluster."""

    api_version: str
    kind: str
    name: str


def owners_of(pod: Pod, cluster: InMemoryCluster) -> Iterable[Owner]:
    """Return the pod's controller, the controller's own controller, and so on."""
    obj: ApiObject = pod
    for _ in range(_DEEPEST):
        controller = obj.metadata.controller
        if controller is None:
            return
        owner = Owner(controller.api_version, controller.kind, controller.name)
        yield owner
        above = _stored(cluster, owner.kind, pod.namespace, owner.name)
        if above is None:
            yield from _guessed_above(owner)
            return
        obj = above


def workload_of(pod: Pod, cluster: InMemoryCluster) -> str:
    """Name the topmost owner of a pod, as ``deployment.apps/NAMESPACE/NAME``.

    Returns:
        The topmost owner; ``pod/NAMESPACE/NAME`` for a pod without one.
    """
    return workload_name(pod, list(owners_of(pod, cluster)))


def workload_name(pod: Pod, owners: Sequence[Owner]) -> str:
    """Name the topmost of a pod's owners as `workload_of` does."""
    if not owners:
        return f"pod/{pod.key}"
    owner = owners[-1]
    group, _, _ = owner.api_version.rpartition("/")
    kind = owner.kind.lower() + (f".{group}" if group else "")
    return f"{kind}/{pod.namespace}/{owner.name}"


def top_owners(pods: Iterable[Pod], cluster: InMemoryCluster) -> dict[str, str]:
    """Return pod -> its topmost owner, such as ``Deployment/web``; few look-ups.

    Pods without an owner are missing.
    """
    tops: dict[tuple[str, str, str], str] = {}
    owners: dict[str, str] = {}
    for pod in pods:
        controller = pod.metadata.controller
        if controller is None:
            continue
        key = (pod.namespace, controller.kind, controller.name)
        if key not in tops:
            *_, top = owners_of(pod, cluster)
            tops[key] = f"{top.kind}/{top.name}"
        owners[pod.key] = tops[key]
    return owners


def _stored(
    cluster: InMemoryCluster, kind: str, namespace: str, name: str
) -> ApiObject | None:
    cls = KINDS.get(kind)
    if cls is None:
        return None
    try:
        return cluster.get(cls, f"{namespace}/{name}")
    except NotFoundError:
        return None


def _guessed_above(owner: Owner) -> Iterable[Owner]:
    """Guess the owner of a missing owner by the missing owner's name."""
    above: Mapping[str, tuple[str, str]] = {
        "ReplicaSet": ("apps/v1", "Deployment"),
        "Job": ("batch/v1", "CronJob"),
    }
    if owner.kind in above and "-" in owner.name:
        api_version, kind = above[owner.kind]
        yield Owner(api_version, kind, owner.name.rpartition("-")[0])
