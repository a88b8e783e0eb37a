"""Checks the containers of a pod.

Mirrors ``validateContainers`` and ``validateInitContainers`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``), as far as scheduling reads containers.
"""

from collections.abc import Iterable
from typing import Final

from quaymaster._api.objects import Container, PodSpec
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.syntax import DNS_LABEL, PORT_NAME
from quaymaster._clusters.inmemory.admission.resource_checks import (
    check_container_resources,
)

__all__ = ["check_containers", "check_images"]

_PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
_RESTART_POLICIES: Final = ("Always", "Never", "OnFailure")
_RESTART_ACTIONS: Final = ("Restart", "RestartAllContainers")
_RESIZES: Final = ("NotRequired", "RestartContainer")
_MAX_RULES: Final = 20
_MAX_EXIT_CODES: Final = 255
_MAX_PORT: Final = 65535


def check_containers(spec: PodSpec, report: Report) -> None:
    """Check the containers and init containers of a spec."""
    if not spec.containers:
        report.add("containers", "expected at least one container, got none")
    # Containers and init containers share one set of names: the kubelet keys their
    # state and logs by name alone.
    claims = frozenset(claim.name for claim in spec.resource_claims)
    names = []
    for field, group in (
        ("containers", spec.containers),
        ("initContainers", spec.init_containers),
    ):
        for index, container in enumerate(group):
            path = f"{field}[{index}]"
            _check_container(container, path, report)
            resources = container.resources
            check_container_resources(resources, claims, f"{path}.resources", report)
            _check_resize_policy(container, spec.restart_policy, path, report)
            if container.name:
                names.append((f"{path}.name", container.name))
    report.unique(names, "name")
    # Containers run together, so one port of the host is enough for a conflict among
    # all.
    _check_host_ports(spec.containers, "containers", report)
    for index, container in enumerate(spec.init_containers):
        # They run one by one. Upstream checks each alone, so paths have index 0.
        _check_host_ports((container,), "initContainers", report)
        _check_plain_resizes(container, f"initContainers[{index}]", report)


def check_images(spec: PodSpec, report: Report) -> None:
    """Check the images of a pod, which have no rules in templates."""
    for field, group in (
        ("containers", spec.containers),
        ("initContainers", spec.init_containers),
    ):
        for index, container in enumerate(group):
            image = container.image
            path = f"{field}[{index}].image"
            report.expect(image == image.strip(), path, "no space around it", image)
    for index, volume in enumerate(spec.volumes):
        if volume.image is not None and not volume.image.reference:
            path = f"volumes[{index}].image.reference"
            report.add(path, "expected an image, got none")


def _check_container(container: Container, path: str, report: Report) -> None:
    report.named(container.name, DNS_LABEL, f"{path}.name")
    if not container.image:
        report.add(f"{path}.image", "expected an image, got none")
    _check_ports(container, f"{path}.ports", report)
    _check_restarts(container, path, report)
    _check_probes(container, path, report)


def _check_ports(container: Container, path: str, report: Report) -> None:
    names = []
    for index, port in enumerate(container.ports):
        where = f"{path}[{index}]"
        if port.name:
            report.formed(port.name, PORT_NAME, f"{where}.name")
            names.append((f"{where}.name", port.name))
        report.one_of(port.protocol, _PROTOCOLS, f"{where}.protocol")
        _check_port(port.container_port, f"{where}.containerPort", report)
        if port.host_port:
            _check_port(port.host_port, f"{where}.hostPort", report)
    report.unique(names, "name")


def _check_probes(container: Container, path: str, report: Report) -> None:
    for field, probe in (
        ("readinessProbe", container.readiness_probe),
        ("startupProbe", container.startup_probe),
    ):
        if probe is None:
            continue
        for name, number in (
            ("initialDelaySeconds", probe.initial_delay_seconds),
            ("periodSeconds", probe.period_seconds),
            ("successThreshold", probe.success_threshold),
            ("failureThreshold", probe.failure_threshold),
        ):
            report.at_least(number, f"{path}.{field}.{name}")
        # A startup probe ends at its first success; a larger threshold could never be
        # counted.
        if field == "startupProbe" and probe.successes > 1:
            where = f"{path}.{field}.successThreshold"
            report.expect(False, where, "1", probe.success_threshold)


def _check_port(number: int, path: str, report: Report) -> None:
    is_port = 1 <= number <= _MAX_PORT
    report.expect(is_port, path, f"a port from 1 to {_MAX_PORT}", number)


def _check_host_ports(
    containers: Iterable[Container], path: str, report: Report
) -> None:
    report.unique(
        (
            (
                f"{path}[{i}].ports[{j}].hostPort",
                # The protocol and the address are part of the key: TCP 53 and UDP 53 go
                # together.
                f"{port.protocol}/{port.host_ip}/{port.host_port}",
            )
            for i, container in enumerate(containers)
            for j, port in enumerate(container.ports)
            if port.host_port
        ),
        "host port",
    )


def _check_restarts(container: Container, path: str, report: Report) -> None:
    policy, rules = container.restart_policy, container.restart_policy_rules
    where = f"{path}.restartPolicy"
    if policy is not None:
        report.one_of(policy, _RESTART_POLICIES, where)
    elif rules:
        report.add(where, "expected one beside restartPolicyRules, got none")
    if len(rules) > _MAX_RULES:
        message = f"expected at most {_MAX_RULES} rules, got {len(rules)}"
        report.add(f"{path}.restartPolicyRules", message)
    for index, rule in enumerate(rules):
        inside = f"{path}.restartPolicyRules[{index}]"
        report.one_of(rule.action, _RESTART_ACTIONS, f"{inside}.action")
        codes = rule.exit_codes
        if codes is None:
            report.add(f"{inside}.exitCodes", "expected exit codes, got none")
            continue
        operators = ("In", "NotIn")
        report.one_of(codes.operator, operators, f"{inside}.exitCodes.operator")
        if len(codes.values) > _MAX_EXIT_CODES:
            message = f"expected at most {_MAX_EXIT_CODES}, got {len(codes.values)}"
            report.add(f"{inside}.exitCodes.values", message)


def _check_resize_policy(
    container: Container, restart_policy: str, path: str, report: Report
) -> None:
    where = f"{path}.resizePolicy"
    names = []
    for index, policy in enumerate(container.resize_policy):
        names.append((f"{where}[{index}]", policy.resource_name))
        report.one_of(policy.resource_name, ("cpu", "memory"), where)
        # A pod that never restarts containers cannot restart one for a resize either.
        allowed = _RESIZES[:1] if restart_policy == "Never" else _RESIZES
        report.one_of(policy.restart_policy, allowed, where)
    report.unique(names, "resource")


def _check_plain_resizes(container: Container, path: str, report: Report) -> None:
    """Check that no init container that ends would be restarted by a resize."""
    if container.is_sidecar:
        return
    for index, policy in enumerate(container.resize_policy):
        if policy.restart_policy == "RestartContainer":
            where = f"{path}.resizePolicy[{index}].restartPolicy"
            report.add(where, "expected NotRequired, since it is no sidecar")
