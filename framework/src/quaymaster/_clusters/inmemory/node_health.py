"""Nodes whose kubelets have stopped, and how the cluster notices.

Mirrors ``pkg/controller/nodelifecycle`` (Kubernetes v1.37) with the default flags of
kube-controller-manager. Nothing happens for 50 seconds. Then the node's conditions are
``Unknown``, and its pods are not ready. The controllers of nodes do the rest: they
taint the node and evict its pods. No kubelet confirms the end of these pods, so they
stay until the node answers again or is deleted. Meanwhile, ReplicaSets create new pods;
StatefulSets do not.

The controller asks for the current state of the kubelet, not for a copy that may be
stale. Upstream does so since 1.37, by the feature gate
NodeControllerLeaseCircuitBreaker.
"""

from collections.abc import Iterable
from functools import partial
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import Node, NodeCondition, Pod, PodCondition, Time
from quaymaster._clusters.inmemory.controllers.node_conditions import (
    HealthObserver,
    zone_of,
)
from quaymaster._clusters.inmemory.controllers.pods import is_ready
from quaymaster._clusters.inmemory.core import ClusterCore
from quaymaster._clusters.inmemory.kubelet import with_condition
from quaymaster._core.contract.clock import Timer

__all__ = ["GRACE_SECONDS", "HealthObserver", "NodeHealth", "zone_of"]

GRACE_SECONDS: Final = 50.0
"""How long a node may be silent: the default of ``--node-monitor-grace-period``."""

_CONDITIONS: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_NOT_READY: Final = PodCondition(type="Ready", status="False")
_READY: Final = PodCondition(type="Ready", status="True")


class NodeHealth:
    """Stops and starts kubelets, and writes the conditions that follow.

    Args:
        core: The cluster.
    """

    def __init__(self, core: ClusterCore) -> None:
        self._core = core
        self._clock = core.clock
        self._timers: dict[str, Timer] = {}

    def stop(self, names: Iterable[str], observer: HealthObserver) -> None:
        """Stop the kubelets of nodes."""
        for name in names:
            # Stopping a silent node again must not start its grace period again.
            if name in self._core.lives.silent:
                continue
            self._core.lives.silent.add(name)
            self._forget(name)
            if self._core.controllers is not None:
                self._core.controllers.nodes.monitor.observers[name] = observer
            call = partial(self._lose, name)
            self._timers[name] = self._clock.call_later(GRACE_SECONDS, call)

    def resume(self, name: str) -> None:
        """Start the kubelet of a node again; it ends the pods that were deleted."""
        core = self._core
        core.lives.silent.discard(name)
        self._forget(name)
        node = core.objects(Node).get(name)
        if node is not None:
            core.change(node, _with_health(node, "True", Time(self._clock.now())))
        if core.lives.runs_pods:
            for pod in self._pods_on(name):
                if not pod.is_terminating and pod.status.phase == "Running":
                    self._set_condition(pod, _READY)
        # Last, when the node is healthy again: ends that fell into the silence happen
        # now.
        core.lives.catch_up_on(name)

    def _forget(self, name: str) -> None:
        timer = self._timers.pop(name, None)
        if timer is not None:
            timer.cancel()
        if self._core.controllers is not None:
            self._core.controllers.nodes.monitor.observers.pop(name, None)

    def _lose(self, name: str) -> None:
        """Handle a node that has been silent for too long."""
        node = self._core.objects(Node).get(name)
        # The kubelet may have been resumed, or the node replaced, since the timer was
        # set.
        if node is None or name not in self._core.lives.silent:
            return
        now = Time(self._clock.now())
        self._core.change(node, _with_health(node, "Unknown", now))
        for pod in self._pods_on(name):
            # Only ready pods change: upstream marks no other (``MarkPodsNotReady``).
            if is_ready(pod):
                self._set_condition(pod, _NOT_READY)

    def _pods_on(self, name: str) -> list[Pod]:
        pods = self._core.objects(Pod).values()
        return [pod for pod in pods if pod.node_name == name]

    def _set_condition(self, pod: Pod, condition: PodCondition) -> None:
        now = Time(self._clock.now())
        conditions = with_condition(pod.status.conditions, condition, now)
        status = replace(pod.status, conditions=conditions)
        self._core.change(pod, replace(pod, status=status))


def _with_health(node: Node, status: str, now: Time) -> Node:
    """Return a node whose kubelet reports its health, or no longer reports."""
    is_silent = status == "Unknown"
    conditions = {condition.type: condition for condition in node.status.conditions}
    # Other pressures only if the node had them, but always Ready, which inputs often
    # lack.
    types = [name for name in _CONDITIONS if name in conditions or name == "Ready"]
    for name in types:
        old = conditions.get(name, NodeCondition(type=name))
        new = "Unknown" if is_silent else ("True" if name == "Ready" else "False")
        if old.status != new:
            conditions[name] = NodeCondition(
                type=name,
                status=new,
                reason="NodeStatusUnknown" if is_silent else "KubeletReady",
                message="Kubelet stopped posting node status." if is_silent else "",
                last_heartbeat_time=old.last_heartbeat_time if is_silent else now,
                last_transition_time=now,
            )
    status_ = replace(node.status, conditions=tuple(conditions.values()))
    return replace(node, status=status_)
