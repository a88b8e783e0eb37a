"""Checks the security contexts of pods and containers.

Mirrors ``validatePodSpecSecurityContext`` and ``ValidateSecurityContext`` (Kubernetes
v1.37, ``pkg/apis/core/validation/validation.go``). Privileged containers are accepted,
as by API servers with ``--allow-privileged``.
"""

import re
from typing import Final

from quaymaster._api.objects.part import Part
from quaymaster._api.objects.unread.profiles import check_profiles
from quaymaster._api.objects.unread.windows import check_windows_options

__all__ = ["check_container_context", "check_pod_context"]

_MAX_ID: Final = 2**31 - 1
_SEGMENT: Final = r"[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?"
_SYSCTL: Final = re.compile(rf"(?:{_SEGMENT}[./])*{_SEGMENT}", re.ASCII)
_MAX_SYSCTL: Final = 253
_IPC_NAMES: Final = frozenset(
    (
        "kernel.sem",
        "kernel.shm",
        "kernel.shmall",
        "kernel.shmmax",
        "kernel.shmmni",
        "kernel.shm_rmid_forced",
        "kernel.msg",
        "kernel.msgmax",
        "kernel.msgmnb",
        "kernel.msgmni",
    )
)


def check_pod_context(spec: Part) -> None:
    """Check the security context of a pod."""
    context = spec.part("securityContext")
    if context is None:
        return
    for field in ("fsGroup", "runAsUser", "runAsGroup"):
        context.in_range(field, 0, _MAX_ID)
    for index, group in enumerate(context.items("supplementalGroups")):
        if isinstance(group, int):
            path = f"{context.at('supplementalGroups')}[{index}]"
            context.report.in_range(group, path, 0, _MAX_ID)
    _check_sysctls(context, spec)
    context.one_of("fsGroupChangePolicy", "Always", "OnRootMismatch")
    check_profiles(context)
    check_windows_options(context)
    context.one_of("supplementalGroupsPolicy", "Merge", "Strict")
    context.one_of("seLinuxChangePolicy", "MountOption", "Recursive")


def check_container_context(container: Part, spec: Part) -> None:
    """Check the security context of a container."""
    context = container.part("securityContext")
    if context is None:
        return
    for field in ("runAsUser", "runAsGroup"):
        context.in_range(field, 0, _MAX_ID)
    context.one_of("procMount", "Default", "Unmasked")
    if context.text("procMount") == "Unmasked" and (
        spec.tree.get("hostUsers") is not False
    ):
        context.add("procMount", "expected Default unless the pod's hostUsers is false")
    check_profiles(context)
    if context.tree.get("allowPrivilegeEscalation") is False:
        _check_escalation(context)
    check_windows_options(context)


def _check_escalation(context: Part) -> None:
    """Check a container whose processes may not gain privileges."""
    reason = "since allowPrivilegeEscalation is false"
    capabilities = context.part("capabilities")
    if context.is_true("privileged"):
        context.report.add(context.path, f"expected no privileged container, {reason}")
    if capabilities and "CAP_SYS_ADMIN" in capabilities.items("add"):
        message = f"expected no capability CAP_SYS_ADMIN, {reason}"
        context.report.add(context.path, message)


def _check_sysctls(context: Part, spec: Part) -> None:
    names: set[str] = set()
    for sysctl in context.parts("sysctls"):
        name = sysctl.text("name")
        if len(name) > _MAX_SYSCTL or not _SYSCTL.fullmatch(name):
            expected = f"at most {_MAX_SYSCTL} characters such as net.core.somaxconn"
            sysctl.expect(False, "name", expected, name)
        else:
            sysctl.expect(name not in names, "name", "a name of its own", name)
        names.add(name)
        namespace = _namespace_of(name)
        if namespace and spec.is_true(namespace):
            expected = f"a name of another namespace, since {namespace} is true"
            sysctl.expect(False, "name", expected, name)


def _namespace_of(sysctl: str) -> str:
    """Return the field that decides whether a pod has a setting of its own."""
    dot, slash = sysctl.find("."), sysctl.find("/")
    if slash >= 0 and (dot < 0 or slash < dot):
        # With slashes as separators, dots are part of the names.
        sysctl = sysctl.translate(str.maketrans("./", "/."))
    if sysctl.startswith("net."):
        return "hostNetwork"
    if sysctl in _IPC_NAMES or sysctl.startswith("fs.mqueue."):
        return "hostIPC"
    return ""
