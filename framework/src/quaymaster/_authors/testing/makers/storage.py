"""Makers of volumes, claims, and objects of CSI drivers."""

from collections.abc import Iterable, Mapping

from quaymaster._api.objects import (
    ApiObject,
    CSIDriver,
    CSIDriverSpec,
    CSINode,
    CSINodeDriver,
    CSINodeSpec,
    CSIPersistentVolumeSource,
    CSIStorageCapacity,
    LabelSelector,
    NodeSelector,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    TopologySelectorLabelRequirement,
    TopologySelectorTerm,
    VolumeAttachment,
    VolumeAttachmentSource,
    VolumeAttachmentSpec,
    VolumeAttachmentStatus,
    VolumeNodeAffinity,
    VolumeNodeResources,
    VolumeResourceRequirements,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._authors.testing.makers.metadata import make_metadata
from quaymaster._authors.testing.shorthand import node_selector_term, to_label_selector

__all__ = [
    "make_csi_driver",
    "make_csi_node",
    "make_csi_storage_capacity",
    "make_persistent_volume",
    "make_persistent_volume_claim",
    "make_storage_class",
    "make_volume_attachment",
]


def make_storage_class(
    *,
    name: str = "standard",
    provisioner: str = "csi.example.com",
    volume_binding_mode: str = "WaitForFirstConsumer",
    allowed_topologies: Iterable[Mapping[str, Iterable[str]]] = (),
) -> StorageClass:
    """Make a storage class; with ``kubernetes.io/no-provisioner``, a static one.

    Args:
        name: Its name.
        provisioner: The provisioner of its volumes.
        volume_binding_mode: ``Immediate`` or ``WaitForFirstConsumer``.
        allowed_topologies: The possible places of volumes: alternatives of label ->
        values.
    """
    return StorageClass(
        metadata=make_metadata(StorageClass, name=name),
        provisioner=provisioner,
        volume_binding_mode=volume_binding_mode,
        reclaim_policy="Delete",
        allowed_topologies=tuple(
            TopologySelectorTerm(
                match_label_expressions=tuple(
                    TopologySelectorLabelRequirement(key=key, values=tuple(values))
                    for key, values in term.items()
                )
            )
            for term in allowed_topologies
        ),
    )


def make_persistent_volume_claim(
    *,
    name: str = "claim",
    namespace: str = "default",
    storage: str = "1Gi",
    storage_class: str | None = "standard",
    access_modes: Iterable[str] = ("ReadWriteOnce",),
    volume: str = "",
    annotations: Mapping[str, str] | None = None,
    owner: ApiObject | None = None,
) -> PersistentVolumeClaim:
    """Make a claim; with the name of a `volume`, one that is bound to it.

    Args:
        name: Its name.
        namespace: Its namespace.
        storage: The requested size.
        storage_class: The requested class.
        access_modes: The requested access modes.
        volume: The volume that it is bound to.
        annotations: Its annotations.
        owner: The pod that it was made for.
    """
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    return PersistentVolumeClaim(
        metadata=make_metadata(
            PersistentVolumeClaim,
            name=name,
            namespace=namespace,
            annotations={**bound, **(annotations or {})},
            owner=owner,
        ),
        spec=PersistentVolumeClaimSpec(
            access_modes=tuple(access_modes),
            resources=VolumeResourceRequirements(
                requests={"storage": Quantity(storage)}
            ),
            storage_class_name=storage_class,
            volume_name=volume,
            volume_mode="Filesystem",
        ),
        status=PersistentVolumeClaimStatus(phase="Bound" if volume else "Pending"),
    )


def make_persistent_volume(
    *,
    name: str = "volume",
    storage: str = "1Gi",
    storage_class: str = "standard",
    access_modes: Iterable[str] = ("ReadWriteOnce",),
    driver: str = "csi.example.com",
    labels: Mapping[str, str] | None = None,
    claim: PersistentVolumeClaim | None = None,
    node_labels: Mapping[str, str | Iterable[str]] | None = None,
) -> PersistentVolume:
    """Make a CSI volume; with a `claim`, one that is bound to it.

    Args:
        name: Its name.
        storage: Its size.
        storage_class: The name of its class.
        access_modes: Its access modes.
        driver: Its CSI driver.
        labels: Its labels.
        claim: The claim that it is bound to.
        node_labels: The nodes that can reach it: label -> value, or values.
    """
    affinity = None
    if node_labels is not None:
        wanted = {
            key: values if isinstance(values, str) else tuple(values)
            for key, values in node_labels.items()
        }
        selector = NodeSelector(node_selector_terms=(node_selector_term(wanted),))
        affinity = VolumeNodeAffinity(required=selector)
    return PersistentVolume(
        metadata=make_metadata(PersistentVolume, name=name, labels=labels),
        spec=PersistentVolumeSpec(
            capacity={"storage": Quantity(storage)},
            access_modes=tuple(access_modes),
            storage_class_name=storage_class,
            volume_mode="Filesystem",
            persistent_volume_reclaim_policy="Delete",
            node_affinity=affinity,
            claim_ref=None if claim is None else _reference_to(claim),
            csi=CSIPersistentVolumeSource(driver=driver, volume_handle=name),
        ),
        status=PersistentVolumeStatus(phase="Available" if claim is None else "Bound"),
    )


def make_csi_node(
    *, name: str = "node", limits: Mapping[str, int | None] | None = None
) -> CSINode:
    """Make the CSINode of a node, with the limit of volumes of each driver.

    Args:
        name: The name of the node.
        limits: CSI driver -> how many volumes it can attach; None for no limit.
    """
    drivers = tuple(
        CSINodeDriver(
            name=driver, node_id=name, allocatable=VolumeNodeResources(count=count)
        )
        for driver, count in (limits or {}).items()
    )
    return CSINode(
        metadata=make_metadata(CSINode, name=name), spec=CSINodeSpec(drivers=drivers)
    )


def make_csi_driver(
    *,
    name: str = "csi.example.com",
    storage_capacity: bool | None = None,
    attach_required: bool | None = None,
) -> CSIDriver:
    """Make a CSI driver.

    Args:
        name: Its name.
        storage_capacity: Whether it publishes where how much storage is left.
        attach_required: Whether its volumes must be attached to nodes.
    """
    return CSIDriver(
        metadata=make_metadata(CSIDriver, name=name),
        spec=CSIDriverSpec(
            storage_capacity=storage_capacity, attach_required=attach_required
        ),
    )


def make_csi_storage_capacity(
    *,
    name: str = "capacity",
    namespace: str = "default",
    storage_class: str = "standard",
    node_topology: LabelSelector | Mapping[str, str] | None = None,
    capacity: str | None = None,
    maximum_volume_size: str | None = None,
) -> CSIStorageCapacity:
    """Make the capacity that a CSI driver publishes.

    Args:
        name: Its name.
        namespace: Its namespace.
        storage_class: The class of the storage.
        node_topology: The nodes that it is for; None for none, empty for all.
        capacity: The storage that is left.
        maximum_volume_size: The largest possible volume.
    """
    return CSIStorageCapacity(
        metadata=make_metadata(CSIStorageCapacity, name=name, namespace=namespace),
        storage_class_name=storage_class,
        node_topology=to_label_selector(node_topology),
        capacity=None if capacity is None else Quantity(capacity),
        maximum_volume_size=(
            None if maximum_volume_size is None else Quantity(maximum_volume_size)
        ),
    )


def make_volume_attachment(
    *,
    name: str = "attachment",
    driver: str = "csi.example.com",
    volume: str = "volume",
    node: str = "node",
    attached: bool = True,
) -> VolumeAttachment:
    """Make the attachment of a volume to a node.

    Args:
        name: Its name.
        driver: The CSI driver that attaches the volume.
        volume: The name of the persistent volume.
        node: The name of the node.
        attached: Whether the driver has attached it.
    """
    return VolumeAttachment(
        metadata=make_metadata(VolumeAttachment, name=name),
        spec=VolumeAttachmentSpec(
            attacher=driver,
            node_name=node,
            source=VolumeAttachmentSource(persistent_volume_name=volume),
        ),
        status=VolumeAttachmentStatus(attached=attached),
    )


def _reference_to(claim: PersistentVolumeClaim) -> ObjectReference:
    return ObjectReference(
        api_version=claim.api_version,
        kind=claim.kind,
        namespace=claim.namespace,
        name=claim.name,
        uid=claim.uid,
    )
