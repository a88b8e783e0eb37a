"""Deletions that a change makes, without waiting for controllers that are not there."""

from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, Node
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError

__all__ = ["delete_object"]

_SIMULATED: Final = frozenset(
    [
        "batch.kubernetes.io/job-tracking",
        "kubernetes.io/pv-protection",
        "kubernetes.io/pvc-protection",
        "resource.kubernetes.io/delete-protection",
    ]
)
"""The finalizers that controllers of the in-memory cluster remove."""


def delete_object(cluster: InMemoryCluster, obj: ApiObject) -> None:
    """Delete an object if it exists, as if foreign controllers had let it go.

    Nodes of k3s and of Karpenter have a finalizer, for example. In a cluster their
    controllers remove it; here nothing would, and the object would stay for ever.
    """
    kind, key = type(obj), obj.key
    with suppress(NotFoundError):
        stored = cluster.get(kind, key)
        metadata = stored.metadata
        kept = () if isinstance(obj, Node) else _SIMULATED
        finalizers = tuple(name for name in metadata.finalizers if name in kept)
        if finalizers != metadata.finalizers:
            metadata = replace(metadata, finalizers=finalizers)
            cluster.update(replace(stored, metadata=metadata))
        cluster.delete(kind, key)
