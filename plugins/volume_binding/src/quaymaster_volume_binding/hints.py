"""Queueing hints for pods that VolumeBinding rejected."""

from quaymaster import Pod, QueueingHint
from quaymaster.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    Quantity,
    StorageClass,
)
from quaymaster.volumes import MIGRATED_PLUGINS, claim_name, volumes_of

__all__ = [
    "after_capacity_changed",
    "after_claim_changed",
    "after_class_changed",
    "after_csi_driver_changed",
    "after_csi_node_changed",
]


def after_claim_changed(
    pod: Pod, _old: PersistentVolumeClaim | None, new: PersistentVolumeClaim
) -> QueueingHint:
    """Queue the pod if one of its own claims is new or has changed."""
    names = {claim_name(pod, volume) for volume in volumes_of(pod)}
    return _hint(new.namespace == pod.namespace and new.name in names)


def after_class_changed(
    _pod: Pod, old: StorageClass | None, new: StorageClass
) -> QueueingHint:
    """Queue the pod if a class is new, or allows other topologies."""
    if old is None:
        return QueueingHint.QUEUE
    return _hint(old.allowed_topologies != new.allowed_topologies)


def after_csi_node_changed(
    _pod: Pod, old: CSINode | None, new: CSINode
) -> QueueingHint:
    """Queue the pod if a node's list of migrated plugins has changed."""
    if old is None:
        return QueueingHint.QUEUE
    before = old.annotations.get(MIGRATED_PLUGINS, "")
    return _hint(before != new.annotations.get(MIGRATED_PLUGINS, ""))


def after_csi_driver_changed(pod: Pod, old: CSIDriver, new: CSIDriver) -> QueueingHint:
    """Queue the pod if a driver of its inline volumes no longer reports capacity."""
    drivers = {
        volume.csi.driver for volume in volumes_of(pod) if volume.csi is not None
    }
    # Without the report, capacities are no longer checked, so that a pod may fit that
    # failed.
    stopped = bool(old.spec.storage_capacity) and not new.spec.storage_capacity
    return _hint(stopped and new.name in drivers)


def after_capacity_changed(
    _pod: Pod, old: CSIStorageCapacity | None, new: CSIStorageCapacity
) -> QueueingHint:
    """Queue the pod if a storage capacity has grown."""
    if old is None:
        return QueueingHint.QUEUE
    before, after = _limit(old), _limit(new)
    if after is None:
        return QueueingHint.SKIP
    return _hint(before is None or after.value > before.value)


def _limit(capacity: CSIStorageCapacity) -> Quantity | None:
    if capacity.maximum_volume_size is not None:
        return capacity.maximum_volume_size
    return capacity.capacity


def _hint(is_helpful: bool) -> QueueingHint:
    return QueueingHint.QUEUE if is_helpful else QueueingHint.SKIP
