"""Checks the fields of a pod's spec that objects do not keep.

Mirrors ``ValidatePodSpec`` and ``validateContainerCommon`` (Kubernetes v1.37,
``pkg/apis/core/validation/validation.go``); admission checks the fields that are kept.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from quaymaster._api.objects.part import Part
from quaymaster._api.objects.syntax import LABEL_KEY, SUBDOMAIN
from quaymaster._api.objects.unread.claims import check_claim_metadata
from quaymaster._api.objects.unread.environment import check_environment
from quaymaster._api.objects.unread.mounts import check_mounts
from quaymaster._api.objects.unread.network import check_network
from quaymaster._api.objects.unread.probes import check_hooks, check_probes
from quaymaster._api.objects.unread.profiles import check_annotated_profiles
from quaymaster._api.objects.unread.security import (
    check_container_context,
    check_pod_context,
)
from quaymaster._api.objects.unread.windows import check_host_processes, check_system

__all__ = ["check_pod_spec"]

_PULL_POLICIES: Final = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES: Final = ("FallbackToLogsOnError", "File")
_UNREAD: Final = frozenset(
    (
        "dnsPolicy",
        "dnsConfig",
        "ephemeralContainers",
        "hostAliases",
        "hostIPC",
        "hostPID",
        "hostname",
        "hostnameOverride",
        "os",
        "readinessGates",
        "securityContext",
        "serviceAccountName",
        "shareProcessNamespace",
        "subdomain",
    )
)
_UNREAD_OF_CONTAINERS: Final = frozenset(
    (
        "env",
        "envFrom",
        "imagePullPolicy",
        "lifecycle",
        "livenessProbe",
        "readinessProbe",
        "securityContext",
        "startupProbe",
        "terminationMessagePolicy",
        "volumeDevices",
        "volumeMounts",
    )
)


def check_pod_spec(
    spec: Part,
    *,
    annotations: Mapping[str, str],
    claims: Iterable[str] = (),
    allows_ephemeral: bool = False,
) -> None:
    """Check the spec of a new pod, or of a template.

    Args:
        spec: The spec.
        annotations: The annotations with profiles.
        claims: The claims of a StatefulSet, which become volumes of its pods.
        allows_ephemeral: Whether the pod may have ephemeral containers already.
    """
    if not (_has_unread_fields(spec.tree) or annotations):
        return
    containers = tuple(spec.parts("containers"))
    init_containers = tuple(spec.parts("initContainers"))
    volumes = _volumes_by_name(spec, claims)
    for container in containers:
        _check_container(container, spec, volumes, is_lasting=True)
    for container in init_containers:
        is_lasting = container.text("restartPolicy") == "Always"
        _check_container(container, spec, volumes, is_lasting=is_lasting)
    for volume in spec.parts("volumes"):
        check_claim_metadata(volume)
    everyone = (*init_containers, *containers)
    _check_spec(spec, everyone, allows_ephemeral=allows_ephemeral)
    if spec.tree.get("hostUsers") is False:
        _check_user_namespace(spec, everyone)
    if any("securityContext" in holder.tree for holder in (spec, *everyone)):
        check_host_processes(spec, everyone)
    if annotations:
        check_annotated_profiles(spec, everyone, annotations)


def _has_unread_fields(spec: Mapping[str, Any]) -> bool:
    """Return whether a spec has a field that is checked here.

    Most generated pods have none: this takes a fifth of the time of the checks.
    """
    if not _UNREAD.isdisjoint(spec):
        return True
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            if type(container) is dict and not _UNREAD_OF_CONTAINERS.isdisjoint(
                container
            ):
                return True
    return any(
        type(volume) is dict and volume.get("ephemeral") is not None
        for volume in spec.get("volumes") or ()
    )


def _volumes_by_name(
    spec: Part, claims: Iterable[str]
) -> Mapping[str, Mapping[str, Any]]:
    volumes = {volume.text("name"): volume.tree for volume in spec.parts("volumes")}
    return volumes | {name: {"persistentVolumeClaim": name} for name in claims}


def _check_container(
    container: Part,
    spec: Part,
    volumes: Mapping[str, Mapping[str, Any]],
    *,
    is_lasting: bool,
) -> None:
    for field, allowed in (
        ("terminationMessagePolicy", _MESSAGE_POLICIES),
        ("imagePullPolicy", _PULL_POLICIES),
    ):
        if container.text(field):
            container.one_of(field, *allowed)
    check_environment(container, volumes)
    check_mounts(container, volumes)
    check_container_context(container, spec)
    check_hooks(container, spec, allowed=is_lasting)
    check_probes(container, allowed=is_lasting)


def _check_spec(
    spec: Part, containers: tuple[Part, ...], *, allows_ephemeral: bool
) -> None:
    if spec.items("ephemeralContainers") and not allows_ephemeral:
        spec.add("ephemeralContainers", "expected none in a new pod or a template")
    check_pod_context(spec)
    if spec.is_true("hostPID") and spec.is_true("shareProcessNamespace"):
        spec.add("shareProcessNamespace", "expected false, since hostPID is true")
    for gate in spec.parts("readinessGates"):
        gate.report.formed(
            gate.text("conditionType"), LABEL_KEY, gate.at("conditionType")
        )
    check_network(spec)
    if spec.text("serviceAccountName"):
        name = spec.text("serviceAccountName")
        spec.report.formed(name, SUBDOMAIN, spec.at("serviceAccountName"))
    check_system(spec, containers)


def _check_user_namespace(spec: Part, containers: tuple[Part, ...]) -> None:
    reason = "since hostUsers is false"
    for field in ("hostPID", "hostIPC"):
        if spec.is_true(field):
            spec.add(field, f"expected false, {reason}")
    for container in containers:
        if container.items("volumeDevices"):
            container.add("volumeDevices", f"expected none, {reason}")
