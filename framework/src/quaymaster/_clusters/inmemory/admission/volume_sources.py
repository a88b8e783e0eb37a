"""Checks the source of a volume, in a pod or a persistent volume.

Mirrors ``validateVolumeSource`` and ``ValidatePersistentVolumeSpec`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``). `file_sources` and `projected_sources` have
the sources that are files.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from quaymaster._api.objects import (
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    CinderVolumeSource,
    CSIPersistentVolumeSource,
    CSIVolumeSource,
    ImageVolumeSource,
    ISCSIVolumeSource,
    PersistentVolumeSpec,
    Volume,
)
from quaymaster._api.objects.file_paths import check_descending, check_steps
from quaymaster._api.objects.part import Part
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import CSI_DRIVER_NAME, DNS_LABEL, SUBDOMAIN
from quaymaster._api.objects.volumes import JsonObject
from quaymaster._base.errors import QuantityError
from quaymaster._clusters.inmemory.admission.file_sources import (
    check_downward_files,
    check_file_items,
)
from quaymaster._clusters.inmemory.admission.projected_sources import check_projected

__all__ = ["check_source"]

Check = Callable[[Any, str, Report], None]
"""Checks one source; the table below has one for each kind."""

_HOST_PATH_TYPES: Final = (
    "",
    "DirectoryOrCreate",
    "Directory",
    "FileOrCreate",
    "File",
    "Socket",
    "CharDevice",
    "BlockDevice",
)
_ISCSI_NAMES: Final = (
    ("iqn", re.compile(r"iqn\.\d{4}-\d{2}\.[A-Za-z0-9.-]+:[^,;*&$|\s]+", re.ASCII)),
    # The unescaped dot is upstream's: ``eui`` may be followed by any character.
    ("eui", re.compile(r"eui.[A-Za-z0-9]{16}", re.ASCII)),
    ("naa", re.compile(r"naa.[A-Za-z0-9]{32}", re.ASCII)),
)
_MAX_LUN: Final = 255
_MAX_TENANT: Final = 64
_HOST_PORT: Final = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*")


def check_source(
    holder: Volume | PersistentVolumeSpec, path: str, report: Report
) -> None:
    """Check that there is exactly one source, and its fields."""
    checks = _POD_CHECKS if isinstance(holder, Volume) else _PERSISTENT_CHECKS
    fields = [name for name in checks if getattr(holder, name) is not None]
    if not fields:
        report.add(path, "expected a source of the volume, got none")
        return
    wire = dict(
        zip(holder.__struct_fields__, holder.__struct_encode_fields__, strict=True)
    )
    first, *others = fields
    # The server has another name for this source in its paths.
    where = "persistentDisk" if first == "gce_persistent_disk" else wire[first]
    # As upstream, which stops counting at the first source: its fields are checked, the
    # others are only reported as too many.
    checks[first](getattr(holder, first), f"{path}.{where}", report)
    for name in others:
        message = f"expected one source, but {wire[first]} is another"
        report.add(f"{path}.{wire[name]}", message)


def _requires(*fields: str, then: Check | None = None) -> Check:
    """Make a check for fields that must not be empty, by their names on the wire."""

    def check(source: JsonObject | msgspec.Struct, path: str, report: Report) -> None:
        for field in fields:
            if not _value(source, field):
                report.add(f"{path}.{field}", f"expected a {field}, got none")
        if then is not None:
            then(source, path, report)

    return check


def _value(source: JsonObject | msgspec.Struct, field: str) -> object:
    if isinstance(source, dict):
        return source.get(field)
    names = source.__struct_encode_fields__
    value: object = getattr(source, source.__struct_fields__[names.index(field)])
    return value


def _text(source: JsonObject | msgspec.Struct, field: str) -> str:
    value = _value(source, field)
    return value if isinstance(value, str) else ""


def _check_empty_dir(source: JsonObject, path: str, report: Report) -> None:
    limit = source.get("sizeLimit")
    # Other types have been rejected when the manifest was read.
    if not isinstance(limit, str | int | float):
        return
    where = f"{path}.sizeLimit"
    try:
        report.expect(
            Quantity(limit) >= Quantity(0), where, "an amount of at least 0", limit
        )
    except QuantityError as error:
        report.add(where, str(error))


def _check_host_path(
    source: JsonObject | msgspec.Struct, path: str, report: Report
) -> None:
    check_steps(_text(source, "path"), f"{path}.path", report)
    report.one_of(_text(source, "type"), _HOST_PATH_TYPES, f"{path}.type")


def _check_local(source: msgspec.Struct, path: str, report: Report) -> None:
    check_steps(_text(source, "path"), f"{path}.path", report)


def _check_git_repo(source: JsonObject, path: str, report: Report) -> None:
    check_descending(_text(source, "directory"), f"{path}.directory", report)


def _check_nfs(source: JsonObject, path: str, report: Report) -> None:
    text = _text(source, "path")
    report.expect(text.startswith("/"), f"{path}.path", "an absolute path", text)


def _check_partition(source: msgspec.Struct, path: str, report: Report) -> None:
    partition = _value(source, "partition")
    assert isinstance(partition, int)
    report.in_range(partition, f"{path}.partition", 0, 255)


def _check_iscsi(source: ISCSIVolumeSource, path: str, report: Report) -> None:
    report.in_range(source.lun, f"{path}.lun", 0, _MAX_LUN)
    if source.iqn:
        _check_iscsi_name(source.iqn, f"{path}.iqn", report)
    uses_secret = source.chap_auth_discovery or source.chap_auth_session
    if uses_secret and source.secret_ref is None:
        report.add(f"{path}.secretRef", "expected a secret for CHAP, got none")
    if source.initiator_name is not None:
        _check_iscsi_name(source.initiator_name, f"{path}.initiatorname", report)


def _check_iscsi_disk(source: ISCSIVolumeSource, path: str, report: Report) -> None:
    _check_iscsi(source, path, report)
    if source.secret_ref is not None:
        Part(source.secret_ref, f"{path}.secretRef", report).require("name")


def _check_iscsi_name(name: str, path: str, report: Report) -> None:
    is_name = any(
        name.startswith(kind) and form.fullmatch(name) for kind, form in _ISCSI_NAMES
    )
    expected = "a name such as iqn.2001-04.com.example:disk, eui... or naa..."
    report.expect(is_name, path, expected, name)


def _check_cinder(source: CinderVolumeSource, path: str, report: Report) -> None:
    if source.secret_ref is not None:
        Part(source.secret_ref, f"{path}.secretRef", report).require("name")


def _check_cinder_disk(source: CinderVolumeSource, path: str, report: Report) -> None:
    if source.secret_ref is not None:
        secret = Part(source.secret_ref, f"{path}.secretRef", report)
        secret.require("name", "namespace")


def _check_quobyte(source: JsonObject, path: str, report: Report) -> None:
    registry, tenant = _text(source, "registry"), _text(source, "tenant")
    if len(tenant) > _MAX_TENANT:
        expected = f"at most {_MAX_TENANT} characters"
        report.expect(False, f"{path}.tenant", expected, tenant)
    elif registry and not all(map(_HOST_PORT.fullmatch, registry.split(","))):
        expected = "a host and a port, or more of them separated by commas"
        report.expect(False, f"{path}.registry", expected, registry)


def _check_flex_volume(source: JsonObject, path: str, report: Report) -> None:
    for option in Part(source, path, report).mapping("options"):
        # With a leading dot, ``k8s.io`` itself matches, and ``mk8s.io`` does not.
        domain = f".{option.partition('/')[0].lower()}"
        is_reserved = domain.endswith((".kubernetes.io", ".k8s.io"))
        where = f"{path}.options[{option}]"
        report.expect(not is_reserved, where, "a name of another domain", option)


def _check_image(source: ImageVolumeSource, path: str, report: Report) -> None:
    where = f"{path}.pullPolicy"
    report.one_of(source.pull_policy, ("Always", "IfNotPresent", "Never"), where)


def _check_flocker(source: JsonObject, path: str, report: Report) -> None:
    name, uid = source.get("datasetName"), source.get("datasetUUID")
    # Empty texts count as unset, as in Go.
    if bool(name) is bool(uid):
        report.add(path, "expected either datasetName or datasetUUID")
    name = _text(source, "datasetName")
    report.expect("/" not in name, f"{path}.datasetName", "a name without '/'", name)


def _check_fc(source: JsonObject, path: str, report: Report) -> None:
    names, wwids, lun = (source.get(k) for k in ("targetWWNs", "wwids", "lun"))
    if bool(names) is bool(wwids):
        report.add(f"{path}.targetWWNs", "expected either targetWWNs or wwids")
    if names and lun is None:
        report.add(f"{path}.lun", "expected a lun beside targetWWNs, got none")
    elif names and isinstance(lun, int):
        report.in_range(lun, f"{path}.lun", 0, _MAX_LUN)


def _check_storageos(source: JsonObject, path: str, report: Report) -> None:
    for field in ("volumeName", "volumeNamespace"):
        if text := _text(source, field):
            report.formed(text, DNS_LABEL, f"{path}.{field}")
    secret = Part(source, path, report).part("secretRef")
    if secret is not None:
        secret.require("name")


def _check_azure_disk(source: AzureDiskVolumeSource, path: str, report: Report) -> None:
    caching, kind, uri = source.caching_mode, source.kind, source.disk_uri
    if caching is not None:
        modes = ("None", "ReadOnly", "ReadWrite")
        report.one_of(caching, modes, f"{path}.cachingMode")
    if kind is not None:
        report.one_of(kind, ("Dedicated", "Managed", "Shared"), f"{path}.kind")
        start = "/subscriptions/" if kind == "Managed" else "https://"
        expected = f"a URI that begins with {start}, since it is {kind}"
        report.expect(uri.startswith(start), f"{path}.diskURI", expected, uri)


def _check_azure_file(source: AzureFileVolumeSource, path: str, report: Report) -> None:
    if source.secret_namespace == "":
        report.add(f"{path}.secretNamespace", "expected a namespace, got none")


def _check_driver(
    source: CSIVolumeSource | CSIPersistentVolumeSource, path: str, report: Report
) -> None:
    report.named(source.driver, CSI_DRIVER_NAME, f"{path}.driver")


def _check_inline_driver(source: CSIVolumeSource, path: str, report: Report) -> None:
    _check_driver(source, path, report)
    if source.node_publish_secret_ref is not None:
        where = f"{path}.nodePublishSecretRef"
        secret = Part(source.node_publish_secret_ref, where, report)
        report.named(secret.text("name"), SUBDOMAIN, secret.at("name"))


def _check_driver_disk(
    source: CSIPersistentVolumeSource, path: str, report: Report
) -> None:
    _check_driver(source, path, report)
    for field, tree in (
        ("controllerPublishSecretRef", source.controller_publish_secret_ref),
        ("controllerExpandSecretRef", source.controller_expand_secret_ref),
        ("nodePublishSecretRef", source.node_publish_secret_ref),
        ("nodeExpandSecretRef", source.node_expand_secret_ref),
    ):
        if tree is not None:
            secret = Part(tree, f"{path}.{field}", report)
            report.named(secret.text("name"), SUBDOMAIN, secret.at("name"))
            report.named(secret.text("namespace"), DNS_LABEL, secret.at("namespace"))


_COMMON_CHECKS: Final[Mapping[str, Check]] = {
    "host_path": _requires("path", then=_check_host_path),
    "gce_persistent_disk": _requires("pdName", then=_check_partition),
    "aws_elastic_block_store": _requires("volumeID", then=_check_partition),
    "nfs": _requires("server", "path", then=_check_nfs),
    "iscsi": _requires("targetPortal", "iqn", then=_check_iscsi),
    "glusterfs": _requires("endpoints", "path"),
    "flocker": _check_flocker,
    "rbd": _requires("monitors", "image"),
    "cinder": _requires("volumeID", then=_check_cinder),
    "cephfs": _requires("monitors"),
    "quobyte": _requires("registry", "volume", then=_check_quobyte),
    "fc": _check_fc,
    "flex_volume": _requires("driver", then=_check_flex_volume),
    "azure_file": _requires("secretName", "shareName", then=_check_azure_file),
    "vsphere_volume": _requires("volumePath"),
    "photon_persistent_disk": _requires("pdID"),
    "portworx_volume": _requires("volumeID"),
    "azure_disk": _requires("diskName", "diskURI", then=_check_azure_disk),
    "storageos": _requires("volumeName", then=_check_storageos),
    "scale_io": _requires("gateway", "system", "volumeName"),
}
_POD_CHECKS: Final[Mapping[str, Check]] = {
    "empty_dir": _check_empty_dir,
    **_COMMON_CHECKS,
    "git_repo": _requires("repository", then=_check_git_repo),
    "secret": _requires("secretName", then=check_file_items),
    "persistent_volume_claim": _requires("claimName"),
    "downward_api": check_downward_files,
    "config_map": _requires("name", then=check_file_items),
    "projected": check_projected,
    "csi": _check_inline_driver,
    "ephemeral": _requires("volumeClaimTemplate"),
    "image": _check_image,
}
_PERSISTENT_CHECKS: Final[Mapping[str, Check]] = {
    **_COMMON_CHECKS,
    # Secrets of persistent volumes are references of another type: such a volume has no
    # namespace to look in.
    "iscsi": _requires("targetPortal", "iqn", then=_check_iscsi_disk),
    "cinder": _requires("volumeID", then=_check_cinder_disk),
    "local": _requires("path", then=_check_local),
    "csi": _requires("volumeHandle", then=_check_driver_disk),
}
