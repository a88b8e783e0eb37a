"""Queueing hints for pods that exceeded a volume limit."""

from collections.abc import Mapping, Sequence

from quaymaster import Pod, QueueingHint
from quaymaster.objects import CSINode, PersistentVolumeClaim, Volume, VolumeAttachment
from quaymaster.volumes import (
    TranslationError,
    claim_key,
    claim_name,
    csi_handle,
    in_tree_plugin,
    volumes_of,
)
from quaymaster_node_volume_limits.attachable import needs_attaching

__all__ = [
    "after_attachment_deleted",
    "after_claim_added",
    "after_csi_node_updated",
    "after_pod_deleted",
    "claim_keys",
    "keys_of_added_claim",
]


def after_pod_deleted(_pod: Pod, old: Pod, _new: None) -> QueueingHint:
    """Queue the pod if the deleted pod had volumes, and a node or a nomination."""
    had_place = bool(old.node_name or old.status.nominated_node_name)
    return _hint(had_place and needs_attaching(old))


def after_claim_added(pod: Pod, _old: None, new: PersistentVolumeClaim) -> QueueingHint:
    """Queue the pod if the claim is one of its own."""
    names = {claim_name(pod, volume) for volume in volumes_of(pod)}
    return _hint(new.namespace == pod.namespace and new.name in names)


def claim_keys(pod: Pod) -> Sequence[str]:
    """Return the claims of a waiting pod, the index keys of `after_claim_added`."""
    names = (claim_name(pod, volume) for volume in volumes_of(pod))
    return [claim_key(pod, name) for name in names if name is not None]


def keys_of_added_claim(_old: None, new: PersistentVolumeClaim) -> Sequence[str]:
    """Return the key of an added claim."""
    return (new.key,)


def after_attachment_deleted(
    pod: Pod, old: VolumeAttachment, _new: None
) -> QueueingHint:
    """Queue the pod if the detached volume may be of a driver that it needs.

    As in upstream, a pod with any claim is retried, and so is a pod whose own volume
    cannot be translated; claims of ephemeral volumes are ignored.
    """
    for volume in volumes_of(pod):
        if volume.persistent_volume_claim is not None:
            return QueueingHint.QUEUE
        # Which driver a claim needs is not looked up here, as upstream.
        plugin = in_tree_plugin(volume)
        if plugin is not None and (
            plugin.driver == old.spec.attacher or _is_untranslatable(volume)
        ):
            return QueueingHint.QUEUE
    return QueueingHint.SKIP


def after_csi_node_updated(_pod: Pod, old: CSINode, new: CSINode) -> QueueingHint:
    """Queue the pod if a limit was raised; as in upstream, no limit counts as 0."""
    before = _counts(old)
    raised = any(count > before.get(name, 0) for name, count in _counts(new).items())
    return _hint(raised)


def _is_untranslatable(volume: Volume) -> bool:
    plugin = in_tree_plugin(volume)
    if plugin is None or plugin.handle is None:
        return False
    try:
        csi_handle(volume)
    except TranslationError:
        return True
    return False


def _counts(csi_node: CSINode) -> Mapping[str, int]:
    return {
        driver.name: 0 if driver.allocatable is None else driver.allocatable.count or 0
        for driver in csi_node.spec.drivers
    }


def _hint(is_helpful: bool) -> QueueingHint:
    return QueueingHint.QUEUE if is_helpful else QueueingHint.SKIP
