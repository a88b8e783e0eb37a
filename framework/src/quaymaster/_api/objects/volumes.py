"""The sources of volumes that scheduling reads.

Mirrors k8s.io/api v0.36, ``core/v1/types.go``. Sources that no plugin reads (config
maps, secrets, empty directories, NFS, ...) are kept unchanged.
"""

from typing import Final, TypeAlias

from msgspec import field

from quaymaster._api.objects.meta import ApiValue, LabelSelector, ObjectMeta
from quaymaster._api.objects.numbers import Int32
from quaymaster._api.objects.quantity import Quantity

__all__ = [
    "LOCAL_SOURCES",
    "UNREAD_SOURCES",
    "AWSElasticBlockStoreVolumeSource",
    "AzureDiskVolumeSource",
    "AzureFileVolumeSource",
    "CSIPersistentVolumeSource",
    "CSIVolumeSource",
    "CinderVolumeSource",
    "EphemeralVolumeSource",
    "GCEPersistentDiskVolumeSource",
    "HostPathVolumeSource",
    "ISCSIVolumeSource",
    "ImageVolumeSource",
    "JsonObject",
    "LocalVolumeSource",
    "PersistentVolumeClaimSpec",
    "PersistentVolumeClaimTemplate",
    "PersistentVolumeClaimVolumeSource",
    "PortworxVolumeSource",
    "RBDVolumeSource",
    "TypedLocalObjectReference",
    "TypedObjectReference",
    "Volume",
    "VolumeResourceRequirements",
    "VsphereVirtualDiskVolumeSource",
]


JsonObject: TypeAlias = dict[str, object]
"""A part of an object that no code reads, as it was. Never changed."""


class GCEPersistentDiskVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A disk of Google Compute Engine."""

    pd_name: str = field(default="", name="pdName")
    fs_type: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A disk of Amazon EBS."""

    volume_id: str = field(default="", name="volumeID")
    fs_type: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AzureDiskVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A disk of Microsoft Azure."""

    disk_name: str = ""
    disk_uri: str = field(default="", name="diskURI")
    caching_mode: str | None = None
    fs_type: str | None = None
    read_only: bool | None = None
    kind: str | None = None


class AzureFileVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A file share of Microsoft Azure."""

    secret_name: str = ""
    share_name: str = ""
    read_only: bool = False
    secret_namespace: str | None = None


class CinderVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A disk of OpenStack."""

    volume_id: str = field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False
    secret_ref: JsonObject | None = None


class VsphereVirtualDiskVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A disk of vSphere."""

    volume_path: str = ""
    fs_type: str = ""
    storage_policy_name: str = ""
    storage_policy_id: str = field(default="", name="storagePolicyID")


class PortworxVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A disk of Portworx."""

    volume_id: str = field(default="", name="volumeID")
    fs_type: str = ""
    read_only: bool = False


class ISCSIVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A disk behind iSCSI."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    iscsi_interface: str = ""
    fs_type: str = ""
    read_only: bool = False
    portals: tuple[str, ...] = ()
    chap_auth_discovery: bool = False
    chap_auth_session: bool = False
    secret_ref: JsonObject | None = None
    initiator_name: str | None = None


class RBDVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A disk of Ceph."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    fs_type: str = ""
    pool: str = ""
    user: str = ""
    read_only: bool = False


class CSIPersistentVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A volume of a CSI driver, behind a PersistentVolume."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False
    fs_type: str = ""
    volume_attributes: dict[str, str] = {}
    controller_publish_secret_ref: JsonObject | None = None
    node_stage_secret_ref: JsonObject | None = None
    node_publish_secret_ref: JsonObject | None = None
    controller_expand_secret_ref: JsonObject | None = None
    node_expand_secret_ref: JsonObject | None = None


class CSIVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A volume of a CSI driver, inline in a pod."""

    driver: str = ""
    read_only: bool | None = None
    fs_type: str | None = None
    volume_attributes: dict[str, str] = {}
    node_publish_secret_ref: JsonObject | None = None


class LocalVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A disk or directory of one node, behind a PersistentVolume."""

    path: str = ""
    fs_type: str | None = None


class HostPathVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A path on the node that the pod runs on."""

    path: str = ""
    type: str | None = None


class ImageVolumeSource(ApiValue, frozen=True, kw_only=True):
    """The content of an image."""

    reference: str = ""
    pull_policy: str = ""


class VolumeResourceRequirements(ApiValue, frozen=True, kw_only=True):
    """The storage that a claim requests."""

    requests: dict[str, Quantity] = {}
    limits: dict[str, Quantity] = {}


class TypedLocalObjectReference(ApiValue, frozen=True, kw_only=True):
    """What a new volume is filled with: an object in the claim's namespace.

    Attributes:
        api_group: The group; None is that of claims.
    """

    api_group: str | None = None
    kind: str = ""
    name: str = ""


class TypedObjectReference(ApiValue, frozen=True, kw_only=True):
    """What a new volume is filled with, such as a VolumeSnapshot.

    Attributes:
        api_group: The group; None is that of claims.
        namespace: The namespace; None is that of the claim.
    """

    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None


class PersistentVolumeClaimSpec(ApiValue, frozen=True, kw_only=True):
    """The spec of a claim.

    Attributes:
        storage_class_name: None means the default class, ``""`` means no class.
        volume_mode: ``Filesystem`` (also if None) or ``Block``.
        data_source: What the volume is filled with: a snapshot or a claim.
        data_source_ref: The same, or any other object.
    """

    access_modes: tuple[str, ...] = ()
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(ApiValue, frozen=True, kw_only=True):
    """The claim that is created for each pod with an ephemeral volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A volume that lives as long as its pod, behind a claim of its own."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class PersistentVolumeClaimVolumeSource(ApiValue, frozen=True, kw_only=True):
    """A volume behind a claim in the pod's namespace."""

    claim_name: str = ""
    read_only: bool = False


class Volume(ApiValue, frozen=True, kw_only=True):
    """A volume of a pod: a name, and the one source that is not None."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    image: ImageVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    empty_dir: JsonObject | None = None
    host_path: JsonObject | None = None
    git_repo: JsonObject | None = None
    secret: JsonObject | None = None
    nfs: JsonObject | None = None
    glusterfs: JsonObject | None = None
    flocker: JsonObject | None = None
    cephfs: JsonObject | None = None
    quobyte: JsonObject | None = None
    downward_api: JsonObject | None = field(default=None, name="downwardAPI")
    fc: JsonObject | None = None
    flex_volume: JsonObject | None = None
    config_map: JsonObject | None = None
    photon_persistent_disk: JsonObject | None = None
    storageos: JsonObject | None = None
    projected: JsonObject | None = None
    scale_io: JsonObject | None = field(default=None, name="scaleIO")


LOCAL_SOURCES: Final = ("empty_dir", "host_path")
"""The fields of `Volume` for data on the node itself."""

UNREAD_SOURCES: Final = (
    "empty_dir",
    "host_path",
    "git_repo",
    "secret",
    "nfs",
    "glusterfs",
    "flocker",
    "cephfs",
    "quobyte",
    "downward_api",
    "fc",
    "flex_volume",
    "config_map",
    "photon_persistent_disk",
    "storageos",
    "projected",
    "scale_io",
)
"""The fields of `Volume` whose content no plugin reads."""
