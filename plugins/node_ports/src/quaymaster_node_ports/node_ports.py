"""Keep a pod off nodes where its host ports are in use.

The host ports of containers and sidecars count, those of plain init containers do not.
Two ports conflict if their protocol, port and address are equal. The address
``0.0.0.0``, or no address, conflicts with every address.

Mirrors ``NodePorts`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/nodeports/node_ports.go``).
"""

from collections.abc import Hashable, Sequence

import numpy as np

from quaymaster import (
    BoolArray,
    Change,
    ClusterEventWithHint,
    CycleState,
    Handle,
    NodeInfo,
    NodeTable,
    NodeVerdicts,
    Pod,
    QueueingHint,
    Rows,
    Scope,
    StateKey,
    Status,
    hookimpl,
    on_node,
    on_pod,
)
from quaymaster.columns import HostPorts
from quaymaster.objects import ContainerPort, host_ports
from quaymaster_node_ports.facts import explain_ports

__all__ = ["NodePorts"]

_HOST_PORTS = StateKey[Sequence[ContainerPort]](
    "PreFilterNodePorts",
    missing='reading "PreFilterNodePorts" from cycleState: not found',
)

_TAKEN = Status.unschedulable(
    "node(s) didn't have free ports for the requested pod ports"
)


class NodePorts:
    """Rejects nodes on which a host port of the pod is in use."""

    scope = Scope.NODE
    reads = ()

    def __init__(self, _args: None, _handle: Handle) -> None:
        """Create the plugin, which uses neither arguments nor the framework."""

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_pod.assigned(Change.DELETE, _after_pod_deleted),
            on_node(Change.ADD),
        ]

    @hookimpl
    def sign_pod(self, pod: Pod) -> Hashable:
        return frozenset(
            (port.host_ip, port.protocol, port.host_port) for port in host_ports(pod)
        )

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        ports = host_ports(pod)
        if not ports:
            return Status.skip()
        state[_HOST_PORTS] = ports
        return None

    @hookimpl
    def filter(self, state: CycleState, node: NodeInfo) -> Status | None:
        return _TAKEN if _conflict(state[_HOST_PORTS], node.used_ports) else None

    @hookimpl
    def filter_nodes(
        self, state: CycleState, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts:
        ports = state[_HOST_PORTS]
        taken: BoolArray = np.zeros(len(nodes.infos), dtype=np.bool_)
        for port in ports:
            # These nodes use the port on some address; check the address on each.
            for row in nodes.rows_with_host_port(port.protocol, port.host_port):
                node = nodes.infos[row]
                if node is not None and _conflict((port,), node.used_ports):
                    taken[row] = True
        return NodeVerdicts.reject_where(taken[rows], _TAKEN)

    @hookimpl
    def explain_filter(self, state: CycleState, node: NodeInfo) -> Sequence[str]:
        return explain_ports(state[_HOST_PORTS], node)


def _conflict(ports: Sequence[ContainerPort], used: HostPorts) -> bool:
    for port in ports:  # any() takes twice as long
        if used.conflicts(port.host_ip, port.protocol, port.host_port):
            return True
    return False


def _after_pod_deleted(pod: Pod, old: Pod, _new: None) -> QueueingHint:
    """Queue the pod if the deleted pod used, or was to use, one of its ports."""
    if not old.node_name and not old.status.nominated_node_name:
        return QueueingHint.SKIP
    freed = HostPorts()
    for port in host_ports(old):
        freed.add(port.host_ip, port.protocol, port.host_port)
    if _conflict(host_ports(pod), freed):
        return QueueingHint.QUEUE
    return QueueingHint.SKIP
