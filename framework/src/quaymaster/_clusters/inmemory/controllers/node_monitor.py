"""Gives nodes that are not ready the taints that evict their pods, and removes them.

Mirrors ``monitorNodeHealth``, ``handleDisruption`` and ``doNoExecuteTaintingPass`` of
``pkg/controller/nodelifecycle/node_lifecycle_controller.go`` (Kubernetes v1.37) with
the default flags of kube-controller-manager:

- A node whose condition Ready is ``False`` gets ``not-ready:NoExecute``, one with
  ``Unknown`` gets ``unreachable:NoExecute``: one node every ten seconds in each zone.
- Where three nodes or more, and 55 % of a zone, are not ready, it is one every 100
  seconds, or none if the zone has 50 nodes or fewer; at the usual rate again once the
  whole zone is lost.
- If no node of the cluster is ready, the taints are removed, and no more are added.
- A node that is ready loses the taints at once.

Simpler than upstream: what it notices within five seconds happens at once here, and a
node without the condition Ready counts as ready, since inputs often lack it.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, Taint
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.node_conditions import (
    NOT_READY,
    UNREACHABLE,
    HealthObserver,
    is_not_ready,
    is_same_taint,
    ready_status,
    zone_key,
)
from quaymaster._clusters.inmemory.controllers.zone_nodes import ZoneNodes
from quaymaster._core.contract.clock import Timer

__all__ = ["NodeMonitor"]

_EVICTIONS_PER_SECOND: Final = 0.1  # --node-eviction-rate
_REDUCED_PER_SECOND: Final = 0.01  # --secondary-node-eviction-rate
_LARGE_ZONE: Final = 50  # --large-cluster-size-threshold
_UNHEALTHY_SHARE: Final = 0.55  # --unhealthy-zone-threshold
_FEWEST_UNHEALTHY: Final = 3
_EXEMPT: Final = "node.kubernetes.io/exclude-disruption"


@attrs.define
class _Limit:
    """How fast nodes of a zone are tainted: a token bucket with one token.

    Attributes:
        rate: Nodes per second.
        free_at: When the next node may be tainted.
    """

    rate: float = _EVICTIONS_PER_SECOND
    free_at: float = 0.0

    def set_rate(self, rate: float, now: float) -> None:
        """Change the rate; a limit that is used up starts again (``SwapLimiter``)."""
        if rate == self.rate:
            return
        # The new bucket starts empty if the old one was: a higher rate does not give a
        # free token.
        if rate and (not self.rate or self.free_at > now):
            self.free_at = now + 1.0 / rate
        self.rate = rate

    def take(self, now: float) -> bool:
        """Return whether a node may be tainted now, and count it."""
        if not self.rate or self.free_at > now:
            return False
        self.free_at = now + 1.0 / self.rate
        return True


class NodeMonitor:
    """Adds and removes the NoExecute taints of nodes by their condition Ready.

    Args:
        cluster: The cluster.

    Attributes:
        observers: They receive what happens to the pods of nodes, by node name.
    """

    def __init__(self, cluster: ClusterAccess) -> None:
        self._cluster = cluster
        self._nodes = cluster.objects(Node)
        # In the order in which they stopped being ready.
        self._unready: dict[str, None] = {}
        self._recovered: dict[str, None] = {}
        self._zones = ZoneNodes()
        self._limits: defaultdict[str, _Limit] = defaultdict(_Limit)
        self._timer: Timer | None = None
        self.observers: dict[str, HealthObserver] = {}

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Handle a node that was created (no old), changed, or removed (no new)."""
        # Heartbeats do not change any of this, and the judgement below reads all nodes.
        if old is not None and new is not None and _is_alike(old, new):
            return
        if new is None:
            if old is not None:
                self._zones.drop(old.name)
                self._unready.pop(old.name, None)
                self.observers.pop(old.name, None)
        else:
            self._zones.put(new, counts=_EXEMPT not in new.labels)
            self._note_health(new)
        if self._unready or self._recovered:
            self._look_again(self._cluster.clock.now())

    def _note_health(self, node: Node) -> None:
        if is_not_ready(node):
            self._unready[node.name] = None
            return
        self._unready.pop(node.name, None)
        # A node without the condition keeps a taint that it was loaded with.
        if ready_status(node) == "True" and _health_taints(node):
            self._recovered[node.name] = None

    def pod_evicted(self, pod: Pod) -> None:
        """Pass an evicted pod to the observer of its node, if any."""
        observer = self.observers.get(pod.node_name)
        if observer is not None:
            observer.deleted(pod)

    def _look_again(self, due: float) -> None:
        if self._timer is not None:
            if self._timer.due <= due:
                return
            self._timer.cancel()
        self._timer = self._cluster.clock.call_at(due, self._judge)

    def _judge(self) -> None:
        """Update the taints of all nodes, at the rates of their zones."""
        self._timer = None
        # Before the rates: a node that is ready again must lose its taint even when its
        # zone is ill.
        recovered, self._recovered = self._recovered, {}
        for name in recovered:
            self._set_taint(name, None)
        if not self._unready:
            self._set_rates(self._limits, _EVICTIONS_PER_SECOND)
            return
        sizes, unready = self._zones.sizes(), self._zones.count(self._unready)
        # All nodes at once means that the control plane has lost its network, not that
        # all nodes are broken (``handleDisruption``).
        if all(unready[zone] == size for zone, size in sizes.items()):
            self._suspend(sizes)
            return
        # The other taint is not a new eviction, so it takes no token
        # (``SwapNodeControllerTaint``).
        self._swap_taints()
        waiting = self._waiting()
        due = []
        # A zone whose only nodes are exempt has no size, but its nodes may wait.
        for zone in {**sizes, **waiting}:
            size = sizes.get(zone, 0)
            rate = _rate(size, unready.get(zone, 0))
            self._set_rates((zone,), rate)
            names = waiting.get(zone, ())
            if names and not rate:
                self._report_stalled(zone, names, unready[zone], size)
            elif names:
                due += self._taint_next(zone, names)
        if due:
            self._look_again(min(due))

    def _taint_next(self, zone: str, names: list[str]) -> list[float]:
        """Taint the next node of a zone; return when another one may be tainted."""
        limit = self._limits[zone]
        if limit.take(self._cluster.clock.now()):
            self._set_taint(names[0], self._desired_taint(names[0]))
            names = names[1:]
        return [limit.free_at] if names else []

    def _set_rates(self, zones: Iterable[str], rate: float) -> None:
        for zone in zones:
            self._limits[zone].set_rate(rate, self._cluster.clock.now())

    def _suspend(self, zones: Iterable[str]) -> None:
        """Remove the taints: if no node is ready, the cause may be elsewhere."""
        self._set_rates(zones, 0.0)
        for name in list(self._unready):
            self._set_taint(name, None)
            self._report(
                name, "no node of the cluster answers, so no pod is deleted for it"
            )

    def _report_stalled(
        self, zone: str, names: Iterable[str], unready: int, size: int
    ) -> None:
        where = f"zone {zone}" if zone else "the cluster"
        for name in names:
            self._report(
                name,
                f"{unready} of {size} nodes of {where} do not answer, so the pods of "
                "those that have not been given up yet are not deleted",
            )

    def _report(self, name: str, text: str) -> None:
        observer = self.observers.get(name)
        if observer is not None:
            observer.told(text)

    def _swap_taints(self) -> None:
        """Replace taints of the other kind, without a limit."""
        for name in list(self._unready):
            desired = self._desired_taint(name)
            present = _health_taints(self._nodes[name])
            if any(not is_same_taint(taint, desired) for taint in present):
                self._set_taint(name, desired)

    def _waiting(self) -> dict[str, list[str]]:
        """Return the nodes without the taint that they should have, by zone."""
        names: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._unready:
            node = self._nodes[name]
            if not _health_taints(node):
                names[zone_key(node)].append(name)
        return names

    def _desired_taint(self, name: str) -> Taint:
        is_unknown = ready_status(self._nodes[name]) == "Unknown"
        return UNREACHABLE if is_unknown else NOT_READY

    def _set_taint(self, name: str, desired: Taint | None) -> None:
        """Write the only health taint of a node, or remove all; None for none."""
        node = self._nodes.get(name)
        if node is None:
            return
        present = _health_taints(node)
        kept = [taint for taint in node.spec.taints if taint not in present]
        if desired is not None:
            # The present taint is kept with its time, from which tolerations count.
            same = (taint for taint in present if is_same_taint(taint, desired))
            kept.append(next(same, desired))
        if len(kept) != len(node.spec.taints) or desired is not None:
            spec = replace(node.spec, taints=tuple(kept))
            self._cluster.change(node, replace(node, spec=spec))


def _is_alike(old: Node, new: Node) -> bool:
    """Return whether a change of a node does not concern its taints."""
    return (
        ready_status(old) == ready_status(new)
        and old.spec.taints == new.spec.taints
        and old.metadata.labels == new.metadata.labels
    )


def _health_taints(node: Node) -> list[Taint]:
    return [
        taint
        for taint in node.spec.taints
        if is_same_taint(taint, NOT_READY) or is_same_taint(taint, UNREACHABLE)
    ]


def _rate(nodes: int, unready: int) -> float:
    """Return how many nodes of a zone are tainted per second."""
    # ``ComputeZoneState``. A zone without any ready node keeps the normal rate, unlike
    # one in which some are ready.
    is_ill = unready >= _FEWEST_UNHEALTHY and unready / nodes >= _UNHEALTHY_SHARE
    if is_ill and unready < nodes:
        return _REDUCED_PER_SECOND if nodes > _LARGE_ZONE else 0.0
    return _EVICTIONS_PER_SECOND
