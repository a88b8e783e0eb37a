"""Checks the environment of containers.

Mirrors ``ValidateEnv``, ``ValidateEnvFrom`` and ``validateFileKeyRefVolumes``
(Kubernetes v1.37, ``pkg/apis/core/validation/validation.go``).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from quaymaster._api.objects.downward import (
    check_field_reference,
    check_resource_reference,
)
from quaymaster._api.objects.file_paths import check_steps
from quaymaster._api.objects.part import Part
from quaymaster._api.objects.syntax import DNS_LABEL, SUBDOMAIN, as_prefix

__all__ = ["check_environment"]

_NAME: Final = re.compile(r"[ -<>-~]+", re.ASCII)
_NAME_FORM: Final = "a name of printable characters other than '='"
_KEY: Final = re.compile(r"(?!\.\.)(?!\.$)[-._a-zA-Z0-9]{1,253}", re.ASCII)
_KEY_FORM: Final = "at most 253 letters, digits, '-', '_' and '.'"
_FIELDS: Final = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_SOURCES: Final = (
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
)

Volumes = Mapping[str, Mapping[str, Any]]
"""The volumes of a pod by name."""


def check_environment(container: Part, volumes: Volumes) -> None:
    """Check the variables of a container, one by one and from maps and secrets."""
    for variable in container.parts("env"):
        name = variable.text("name")
        variable.expect(bool(_NAME.fullmatch(name)), "name", _NAME_FORM, name)
        origin = variable.part("valueFrom")
        if origin is not None:
            _check_origin(variable, origin, volumes)
    for source in container.parts("envFrom"):
        _check_source(source, container)


def _check_origin(variable: Part, origin: Part, volumes: Volumes) -> None:
    sources = [part for name in _SOURCES if (part := origin.part(name)) is not None]
    for source in sources:
        kind = source.path.rpartition(".")[2]
        if kind == "fieldRef":
            check_field_reference(source, _FIELDS)
        elif kind == "resourceFieldRef":
            check_resource_reference(source, names_container=False)
        elif kind == "fileKeyRef":
            _check_file_key(source, volumes)
        else:
            source.report.named(source.text("name"), SUBDOMAIN, source.at("name"))
            key = source.text("key")
            source.expect(bool(_KEY.fullmatch(key)), "key", _KEY_FORM, key)
    if len(sources) != 1:
        message = f"expected one of {', '.join(_SOURCES)}, got {len(sources)} of them"
        variable.add("valueFrom", message)
    elif variable.text("value"):
        variable.add("valueFrom", "expected none beside a value")


def _check_file_key(source: Part, volumes: Volumes) -> None:
    key, name = source.text("key"), source.text("volumeName")
    source.expect(bool(_NAME.fullmatch(key)), "key", _NAME_FORM, key)
    source.report.named(name, DNS_LABEL, source.at("volumeName"))
    source.require("path")
    check_steps(source.text("path"), source.at("path"), source.report)
    volume = volumes.get(name)
    if volume is None:
        source.expect(False, "volumeName", "one of the pod's volumes", name)
    elif volume.get("emptyDir") is None and len(volume) > 1:
        source.expect(False, "volumeName", "a volume that is an emptyDir", name)


def _check_source(source: Part, container: Part) -> None:
    prefix = source.text("prefix")
    if prefix:
        source.expect(bool(_NAME.fullmatch(prefix)), "prefix", _NAME_FORM, prefix)
    names = ("configMapRef", "secretRef")
    references = [part for name in names if (part := source.part(name)) is not None]
    for reference in references:
        # As upstream, the name may end with a dash, like that of a generated name.
        name = as_prefix(reference.text("name"))
        reference.report.named(name, SUBDOMAIN, reference.at("name"))
    if len(references) != 1:
        got = "both" if references else "none"
        container.add("envFrom", f"expected one of {' and '.join(names)}, got {got}")
