"""Nodes whose kubelets have stopped, and how the cluster reacts.

Mirrors ``pkg/controller/nodelifecycle`` and ``pkg/controller/tainteviction``
(Kubernetes v1.37) with the default flags of kube-controller-manager:

- Nothing happens for 50 seconds. Then the node's conditions are ``Unknown``, it gets
  the taint ``node.kubernetes.io/unreachable:NoSchedule``, and its pods are not ready.
- The taint with the effect ``NoExecute`` follows: one node every ten seconds in each
  zone; where three nodes or more, and 55 % of a zone, are lost, one every 100 seconds,
  or none if the zone has 50 nodes or fewer; at the usual rate again once the whole zone
  is lost, and nowhere at all if no node of the cluster answers.
- From then on, pods are deleted when their tolerations of the taint end: by default,
  after five minutes. No kubelet confirms their end, so they stay until the node answers
  again or is deleted. Meanwhile, ReplicaSets create new pods; StatefulSets do not.

The controller asks for the current state of the kubelet, not for a copy that may be
stale. Upstream does so since 1.37, by the feature gate
NodeControllerLeaseCircuitBreaker.

Simpler than upstream: what it notices within five seconds happens at once here, and
pods that are bound to a node after the taint are ignored.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import (
    Node,
    NodeCondition,
    Pod,
    PodCondition,
    Taint,
    Time,
)
from quaymaster._api.objects.tolerations import tolerates
from quaymaster._clusters.inmemory.controllers.pods import is_ready
from quaymaster._clusters.inmemory.core import ClusterCore
from quaymaster._clusters.inmemory.kubelet import with_condition
from quaymaster._core.contract.clock import Timer

__all__ = ["GRACE_SECONDS", "HealthObserver", "NodeHealth", "zone_of"]

GRACE_SECONDS: Final = 50.0
"""How long a node may be silent: the default of ``--node-monitor-grace-period``."""

_EVICTIONS_PER_SECOND: Final = 0.1  # --node-eviction-rate
_REDUCED_PER_SECOND: Final = 0.01  # --secondary-node-eviction-rate
_LARGE_ZONE: Final = 50  # --large-cluster-size-threshold
_UNHEALTHY_SHARE: Final = 0.55  # --unhealthy-zone-threshold
_FEWEST_UNHEALTHY: Final = 3
_EXEMPT: Final = "node.kubernetes.io/exclude-disruption"
_KEY: Final = "node.kubernetes.io/unreachable"
_NO_SCHEDULE: Final = Taint(key=_KEY, effect="NoSchedule")
_NO_EXECUTE: Final = Taint(key=_KEY, effect="NoExecute")
_CONDITIONS: Final = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")
_NOT_READY: Final = PodCondition(type="Ready", status="False")
_READY: Final = PodCondition(type="Ready", status="True")
_DISRUPTED: Final = PodCondition(
    type="DisruptionTarget",
    status="True",
    reason="DeletionByTaintManager",
    message="Taint manager: deleting due to NoExecute taint",
)
_REGION_LABELS: Final = (
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/region",
)
_ZONE_LABELS: Final = (
    "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/zone",
)


@attrs.frozen(kw_only=True)
class HealthObserver:
    """Receives what happens to the pods of a node that does not answer.

    Attributes:
        deleted: Called with each pod that the cluster deletes because of the lost node.
        told: Called with a description of everything else that happens.
    """

    deleted: Callable[[Pod], None] = lambda _pod: None
    told: Callable[[str], None] = lambda _text: None


class NodeHealth:
    """Tracks the nodes that do not answer.

    Args:
        core: The cluster.
    """

    def __init__(self, core: ClusterCore) -> None:
        self._core = core
        self._clock = core.clock
        self._observers: dict[str, HealthObserver] = {}
        self._timers: defaultdict[str, list[Timer]] = defaultdict(list)
        self._unknown: dict[str, None] = {}
        self._free_at: dict[str, float] = {}
        self._next: Timer | None = None

    def stop(self, names: Iterable[str], observer: HealthObserver) -> None:
        """Stop the kubelets of nodes."""
        for name in names:
            if name in self._core.silent:
                continue
            self._core.silent.add(name)
            self._forget(name)
            self._observers[name] = observer
            call = partial(self._lose, name)
            timer = self._clock.call_later(GRACE_SECONDS, call)
            self._timers[name].append(timer)

    def resume(self, name: str) -> None:
        """Start the kubelet of a node again; it ends the pods that were deleted."""
        core = self._core
        core.silent.discard(name)
        self._forget(name)
        node = core.objects(Node).get(name)
        if node is not None:
            core.change(node, _with_health(node, "True", Time(self._clock.now())))
            self._set_taints(name, add=(), drop=(_NO_SCHEDULE, _NO_EXECUTE))
        for pod in self._pods_on(name):
            if not pod.is_terminating and pod.status.phase == "Running":
                self._set_condition(pod, _READY)
        core.catch_up_on(name)
        self._look_again()

    def _forget(self, name: str) -> None:
        for timer in self._timers.pop(name, ()):
            timer.cancel()
        self._observers.pop(name, None)
        self._unknown.pop(name, None)

    def _lose(self, name: str) -> None:
        """Handle a node that has been silent for too long."""
        node = self._core.objects(Node).get(name)
        if node is None or name not in self._core.silent:
            return
        self._unknown[name] = None
        now = Time(self._clock.now())
        self._core.change(node, _with_health(node, "Unknown", now))
        self._set_taints(name, add=(_NO_SCHEDULE,), drop=())
        for pod in self._pods_on(name):
            if is_ready(pod):
                self._set_condition(pod, _NOT_READY)
        self._look_again()

    def _look_again(self, at: float | None = None) -> None:
        """Judge the zones at a time; by default, after all events of this moment."""
        due = self._clock.now() if at is None else at
        if self._next is not None:
            self._next.cancel()
        self._next = self._clock.call_at(due, self._judge)

    def _judge(self) -> None:
        """Give nodes the NoExecute taint, at the rates of their zones."""
        self._next = None
        zones = self._zones()
        lost = {node.name for node in self._lost()}
        silent = {
            zone: sum(node.name in lost for node in nodes)
            for zone, nodes in zones.items()
        }
        if all(silent[zone] == len(nodes) for zone, nodes in zones.items()):
            self._suspend_all()
            return
        due: list[float] = []
        for zone in self._waiting():
            counted = zones.get(zone, ())
            rate = _rate(len(counted), silent.get(zone, 0))
            if rate == 0.0:
                self._report_stalled(zone, silent[zone], len(counted))
            else:
                due += self._taint_next(zone, rate)
        if due:
            self._look_again(min(due))

    def _taint_next(self, zone: str, rate: float) -> list[float]:
        """Taint the next node of a zone, and return when another one may be tainted."""
        waiting, now = self._waiting()[zone], self._clock.now()
        free_at = self._free_at.get(zone, now)
        if free_at > now:
            return [free_at]
        self._free_at[zone] = now + 1.0 / rate
        self._set_taints(waiting[0], add=(_NO_EXECUTE,), drop=())
        for pod in self._pods_on(waiting[0]):
            self._set_deadline(pod, waiting[0])
        return [self._free_at[zone]] if len(waiting) > 1 else []

    def _set_deadline(self, pod: Pod, name: str) -> None:
        """Set a timer that deletes a pod when its toleration ends, if it ever does."""
        tolerations = pod.spec.tolerations
        used = next(
            (
                toleration
                for toleration in tolerations
                if tolerates(toleration, _NO_EXECUTE)
            ),
            None,
        )
        if used is not None and used.toleration_seconds is None:
            return
        seconds = 0 if used is None else max(0, used.toleration_seconds or 0)
        call = partial(self._delete, pod.key, pod.uid, name)
        self._timers[name].append(self._clock.call_later(float(seconds), call))

    def _delete(self, key: str, uid: str, name: str) -> None:
        pod = self._core.objects(Pod).get(key)
        if pod is None or pod.uid != uid or pod.is_terminating or pod.is_finished:
            return
        self._observers[name].deleted(pod)
        self._core.delete(self._set_condition(pod, _DISRUPTED))

    def _suspend_all(self) -> None:
        """Remove taints and timers: if no node answers, the cause may be elsewhere."""
        for node in self._lost():
            self._set_taints(node.name, add=(), drop=(_NO_EXECUTE,))
            for timer in self._timers.pop(node.name, ()):
                timer.cancel()
            text = "no node of the cluster answers, so no pod is deleted for it"
            self._observers[node.name].told(text)

    def _report_stalled(self, zone: str, silent: int, nodes: int) -> None:
        where = f"zone {zone}" if zone else "the cluster"
        for name in self._waiting()[zone]:
            self._observers[name].told(
                f"{silent} of {nodes} nodes of {where} do not answer, so the pods of "
                "those that have not been given up yet are not deleted"
            )

    def _waiting(self) -> dict[str, list[str]]:
        """Return the nodes without the NoExecute taint, by zone."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for node in self._lost():
            if _NO_EXECUTE not in map(_bare, node.spec.taints):
                found[_zone_key(node)].append(node.name)
        return found

    def _lost(self) -> list[Node]:
        """Return the nodes that have been silent for too long, and still exist."""
        nodes, silent = self._core.objects(Node), self._core.silent
        return [
            nodes[name] for name in self._unknown if name in silent and name in nodes
        ]

    def _zones(self) -> dict[str, list[Node]]:
        found: defaultdict[str, list[Node]] = defaultdict(list)
        for node in self._core.objects(Node).values():
            if _EXEMPT not in node.labels:
                found[_zone_key(node)].append(node)
        return found

    def _pods_on(self, name: str) -> list[Pod]:
        pods = self._core.objects(Pod).values()
        return [pod for pod in pods if pod.node_name == name]

    def _set_condition(self, pod: Pod, condition: PodCondition) -> Pod:
        now = Time(self._clock.now())
        conditions = with_condition(pod.status.conditions, condition, now)
        status = replace(pod.status, conditions=conditions)
        return self._core.change(pod, replace(pod, status=status))

    def _set_taints(
        self, name: str, *, add: tuple[Taint, ...], drop: tuple[Taint, ...]
    ) -> None:
        node = self._core.objects(Node)[name]
        kept = (
            taint for taint in node.spec.taints if _bare(taint) not in (*add, *drop)
        )
        taints = (*kept, *add)
        if taints != node.spec.taints:
            spec = replace(node.spec, taints=taints)
            self._core.change(node, replace(node, spec=spec))


