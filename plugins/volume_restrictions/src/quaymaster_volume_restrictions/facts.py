"""Explain which disk or claim is in use, and by which pods."""

from collections.abc import Iterable, Iterator, Sequence

from quaymaster import NodeInfo, Pod
from quaymaster.objects import Volume
from quaymaster_volume_restrictions.disks import conflict

__all__ = ["explain_claims", "explain_disks"]


def explain_disks(disks: Iterable[Volume], node: NodeInfo) -> Sequence[str]:
    """Return the disks that pods on a node mount, and these pods.

    Args:
        disks: The pod's volumes that cannot always be shared.
        node: The node.
    """
    conflicts = [
        (disk, pod)
        for disk in disks
        for pod in node.pods.values()
        if conflict([disk], pod)
    ]
    if not conflicts:
        return ()
    names = ", ".join(dict.fromkeys(_disk_text(disk) for disk, _ in conflicts))
    users = ", ".join(dict.fromkeys(pod.key for _, pod in conflicts))
    return [
        f"wants {names}, which pods on one node cannot share",
        f"in use by pod {users}",
    ]


def explain_claims(
    keys: Iterable[str], node: NodeInfo, users: Iterable[tuple[str, Pod]]
) -> Sequence[str]:
    """Return the claims for one pod that others use, and these pods.

    Args:
        keys: The keys of the pod's ReadWriteOncePod claims.
        node: The node, perhaps with imagined pods.
        users: Claims of pods on all nodes, with the pods.
    """
    order = dict.fromkeys(keys)
    used = {
        (key, f"{pod.key} on {pod.node_name or node.name}"): None
        for key, pod in users
        if key in order
    }
    if not used:
        return ()
    claims = ", ".join(dict.fromkeys(key for key, _ in used))
    pods = ", ".join(dict.fromkeys(pod for _, pod in used))
    return [
        f"claim {claims} (ReadWriteOncePod) is for one pod only; in use by pod {pods}"
    ]


def _disk_text(volume: Volume) -> str:
    texts = [*_disk_texts(volume)]
    return f"volume {volume.name} ({', '.join(texts)})"


def _disk_texts(volume: Volume) -> Iterator[str]:
    if volume.gce_persistent_disk is not None:
        yield f"GCE disk {volume.gce_persistent_disk.pd_name}"
    if volume.aws_elastic_block_store is not None:
        yield f"EBS volume {volume.aws_elastic_block_store.volume_id}"
    if volume.iscsi is not None:
        yield f"iSCSI {volume.iscsi.iqn}"
    if volume.rbd is not None:
        yield f"RBD image {volume.rbd.pool}/{volume.rbd.image}"
