"""Protects claims and volumes that are in use from deletion.

Mirrors ``pkg/controller/volume/pvcprotection`` and ``pvprotection`` (Kubernetes v1.37):
a deleted claim stays until no pod with a node uses it, finished pods included, and a
deleted volume until it is no longer bound.

Simpler than upstream: the finalizers are written when they delay a deletion, and not
when the object is created.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Final, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._kits.volumes.claims import claim_key, claim_name

__all__ = ["VolumeProtection"]

_FINALIZERS: Final[Mapping[type[ApiObject], str]] = {
    PersistentVolumeClaim: "kubernetes.io/pvc-protection",
    PersistentVolume: "kubernetes.io/pv-protection",
}

StorageT = TypeVar("StorageT", bound=PersistentVolumeClaim | PersistentVolume)


class VolumeProtection:
    """Delays the deletion of claims and volumes that are in use.

    Args:
        cluster: The cluster.
        wake: Called when `release` has something to do.
    """

    def __init__(self, cluster: ClusterAccess, wake: Callable[[], None]) -> None:
        self._cluster = cluster
        self._wake = wake
        # The pods with a node, by the key of each claim that they use.
        self._users: defaultdict[str, set[str]] = defaultdict(set)
        self._held: dict[
            tuple[type[PersistentVolumeClaim | PersistentVolume], str], None
        ]
        self._held = {}

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod with volumes that was created, changed, or removed."""
        # A pod without a node mounts nothing: the scheduler rejects it once the claim
        # is being deleted.
        if new is not None and new.node_name and (old is None or not old.node_name):
            for key in _claims_of(new):
                self._users[key].add(new.key)
        elif old is not None and (new is None or _is_shut_down(new)):
            # The kubelet has unmounted everything. Claims of ephemeral volumes must go
            # now, or they and their pod would wait for each other.
            for key in _claims_of(old, only_ephemeral=new is not None):
                self._drop_user(key, old.key)

    def _drop_user(self, claim: str, pod: str) -> None:
        users = self._users.get(claim)
        if users is None:
            return
        users.discard(pod)
        if not users:
            del self._users[claim]
            if (PersistentVolumeClaim, claim) in self._held:
                self._wake()

    def changed(self, obj: PersistentVolumeClaim | PersistentVolume) -> None:
        """Handle a claim or volume that was created or changed."""
        if obj.metadata.deletion_timestamp is not None:
            self._held[type(obj), obj.key] = None
            if not self._is_used(obj):
                self._wake()

    def removed(self, obj: PersistentVolumeClaim | PersistentVolume) -> None:
        """Handle a claim or volume that was removed."""
        self._held.pop((type(obj), obj.key), None)

    def protected(self, obj: StorageT) -> StorageT:
        """Return an object to be deleted, with the finalizer only if it is in use."""
        own = _FINALIZERS[type(obj)]
        finalizers: tuple[str, ...] = tuple(
            # Also removes the finalizer that a dump brought along, which would
            # otherwise hold the object for ever.
            name
            for name in obj.metadata.finalizers
            if name != own
        )
        if self._is_used(obj):
            finalizers = (*finalizers, own)
        return replace(obj, metadata=replace(obj.metadata, finalizers=finalizers))

    def release(self) -> bool:
        """Delete the held objects that are no longer in use; return whether any was."""
        free = [
            obj
            for kind, key in self._held
            if (obj := self._cluster.objects(kind).get(key)) is not None
            and _FINALIZERS[kind] in obj.metadata.finalizers
            and not self._is_used(obj)
        ]
        for obj in free:
            self._cluster.delete(obj)
        return bool(free)

    def _is_used(self, obj: PersistentVolumeClaim | PersistentVolume) -> bool:
        if isinstance(obj, PersistentVolume):
            # The phase decides, not the claim: a released volume is free to go.
            return obj.status.phase == "Bound"
        return obj.key in self._users


def _claims_of(pod: Pod, *, only_ephemeral: bool = False) -> list[str]:
    """Return the keys of the claims that a pod uses."""
    names = (
        claim_name(pod, volume)
        for volume in pod.spec.volumes
        if volume.ephemeral is not None or not only_ephemeral
    )
    return [claim_key(pod, name) for name in names if name is not None]


def _is_shut_down(pod: Pod) -> bool:
    """Return whether a kubelet has ended a pod, which only waits for finalizers."""
    metadata = pod.metadata
    return (
        metadata.deletion_timestamp is not None
        and metadata.deletion_grace_period_seconds == 0
    )
