"""Checks the source of a volume, in a pod or a persistent volume.

Mirrors ``validateVolumeSource`` and ``ValidatePersistentVolumeSpec`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``). Of sources that scheduling does not read,
only the fields that must be there are checked.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from quaymaster._api.objects import (
    AzureDiskVolumeSource,
    AzureFileVolumeSource,
    CSIPersistentVolumeSource,
    CSIVolumeSource,
    ISCSIVolumeSource,
    PersistentVolumeSpec,
    Volume,
)
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.volumes import JsonObject
from quaymaster._base.errors import QuantityError
from quaymaster._clusters.inmemory.admission.problems import Report
from quaymaster._clusters.inmemory.admission.syntax import CSI_DRIVER_NAME, DNS_LABEL

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
    ("eui", re.compile(r"eui.[A-Za-z0-9]{16}", re.ASCII)),
    ("naa", re.compile(r"naa.[A-Za-z0-9]{32}", re.ASCII)),
)
_MAX_LUN: Final = 255


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
    _check_steps(_text(source, "path"), f"{path}.path", report)
    report.one_of(_text(source, "type"), _HOST_PATH_TYPES, f"{path}.type")


def _check_local(source: msgspec.Struct, path: str, report: Report) -> None:
    _check_steps(_text(source, "path"), f"{path}.path", report)


def _check_git_repo(source: JsonObject, path: str, report: Report) -> None:
    directory, where = _text(source, "directory"), f"{path}.directory"
    report.expect(not directory.startswith("/"), where, "a relative path", directory)
    _check_steps(directory, where, report)


def _check_steps(text: str, path: str, report: Report) -> None:
    report.expect(".." not in text.split("/"), path, "a path without '..'", text)


def _check_nfs(source: JsonObject, path: str, report: Report) -> None:
    text = _text(source, "path")
    report.expect(text.startswith("/"), f"{path}.path", "an absolute path", text)


def _check_partition(source: msgspec.Struct, path: str, report: Report) -> None:
    partition = _value(source, "partition")
    assert isinstance(partition, int)
    report.in_range(partition, f"{path}.partition", 0, 255)


def _check_iscsi(source: ISCSIVolumeSource, path: str, report: Report) -> None:
    report.in_range(source.lun, f"{path}.lun", 0, _MAX_LUN)
    iqn = source.iqn
    is_name = any(iqn.startswith(k) and form.fullmatch(iqn) for k, form in _ISCSI_NAMES)
    if iqn and not is_name:
        expected = "a name such as iqn.2001-04.com.example:disk, eui... or naa..."
        report.expect(False, f"{path}.iqn", expected, iqn)


def _check_flocker(source: JsonObject, path: str, report: Report) -> None:
    name, uid = source.get("datasetName"), source.get("datasetUUID")
    if bool(name) is bool(uid):
        report.add(path, "expected either datasetName or datasetUUID")


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


def _accept(source: object, path: str, report: Report) -> None:
    """Accept any source."""


_COMMON_CHECKS: Final[Mapping[str, Check]] = {
    "host_path": _requires("path", then=_check_host_path),
    "gce_persistent_disk": _requires("pdName", then=_check_partition),
    "aws_elastic_block_store": _requires("volumeID", then=_check_partition),
    "nfs": _requires("server", "path", then=_check_nfs),
    "iscsi": _requires("targetPortal", "iqn", then=_check_iscsi),
    "glusterfs": _requires("endpoints", "path"),
    "flocker": _check_flocker,
    "rbd": _requires("monitors", "image"),
    "cinder": _requires("volumeID"),
    "cephfs": _requires("monitors"),
    "quobyte": _requires("registry", "volume"),
    "fc": _check_fc,
    "flex_volume": _requires("driver"),
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
    "secret": _requires("secretName"),
    "persistent_volume_claim": _requires("claimName"),
    "downward_api": _accept,
    "config_map": _requires("name"),
    "projected": _accept,
    "csi": _check_driver,
    "ephemeral": _requires("volumeClaimTemplate"),
    "image": _accept,
}
_PERSISTENT_CHECKS: Final[Mapping[str, Check]] = {
    **_COMMON_CHECKS,
    "local": _requires("path", then=_check_local),
    "csi": _requires("volumeHandle", then=_check_driver),
}
