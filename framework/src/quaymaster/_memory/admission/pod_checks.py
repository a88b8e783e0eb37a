"""What is wrong with a pod, as far as it matters to scheduling.

Mirrors the parts of ``ValidatePodSpec`` (Kubernetes v1.36,
``pkg/apis/core/validation/validation.go``) that say what a scheduler may rely on. Names
are not held to the rules for DNS.
"""

from collections.abc import Iterable
from typing import Final

from quaymaster._memory.admission.placement_checks import (
    check_affinity,
    check_spreading,
)
from quaymaster._memory.admission.problems import Report
from quaymaster._memory.admission.resource_checks import (
    check_amounts,
    check_container_resources,
    check_pod_resources,
)
from quaymaster.objects import Container, ContainerPort, PodSpec, Toleration

__all__ = ["check_pod_spec", "check_toleration"]

_RESTART_POLICIES: Final = ("Always", "OnFailure", "Never")
_PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
_PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_MAX_PORT: Final = 65535


def check_pod_spec(spec: PodSpec) -> Report:
    """Everything that is wrong with a spec whose defaults are filled in."""
    report = Report()
    _check_containers(spec, report)
    check_pod_resources(spec, report)
    check_amounts(spec.overhead, "overhead", report)
    _check_policies(spec, report)
    for index, toleration in enumerate(spec.tolerations):
        check_toleration(toleration, f"tolerations[{index}]", report)
    if spec.affinity is not None:
        check_affinity(spec.affinity, report)
    check_spreading(spec.topology_spread_constraints, report)
    report.unique(
        (
            (f"schedulingGates[{index}].name", gate.name)
            for index, gate in enumerate(spec.scheduling_gates)
        ),
        "name",
    )
    return report


def _check_containers(spec: PodSpec, report: Report) -> None:
    if not spec.containers:
        report.add("containers", "expected at least one container, got none")
    named = [
        (f"{field}[{index}]", container)
        for field, group in (
            ("containers", spec.containers),
            ("initContainers", spec.init_containers),
        )
        for index, container in enumerate(group)
    ]
    for path, container in named:
        report.expect(bool(container.name), f"{path}.name", "a name", container.name)
        check_container_resources(container.resources, f"{path}.resources", report)
        _check_ports(container, spec.host_network, f"{path}.ports", report)
    names = [(f"{path}.name", c.name) for path, c in named if c.name]
    report.unique(names, "name")
    _check_host_ports(spec.containers, report)


def _check_ports(
    container: Container, host_network: bool, path: str, report: Report
) -> None:
    for index, port in enumerate(container.ports):
        where = f"{path}[{index}]"
        report.one_of(port.protocol, _PROTOCOLS, f"{where}.protocol")
        for field, number, least in (
            ("containerPort", port.container_port, 1),
            ("hostPort", port.host_port, 0),
        ):
            report.expect(
                least <= number <= _MAX_PORT,
                f"{where}.{field}",
                f"a port from 1 to {_MAX_PORT}",
                number,
            )
        if host_network:
            report.expect(
                port.host_port == port.container_port,
                f"{where}.hostPort",
                f"the container's port {port.container_port} (hostNetwork is on)",
                port.host_port,
            )


def _check_host_ports(containers: Iterable[Container], report: Report) -> None:
    def name(port: ContainerPort) -> str:
        address = f"{port.host_ip}:" if port.host_ip else ""
        return f"{address}{port.host_port}/{port.protocol}"

    report.unique(
        (
            (f"containers[{i}].ports[{j}].hostPort", name(port))
            for i, container in enumerate(containers)
            for j, port in enumerate(container.ports)
            if port.host_port
        ),
        "host port",
    )


def _check_policies(spec: PodSpec, report: Report) -> None:
    report.one_of(spec.restart_policy, _RESTART_POLICIES, "restartPolicy")
    if spec.preemption_policy is not None:
        report.one_of(spec.preemption_policy, _PREEMPTION_POLICIES, "preemptionPolicy")
    grace = spec.termination_grace_period_seconds
    if grace is not None:
        path = "terminationGracePeriodSeconds"
        report.expect(grace >= 0, path, "a number of at least 0", grace)


def check_toleration(toleration: Toleration, path: str, report: Report) -> None:
    """Operator, key, value and effect must go together."""
    operator = toleration.operator
    if operator not in ("", "Equal", "Exists"):
        # Lt and Gt are behind a feature gate that is off by default in 1.36.
        report.one_of(operator, ("Equal", "Exists"), f"{path}.operator")
    elif not toleration.key and operator != "Exists":
        report.expect(
            False, f"{path}.operator", "Exists, since there is no key", operator
        )
    elif operator == "Exists" and toleration.value:
        report.expect(
            False, f"{path}.value", "no value, since it is Exists", toleration.value
        )
    report.one_of(toleration.effect, ("", *_EFFECTS), f"{path}.effect")
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        report.expect(
            False,
            f"{path}.effect",
            "NoExecute, since there are tolerationSeconds",
            toleration.effect,
        )
