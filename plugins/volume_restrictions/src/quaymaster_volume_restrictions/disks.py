"""Disks that two pods on one node must not both mount."""

from collections.abc import Hashable, Iterable, Iterator, Sequence

from quaymaster import Pod
from quaymaster.objects import Volume
from quaymaster.volumes import volumes_of

__all__ = ["conflict", "disk_keys", "exclusive_disks"]


def exclusive_disks(pod: Pod) -> Sequence[Volume]:
    """Return the volumes of a pod that cannot always be shared."""
    return [
        volume
        for volume in volumes_of(pod)
        if volume.gce_persistent_disk is not None
        or volume.aws_elastic_block_store is not None
        or volume.rbd is not None
        or volume.iscsi is not None
    ]


def disk_keys(volumes: Iterable[Volume]) -> Iterator[Hashable]:
    """Yield keys of volumes: those that pods must not share have one in common."""
    for volume in volumes:
        if volume.gce_persistent_disk is not None:
            yield "gce", volume.gce_persistent_disk.pd_name
        if volume.aws_elastic_block_store is not None:
            yield "ebs", volume.aws_elastic_block_store.volume_id
        if volume.iscsi is not None:
            yield "iscsi", volume.iscsi.iqn
        if volume.rbd is not None:
            yield "rbd", volume.rbd.pool, volume.rbd.image


def conflict(disks: Iterable[Volume], pod: Pod) -> bool:
    """Return whether a pod mounts one of the disks exclusively."""
    theirs = volumes_of(pod)
    return bool(theirs) and any(
        _clash(mine, their) for mine in disks for their in theirs
    )


def _clash(mine: Volume, their: Volume) -> bool:
    return (
        _same_gce_disk(mine, their)
        or _same_ebs_disk(mine, their)
        or _same_iscsi_disk(mine, their)
        or _same_rbd_image(mine, their)
    )


def _same_gce_disk(mine: Volume, their: Volume) -> bool:
    disk, other = mine.gce_persistent_disk, their.gce_persistent_disk
    if disk is None or other is None:
        return False
    return disk.pd_name == other.pd_name and not (disk.read_only and other.read_only)


def _same_ebs_disk(mine: Volume, their: Volume) -> bool:
    disk, other = mine.aws_elastic_block_store, their.aws_elastic_block_store
    # Without a look at readOnly, unlike the other disks (``isVolumeConflict``).
    return disk is not None and other is not None and disk.volume_id == other.volume_id


def _same_iscsi_disk(mine: Volume, their: Volume) -> bool:
    disk, other = mine.iscsi, their.iscsi
    if disk is None or other is None:
        return False
    return disk.iqn == other.iqn and not (disk.read_only and other.read_only)


def _same_rbd_image(mine: Volume, their: Volume) -> bool:
    disk, other = mine.rbd, their.rbd
    if disk is None or other is None or (disk.read_only and other.read_only):
        return False
    same_image = disk.pool == other.pool and disk.image == other.image
    return same_image and not set(disk.monitors).isdisjoint(other.monitors)
