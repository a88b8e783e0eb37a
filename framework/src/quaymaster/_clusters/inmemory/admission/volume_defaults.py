"""Defaults of volumes and claims, and which volumes are kept.

Mirrors ``SetDefaults_Volume``, ``SetDefaults_PersistentVolume`` and their like in
``pkg/apis/core/v1/defaults.go``, and the defaults in ``core/v1/types.go`` (Kubernetes
v1.36).
"""

from typing import Final, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    AzureDiskVolumeSource,
    EphemeralVolumeSource,
    ImageVolumeSource,
    ISCSIVolumeSource,
    PersistentVolumeClaimSpec,
    PersistentVolumeSpec,
    PodSpec,
    RBDVolumeSource,
    Volume,
    VolumeResourceRequirements,
)
from quaymaster._api.objects.volumes import LOCAL_SOURCES, UNREAD_SOURCES
from quaymaster._clusters.inmemory.admission.pull_policies import default_pull_policy
from quaymaster._clusters.inmemory.admission.rounding import round_amounts

__all__ = [
    "default_claim_spec",
    "default_volume",
    "default_volume_spec",
    "without_unread_volumes",
]

_SOURCES: Final = tuple(name for name in Volume.__struct_fields__ if name != "name")
# No plugin reads local volumes, but autoscalers do not move pods that have some.
_READ: Final = (
    *LOCAL_SOURCES,
    *(name for name in _SOURCES if name not in UNREAD_SOURCES),
)
_FILESYSTEM: Final = "Filesystem"

DisksT = TypeVar("DisksT", Volume, PersistentVolumeSpec)


def default_volume(volume: Volume) -> Volume:
    """Return a volume of a pod; one without a source is an empty directory."""
    if all(getattr(volume, name) is None for name in _SOURCES):
        # A choice of the first API versions that cannot be changed any longer
        # (``SetDefaults_Volume``).
        return replace(volume, empty_dir={})
    volume = _default_disks(volume)
    if volume.ephemeral is not None:
        volume = replace(volume, ephemeral=_ephemeral(volume.ephemeral))
    if volume.image is not None:
        volume = replace(volume, image=_image(volume.image))
    return volume


def default_volume_spec(spec: PersistentVolumeSpec) -> PersistentVolumeSpec:
    """Return the spec of a persistent volume."""
    spec = _default_disks(spec)
    host_path = spec.host_path
    if host_path is not None and host_path.type is None:
        # An empty type means that nothing is checked before mounting.
        spec = replace(spec, host_path=replace(host_path, type=""))
    return replace(
        spec,
        capacity=round_amounts(spec.capacity),
        persistent_volume_reclaim_policy=(
            spec.persistent_volume_reclaim_policy or "Retain"
        ),
        volume_mode=_FILESYSTEM if spec.volume_mode is None else spec.volume_mode,
    )


def default_claim_spec(spec: PersistentVolumeClaimSpec) -> PersistentVolumeClaimSpec:
    """Return the spec of a claim with its defaults, except its class."""
    resources = VolumeResourceRequirements(
        requests=round_amounts(spec.resources.requests),
        limits=round_amounts(spec.resources.limits),
    )
    mode = _FILESYSTEM if spec.volume_mode is None else spec.volume_mode
    return replace(spec, resources=resources, volume_mode=mode)


def without_unread_volumes(spec: PodSpec) -> PodSpec:
    """Return the pod spec without the volumes that nothing here reads."""
    # Secrets and tokens are in most pods, and nothing here reads them. Without them,
    # specs are smaller, and more of them are equal.
    read = tuple(
        volume
        for volume in spec.volumes
        if any(getattr(volume, name) is not None for name in _READ)
    )
    if len(read) == len(spec.volumes):
        return spec
    return replace(spec, volumes=read)


def _default_disks(holder: DisksT) -> DisksT:
    """Fill in the sources that volumes of pods and persistent volumes both may have."""
    if holder.azure_disk is not None:
        holder = replace(holder, azure_disk=_azure_disk(holder.azure_disk))
    if holder.iscsi is not None:
        holder = replace(holder, iscsi=_iscsi(holder.iscsi))
    if holder.rbd is not None:
        holder = replace(holder, rbd=_rbd(holder.rbd))
    return holder


def _azure_disk(disk: AzureDiskVolumeSource) -> AzureDiskVolumeSource:
    return replace(
        disk,
        caching_mode="ReadWrite" if disk.caching_mode is None else disk.caching_mode,
        fs_type="ext4" if disk.fs_type is None else disk.fs_type,
        read_only=bool(disk.read_only),
        kind="Shared" if disk.kind is None else disk.kind,
    )


def _iscsi(disk: ISCSIVolumeSource) -> ISCSIVolumeSource:
    return replace(disk, iscsi_interface=disk.iscsi_interface or "default")


def _rbd(disk: RBDVolumeSource) -> RBDVolumeSource:
    return replace(disk, pool=disk.pool or "rbd", user=disk.user or "admin")


def _ephemeral(source: EphemeralVolumeSource) -> EphemeralVolumeSource:
    template = source.volume_claim_template
    if template is None:
        return source
    template = replace(template, spec=default_claim_spec(template.spec))
    return replace(source, volume_claim_template=template)


def _image(source: ImageVolumeSource) -> ImageVolumeSource:
    if source.pull_policy:
        return source
    return replace(source, pull_policy=default_pull_policy(source.reference))
