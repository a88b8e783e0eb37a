"""Ports of nodes that pods use.

Mirrors ``pkg/scheduling/hostportusage.go`` (sigs.k8s.io/karpenter v1.15).
"""

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from quaymaster._api.objects import Pod, PodSpec, SpecKey

__all__ = ["HostPort", "HostPortUsage", "ports_of"]

_ANY: Final = "0.0.0.0"  # an address of a pod, not of a server


class HostPort(NamedTuple):
    """A port of a node.

    Attributes:
        ip: The address in its shortest form.
        port: The port.
        protocol: The protocol.
        is_any: Whether the address means all addresses.
    """

    ip: str
    port: int
    protocol: str
    is_any: bool

    def matches(self, other: "HostPort") -> bool:
        """Return whether only one pod can use both."""
        if self.port != other.port or self.protocol != other.protocol:
            return False
        return self.is_any or other.is_any or self.ip == other.ip


def _ports(spec: PodSpec) -> tuple[HostPort, ...]:
    return tuple(
        _port(port.host_ip or _ANY, port.host_port, port.protocol or "TCP")
        for container in spec.containers
        for port in container.ports
        if port.host_port
    )


def _port(ip: str, port: int, protocol: str) -> HostPort:
    try:
        address = ipaddress.ip_address(ip)
    except ValueError:
        return HostPort(ip, port, protocol, False)
    # Go's ``net.IP`` treats ``::ffff:1.2.3.4`` and ``1.2.3.4`` as one address.
    mapped = getattr(address, "ipv4_mapped", None) or address
    return HostPort(str(mapped), port, protocol, mapped.is_unspecified)


_PORTS: Final = SpecKey(_ports)


def ports_of(pod: Pod) -> tuple[HostPort, ...]:
    """Return the ports that a pod uses on its node."""
    return _PORTS.of(pod)


class HostPortUsage:
    """The ports that the pods of a node use.

    Args:
        used: The ports by the key of a pod.
    """

    __slots__ = ("_used",)

    def __init__(self, used: Mapping[str, tuple[HostPort, ...]] | None = None) -> None:
        self._used = dict(used or {})

    @classmethod
    def of(cls, pods: Iterable[Pod]) -> "HostPortUsage":
        """Return the usage of pods."""
        return cls({pod.key: ports for pod in pods if (ports := ports_of(pod))})

    def copy(self) -> "HostPortUsage":
        """Return a copy."""
        return HostPortUsage(self._used)

    def add(self, pod: Pod) -> None:
        """Add a pod."""
        ports = ports_of(pod)
        if ports:
            self._used[pod.key] = ports

    def conflicts(self, pod: Pod) -> str:
        """Return upstream's error if another pod has a port of a pod, or empty."""
        for port in ports_of(pod):
            for key, used in self._used.items():
                for other in used if key != pod.key else ():
                    if port.matches(other):
                        return _text(port, other)
        return ""


def _text(port: HostPort, other: HostPort) -> str:
    return (
        "pod hostport conflicts with existing hostport configuration "
        f"(pod-hostport-ip={port.ip}, pod-hostport-port={port.port}, "
        f"pod-hostport-protocol={port.protocol}, existing-hostport-ip={other.ip}, "
        f"existing-hostport-port={other.port}, "
        f"existing-hostport-protocol={other.protocol})"
    )
