"""Attaches volumes to nodes, and keeps pods waiting for volumes that are not ready.

Mirrors ``attachDesiredVolumes`` (Kubernetes v1.37,
``pkg/controller/volume/attachdetach/reconciler/reconciler.go``): a volume that allows
one node only is attached to the next node when all pods that use it on the first one
are gone. It also mirrors the kubelet, which starts no pod whose claim is not bound.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

import msgspec

from quaymaster._api.objects import (
    CSIDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
)
from quaymaster._clusters.inmemory.controllers.known_provisioners import (
    known_provisioner,
)
from quaymaster._kits.volumes.claims import (
    claim_key,
    claim_name,
    is_fully_bound,
    volumes_of,
)
from quaymaster._kits.volumes.csi import in_tree_plugin

__all__ = ["Attachments", "VolumeUser", "WaitingPod"]

_SHARED: Final = frozenset({"ReadWriteMany", "ReadOnlyMany"})
_ATTACHED_IN_TREE: Final = ("fc", "iscsi")


class VolumeUser(msgspec.Struct, frozen=True):
    """A pod with a node that uses a claim.

    Attributes:
        pod: The key of the pod.
        node: The name of its node.
    """

    pod: str
    node: str


class WaitingPod(msgspec.Struct, frozen=True):
    """A pod that does not start, since a claim of it has no volume on its node.

    Attributes:
        user: The pod.
        claim: The key of the claim.
        holder: The pod on another node that has the volume attached; None if the claim
            is not bound.
    """

    user: VolumeUser
    claim: str
    holder: VolumeUser | None


class Attachments:
    """Keeps which pods use which claims, and which of them wait.

    Args:
        objects: Returns the stored objects of a kind by key.
    """

    def __init__(self, objects: Callable[[type[Any]], Mapping[str, Any]]) -> None:
        self._objects = objects
        self._users: dict[str, dict[str, VolumeUser]] = {}
        self._waiting: dict[str, VolumeUser] = {}

    def add(self, pod: Pod, node_name: str, *, may_wait: bool = True) -> bool:
        """Add a pod that gets a node, and return whether it has to wait.

        Args:
            pod: The pod.
            node_name: The name of its node.
            may_wait: Whether the pod has not started yet.
        """
        uid = pod.metadata.uid
        user = VolumeUser(pod.key, node_name)
        claims = _claims_of(pod)
        # Before the pod becomes a user itself: a pod does not wait for its own volume.
        is_waiting = may_wait and any(self._why(claim, user) for claim in claims)
        for claim in claims:
            self._users.setdefault(claim, {})[uid] = user
        if is_waiting:
            self._waiting[uid] = user
        return is_waiting

    def remove(self, pod: Pod) -> list[str]:
        """Remove a pod that has ended, and return the keys of pods that may start."""
        uid, claims = pod.metadata.uid, _claims_of(pod)
        self._waiting.pop(uid, None)
        for claim in claims:
            users = self._users.get(claim, {})
            users.pop(uid, None)
            if not users:
                self._users.pop(claim, None)
        # Only now: the loop above has removed this pod from all of its claims.
        return [key for claim in claims for key in self.claim_changed(claim)]

    def claim_changed(self, claim: str) -> list[str]:
        """Return the keys of pods that wait for a claim no longer, and may start."""
        keys = []
        for uid, user in self._users.get(claim, {}).items():
            if uid in self._waiting and not any(self._reasons(uid, user)):
                del self._waiting[uid]
                keys.append(user.pod)
        return keys

    def is_waiting(self, uid: str) -> bool:
        """Return whether a pod waits for a volume."""
        return uid in self._waiting

    def waiting(self) -> Iterator[WaitingPod]:
        """Yield the pods that wait, each with the first claim that it waits for.

        Loaded pods that run although their claim is not bound are among them.
        """
        for uid, user in self._waiting.items():
            yield from islice(self._reasons(uid, user), 1)
        claims = self._objects(PersistentVolumeClaim)
        for key, users in self._users.items():
            claim = claims.get(key)
            if claim is None or is_fully_bound(claim):
                continue
            for uid, user in users.items():
                if uid not in self._waiting:
                    yield WaitingPod(user, key, None)

    def _reasons(self, uid: str, user: VolumeUser) -> Iterator[WaitingPod]:
        pod = self._objects(Pod).get(user.pod)
        if pod is None or pod.metadata.uid != uid:
            return
        for claim in _claims_of(pod):
            reason = self._why(claim, user)
            if reason is not None:
                yield reason

    def _why(self, key: str, user: VolumeUser) -> WaitingPod | None:
        """Return why a claim keeps a pod from starting on its node, or None."""
        claim = self._objects(PersistentVolumeClaim).get(key)
        if claim is None:
            return None
        if not is_fully_bound(claim):
            return WaitingPod(user, key, None)
        holder = self._holder(key, user)
        if holder is None:
            return None
        volume = self._objects(PersistentVolume).get(claim.spec.volume_name)
        if volume is None or not self._is_for_one_node(volume):
            return None
        return WaitingPod(user, key, holder)

    def _holder(self, claim: str, user: VolumeUser) -> VolumeUser | None:
        """Return the pod on another node that has the volume attached, or None."""
        for uid, other in self._users.get(claim, {}).items():
            # A pod that waits has not attached the volume itself.
            if other.node != user.node and uid not in self._waiting:
                return other
        return None

    def _is_for_one_node(self, volume: PersistentVolume) -> bool:
        """Return whether a volume has to be attached, and allows one node only.

        Mirrors ``IsMultiAttachAllowed`` (Kubernetes v1.37,
        ``pkg/volume/util/util.go``).
        """
        modes = volume.spec.access_modes
        if not modes or not _SHARED.isdisjoint(modes):
            return False
        driver = _driver_of(volume)
        if driver:
            return self._is_attached(driver)
        # Without a driver, only these plugins of the tree attach disks; all others
        # mount them.
        return any(getattr(volume.spec, field) for field in _ATTACHED_IN_TREE)

    def _is_attached(self, driver_name: str) -> bool:
        """Return whether volumes of a CSI driver are attached before they are mounted.

        As in ``canAttach`` (``pkg/volume/csi/csi_plugin.go``), drivers without a
        CSIDriver attach. Inputs often lack the CSIDriver of a common driver; the
        list of provisioners then decides.
        """
        driver = self._objects(CSIDriver).get(driver_name)
        if driver is not None:
            return driver.spec.attach_required is not False
        provisioner = known_provisioner(driver_name)
        return provisioner is None or provisioner.is_attached


def _driver_of(volume: PersistentVolume) -> str:
    """Return a volume's CSI driver, also of a migrated in-tree plugin, or empty."""
    if volume.spec.csi is not None:
        return volume.spec.csi.driver
    plugin = in_tree_plugin(volume)
    return plugin.driver if plugin is not None and plugin.handle is not None else ""


def _claims_of(pod: Pod) -> list[str]:
    names = (claim_name(pod, volume) for volume in volumes_of(pod))
    # A pod may mount one claim twice.
    return [claim_key(pod, name) for name in dict.fromkeys(names) if name is not None]
