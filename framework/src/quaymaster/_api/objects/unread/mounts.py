"""Checks which volumes containers mount, and which they use as devices.

Mirrors ``ValidateVolumeMounts`` and ``ValidateVolumeDevices`` (Kubernetes v1.37,
``pkg/apis/core/validation/validation.go``). As upstream, some paths lack the index of
the mount.
"""

from collections.abc import Mapping
from typing import Any, Final

from quaymaster._api.objects.file_paths import check_descending
from quaymaster._api.objects.part import Part

__all__ = ["check_mounts"]

_A_VOLUME: Final = "one of the pod's volumes"
_PROPAGATIONS: Final = ("Bidirectional", "HostToContainer", "None")
_READ_ONLY: Final = ("Disabled", "Enabled", "IfPossible")

Volumes = Mapping[str, Mapping[str, Any]]
"""The volumes of a pod by name."""


def check_mounts(container: Part, volumes: Volumes) -> None:
    """Check the mounts and devices of a container."""
    if container.has("volumeMounts"):
        devices = _paths(container, "volumeDevices", "devicePath")
        _check_mounts(container, volumes, devices)
    if container.has("volumeDevices"):
        mounts = _paths(container, "volumeMounts", "mountPath")
        _check_devices(container, volumes, mounts)


def _paths(container: Part, field: str, path: str) -> Mapping[str, str]:
    return {item.text("name"): item.text(path) for item in container.parts(field)}


def _check_mounts(
    container: Part, volumes: Volumes, devices: Mapping[str, str]
) -> None:
    places: set[str] = set()
    for mount in container.parts("volumeMounts"):
        name, place = mount.text("name"), mount.text("mountPath")
        mount.expect(name in volumes, "name", _A_VOLUME, name)
        mount.require("mountPath")
        mount.expect(place not in places, "mountPath", "a path of its own", place)
        places.add(place)
        _check_elsewhere(mount, "mountPath", devices, "volumeDevices")
        _check_sub_paths(mount, container)
        _check_propagation(mount, container)
        _check_recursion(mount, container)


def _check_elsewhere(
    use: Part, field: str, others: Mapping[str, str], where: str
) -> None:
    """Check that a volume and a path are not among mounts and devices."""
    name, place = use.text("name"), use.text(field)
    use.expect(name not in others, "name", f"a volume that is not in {where}", name)
    is_free = place not in others.values()
    use.expect(is_free, field, f"a path that is not in {where}", place)


def _check_sub_paths(mount: Part, container: Part) -> None:
    for field in ("subPath", "subPathExpr"):
        text = mount.text(field)
        if text:
            place = f"{container.at('volumeMounts')}.{field}"
            check_descending(text, place, mount.report)
    if mount.text("subPath") and mount.text("subPathExpr"):
        mount.add("subPathExpr", "expected none beside subPath")


def _check_propagation(mount: Part, container: Part) -> None:
    if not mount.has("mountPropagation"):
        return
    mode, path = mount.text("mountPropagation"), container.at("volumeMounts")
    path = f"{path}.mountPropagation"
    mount.report.one_of(mode, _PROPAGATIONS, path)
    context = container.part("securityContext")
    if mode == "Bidirectional" and not (context and context.is_true("privileged")):
        mount.report.expect(False, path, "a privileged container", mode)


def _check_recursion(mount: Part, container: Part) -> None:
    if not mount.has("recursiveReadOnly"):
        return
    mode = mount.text("recursiveReadOnly")
    path = f"{container.at('volumeMounts')}.recursiveReadOnly"
    mount.report.one_of(mode, _READ_ONLY, path)
    if mode in _READ_ONLY[1:]:
        is_plain = mount.text("mountPropagation") in ("", "None")
        mount.report.expect(mount.is_true("readOnly"), path, "a read-only mount", mode)
        mount.report.expect(is_plain, path, "no mountPropagation", mode)


def _check_devices(
    container: Part, volumes: Volumes, mounts: Mapping[str, str]
) -> None:
    names: set[str] = set()
    places: set[str] = set()
    for device in container.parts("volumeDevices"):
        name, place = device.text("name"), device.text("devicePath")
        device.expect(name not in names, "name", "a volume of its own", name)
        _check_volume(device, volumes.get(name))
        device.require("devicePath")
        device.expect(place not in places, "devicePath", "a path of its own", place)
        has_no_steps = ".." not in place.split("/")
        device.expect(has_no_steps, "devicePath", "a path without '..'", place)
        _check_elsewhere(device, "devicePath", mounts, "volumeMounts")
        names.add(name)
        places.add(place)


def _check_volume(device: Part, volume: Mapping[str, Any] | None) -> None:
    name = device.text("name")
    if volume is None:
        device.expect(False, "name", _A_VOLUME, name)
    elif not (volume.get("persistentVolumeClaim") or volume.get("ephemeral")):
        device.expect(False, "name", "a volume with a claim", name)
