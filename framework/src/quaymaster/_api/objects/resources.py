"""Requests of pods and capacities of nodes, as the integers of scheduling.

CPU is in millicores; memory, storage and huge pages are in bytes; all other resources
are plain numbers. Exact quantities are added up, and the sum is rounded up once.

Mirrors ``component-helpers/resource/helpers.go`` (Kubernetes v1.36), and ``Resource``
and ``CalculateResource`` in ``pkg/scheduler/framework/types.go``, with the feature
gates at their defaults. Results that depend only on a spec are computed once per
`PodSpec` and cached on it, so never change a result.
"""

from collections.abc import Callable, Mapping
from typing import Final

from quaymaster._api.objects import ContainerPort, Node, Pod, PodSpec, SpecKey
from quaymaster._api.objects.pod_requests import (
    has_pod_level_requests,
    pod_request_list,
    status_changes_requests,
    status_changes_totals,
)
from quaymaster._api.objects.quantity import Quantity, ResourceList
from quaymaster._api.objects.resource_names import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    is_extended_resource,
    is_overcommit_allowed,
    is_scalar_resource,
)
from quaymaster._api.objects.resource_sums import is_resize_infeasible
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes

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
    "pod_request_list",
    "pod_requests",
    "pod_usage",
    "score_requests",
    "usage_by",
]

DEFAULT_MILLI_CPU_REQUEST: Final = 100
"""The CPU request that some scores assume for a container without one."""

DEFAULT_MEMORY_REQUEST: Final = 200 * 1024 * 1024
"""The memory request that some scores assume for a container without one."""

_NON_ZERO_DEFAULTS: Final[ResourceList] = {
    CPU: Quantity.from_milli(DEFAULT_MILLI_CPU_REQUEST),
    MEMORY: Quantity(DEFAULT_MEMORY_REQUEST),
}
_ZERO: Final = Quantity(0)


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
        """Round a resource list up to integers; drop names that are not resources."""
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
        """Return the amount of a resource by its Kubernetes name; by default 0."""
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
        """Add other amounts in place, or subtract them with ``sign=-1``."""
        self.milli_cpu += sign * other.milli_cpu
        self.memory += sign * other.memory
        self.ephemeral_storage += sign * other.ephemeral_storage
        self.allowed_pods += sign * other.allowed_pods
        if other.scalars:
            mine = self.scalars
            for name, amount in other.scalars.items():
                mine[name] = mine.get(name, 0) + sign * amount

    def copy(self) -> "Resources":
        """Return a copy of the amounts, which can be changed independently."""
        return Resources(
            milli_cpu=self.milli_cpu,
            memory=self.memory,
            ephemeral_storage=self.ephemeral_storage,
            allowed_pods=self.allowed_pods,
            scalars=self.scalars,
        )

    __hash__ = None  # type: ignore[assignment]  # mutable, so not a key of a dict

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
    """The usage of a pod on its node.

    Attributes:
        requests: The requests.
        non_zero_milli_cpu: The same for CPU, with the default for each container that
            requests none.
        non_zero_memory: The same for memory.
        host_ports: The host ports, see `host_ports`.
    """

    __slots__ = ("host_ports", "non_zero_memory", "non_zero_milli_cpu", "requests")

    def __init__(
        self,
        requests: Resources,
        non_zero_milli_cpu: int,
        non_zero_memory: int,
        host_ports: tuple[ContainerPort, ...] = (),
    ) -> None:
        self.requests = requests
        self.non_zero_milli_cpu = non_zero_milli_cpu
        self.non_zero_memory = non_zero_memory
        self.host_ports = host_ports

    def counts_like(self, other: "PodUsage") -> bool:
        """Return whether another usage has the same amounts."""
        return (
            self.requests == other.requests
            and self.non_zero_milli_cpu == other.non_zero_milli_cpu
            and self.non_zero_memory == other.non_zero_memory
        )

    def __repr__(self) -> str:
        return (
            f"PodUsage({self.requests!r}, {self.non_zero_milli_cpu}, "
            f"{self.non_zero_memory})"
        )


def pod_requests(pod: Pod) -> Resources:
    """Return the requests of a new pod of a node; its status does not matter."""
    return _REQUESTS.of(pod)


def pod_usage(pod: Pod, kubernetes: Kubernetes = DEFAULT_KUBERNETES) -> PodUsage:
    """Return the usage of a pod on a node, also during a resize.

    Args:
        pod: The pod.
        kubernetes: The Kubernetes version; since 1.37, resizes are counted differently.
    """
    return usage_by(kubernetes)(pod)


def usage_by(kubernetes: Kubernetes) -> Callable[[Pod], PodUsage]:
    """Return the function that computes the usage of pods in a Kubernetes version."""
    return _usage_by_totals if kubernetes.has("resize-totals") else _usage_by_containers


def _usage_by_containers(pod: Pod) -> PodUsage:
    status = pod.status
    if (
        status.container_statuses
        or status.init_container_statuses
        or status.resources is not None
    ) and status_changes_requests(pod):
        return _usage(pod)
    return _USAGE.of(pod)


def _usage_by_totals(pod: Pod) -> PodUsage:
    status = pod.status
    if (
        status.container_statuses
        or status.init_container_statuses
        or status.resources is not None
        # Nearly every pod has conditions, and few nodes report anything else.
        or (status.conditions and is_resize_infeasible(status))
    ) and status_changes_totals(pod):
        usage, usual = _usage(pod, by_totals=True), _USAGE.of(pod)
        # The same object, so that an update without changes is recognised as such.
        return usual if usage.counts_like(usual) else usage
    return _USAGE.of(pod)


def score_requests(pod: Pod) -> Resources:
    """Return the requests with which NodeResourcesFit scores a pod.

    Its scorer ignores pod-level resources (upstream builds it without that flag), and
    uses the defaults for containers without a CPU or memory request.
    """
    return _SCORED.of(pod)


def host_ports(pod: Pod) -> tuple[ContainerPort, ...]:
    """Return the ports that a pod uses on its node, except those of init containers."""
    return _PORTS.of(pod)


def node_allocatable(node: Node) -> Resources:
    """Return the resources that a node offers to pods."""
    return Resources.from_list(node.status.allocatable)


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
    if has_pod_level_requests(spec):
        return _usage(Pod(spec=spec))
    # The same, from results that usually exist already: each list of requests that is
    # added up is a fiftieth of the cost of the first pod of a kind.
    counted = _SCORED.of_spec(spec)
    return PodUsage(
        _REQUESTS.of_spec(spec),
        counted.milli_cpu,
        counted.memory,
        _PORTS.of_spec(spec),
    )


_REQUESTS: Final = SpecKey(_requests)
_SCORED: Final = SpecKey(_scored_requests)
_PORTS: Final = SpecKey(_host_ports)
_USAGE: Final = SpecKey(_usage_by_spec)


def _usage(pod: Pod, *, by_totals: bool = False) -> PodUsage:
    requests = pod_request_list(pod, use_status=True, by_totals=by_totals)
    missing: Mapping[str, Quantity] = _NON_ZERO_DEFAULTS
    if has_pod_level_requests(pod.spec):
        missing = {k: v for k, v in missing.items() if k not in requests}
    non_zero = pod_request_list(
        pod, use_status=True, by_totals=by_totals, missing=missing
    )
    return PodUsage(
        Resources.from_list(requests),
        non_zero.get(CPU, _ZERO).milli_value,
        non_zero.get(MEMORY, _ZERO).value,
        host_ports(pod),
    )
