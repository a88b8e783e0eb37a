"""One node with the pods that run, or are assumed, on it.

Mirrors ``NodeInfo`` (Kubernetes v1.36, ``pkg/scheduler/framework/types.go``).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from quaymaster._api.objects import Node, Pod, Taint
from quaymaster._api.objects.resources import (
    PodUsage,
    Resources,
    node_allocatable,
    pod_usage,
)

__all__ = ["HostPorts", "ImageState", "NodeInfo"]

_WILDCARD_IP = "0.0.0.0"


class HostPorts:
    """The host ports that pods use on one node.

    Mirrors ``HostPortInfo`` (k8s.io/kube-scheduler v0.36, ``framework/types.go``).
    """

    __slots__ = ("_ips",)

    def __init__(self) -> None:
        self._ips: dict[tuple[str, int], set[str]] = {}

    def __len__(self) -> int:
        return sum(len(ips) for ips in self._ips.values())

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Iterate over the used ``(protocol, port)`` pairs."""
        return iter(self._ips)

    def add(self, ip: str, protocol: str, port: int) -> None:
        """Add a port; an empty IP means all addresses, no protocol means TCP."""
        if port > 0:
            key = (protocol or "TCP", port)
            self._ips.setdefault(key, set()).add(ip or _WILDCARD_IP)

    def remove(self, ip: str, protocol: str, port: int) -> None:
        """Remove a port."""
        key = (protocol or "TCP", port)
        ips = self._ips.get(key)
        if ips is not None:
            ips.discard(ip or _WILDCARD_IP)
            if not ips:
                del self._ips[key]

    def conflicts(self, ip: str, protocol: str, port: int) -> bool:
        """Whether a pod uses this port already, on this address or on all."""
        # As ``CheckConflict`` (k8s.io/kube-scheduler, ``framework/types.go``): a port
        # of 0 does not count.
        if port <= 0:
            return False
        ips = self._ips.get((protocol or "TCP", port))
        if not ips:
            return False
        ip = ip or _WILDCARD_IP
        # An address conflicts with itself and with all addresses, whereas two different
        # addresses of a node may use the same port.
        return ip == _WILDCARD_IP or ip in ips or _WILDCARD_IP in ips

    __hash__ = None  # type: ignore[assignment]  # mutable, so not a key of a dict

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HostPorts):
            return NotImplemented
        return self._ips == other._ips

    def clone(self) -> "HostPorts":
        """Return a copy that may be changed without changing this one."""
        other = HostPorts()
        other._ips = {key: set(ips) for key, ips in self._ips.items()}
        return other


class ImageState:
    """The size of an image, and the nodes that have it.

    Attributes:
        size_bytes: Its size on the first node that reported it.
        rows: The rows of the nodes that have it.
    """

    __slots__ = ("rows", "size_bytes")

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.rows: set[int] = set()


_generations = count(1)


