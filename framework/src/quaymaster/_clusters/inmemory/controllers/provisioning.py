"""New volumes for claims, as the provisioner of their class makes them.

`make_volume` writes the source that the provisioner really uses, since plugins count
and compare volumes by source. `accessible_topology` chooses the node affinity.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from quaymaster._api.objects import (
    CSIPersistentVolumeSource,
    HostPathVolumeSource,
    LocalVolumeSource,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    VolumeNodeAffinity,
)
from quaymaster._api.objects.syntax import CSI_DRIVER_NAME
from quaymaster._clusters.inmemory.controllers.known_provisioners import (
    known_provisioner,
)
from quaymaster._clusters.inmemory.controllers.provisioner_facts import VolumeSource
from quaymaster._kits.volumes.claims import reference_to
from quaymaster._kits.volumes.csi import csi_driver_of
from quaymaster._kits.volumes.names import BOUND_BY_CONTROLLER, PROVISIONED_BY
from quaymaster._kits.volumes.pool import storage_of

__all__ = ["make_volume", "volume_name"]

_DIRECTORY: Final = "/var/lib/volumes"
_SERVER: Final = "nfs.invalid"


def make_volume(
    claim: PersistentVolumeClaim,
    storage_class: StorageClass,
    topologies: Sequence[Mapping[str, str]],
) -> PersistentVolume:
    """Make a new volume of a claim, bound to it from the volume's side.

    Args:
        claim: The claim.
        storage_class: Its class.
        topologies: The labels of the nodes that can reach the volume; empty for all.
    """
    name, spec = volume_name(claim), claim.spec
    return PersistentVolume(
        metadata=ObjectMeta(
            name=name,
            annotations={
                PROVISIONED_BY: storage_class.provisioner,
                BOUND_BY_CONTROLLER: "yes",
            },
        ),
        spec=PersistentVolumeSpec(
            capacity={"storage": storage_of(spec.resources)},
            access_modes=spec.access_modes,
            # Bound from the start: a volume that is free for a moment could be taken by
            # another claim.
            claim_ref=reference_to(claim),
            persistent_volume_reclaim_policy=storage_class.reclaim_policy or "Delete",
            storage_class_name=storage_class.name,
            volume_mode=spec.volume_mode,
            volume_attributes_class_name=spec.volume_attributes_class_name,
            node_affinity=_affinity(topologies),
            **_source(storage_class, name),
        ),
        status=PersistentVolumeStatus(phase="Bound"),
    )


def volume_name(claim: PersistentVolumeClaim) -> str:
    """Return the name of the volume that is provisioned for a claim."""
    # As external-provisioner names them. The uid makes the name the same however often
    # the claim is synced.
    return f"pvc-{claim.uid}"


def _source(storage_class: StorageClass, name: str) -> dict[str, Any]:
    """Return the field of the volume's source, and the source."""
    provisioner = storage_class.provisioner
    driver = csi_driver_of(provisioner) or provisioner
    listed = known_provisioner(driver)
    if listed is not None:
        source = listed.source
    elif CSI_DRIVER_NAME.fits(driver):
        source = VolumeSource.CSI
    else:
        # The name of no CSI driver; FlexVolume drivers have names with a slash.
        source = VolumeSource.FLEX_VOLUME
    return {source.value: _MAKERS[source](driver, name)}


_MAKERS: Final[Mapping[VolumeSource, Callable[[str, str], object]]] = {
    VolumeSource.CSI: lambda driver, name: CSIPersistentVolumeSource(
        driver=driver, volume_handle=name
    ),
    VolumeSource.FLEX_VOLUME: lambda driver, _: {"driver": driver},
    VolumeSource.HOST_PATH: lambda _, name: HostPathVolumeSource(
        path=f"{_DIRECTORY}/{name}", type="DirectoryOrCreate"
    ),
    VolumeSource.LOCAL: lambda _, name: LocalVolumeSource(path=f"{_DIRECTORY}/{name}"),
    VolumeSource.NFS: lambda _, name: {"server": _SERVER, "path": f"/{name}"},
}
"""Servers and paths are made up: the scheduler reads neither."""


def _affinity(topologies: Sequence[Mapping[str, str]]) -> VolumeNodeAffinity | None:
    """Mirror ``GenerateVolumeNodeAffinity`` of kubernetes-csi/external-provisioner."""
    terms = tuple(_term(topology) for topology in topologies if topology)
    if not terms:
        return None
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))


def _term(topology: Mapping[str, str]) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_expressions=tuple(
            NodeSelectorRequirement(key=key, operator="In", values=(value,))
            for key, value in topology.items()
        )
    )
