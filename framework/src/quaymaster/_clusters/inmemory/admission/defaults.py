"""Defaults: what an API server fills into objects before it stores them.

Mirrors ``pkg/apis/core/v1/defaults.go``, ``pkg/apis/apps/v1/defaults.go``,
``pkg/apis/batch/v1/defaults.go`` and
``plugin/pkg/admission/defaulttolerationseconds`` (Kubernetes v1.36).
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Container,
    ContainerPort,
    Pod,
    PodSpec,
    ResourceRequirements,
    Toleration,
)
from quaymaster._api.objects.pod_requests import pod_request_list
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.resource_names import is_overcommit_allowed
from quaymaster._clusters.inmemory.admission.rounding import round_amounts
from quaymaster._clusters.inmemory.admission.volume_defaults import default_volume

__all__ = [
    "container_limits",
    "default_pod_spec",
    "default_template_spec",
]

_HUGE_PAGES: Final = "hugepages-"
_DEFAULT_TOLERATIONS: Final = tuple(
    Toleration(
        key=f"node.kubernetes.io/{trouble}",
        operator="Exists",
        effect="NoExecute",
        toleration_seconds=300,
    )
    for trouble in ("not-ready", "unreachable")
)


def default_template_spec(spec: PodSpec) -> PodSpec:
    """The pod spec of a template, with its defaults filled in."""
    resources = spec.resources
    return replace(
        spec,
        volumes=tuple(map(default_volume, spec.volumes)),
        containers=tuple(map(_container, spec.containers)),
        init_containers=tuple(map(_container, spec.init_containers)),
        restart_policy=spec.restart_policy or "Always",
        termination_grace_period_seconds=_grace(spec.termination_grace_period_seconds),
        scheduler_name=spec.scheduler_name or "default-scheduler",
        overhead=round_amounts(spec.overhead),
        resources=None if resources is None else _round(resources),
    )


def default_pod_spec(spec: PodSpec) -> PodSpec:
    """The spec of a pod, with all defaults that follow from the spec itself."""
    spec = default_template_spec(spec)
    spec = replace(
        spec,
        containers=tuple(_requesting(c, spec) for c in spec.containers),
        init_containers=tuple(_requesting(c, spec) for c in spec.init_containers),
        tolerations=_tolerations(spec.tolerations),
    )
    if spec.resources is not None:
        spec = replace(spec, resources=_pod_level(spec, spec.resources))
    return spec


def _container(container: Container) -> Container:
    return replace(
        container,
        ports=tuple(map(_port, container.ports)),
        resources=_round(container.resources),
    )


def _grace(seconds: int | None) -> int:
    """The grace period of a pod; as upstream, one below 0 becomes 1 second."""
    if seconds is None:
        return 30
    return 1 if seconds < 0 else seconds


def _round(resources: ResourceRequirements) -> ResourceRequirements:
    return replace(
        resources,
        requests=round_amounts(resources.requests),
        limits=round_amounts(resources.limits),
    )


def _port(port: ContainerPort) -> ContainerPort:
    return port if port.protocol else replace(port, protocol="TCP")


def _requesting(container: Container, spec: PodSpec) -> Container:
    """The container with requests from its limits, and ports of a host's network."""
    resources = container.resources
    if resources.limits.keys() - resources.requests.keys():
        requests = {**resources.limits, **resources.requests}
        resources = replace(resources, requests=requests)
        container = replace(container, resources=resources)
    if spec.host_network:
        ports = tuple(
            port if port.host_port else replace(port, host_port=port.container_port)
            for port in container.ports
        )
        container = replace(container, ports=ports)
    return container


def _tolerations(tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """The tolerations, completed by those for lost nodes, which hold five minutes."""
    missing = (
        default
        for default in _DEFAULT_TOLERATIONS
        if not any(
            own.key in ("", default.key) and own.effect in ("", "NoExecute")
            for own in tolerations
        )
    )
    return (*tolerations, *missing)


def _pod_level(spec: PodSpec, resources: ResourceRequirements) -> ResourceRequirements:
    """The resources of the pod as a whole, completed by those of its containers."""
    limits, requests = dict(resources.limits), dict(resources.requests)
    if limits or requests:
        for name, amount in container_limits(spec).items():
            if name.startswith(_HUGE_PAGES) and name not in requests:
                limits.setdefault(name, amount)
    if limits:
        own = pod_request_list(Pod(spec=spec), pod_level=False, overhead=False)
        usual = {k: v for k, v in own.items() if is_overcommit_allowed(k)}
        _complete(requests, usual)
        _complete(requests, limits)
    return replace(resources, limits=limits, requests=requests)


def _complete(amounts: ResourceList, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        if name in ("cpu", "memory") or name.startswith(_HUGE_PAGES):
            amounts.setdefault(name, amount)


def container_limits(spec: PodSpec) -> ResourceList:
    """The sum of all containers' limits, by the same rule as that of their requests."""

    def limiting(container: Container) -> Container:
        limits = ResourceRequirements(requests=container.resources.limits)
        return replace(container, resources=limits)

    limited = PodSpec(
        containers=tuple(map(limiting, spec.containers)),
        init_containers=tuple(map(limiting, spec.init_containers)),
    )
    return pod_request_list(Pod(spec=limited), pod_level=False, overhead=False)
