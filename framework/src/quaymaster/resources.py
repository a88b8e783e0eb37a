"""What pods request and nodes offer, in the integers that scheduling counts with.

CPU is in millicores; memory, storage and huge pages are in bytes; everything else is a
plain number. Sums are made of exact quantities and rounded up once, at the end.

Mirrors ``component-helpers/resource/helpers.go`` (Kubernetes v1.36), and ``Resource``
and ``CalculateResource`` in ``pkg/scheduler/framework/types.go``, with the feature
gates at their defaults. Whatever follows from a spec alone is computed once per
`PodSpec` and kept on it, so treat every result as read-only.
"""

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec.structs import replace

from quaymaster.objects import (
    Container,
    ContainerPort,
    ContainerStatus,
    Node,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    SpecKey,
)
from quaymaster.quantity import Quantity, ResourceList

__all__ = [
    "DEFAULT_MEMORY_REQUEST",
    "DEFAULT_MILLI_CPU_REQUEST",
    "PodUsage",
    "Resources",
    "host_ports",
    "is_extended_resource",
    "is_overcommit_allowed",
    "is_scalar_resource",
    "node_allocatable",
    "pod_limit_list",
    "pod_request_list",
    "pod_requests",
    "pod_usage",
    "score_requests",
]

DEFAULT_MILLI_CPU_REQUEST: Final = 100
"""What a container that requests no CPU counts with, where zero is not wanted."""

DEFAULT_MEMORY_REQUEST: Final = 200 * 1024 * 1024
"""What a container that requests no memory counts with, where zero is not wanted."""

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"

_HUGE_PAGES: Final = "hugepages-"
_NON_ZERO_DEFAULTS: Final[ResourceList] = {
    CPU: Quantity.from_milli(DEFAULT_MILLI_CPU_REQUEST),
    MEMORY: Quantity(DEFAULT_MEMORY_REQUEST),
}
_ZERO: Final = Quantity(0)
_QUALIFIED_NAME: Final = re.compile(
    r"(?P<prefix>[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)"
    r"/(?P<name>[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)",
    re.ASCII,
)


class Resources:
    """Amounts of resources, as plain integers.

    Attributes:
        milli_cpu: In millicores.
        memory: In bytes.
        ephemeral_storage: In bytes.
        allowed_pods: How many pods a node may have; 0 for pods.
        scalars: Extended resources, huge pages and attachable volumes, by name.
    """

    __slots__ = ("allowed_pods", "ephemeral_storage", "memory", "milli_cpu", "scalars")

    def __init__(
        self,
        *,
        milli_cpu: int = 0,
        memory: int = 0,
        ephemeral_storage: int = 0,
        allowed_pods: int = 0,
        scalars: Mapping[str, int] | None = None,
    ) -> None:
        self.milli_cpu = milli_cpu
        self.memory = memory
        self.ephemeral_storage = ephemeral_storage
        self.allowed_pods = allowed_pods
        self.scalars: dict[str, int] = dict(scalars) if scalars else {}

    @classmethod
    def from_list(cls, amounts: Mapping[str, Quantity]) -> "Resources":
        """Round a resource list up to integers; names that are no resource are lost."""
        resources = cls()
        for name, quantity in amounts.items():
            if name == CPU:
                resources.milli_cpu = quantity.milli_value
            elif name == MEMORY:
                resources.memory = quantity.value
            elif name == EPHEMERAL_STORAGE:
                resources.ephemeral_storage = quantity.value
            elif name == PODS:
                resources.allowed_pods = quantity.value
            elif is_scalar_resource(name):
                resources.scalars[name] = quantity.value
        return resources

    def get(self, name: str) -> int:
        """The amount of a resource by its Kubernetes name; 0 if there is none."""
        if name == CPU:
            return self.milli_cpu
        if name == MEMORY:
            return self.memory
        if name == EPHEMERAL_STORAGE:
            return self.ephemeral_storage
        if name == PODS:
            return self.allowed_pods
        return self.scalars.get(name, 0)

    def add(self, other: "Resources", sign: int = 1) -> None:
        """Add other amounts in place, or take them away with ``sign=-1``."""
        self.milli_cpu += sign * other.milli_cpu
        self.memory += sign * other.memory
        self.ephemeral_storage += sign * other.ephemeral_storage
        self.allowed_pods += sign * other.allowed_pods
        if other.scalars:
            mine = self.scalars
            for name, amount in other.scalars.items():
                mine[name] = mine.get(name, 0) + sign * amount

    def copy(self) -> "Resources":
        """Equal amounts that can be changed on their own."""
        return Resources(
            milli_cpu=self.milli_cpu,
            memory=self.memory,
            ephemeral_storage=self.ephemeral_storage,
            allowed_pods=self.allowed_pods,
            scalars=self.scalars,
        )

    __hash__ = None  # type: ignore[assignment]  # mutable, so no key of a dict

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Resources):
            return NotImplemented
        return (
            self.milli_cpu == other.milli_cpu
            and self.memory == other.memory
            and self.ephemeral_storage == other.ephemeral_storage
            and self.allowed_pods == other.allowed_pods
            and self.scalars == other.scalars
        )

    def __repr__(self) -> str:
        return (
            f"Resources(milli_cpu={self.milli_cpu}, memory={self.memory}, "
            f"ephemeral_storage={self.ephemeral_storage}, "
            f"allowed_pods={self.allowed_pods}, scalars={self.scalars})"
        )


