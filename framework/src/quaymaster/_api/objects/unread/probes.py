"""Checks the probes and hooks of containers.

Mirrors ``validateProbe``, ``validateLifecycle`` and ``validateHandler`` (Kubernetes
v1.37, ``pkg/apis/core/validation/validation.go``). The numbers of readiness and startup
probes are kept, so admission checks them.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from quaymaster._api.objects.part import Part
from quaymaster._api.objects.syntax import PORT_NAME

__all__ = ["check_hooks", "check_probes"]

_HEADER: Final = re.compile(r"[-A-Za-z0-9]+", re.ASCII)
_ONLY_SIDECARS: Final = (
    "expected none in an init container without restartPolicy Always"
)
_MAX_PORT: Final = 65535
_MAX_NUMBER: Final = 2**31 - 1
_DEFAULT_GRACE: Final = 30
_NUMBERS: Final = (
    "initialDelaySeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")


def check_probes(container: Part, *, allowed: bool) -> None:
    """Check the probes of a container.

    Args:
        container: The container.
        allowed: Whether it may have probes.
    """
    for field in _PROBES:
        probe = container.part(field)
        if probe is None:
            continue
        if not allowed:
            container.add(field, _ONLY_SIDECARS)
            continue
        _check_handler(probe, ("exec", "httpGet", "tcpSocket", "grpc"), None)
        probe.report.at_least(
            probe.number("timeoutSeconds"), probe.at("timeoutSeconds")
        )
        if field == "livenessProbe":
            _check_liveness(probe)
        grace = probe.number("terminationGracePeriodSeconds")
        if grace is not None:
            is_allowed = field != "readinessProbe" and grace > 0
            expected = "none" if field == "readinessProbe" else "a number above 0"
            probe.expect(is_allowed, "terminationGracePeriodSeconds", expected, grace)


def check_hooks(container: Part, spec: Part, *, allowed: bool) -> None:
    """Check the hooks of a container.

    Args:
        container: The container.
        spec: The spec of its pod.
        allowed: Whether it may have hooks.
    """
    hooks = container.part("lifecycle")
    if hooks is None:
        return
    if not allowed:
        container.add("lifecycle", _ONLY_SIDECARS)
        return
    grace = spec.number("terminationGracePeriodSeconds")
    grace = _DEFAULT_GRACE if grace is None else grace
    for field in ("postStart", "preStop"):
        hook = hooks.part(field)
        if hook is not None:
            # As upstream, a negative grace period becomes 1 second.
            seconds = 1 if grace < 0 else grace
            _check_handler(hook, ("exec", "httpGet", "tcpSocket", "sleep"), seconds)


def _check_liveness(probe: Part) -> None:
    for field in _NUMBERS:
        probe.in_range(field, 0, _MAX_NUMBER)
    threshold = probe.number("successThreshold")
    if threshold not in (None, 0, 1):
        probe.expect(False, "successThreshold", "1", threshold)


def _check_handler(holder: Part, kinds: tuple[str, ...], grace: int | None) -> None:
    actions = [action for kind in kinds if (action := holder.part(kind)) is not None]
    if not actions:
        message = f"expected {', '.join(kinds[:-1])} or {kinds[-1]}, got none"
        holder.report.add(holder.path, message)
        return
    first, *others = actions
    kind = first.path.rpartition(".")[2]
    if kind == "sleep":
        _check_sleep(first, grace)
    else:
        _ACTIONS[kind](first)
    for other in others:
        other.report.add(other.path, f"expected one action, but {kind} is another")


def _check_sleep(action: Part, grace: int | None) -> None:
    seconds = action.number("seconds") or 0
    if grace is not None and not 0 <= seconds <= grace:
        expected = f"from 0 to the pod's grace period, {grace}"
        action.report.expect(False, action.path, expected, seconds)


def _check_exec(action: Part) -> None:
    if not action.items("command"):
        action.add("command", "expected a command, got none")


def _check_http(action: Part) -> None:
    _check_port(action)
    if action.text("scheme"):
        action.one_of("scheme", "HTTP", "HTTPS")
    for header in action.parts("httpHeaders"):
        name = header.text("name")
        expected = "a name of letters, digits and '-'"
        action.expect(bool(_HEADER.fullmatch(name)), "httpHeaders", expected, name)


def _check_port(action: Part) -> None:
    """Check a port by its number or its name."""
    name = action.text("port")
    if name:
        action.report.formed(name, PORT_NAME, action.at("port"))
        return
    number = action.number("port") or 0
    is_port = 1 <= number <= _MAX_PORT
    action.expect(is_port, "port", f"a name, or a port from 1 to {_MAX_PORT}", number)


_ACTIONS: Final[Mapping[str, Callable[[Part], None]]] = {
    "exec": _check_exec,
    "httpGet": _check_http,
    "tcpSocket": _check_port,
    "grpc": _check_port,
}
