"""Keeps deleted PodGroups for as long as pods use them.

Mirrors ``pkg/controller/scheduling/podgroupprotection`` (Kubernetes v1.37): pods that
have ended do not use their group, and pods without a node do.
"""

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from quaymaster._api.objects import Pod, PodGroup
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.admission.groups import PROTECTION

__all__ = ["GroupProtection", "is_held", "users_of", "without_protection"]


class GroupProtection:
    """Delays the end of deleted groups that are in use.

    Args:
        cluster: The cluster.
        wake: Called when `release` has something to do.

    Attributes:
        users: The uids of the pods that use each deleted group, by its key.
    """

    def __init__(self, cluster: ClusterAccess, wake: Callable[[], None]) -> None:
        self._cluster = cluster
        self._wake = wake
        self.users: dict[str, set[str]] = {}

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod that was created, changed or removed while groups are held."""
        pod = old if new is None else new
        users = None if pod is None else self.users.get(pod.group_key)
        if users is None or pod is None:
            return
        if new is None or new.is_finished:
            users.discard(pod.uid)
        else:
            users.add(pod.uid)
        if not users:
            self._wake()

    def group_changed(self, old: PodGroup | None, new: PodGroup | None) -> None:
        """Handle a group that was created, changed or removed."""
        if new is None:
            if old is not None:
                self.users.pop(old.key, None)
        elif is_held(new) and new.key not in self.users:
            # Counted once, when the group is deleted; `pod_changed` keeps the count
            # from then on.
            pods = self._cluster.objects(Pod).values()
            users = self.users[new.key] = users_of(new, pods)
            if not users:
                self._wake()

    def release(self) -> bool:
        """Let the groups go that are no longer in use; return whether any went."""
        free = [key for key, users in self.users.items() if not users]
        groups = self._cluster.objects(PodGroup)
        for key in free:
            del self.users[key]
            group = groups.get(key)
            if group is not None:
                changed = self._cluster.change(group, without_protection(group))
                # Another finalizer may still hold the group.
                if not changed.metadata.finalizers:
                    self._cluster.delete(changed)
        return bool(free)


def is_held(group: PodGroup) -> bool:
    """Return whether a group was deleted and is kept only by its finalizers."""
    metadata = group.metadata
    return metadata.deletion_timestamp is not None and PROTECTION in metadata.finalizers


def users_of(group: PodGroup, pods: Iterable[Pod]) -> set[str]:
    """Return the uids of the pods that use a group."""
    key = group.key
    return {pod.uid for pod in pods if pod.group_key == key and not pod.is_finished}


def without_protection(group: PodGroup) -> PodGroup:
    """Return a group without its protection."""
    metadata = group.metadata
    finalizers = tuple(f for f in metadata.finalizers if f != PROTECTION)
    return replace(group, metadata=replace(metadata, finalizers=finalizers))