class PodUsage:
    """What a pod takes from the node that it is on.

    Attributes:
        requests: What it requests.
        non_zero_milli_cpu: The same for CPU, with the default for each container that
            requests none.
        non_zero_memory: The same for memory.
    """

    __slots__ = ("non_zero_memory", "non_zero_milli_cpu", "requests")

    def __init__(
        self, requests: Resources, non_zero_milli_cpu: int, non_zero_memory: int
    ) -> None:
        self.requests = requests
        self.non_zero_milli_cpu = non_zero_milli_cpu
        self.non_zero_memory = non_zero_memory

    def __repr__(self) -> str:
        return (
            f"PodUsage({self.requests!r}, {self.non_zero_milli_cpu}, "
            f"{self.non_zero_memory})"
        )


def pod_requests(pod: Pod) -> Resources:
    """What an incoming pod must find free on a node; its status does not matter."""
    return _REQUESTS.of(pod)


def pod_usage(pod: Pod) -> PodUsage:
    """What a pod on a node takes from it, resizes under way included."""
    status = pod.status
    if (
        status.container_statuses
        or status.init_container_statuses
        or status.resources is not None
    ) and _status_changes_requests(pod):
        return _usage(pod)
    return _USAGE.of(pod)


def score_requests(pod: Pod) -> Resources:
    """What NodeResourcesFit scores a pod with.

    Its scorer knows no pod-level resources (upstream builds it without that flag), and
    counts containers without a CPU or memory request with the defaults.
    """
    return _SCORED.of(pod)


def host_ports(pod: Pod) -> tuple[ContainerPort, ...]:
    """The ports that a pod takes on its node; those of plain init containers do not."""
    return _PORTS.of(pod)


def node_allocatable(node: Node) -> Resources:
    """What a node offers to pods."""
    return Resources.from_list(node.status.allocatable)


def pod_request_list(
    pod: Pod,
    *,
    use_status: bool = False,
    pod_level: bool = True,
    overhead: bool = True,
    missing: Mapping[str, Quantity] | None = None,
) -> ResourceList:
    """The exact requests of a pod: the most that it ever needs of each resource.

    Containers and sidecars run side by side; each plain init container runs alone with
    the sidecars that started before it. Mirrors ``PodRequests``.

    Args:
        pod: The pod.
        use_status: Look at what the node has given to the containers, too.
        pod_level: Let requests of the pod as a whole replace those of its containers.
        overhead: Add what the pod's runtime class costs.
        missing: What a container counts with that does not request a resource at all.
    """
    spec = pod.spec
    total = _container_requests(pod, use_status, missing or {})
    if pod_level and _has_pod_level_requests(spec):
        _replace_by_pod_level(total, pod, use_status)
    if overhead and spec.overhead:
        _add(total, spec.overhead)
    return total


