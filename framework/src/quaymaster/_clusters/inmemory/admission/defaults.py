"""Defaults: what an API server fills into objects before it stores them.

Mirrors ``pkg/apis/core/v1/defaults.go``, ``pkg/apis/apps/v1/defaults.go``,
``pkg/apis/batch/v1/defaults.go`` and
``plugin/pkg/admission/defaulttolerationseconds`` (Kubernetes v1.36).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    Container,
    ContainerPort,
    Lifecycle,
    PodSpec,
    Probe,
    ResourceRequirements,
    Toleration,
)
from quaymaster._api.objects.volumes import JsonObject
from quaymaster._clusters.inmemory.admission.pull_policies import default_pull_policy
from quaymaster._clusters.inmemory.admission.rounding import round_amounts
from quaymaster._clusters.inmemory.admission.volume_defaults import (
    default_volume,
)

__all__ = ["default_pod_spec", "default_template_spec"]

_GRACE_SECONDS: Final = 30
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
    """Return the pod spec of a template, with its defaults filled in."""
    resources = spec.resources
    return replace(
        spec,
        volumes=tuple(map(default_volume, spec.volumes)),
        containers=tuple(map(_container, spec.containers)),
        init_containers=tuple(map(_container, spec.init_containers)),
        restart_policy=spec.restart_policy or "Always",
        termination_grace_period_seconds=(
            _GRACE_SECONDS
            if spec.termination_grace_period_seconds is None
            else spec.termination_grace_period_seconds
        ),
        scheduler_name=spec.scheduler_name or "default-scheduler",
        overhead=round_amounts(spec.overhead),
        resources=None if resources is None else _round(resources),
    )


def default_pod_spec(spec: PodSpec) -> PodSpec:
    """Return the spec of a pod, with all defaults except the pod's own resources."""
    # Templates have neither requests from limits, nor tolerations, nor host ports:
    # upstream puts them into pods alone (``SetDefaults_Pod``), so that a new default
    # does not change the hash of stored templates and restart their pods. They also
    # keep a negative grace period, which becomes 1 second in pods.
    given = spec.termination_grace_period_seconds
    spec = default_template_spec(spec)
    return replace(
        spec,
        termination_grace_period_seconds=(
            1
            if given is not None and given < 0
            else spec.termination_grace_period_seconds
        ),
        containers=tuple(_requesting(c, spec) for c in spec.containers),
        init_containers=tuple(_requesting(c, spec) for c in spec.init_containers),
        tolerations=_tolerations(spec.tolerations),
    )


def _container(container: Container) -> Container:
    return replace(
        container,
        image_pull_policy=(
            container.image_pull_policy or default_pull_policy(container.image)
        ),
        ports=tuple(map(_port, container.ports)),
        resources=_round(container.resources),
        readiness_probe=_probe(container.readiness_probe),
        startup_probe=_probe(container.startup_probe),
        lifecycle=_lifecycle(container.lifecycle),
    )


def _probe(probe: Probe | None) -> Probe | None:
    if probe is None:
        return None
    # Explicit zeros count as unset, as in Go, where both are the zero value.
    return replace(
        probe,
        period_seconds=probe.period,
        success_threshold=probe.successes,
        failure_threshold=probe.failures,
        http_get=_request(probe.http_get),
    )


def _lifecycle(lifecycle: Lifecycle | None) -> Lifecycle | None:
    hook = lifecycle.pre_stop if lifecycle is not None else None
    if lifecycle is None or hook is None or hook.http_get is None:
        return lifecycle
    hook = replace(hook, http_get=_request(hook.http_get))
    return replace(lifecycle, pre_stop=hook)


def _request(action: JsonObject | None) -> JsonObject | None:
    """Return an HTTP request, with its path and scheme."""
    if action is None:
        return None
    # A null in YAML is a field that is not set; it must not survive beside the default.
    fields = {name: value for name, value in action.items() if value is not None}
    path, scheme = fields.get("path") or "/", fields.get("scheme") or "HTTP"
    return {**fields, "path": path, "scheme": scheme}


def _round(resources: ResourceRequirements) -> ResourceRequirements:
    return replace(
        resources,
        requests=round_amounts(resources.requests),
        limits=round_amounts(resources.limits),
    )


def _port(port: ContainerPort) -> ContainerPort:
    return port if port.protocol else replace(port, protocol="TCP")


def _requesting(container: Container, spec: PodSpec) -> Container:
    """Return the container with requests from its limits, and its host ports."""
    resources = container.resources
    # Per resource: a container with a limit of memory and a request of cpu gets a
    # request of memory.
    if resources.limits.keys() - resources.requests.keys():
        requests = {**resources.limits, **resources.requests}
        resources = replace(resources, requests=requests)
        container = replace(container, resources=resources)
    # The scheduler's NodePorts plugin reads only host ports, so two pods of a host
    # network would share a port on one node without this default.
    if spec.host_network:
        ports = tuple(
            port if port.host_port else replace(port, host_port=port.container_port)
            for port in container.ports
        )
        container = replace(container, ports=ports)
    return container


def _tolerations(tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """Return the tolerations, and those for lost nodes, which hold five minutes."""
    missing = (
        default
        for default in _DEFAULT_TOLERATIONS
        if not any(
            # An empty key tolerates each taint, and an empty effect each effect. The
            # operator and the value are not compared, as in the plugin.
            own.key in ("", default.key) and own.effect in ("", "NoExecute")
            for own in tolerations
        )
    )
    return (*tolerations, *missing)
