"""Tries to remove a node: its pods must all have a place elsewhere.

Mirrors ``simulator/cluster.go``.
"""

from collections.abc import Container, Iterable
from typing import Final

import attrs
from msgspec.structs import replace

from quaymaster._api.objects import Node, Pod, Taint
from quaymaster._studies.autoscaling.cluster_autoscaler.budgets import RemainingBudgets
from quaymaster._studies.autoscaling.cluster_autoscaler.drainability import (
    Drain,
    Drainability,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.hints import HintedPlacing
from quaymaster._studies.autoscaling.cluster_autoscaler.node_taints import (
    TO_BE_DELETED,
)
from quaymaster._studies.autoscaling.cluster_autoscaler.unremovable import (
    Unremovable,
    UnremovableReason,
)
from quaymaster._studies.autoscaling.trial_cluster import TrialCluster

__all__ = ["Removable", "RemovalTrial"]

_NO_PLACE: Final = Unremovable(UnremovableReason.NO_PLACE_TO_MOVE_PODS)


@attrs.define(eq=False)
class Removable:
    """A node that can be removed.

    Attributes:
        node: The node.
        drain: Its pods.
        is_risky: Whether a disruption budget allows its pods to go only one by one.
        is_ready: Whether it is ready; a node with a startup taint is not.
    """

    node: Node
    drain: Drain
    is_risky: bool = False
    is_ready: bool = True


class RemovalTrial:
    """Tries to remove nodes; what succeeds is kept in the trial.

    Args:
        trial: The cluster.
        drainability: Judges the pods.
        idle: The nodes that are removed before any pod needs a place.
    """

    def __init__(
        self,
        trial: TrialCluster,
        drainability: Drainability,
        idle: Iterable[str] = (),
    ) -> None:
        self._trial = trial
        self._drainability = drainability
        self._idle = idle
        self._are_idle_removed = False
        self._placing = HintedPlacing(trial)
        self._left_out: list[str] = []

    def remove_empty(self, name: str) -> Removable | Unremovable:
        """Remove a node without pods."""
        info = self._trial.get(name)
        if info is None:
            return Unremovable(UnremovableReason.NO_NODE_INFO)
        self.leave_out(name)
        return Removable(info.node, Drain())

    def leave_out(self, name: str) -> None:
        """Remove a node from the trial as soon as a pod needs a place.

        Most nodes that are not needed are empty, and in most loops no pod has to move:
        with a thousand of them, removing and restoring each took most of the loop.
        """
        self._left_out.append(name)

    def remove(
        self,
        name: str,
        destinations: Container[str],
        budgets: RemainingBudgets,
        now: float,
    ) -> Removable | Unremovable:
        """Try to remove a node.

        Args:
            name: The node.
            destinations: The nodes that may take its pods.
            budgets: What the disruption budgets still allow.
            now: The time, in seconds since the epoch.
        """
        info = self._trial.get(name)
        if info is None:
            return Unremovable(UnremovableReason.NO_NODE_INFO)
        node = info.node
        drain = self._drainability.drain_of([*info.pods.values()], budgets, now)
        if drain.blocking is not None:
            return Unremovable(UnremovableReason.BLOCKED_BY_POD, drain.blocking)
        if not drain.moving and not drain.completing:
            self.leave_out(name)
            return Removable(node, drain)
        self._remove_left_out()
        with self._trial.fork() as fork:
            if not self._have_places(drain.moving, node, destinations, now):
                return _NO_PLACE
            self._trial.remove_node(name)
            fork.keep()
        return Removable(node, drain)

    def end(self) -> None:
        """End a loop: forget where pods were placed before the last one."""
        self._left_out.clear()
        self._are_idle_removed = False
        self._placing.forget_old()

    def _remove_left_out(self) -> None:
        if not self._are_idle_removed:
            self._are_idle_removed = True
            for name in self._idle:
                self._trial.remove_node(name)
        for name in self._left_out:
            self._trial.remove_node(name)
        self._left_out.clear()

    def _have_places(
        self, pods: list[Pod], node: Node, destinations: Container[str], now: float
    ) -> bool:
        """Place the pods elsewhere, while a closed ghost of the node stays.

        The ghost keeps its domain, which spread constraints count.
        """
        name = node.name
        self._trial.remove_node(name)
        taint = Taint(key=TO_BE_DELETED, value=str(int(now)), effect="NoSchedule")
        spec = replace(node.spec, taints=(*node.spec.taints, taint))
        self._trial.add_node(replace(node, spec=spec))
        placed = self._placing.place(
            [replace(pod, node_name="") for pod in pods],
            lambda each: each != name and each in destinations,
            all_or_nothing=True,
        )
        return len(placed) == len(pods)