def pod_limit_list(
    pod: Pod, *, pod_level: bool = True, overhead: bool = True
) -> ResourceList:
    """The exact limits of a pod, added up as `pod_request_list` adds up requests.

    Only resources that some container limits are there. Mirrors ``PodLimits``.

    Args:
        pod: The pod; its status does not matter.
        pod_level: Let limits of the pod as a whole replace those of its containers.
        overhead: Add what the pod's runtime class costs to what is limited.
    """
    spec = pod.spec
    limiting = replace(
        spec,
        containers=tuple(map(_requesting_its_limits, spec.containers)),
        init_containers=tuple(map(_requesting_its_limits, spec.init_containers)),
    )
    total = _container_requests(Pod(spec=limiting), False, {})
    if pod_level and spec.resources is not None:
        own = spec.resources.limits
        total |= {k: v for k, v in own.items() if _is_pod_level_resource(k)}
    if overhead and spec.overhead:
        _add(total, {k: v for k, v in spec.overhead.items() if total.get(k)})
    return total


def _requesting_its_limits(container: Container) -> Container:
    limits = ResourceRequirements(requests=container.resources.limits)
    return replace(container, resources=limits)


# Asked for every name of every new spec: the cache saves nine tenths of the time, and
# clusters have tens of names.
@functools.lru_cache(maxsize=4096)
def is_extended_resource(name: str) -> bool:
    """Whether a resource is none of Kubernetes' own, such as ``nvidia.com/gpu``."""
    if "/" not in name or "kubernetes.io/" in name or name.startswith("requests."):
        return False
    match = _QUALIFIED_NAME.fullmatch("requests." + name)
    return (
        match is not None and len(match["prefix"]) <= 253 and len(match["name"]) <= 63
    )


def is_overcommit_allowed(resource: str) -> bool:
    """Whether containers may be promised more of a resource than there is."""
    is_native = "/" not in resource or "kubernetes.io/" in resource
    return is_native and not resource.startswith(_HUGE_PAGES)


# As above: the cache saves two thirds of the time.
@functools.lru_cache(maxsize=4096)
def is_scalar_resource(name: str) -> bool:
    """Whether a resource is counted by its name, beside CPU, memory and storage."""
    return (
        name.startswith((_HUGE_PAGES, "attachable-volumes-"))
        or "kubernetes.io/" in name
        or is_extended_resource(name)
    )


def _requests(spec: PodSpec) -> Resources:
    return Resources.from_list(pod_request_list(Pod(spec=spec)))


def _scored_requests(spec: PodSpec) -> Resources:
    pod = Pod(spec=spec)
    return Resources.from_list(
        pod_request_list(pod, pod_level=False, missing=_NON_ZERO_DEFAULTS)
    )


def _host_ports(spec: PodSpec) -> tuple[ContainerPort, ...]:
    sidecars = (c for c in spec.init_containers if c.is_sidecar)
    return tuple(
        port
        for container in (*sidecars, *spec.containers)
        for port in container.ports
        if port.host_port > 0
    )


def _usage_by_spec(spec: PodSpec) -> PodUsage:
    return _usage(Pod(spec=spec))


_REQUESTS: Final = SpecKey(_requests)
_SCORED: Final = SpecKey(_scored_requests)
_PORTS: Final = SpecKey(_host_ports)
_USAGE: Final = SpecKey(_usage_by_spec)


def _usage(pod: Pod) -> PodUsage:
    requests = pod_request_list(pod, use_status=True)
    missing: Mapping[str, Quantity] = _NON_ZERO_DEFAULTS
    if _has_pod_level_requests(pod.spec):
        missing = {k: v for k, v in missing.items() if k not in requests}
    non_zero = pod_request_list(pod, use_status=True, missing=missing)
    return PodUsage(
        Resources.from_list(requests),
        non_zero.get(CPU, _ZERO).milli_value,
        non_zero.get(MEMORY, _ZERO).value,
    )


