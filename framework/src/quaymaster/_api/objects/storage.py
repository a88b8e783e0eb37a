"""Volumes, claims, classes and drivers.

Mirrors k8s.io/api v0.36, ``core/v1/types.go`` and ``storage/v1/types.go``.
"""

from typing import ClassVar

from msgspec import field

from quaymaster._api.objects.affinity import NodeSelector
from quaymaster._api.objects.meta import (
    ApiObject,
    ApiValue,
    LabelSelector,
    ObjectReference,
)
from quaymaster._api.objects.numbers import Int32, Int64
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.volumes import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    CinderVolumeSource,
    CSIPersistentVolumeSource,
    GCEPersistentDiskVolumeSource,
    HostPathVolumeSource,
    ISCSIVolumeSource,
    JsonObject,
    LocalVolumeSource,
    PersistentVolumeClaimSpec,
    PortworxVolumeSource,
    RBDVolumeSource,
    VsphereVirtualDiskVolumeSource,
)

__all__ = [
    "CSIDriver",
    "CSIDriverSpec",
    "CSINode",
    "CSINodeDriver",
    "CSINodeSpec",
    "CSIStorageCapacity",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "PersistentVolumeClaimStatus",
    "PersistentVolumeSpec",
    "PersistentVolumeStatus",
    "StorageClass",
    "TokenRequest",
    "TopologySelectorLabelRequirement",
    "TopologySelectorTerm",
    "VolumeAttachment",
    "VolumeAttachmentSource",
    "VolumeAttachmentSpec",
    "VolumeAttachmentStatus",
    "VolumeNodeAffinity",
    "VolumeNodeResources",
]


class VolumeNodeAffinity(ApiValue, frozen=True, kw_only=True):
    """The nodes that a volume can be reached from; None means all."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(ApiValue, frozen=True, kw_only=True):
    """The spec of a volume: its source, and the claim it is bound to.

    Attributes:
        claim_ref: The claim it is bound to, or kept for; None while it is free.
        volume_mode: ``Filesystem`` (also if None) or ``Block``.
    """

    capacity: dict[str, Quantity] = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: ObjectReference | None = None
    persistent_volume_reclaim_policy: str = ""
    storage_class_name: str = ""
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    volume_attributes_class_name: str | None = None
    csi: CSIPersistentVolumeSource | None = None
    local: LocalVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    nfs: JsonObject | None = None
    glusterfs: JsonObject | None = None
    flocker: JsonObject | None = None
    cephfs: JsonObject | None = None
    quobyte: JsonObject | None = None
    fc: JsonObject | None = None
    flex_volume: JsonObject | None = None
    photon_persistent_disk: JsonObject | None = None
    storageos: JsonObject | None = None
    scale_io: JsonObject | None = field(default=None, name="scaleIO")


class PersistentVolumeStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a volume.

    Attributes:
        phase: ``Pending``, ``Available``, ``Bound``, ``Released`` or ``Failed``.
    """

    phase: str = ""


class PersistentVolume(ApiObject, frozen=True, kw_only=True):
    """A piece of storage in the cluster."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "PersistentVolume"
    namespaced: ClassVar[bool] = False

    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PersistentVolumeStatus = PersistentVolumeStatus()


class PersistentVolumeClaimStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a claim.

    Attributes:
        phase: ``Pending``, ``Bound`` or ``Lost``.
    """

    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: dict[str, Quantity] = {}


class PersistentVolumeClaim(ApiObject, frozen=True, kw_only=True):
    """A request for storage, that pods name as their volume."""

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "PersistentVolumeClaim"

    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class TopologySelectorLabelRequirement(ApiValue, frozen=True, kw_only=True):
    """The values that a node label may have."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(ApiValue, frozen=True, kw_only=True):
    """Conditions on node labels, all of which must hold."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(ApiObject, frozen=True, kw_only=True):
    """How volumes of one sort are made.

    Attributes:
        volume_binding_mode: ``Immediate`` or ``WaitForFirstConsumer``.
        allowed_topologies: Where they can be made; empty means everywhere.
    """

    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "StorageClass"
    namespaced: ClassVar[bool] = False

    provisioner: str = ""
    parameters: dict[str, str] = {}
    reclaim_policy: str | None = None
    mount_options: tuple[str, ...] = ()
    allow_volume_expansion: bool | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(ApiValue, frozen=True, kw_only=True):
    """How many volumes of a driver a node can have; None means any number."""

    count: Int32 | None = None


class CSINodeDriver(ApiValue, frozen=True, kw_only=True):
    """A CSI driver that is installed on a node."""

    name: str = ""
    node_id: str = field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(ApiValue, frozen=True, kw_only=True):
    """The CSI drivers that are installed on a node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(ApiObject, frozen=True, kw_only=True):
    """The CSI drivers of the node of the same name."""

    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "CSINode"
    namespaced: ClassVar[bool] = False

    spec: CSINodeSpec = CSINodeSpec()


class TokenRequest(ApiValue, frozen=True, kw_only=True):
    """A token of the pod's service account, which a CSI driver receives."""

    audience: str = ""
    expiration_seconds: Int64 | None = None


class CSIDriverSpec(ApiValue, frozen=True, kw_only=True):
    """The settings of a CSI driver; None means the API's default."""

    attach_required: bool | None = None
    pod_info_on_mount: bool | None = None
    volume_lifecycle_modes: tuple[str, ...] = ()
    storage_capacity: bool | None = None
    fs_group_policy: str | None = None
    token_requests: tuple[TokenRequest, ...] = ()
    node_allocatable_update_period_seconds: Int64 | None = None
    service_account_token_in_secrets: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(ApiObject, frozen=True, kw_only=True):
    """A CSI driver that is deployed in the cluster."""

    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "CSIDriver"
    namespaced: ClassVar[bool] = False

    spec: CSIDriverSpec = CSIDriverSpec()


class CSIStorageCapacity(ApiObject, frozen=True, kw_only=True):
    """How much storage of one class is left in one part of the cluster.

    Attributes:
        node_topology: Which nodes it is for; None means none, empty means all.
    """

    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "CSIStorageCapacity"

    node_topology: LabelSelector | None = None
    storage_class_name: str = ""
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


class VolumeAttachmentSource(ApiValue, frozen=True, kw_only=True):
    """The volume that is to be attached."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(ApiValue, frozen=True, kw_only=True):
    """The volume to attach, the node, and the driver that does it."""

    attacher: str = ""
    source: VolumeAttachmentSource = VolumeAttachmentSource()
    node_name: str = ""


class VolumeAttachmentStatus(ApiValue, frozen=True, kw_only=True):
    """Whether the volume is attached."""

    attached: bool = False


class VolumeAttachment(ApiObject, frozen=True, kw_only=True):
    """The request to attach a volume to a node."""

    api_version: ClassVar[str] = "storage.k8s.io/v1"
    kind: ClassVar[str] = "VolumeAttachment"
    namespaced: ClassVar[bool] = False

    spec: VolumeAttachmentSpec = VolumeAttachmentSpec()
    status: VolumeAttachmentStatus = VolumeAttachmentStatus()