def zone_of(node: Node) -> str:
    """Return the zone of a node; empty if it has none."""
    return _first_label(node, _ZONE_LABELS)


def _zone_key(node: Node) -> str:
    region, zone = _first_label(node, _REGION_LABELS), zone_of(node)
    return f"{region}/{zone}" if region else zone


def _first_label(node: Node, names: Iterable[str]) -> str:
    return next((node.labels[name] for name in names if name in node.labels), "")


def _bare(taint: Taint) -> Taint:
    """Return a taint with only the fields that identify it."""
    return Taint(key=taint.key, effect=taint.effect)


def _rate(nodes: int, silent: int) -> float:
    """Return how many nodes of a zone are tainted per second."""
    is_ill = silent >= _FEWEST_UNHEALTHY and silent / nodes >= _UNHEALTHY_SHARE
    if is_ill and silent < nodes:
        return _REDUCED_PER_SECOND if nodes > _LARGE_ZONE else 0.0
    return _EVICTIONS_PER_SECOND


def _with_health(node: Node, status: str, now: Time) -> Node:
    """Return a node whose kubelet reports its health, or no longer reports."""
    is_silent = status == "Unknown"
    conditions = {condition.type: condition for condition in node.status.conditions}
    wanted = [name for name in _CONDITIONS if name in conditions or name == "Ready"]
    for name in wanted:
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
