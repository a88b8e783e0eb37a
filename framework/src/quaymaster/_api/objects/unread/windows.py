"""Checks what depends on the operating system of a pod.

Mirrors ``validateOS``, ``validateLinux``, ``validateWindows``,
``validateWindowsSecurityContextOptions`` and ``validateWindowsHostProcessPod``
(Kubernetes v1.37, ``pkg/apis/core/validation/validation.go``).
"""

import re
from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects.part import Part
from quaymaster._api.objects.syntax import SUBDOMAIN

__all__ = ["check_host_processes", "check_system", "check_windows_options"]

_NOT_OF_POD: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)
_NOT_OF_CONTAINER: Final = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)
_MAX_SPEC: Final = 64 * 1024
_MAX_DOMAIN: Final = 255
_MAX_USER: Final = 104
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_NET_BIOS: Final = re.compile(r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}')
_LABEL: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DOMAIN: Final = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_NO_USER: Final = re.compile(r"[. ]+")
_NOT_IN_USER: Final = re.compile(r'["/\\:;|=,+*?<>@\[\]]')


def check_system(spec: Part, containers: Sequence[Part]) -> None:
    """Check that a pod has no fields of another operating system than its own."""
    system = spec.part("os")
    if system is None:
        return
    name = system.text("name")
    system.report.one_of(name, ("linux", "windows"), system.at("name"))
    contexts = [context for c in containers if (context := c.part("securityContext"))]
    own = spec.part("securityContext")
    if name == "linux":
        for context in (*([own] if own else ()), *contexts):
            _forbid(context, ("windowsOptions",), name)
    elif name == "windows":
        if own is not None:
            _forbid(own, _NOT_OF_POD, name)
        _forbid(spec, ("hostUsers", "shareProcessNamespace"), name)
        for field in ("hostPID", "hostIPC"):
            if spec.is_true(field):
                spec.add(field, "expected false in a pod for windows")
        for context in contexts:
            _forbid(context, _NOT_OF_CONTAINER, name)


def check_windows_options(context: Part) -> None:
    """Check the Windows options of a security context."""
    options = context.part("windowsOptions")
    if options is None:
        return
    if options.has("gmsaCredentialSpecName"):
        name = options.text("gmsaCredentialSpecName")
        options.report.formed(name, SUBDOMAIN, options.at("gmsaCredentialSpecName"))
    if options.has("gmsaCredentialSpec"):
        size = len(options.text("gmsaCredentialSpec").encode())
        expected = f"1 to {_MAX_SPEC} bytes"
        options.expect(0 < size <= _MAX_SPEC, "gmsaCredentialSpec", expected, size)
    if options.has("runAsUserName"):
        name = options.text("runAsUserName")
        expected = "the name of a user such as domain\\user"
        options.expect(_is_user(name), "runAsUserName", expected, name)


def check_host_processes(spec: Part, containers: Sequence[Part]) -> None:
    """Check that all containers are host processes, on the host's network, or none."""
    own = _runs_on_host(spec)
    count = 0
    for container in containers:
        value = _runs_on_host(container)
        if own is not None and value is not None and own != value:
            path = container.at("securityContext.windowsOptions.hostProcess")
            container.report.expect(False, path, "that of the pod", value)
        count += (own if value is None else value) is True
    if not count:
        return
    if count != len(containers):
        message = "expected all containers to be host processes, or none"
        spec.report.add(spec.path, message)
    if not spec.is_true("hostNetwork"):
        spec.add("hostNetwork", "expected true, since containers are host processes")


def _forbid(part: Part, fields: Sequence[str], system: str) -> None:
    for field in fields:
        # As upstream, an empty list of sysctls is none.
        if part.has(field) and part.tree[field] != []:
            part.add(field, f"expected none in a pod for {system}")


def _runs_on_host(holder: Part) -> bool | None:
    context = holder.part("securityContext")
    options = context.part("windowsOptions") if context else None
    value = options.tree.get("hostProcess") if options else None
    return value if isinstance(value, bool) else None


def _is_user(text: str) -> bool:
    domain, backslash, user = text.rpartition("\\")
    if _CONTROL.search(text) or "\\" in domain:
        return False
    if backslash and not (
        len(domain) <= _MAX_DOMAIN
        and (_NET_BIOS.fullmatch(domain) or _DOMAIN.fullmatch(domain))
    ):
        return False
    return (
        0 < len(user) <= _MAX_USER
        and not _NO_USER.fullmatch(user)
        and not _NOT_IN_USER.search(user)
    )
