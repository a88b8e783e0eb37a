"""Checks the volumes that are files: of secrets, config maps and a pod's own fields.

Mirrors ``validateSecretVolumeSource``, ``validateConfigMapVolumeSource`` and
``validateDownwardAPIVolumeSource`` (Kubernetes v1.37,
``pkg/apis/core/validation/validation.go``).
"""

from typing import Final

from quaymaster._api.objects.downward import (
    check_field_reference,
    check_resource_reference,
)
from quaymaster._api.objects.file_paths import check_file
from quaymaster._api.objects.part import Part
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.volumes import JsonObject

__all__ = [
    "check_downward_file",
    "check_downward_files",
    "check_file_items",
    "check_item",
    "check_mode",
]

_MAX_MODE: Final = 0o777
_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.labels",
    "metadata.annotations",
    "metadata.uid",
)


def check_file_items(source: JsonObject, path: str, report: Report) -> None:
    """Check the modes and items of a secret or config map."""
    part = Part(source, path, report)
    check_mode(part, "defaultMode")
    for item in part.parts("items"):
        check_item(item)


def check_item(item: Part) -> None:
    """Check a key, and the path and mode of its file."""
    item.require("key", "path")
    check_file(item.text("path"), item.at("path"), item.report)
    check_mode(item, "mode")


def check_mode(part: Part, field: str) -> None:
    """Check the mode of a file, or the default one."""
    mode = part.number(field)
    if mode is not None and not 0 <= mode <= _MAX_MODE:
        part.expect(False, field, "a mode from 0 to 0777", oct(mode))


def check_downward_files(source: JsonObject, path: str, report: Report) -> None:
    """Check the mode and files of a volume with fields of its pod."""
    part = Part(source, path, report)
    check_mode(part, "defaultMode")
    for file in part.parts("items"):
        # As upstream, the paths of problems do not have the file's index.
        check_downward_file(Part(file.tree, path, report))


def check_downward_file(file: Part) -> None:
    """Check the path and mode of a file, and what it contains."""
    file.require("path")
    check_file(file.text("path"), file.at("path"), file.report)
    field, resource = file.part("fieldRef"), file.part("resourceFieldRef")
    if field is not None:
        check_field_reference(field, _FIELDS)
    elif resource is not None:
        check_resource_reference(resource, names_container=True)
    # Exactly one: neither and both are the same mistake for the user, with one message.
    if (field is None) is (resource is None):
        message = "expected either fieldRef or resourceFieldRef"
        file.report.add(file.path, message)
    check_mode(file, "mode")
