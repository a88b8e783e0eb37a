"""The volumes of CSI drivers that a pod needs attached to its node."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol, TypeVar

from quaymaster import ApiObject, Pod
from quaymaster.errors import QuaymasterError
from quaymaster.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    Volume,
)
from quaymaster.volumes import (
    TranslationError,
    claim_key,
    claim_name,
    class_of_claim,
    csi_driver_of,
    csi_handle,
    in_tree_plugin,
    is_made_for,
    is_migrated,
    volumes_of,
)

__all__ = [
    "Attachable",
    "ClaimNotFoundError",
    "Objects",
    "VolumeError",
    "listed_limits",
    "needs_attaching",
    "volume_limits",
    "volumes_to_attach",
]


ObjT = TypeVar("ObjT", bound=ApiObject)


class Objects(Protocol):
    """Looks up claims, volumes and classes."""

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """Return one object by its key, or None."""


class Attachable(NamedTuple):
    """The identity of an attached volume: a driver, and a handle.

    Attributes:
        driver: The CSI driver.
        handle: The driver's name of the volume, or the key of a claim without a
            volume.
        is_claim: Whether it is a claim without a volume.
    """

    driver: str
    handle: str
    is_claim: bool = False


class VolumeError(QuaymasterError):
    """A volume of a pod cannot be resolved."""


class ClaimNotFoundError(VolumeError):
    """A claim of a new pod does not exist."""


def needs_attaching(pod: Pod) -> bool:
    """Return whether a pod may have volumes of CSI drivers at all."""
    return any(
        volume.persistent_volume_claim is not None
        or volume.ephemeral is not None
        or in_tree_plugin(volume) is not None
        for volume in volumes_of(pod)
    )


def volume_limits(csi_node: CSINode | None) -> Mapping[str, int]:
    """Return the limits of a node by driver; other drivers have no limit."""
    return {} if csi_node is None else dict(listed_limits(csi_node))


def listed_limits(csi_node: CSINode) -> tuple[tuple[str, int], ...]:
    """Return the limits as pairs; if a driver has two, the last one counts."""
    return tuple(
        (driver.name, driver.allocatable.count)
        for driver in csi_node.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    )


def volumes_to_attach(
    objects: Objects, pod: Pod, *, has_csi_node: bool, is_new: bool
) -> set[Attachable]:
    """Return the volumes of a pod that CSI drivers attach to its node.

    Args:
        objects: The source of claims, volumes and classes.
        pod: The pod.
        has_csi_node: Whether the node has a CSINode; if not, CSI drivers do not
            handle in-tree volumes there.
        is_new: Whether the pod is being scheduled: then its claims must exist.

    Raises:
        ClaimNotFoundError: A claim of a new pod does not exist.
        VolumeError: A volume is malformed.
    """
    volumes = set()
    for volume in volumes_of(pod):
        name = claim_name(pod, volume)
        if name is None:
            attachable = _inline(volume) if has_csi_node else None
        else:
            claim = _claim_of(objects, pod, volume, name, is_new=is_new)
            attachable = None
            if claim is not None:
                attachable = _claimed(objects, claim, has_csi_node)
        if attachable is not None:
            volumes.add(attachable)
    return volumes


def _inline(volume: Volume) -> Attachable | None:
    """Return a volume that is defined in the pod itself."""
    plugin = in_tree_plugin(volume)
    if plugin is None or not is_migrated(plugin.name):
        return None
    try:
        return Attachable(plugin.driver, csi_handle(volume))
    except TranslationError as error:
        text = f"converting volume({volume.name}) from inline to csi: {error}"
        raise VolumeError(text) from error


def _claim_of(
    objects: Objects, pod: Pod, volume: Volume, name: str, *, is_new: bool
) -> PersistentVolumeClaim | None:
    if not name:
        raise VolumeError("PersistentVolumeClaim had no name")
    key = claim_key(pod, name)
    claim = objects.get(PersistentVolumeClaim, key)
    if claim is None:
        if is_new:
            raise ClaimNotFoundError(
                f'looking up PVC {key}: persistentvolumeclaim "{name}" not found'
            )
        # Only for pods that run already: their volumes are counted as far as they are
        # known, so that a deleted claim does not block a node.
        return None
    if volume.ephemeral is not None and not is_made_for(claim, pod):
        raise VolumeError(
            f"PVC {key} was not created for pod {pod.key} (pod is not owner)"
        )
    return claim


def _claimed(
    objects: Objects, claim: PersistentVolumeClaim, has_csi_node: bool
) -> Attachable | None:
    """Return the volume of a claim, or the claim itself if it has none."""
    name = claim.spec.volume_name
    volume = objects.get(PersistentVolume, name) if name else None
    if volume is None:
        return _unbound(objects, claim, has_csi_node)
    csi = volume.spec.csi
    if csi is not None:
        return _named(csi.driver, csi.volume_handle)
    plugin = in_tree_plugin(volume)
    if plugin is None or not has_csi_node or not is_migrated(plugin.name):
        return None
    try:
        return _named(plugin.driver, csi_handle(volume))
    except TranslationError:
        return None


def _unbound(
    objects: Objects, claim: PersistentVolumeClaim, has_csi_node: bool
) -> Attachable | None:
    storage_class = objects.get(StorageClass, class_of_claim(claim))
    if storage_class is None:
        return None
    provisioner = storage_class.provisioner
    driver = csi_driver_of(provisioner)
    if driver is None:
        driver = provisioner
    elif not has_csi_node or not is_migrated(provisioner):
        return None
    # The volume does not exist yet. The claim is counted in its place, so that two
    # pods that share the claim count once.
    return Attachable(driver, claim.key, is_claim=True) if driver else None


def _named(driver: str, handle: str) -> Attachable | None:
    return Attachable(driver, handle) if driver and handle else None