class NodeInfo:
    """A node, its pods, and the sums that filters and scores use.

    Its numbers are plain integers, and they are authoritative; the columns of a
    `NodeTable` repeat them. Plugins may write only to a `clone`.

    Attributes:
        node: The API object.
        name: The node's name.
        row: Its row in the `NodeTable`; a clone keeps the row of its original.
        pods: The pods by uid, in the order of their arrival.
        allocatable: The resources that the node offers to pods.
        requested: The sum of what the pods request.
        non_zero_milli_cpu: The CPU that they request; each container that requests none
            counts with 100 millicores.
        non_zero_memory: The memory that they request; each container that requests none
            counts with 200 MiB.
        used_ports: The host ports taken by the pods.
        images: Image name -> its state in the cluster, for images on this node.
        usage_of: Returns the usage of a pod.
        generation: A number that differs after each change of the node or its pods. A
            clone has the number of its original until it changes itself.
    """

    __slots__ = (
        "_priorities",
        "allocatable",
        "generation",
        "images",
        "name",
        "node",
        "non_zero_memory",
        "non_zero_milli_cpu",
        "pods",
        "requested",
        "row",
        "usage_of",
        "used_ports",
    )

    def __init__(
        self,
        node: Node,
        *,
        row: int = -1,
        pods: Iterable[Pod] = (),
        usage_of: Callable[[Pod], PodUsage] = pod_usage,
    ) -> None:
        self.node = node
        self.name: str = node.metadata.name
        self.usage_of = usage_of
        self.row = row
        self.pods: dict[str, Pod] = {}
        self.allocatable: Resources = node_allocatable(node)
        self.requested = Resources()
        self.non_zero_milli_cpu = 0
        self.non_zero_memory = 0
        self.used_ports = HostPorts()
        self.images: Mapping[str, ImageState] = {}
        self.generation: int = next(_generations)
        # Priority -> number of pods; None until the first `lowest_priority`.
        self._priorities: dict[int, int] | None = None
        for pod in pods:
            self.add_pod(pod)

    @property
    def labels(self) -> Mapping[str, str]:
        """The node's labels."""
        return self.node.metadata.labels

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The node's taints."""
        return self.node.spec.taints

    @property
    def lowest_priority(self) -> int | None:
        """The lowest priority among the pods; None without pods."""
        counts = self._priorities
        if counts is None:
            counts = Counter(pod.priority for pod in self.pods.values())
            self._priorities = counts
        return min(counts, default=None)

    def set_node(self, node: Node) -> None:
        """Replace the node object, and keep the pods."""
        self.node = node
        self.allocatable = node_allocatable(node)
        self.generation = next(_generations)

    def reorder_pods(self, uids: Iterable[str]) -> None:
        """Put the pods into an order again; pods that are not in it come last.

        Args:
            uids: The uids of pods; the pods need not be here any longer.
        """
        pods = self.pods
        ordered = {uid: pods[uid] for uid in uids if uid in pods}
        ordered.update(pods)
        self.pods = ordered

    def add_pod(self, pod: Pod) -> PodUsage:
        """Add a pod.

        Returns:
            Its usage.
        """
        self.pods[pod.metadata.uid] = pod
        self.generation = next(_generations)
        usage = self._count(pod, 1)
        for port in usage.host_ports:
            self.used_ports.add(port.host_ip, port.protocol, port.host_port)
        if self._priorities is not None:
            self._count_priority(pod, 1)
        return usage

    def remove_pod(self, pod: Pod) -> PodUsage:
        """Remove a pod.

        Returns:
            Its usage.

        Raises:
            KeyError: The node has no pod with this uid.
        """
        # The stored pod is subtracted and not the given one: its requests may have
        # changed with an in-place resize.
        present = self.pods.pop(pod.metadata.uid)
        self.generation = next(_generations)
        usage = self._count(present, -1)
        for port in usage.host_ports:
            self.used_ports.remove(port.host_ip, port.protocol, port.host_port)
        if self._priorities is not None:
            self._count_priority(present, -1)
        return usage

    def replace_pod(self, pod: Pod, *, differs: bool) -> None:
        """Replace the object of a pod whose usage has not changed.

        Args:
            pod: The new object.
            differs: Whether it differs in fields that a plugin may read.
        """
        if self._priorities is not None:
            self._count_priority(self.pods[pod.metadata.uid], -1)
            self._count_priority(pod, 1)
        self.pods[pod.metadata.uid] = pod
        if differs:
            self.generation = next(_generations)

    def clone(self) -> "NodeInfo":
        """Return a copy whose pods may be changed for a trial."""
        other = NodeInfo.__new__(NodeInfo)
        other.node = self.node
        other.name = self.name
        other.row = self.row
        other.pods = dict(self.pods)
        # Shared: `set_node` replaces the object and never writes to it.
        other.allocatable = self.allocatable
        other.requested = self.requested.copy()
        other.non_zero_milli_cpu = self.non_zero_milli_cpu
        other.non_zero_memory = self.non_zero_memory
        other.used_ports = self.used_ports.clone()
        other.images = self.images
        other.usage_of = self.usage_of
        other.generation = self.generation
        # Counted again only if the trial needs it. Most trials ask for filters alone.
        other._priorities = None
        return other

    def _count(self, pod: Pod, sign: int) -> PodUsage:
        usage = self.usage_of(pod)
        self.requested.add(usage.requests, sign)
        self.non_zero_milli_cpu += sign * usage.non_zero_milli_cpu
        self.non_zero_memory += sign * usage.non_zero_memory
        return usage

    def _count_priority(self, pod: Pod, sign: int) -> None:
        counts, priority = self._priorities, pod.priority
        assert counts is not None, "the caller checks it"
        counts[priority] = counts.get(priority, 0) + sign
        if not counts[priority]:
            del counts[priority]

    def __repr__(self) -> str:
        return f"NodeInfo({self.name!r}, {len(self.pods)} pods)"
