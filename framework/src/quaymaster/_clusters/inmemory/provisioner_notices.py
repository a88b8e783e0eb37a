"""Notices about provisioners whose volumes have an assumed node affinity."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from quaymaster._api.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from quaymaster._base.errors import counted, listed
from quaymaster._base.notices import Notice, NoticeReason
from quaymaster._clusters.inmemory.admission.classes import IMPLIED_STORAGE_CLASS
from quaymaster._clusters.inmemory.controllers.accessible_topology import is_assumed
from quaymaster._clusters.inmemory.core import ClusterCore
from quaymaster._kits.volumes.claims import class_of_claim, is_fully_bound
from quaymaster._kits.volumes.names import NO_PROVISIONER

__all__ = ["notices_of_provisioners"]

_STATED = ("", NO_PROVISIONER, IMPLIED_STORAGE_CLASS.provisioner)
"""No provisioner, or the implied one, which has its own notice."""


def notices_of_provisioners(core: ClusterCore) -> Iterator[Notice]:
    """Yield one notice for each unknown provisioner whose volumes the input lacks."""
    claims = _claims_by_class(core, _assumed_classes(core))
    by_provisioner: defaultdict[str, list[str]] = defaultdict(list)
    for storage_class, keys in claims.values():
        by_provisioner[storage_class.provisioner] += keys
    for provisioner, keys in by_provisioner.items():
        yield Notice(
            reason=NoticeReason.ASSUMED_PROVISIONER,
            message=f"provisioner {provisioner} is not in the list of common ones; the "
            f"volumes of {counted(len(keys), 'claim')} are assumed to be reachable "
            "from the zone of the selected node, or from everywhere if the class "
            "binds at once. allowedTopologies of the class or a CSINode with the "
            f"driver states it: {listed(keys)}",
        )


def _assumed_classes(core: ClusterCore) -> Mapping[str, StorageClass]:
    csi_nodes = core.objects(CSINode).values()
    return {
        storage_class.name: storage_class
        for storage_class in core.objects(StorageClass).values()
        if storage_class.provisioner not in _STATED
        and is_assumed(storage_class, csi_nodes)
    }


def _claims_by_class(
    core: ClusterCore, classes: Mapping[str, StorageClass]
) -> Mapping[str, tuple[StorageClass, Sequence[str]]]:
    """Return the claims of some classes whose volume is, or would be, made here."""
    if not classes:
        return {}
    volumes = core.objects(PersistentVolume)
    claims: dict[str, tuple[StorageClass, list[str]]] = {}
    for claim in core.objects(PersistentVolumeClaim).values():
        storage_class = classes.get(class_of_claim(claim))
        if storage_class is None or not _is_provisioned_here(core, claim, volumes):
            continue
        claims.setdefault(storage_class.name, (storage_class, []))[1].append(claim.key)
    return claims


def _is_provisioned_here(
    core: ClusterCore,
    claim: PersistentVolumeClaim,
    volumes: Mapping[str, PersistentVolume],
) -> bool:
    volume = volumes.get(claim.spec.volume_name)
    if volume is None:
        return not is_fully_bound(claim)
    # Volumes of the input state their own affinity, so nothing is assumed for them.
    return core.names.has_made(volume.uid)
