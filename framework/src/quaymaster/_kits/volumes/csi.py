"""Translates volumes of in-tree plugins to those of the CSI drivers that took over.

Mirrors k8s.io/csi-translation-lib v0.36, as far as it decides where volumes can be and
how they are counted.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec.structs import replace

from quaymaster._api.objects import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    CinderVolumeSource,
    CSIPersistentVolumeSource,
    GCEPersistentDiskVolumeSource,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PersistentVolume,
    PortworxVolumeSource,
    Volume,
    VolumeNodeAffinity,
)
from quaymaster._base.errors import QuaymasterError

__all__ = [
    "InTreePlugin",
    "TranslationError",
    "csi_driver_of",
    "csi_handle",
    "csi_volume",
    "in_tree_plugin",
    "is_migrated",
]

Source: TypeAlias = Volume | PersistentVolume

_ZONE: Final = "topology.kubernetes.io/zone"
_REGION: Final = "topology.kubernetes.io/region"
_BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
_BETA_REGION: Final = "failure-domain.beta.kubernetes.io/region"
_ZONE_DELIMITER: Final = "__"
_EBS_ID: Final = re.compile(r"vol-[^/]*")


class TranslationError(QuaymasterError):
    """A volume cannot be translated to its CSI driver."""


class InTreePlugin(msgspec.Struct, frozen=True, eq=False):
    """One in-tree plugin, and the driver that took over.

    Attributes:
        name: The plugin, as provisioners of storage classes name it.
        driver: The CSI driver.
        field: Where its source is, in a `Volume` and in a ``PersistentVolumeSpec``.
        handle: How the driver names a volume; None for plugins that the scheduler
            takes for not migrated.
        topology_key: The driver's label for zones, or empty.
    """

    name: str
    driver: str
    field: str
    handle: Callable[..., str] | None = None
    topology_key: str = ""


def in_tree_plugin(source: Source) -> InTreePlugin | None:
    """The plugin of a pod's or the cluster's volume; None if it has no CSI driver."""
    holder = source if isinstance(source, Volume) else source.spec
    for plugin in _PLUGINS:
        if getattr(holder, plugin.field) is not None:
            return plugin
    return None


def csi_driver_of(provisioner: str) -> str | None:
    """The driver that took over from an in-tree plugin; None if it is none."""
    plugin = _BY_NAME.get(provisioner)
    return None if plugin is None else plugin.driver


def is_migrated(provisioner: str) -> bool:
    """Whether a plugin's volumes are handled by its CSI driver.

    Not so for Azure File and vSphere, as in upstream's ``isCSIMigrationOn``.
    """
    plugin = _BY_NAME.get(provisioner)
    return plugin is not None and plugin.handle is not None


def csi_handle(source: Source) -> str:
    """The name by which the CSI driver knows a volume of a migrated in-tree plugin.

    Raises:
        TranslationError: Its own name makes no sense, or it is of no such plugin.
    """
    plugin = in_tree_plugin(source)
    if plugin is None or plugin.handle is None:
        raise TranslationError(
            f'could not find in-tree plugin translation logic for "{_name(source)}"'
        )
    if isinstance(source, Volume):
        return plugin.handle(getattr(source, plugin.field), None)
    return plugin.handle(getattr(source.spec, plugin.field), source.metadata.labels)


def csi_volume(volume: PersistentVolume) -> PersistentVolume:
    """A volume of a migrated in-tree plugin as its CSI driver would have made it.

    Its node affinity uses the driver's own label for zones.

    Raises:
        TranslationError: Its own name makes no sense, or it is of no such plugin.
    """
    handle = csi_handle(volume)
    plugin = in_tree_plugin(volume)
    assert plugin is not None, "it has a handle"
    affinity = volume.spec.node_affinity
    if plugin.topology_key:
        affinity = _translated_topology(volume, plugin.topology_key)
    source = CSIPersistentVolumeSource(driver=plugin.driver, volume_handle=handle)
    changes: dict[str, Any] = {plugin.field: None}
    spec = replace(volume.spec, csi=source, node_affinity=affinity, **changes)
    return replace(volume, spec=spec)


def _name(source: Source) -> str:
    return source.name if isinstance(source, Volume) else source.metadata.name


def _ebs_handle(
    source: AWSElasticBlockStoreVolumeSource, _labels: Mapping[str, str] | None
) -> str:
    volume_id = source.volume_id
    if not volume_id.startswith("aws://"):
        return volume_id
    prefix = "failed to translate Kubernetes ID to EBS Volume ID"
    try:
        path = unquote(urlsplit(volume_id).path)
    except ValueError as error:
        text = f"{prefix} Invalid disk name ({volume_id}): {error}"
        raise TranslationError(text) from error
    handle = path.strip("/")
    if not _EBS_ID.fullmatch(handle):
        raise TranslationError(f"{prefix} Invalid format for AWS volume ({volume_id})")
    return handle


def _gce_handle(
    source: GCEPersistentDiskVolumeSource, labels: Mapping[str, str] | None
) -> str:
    place = "zones/UNSPECIFIED"
    if labels is not None:
        # The old label first, as in csi-translation-lib ``plugins/gce_pd.go``. A volume
        # with both labels has equal values in practice.
        label = labels.get(_BETA_ZONE) or labels.get(_ZONE) or ""
        zones = label.split(_ZONE_DELIMITER)
        if len(zones) > 1:
            place = f"regions/{_gce_region(zones)}"
        elif label:
            place = f"zones/{label}"
    return f"projects/UNSPECIFIED/{place}/disks/{source.pd_name}"


def _gce_region(zones: Sequence[str]) -> str:
    prefix = "failed to get region from zones:"
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        # Zones of GCE look like europe-west1-b; the region is what comes before the
        # last part.
        if len(parts) != 3:
            raise TranslationError(
                f"{prefix} zone in unexpected format, expected: "
                f"{{locale}}-{{region}}-{{zone}}, got: {zone}"
            )
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        raise TranslationError(f"{prefix} multiple regions: {sorted(regions)}")
    return regions.pop()


def _azure_disk_handle(
    source: AzureDiskVolumeSource, _labels: Mapping[str, str] | None
) -> str:
    if source.kind is not None and source.kind.lower() != "managed":
        text = f"kind({source.kind}) is not supported in csi migration"
        raise TranslationError(text)
    return source.disk_uri


def _plain_handle(
    source: CinderVolumeSource | PortworxVolumeSource, _labels: Mapping[str, str] | None
) -> str:
    return source.volume_id


_PLUGINS: Final = (
    InTreePlugin(
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
        "gce_persistent_disk",
        _gce_handle,
        "topology.gke.io/zone",
    ),
    InTreePlugin(
        "kubernetes.io/aws-ebs",
        "ebs.csi.aws.com",
        "aws_elastic_block_store",
        _ebs_handle,
        "topology.ebs.csi.aws.com/zone",
    ),
    InTreePlugin(
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        "cinder",
        _plain_handle,
        "topology.cinder.csi.openstack.org/zone",
    ),
    InTreePlugin(
        "kubernetes.io/azure-disk",
        "disk.csi.azure.com",
        "azure_disk",
        _azure_disk_handle,
    ),
    InTreePlugin(
        "kubernetes.io/portworx-volume",
        "pxd.portworx.com",
        "portworx_volume",
        _plain_handle,
    ),
    InTreePlugin("kubernetes.io/azure-file", "file.csi.azure.com", "azure_file"),
    InTreePlugin(
        "kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "vsphere_volume"
    ),
)

_BY_NAME: Final = {plugin.name: plugin for plugin in _PLUGINS}


# Topology -----------------------------------------------------------------------------


def _translated_topology(
    volume: PersistentVolume, key: str
) -> VolumeNodeAffinity | None:
    """The node affinity of a volume, in the driver's label for zones.

    Zones in the volume's node affinity count before its zone label.
    """
    terms = _terms(volume)
    zone, region = _topology_labels(volume, terms)
    if _has_values(terms, zone):
        terms = _renamed(terms, zone, key)
    else:
        terms = _with_zones(terms, key, volume.metadata.labels.get(zone, ""))
    if region == _BETA_REGION:
        terms = _renamed(terms, region, _REGION)
    if not terms:
        return volume.spec.node_affinity
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=tuple(terms)))


def _terms(volume: PersistentVolume) -> Sequence[NodeSelectorTerm]:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return ()
    return affinity.required.node_selector_terms


def _topology_labels(
    volume: PersistentVolume, terms: Iterable[NodeSelectorTerm]
) -> tuple[str, str]:
    """Return the labels for zone and region that a volume uses, new or old."""
    keys = {expression.key for term in terms for expression in term.match_expressions}
    # The affinity decides before the labels of the volume: both may exist, and only the
    # affinity is read afterwards.
    for holder in (keys, volume.metadata.labels):
        if _ZONE in holder:
            break
        if _BETA_ZONE in holder:
            return _BETA_ZONE, _BETA_REGION
    return _ZONE, _REGION


def _has_values(terms: Iterable[NodeSelectorTerm], key: str) -> bool:
    expressions = (item for term in terms for item in term.match_expressions)
    return any(item.key == key and item.values for item in expressions)


def _renamed(
    terms: Iterable[NodeSelectorTerm], old: str, new: str
) -> Sequence[NodeSelectorTerm]:
    return [
        replace(
            term,
            match_expressions=tuple(
                replace(expression, key=new) if expression.key == old else expression
                for expression in term.match_expressions
            ),
        )
        for term in terms
    ]


def _with_zones(
    terms: Sequence[NodeSelectorTerm], key: str, label: str
) -> Sequence[NodeSelectorTerm]:
    zones = sorted({zone.strip() for zone in label.split(_ZONE_DELIMITER)} - {""})
    if not zones:
        return terms
    requirement = NodeSelectorRequirement(key=key, operator="In", values=tuple(zones))
    return [
        replace(term, match_expressions=(*term.match_expressions, requirement))
        for term in terms or (NodeSelectorTerm(),)
    ]
