"""Explain which host ports are in use, and by which pods."""

from collections.abc import Iterator, Sequence

from quaymaster import NodeInfo, Pod
from quaymaster.columns import HostPorts
from quaymaster.objects import ContainerPort, host_ports

__all__ = ["explain_ports"]


def explain_ports(pod_ports: Sequence[ContainerPort], node: NodeInfo) -> Sequence[str]:
    """Return the ports of a pod that are in use on a node, and the pods that use them.

    Args:
        pod_ports: The host ports of the pod.
        node: The node.
    """
    conflicts = [
        (port, pod, used)
        for port in pod_ports
        for pod in node.pods.values()
        for used in _conflicting(port, pod)
    ]
    if not conflicts:
        return ()
    ports = ", ".join(dict.fromkeys(_text(port) for port, _, _ in conflicts))
    users = ", ".join(
        dict.fromkeys(f"{pod.key} ({_text(used)})" for _, pod, used in conflicts)
    )
    return [f"wants host port {ports}", f"in use by pod {users}"]


def _conflicting(port: ContainerPort, pod: Pod) -> Iterator[ContainerPort]:
    for used in host_ports(pod):
        ports = HostPorts()
        ports.add(used.host_ip, used.protocol, used.host_port)
        if ports.conflicts(port.host_ip, port.protocol, port.host_port):
            yield used


def _text(port: ContainerPort) -> str:
    address = "" if port.host_ip in ("", "0.0.0.0") else f"{port.host_ip}:"
    return f"{address}{port.host_port}/{port.protocol or 'TCP'}"