def _container_requests(
    pod: Pod, use_status: bool, missing: Mapping[str, Quantity]
) -> ResourceList:
    spec = pod.spec
    statuses: Mapping[str, ContainerStatus] = {}
    if use_status:
        statuses = _statuses_by_name(pod.status)
    total: ResourceList = {}
    for container in spec.containers:
        _add(total, _effective_requests(container, pod, statuses, missing))
    sidecars: ResourceList = {}
    peak: ResourceList = {}
    for container in spec.init_containers:
        if container.is_sidecar:
            own = _effective_requests(container, pod, statuses, missing)
            _add(total, own)
            _add(sidecars, own)
            _raise_to(peak, sidecars)
        else:
            running = _effective_requests(container, pod, {}, missing).copy()
            _add(running, sidecars)
            _raise_to(peak, running)
    _raise_to(total, peak)
    return total


def _effective_requests(
    container: Container,
    pod: Pod,
    statuses: Mapping[str, ContainerStatus],
    missing: Mapping[str, Quantity],
) -> ResourceList:
    requests = container.resources.requests
    status = statuses.get(container.name)
    if status is not None and status.resources is not None:
        actual = status.resources.requests
        requests = _resized(pod, requests, actual, status.allocated_resources)
    if missing:
        return {**missing, **requests}
    return requests


def _replace_by_pod_level(total: ResourceList, pod: Pod, use_status: bool) -> None:
    assert pod.spec.resources is not None  # or there would be no pod-level requests
    wanted = pod.spec.resources.requests
    effective = wanted
    status = pod.status
    if use_status and status.resources is not None:
        actual = status.resources.requests
        effective = _resized(pod, wanted, actual, status.allocated_resources)
    for name in wanted:
        if _is_pod_level_resource(name):
            total[name] = effective.get(name, _ZERO)


def _resized(
    pod: Pod, wanted: ResourceList, actual: ResourceList, allocated: ResourceList
) -> ResourceList:
    """What counts during a resize: the most of all, but no wish that cannot be met."""
    result = {} if _is_resize_infeasible(pod.status) else dict(wanted)
    _raise_to(result, actual)
    _raise_to(result, allocated)
    return result


def _is_resize_infeasible(status: PodStatus) -> bool:
    for condition in status.conditions:
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _status_changes_requests(pod: Pod) -> bool:
    """Whether a pod's status may make it count differently from its spec."""
    status, spec = pod.status, pod.spec
    if status.resources is not None and _has_pod_level_requests(spec):
        wanted = spec.resources.requests if spec.resources is not None else {}
        if _differs(wanted, status.resources.requests, status.allocated_resources):
            return True
    return _any_status_differs(
        status.container_statuses, spec.containers
    ) or _any_status_differs(status.init_container_statuses, spec.init_containers)


def _any_status_differs(
    statuses: Iterable[ContainerStatus], containers: tuple[Container, ...]
) -> bool:
    for index, status in enumerate(statuses):
        if status.resources is None:
            continue
        # Nodes list the statuses in the order of the containers; if this one does not,
        # the slow way finds the right container.
        if index >= len(containers) or containers[index].name != status.name:
            return True
        wanted = containers[index].resources.requests
        if _differs(wanted, status.resources.requests, status.allocated_resources):
            return True
    return False


def _differs(
    wanted: ResourceList, actual: ResourceList, allocated: ResourceList
) -> bool:
    return actual != wanted or bool(allocated and allocated != wanted)


def _statuses_by_name(status: PodStatus) -> dict[str, ContainerStatus]:
    return {
        container.name: container
        for container in (*status.container_statuses, *status.init_container_statuses)
    }


def _has_pod_level_requests(spec: PodSpec) -> bool:
    return spec.resources is not None and any(
        map(_is_pod_level_resource, spec.resources.requests)
    )


def _is_pod_level_resource(name: str) -> bool:
    return name in (CPU, MEMORY) or name.startswith(_HUGE_PAGES)


def _add(total: ResourceList, more: Mapping[str, Quantity]) -> None:
    for name, quantity in more.items():
        known = total.get(name)
        total[name] = quantity if known is None else known + quantity


def _raise_to(total: ResourceList, least: Mapping[str, Quantity]) -> None:
    for name, quantity in least.items():
        known = total.get(name)
        if known is None or quantity > known:
            total[name] = quantity
