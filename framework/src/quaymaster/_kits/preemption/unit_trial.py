"""Finds the units to evict from a node for a pod, where pods of groups run.

Mirrors ``SelectVictimsOnNode`` with the feature gate GenericWorkload (Kubernetes v1.37,
``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go``).
"""

from collections.abc import Sequence

import numpy as np

from quaymaster._api.objects import Pod, PodDisruptionBudget
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.results import Candidate
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import RowArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._kits.preemption.dry_run import NO_VICTIMS
from quaymaster._kits.preemption.search import Search, search_in_turn
from quaymaster._kits.preemption.units import (
    VictimUnit,
    split_units,
    unit_importance,
    units_on,
)

__all__ = ["find_units", "select_units"]


def find_units(
    handle: Handle,
    state: CycleState,
    pod: Pod,
    rows: RowArray,
    *,
    first: int = 0,
    wanted: int | None = None,
) -> Search:
    """Try nodes in turn, as `DryRun.find` does, and evict groups as units.

    Args:
        handle: The framework.
        state: The pod's scratch space after filtering; it is not changed.
        pod: The pod that needs room.
        rows: The nodes to try: `NodeStatuses.rows_with`.
        first: The index of the first node to try; the last is followed by index 0.
        wanted: The number of candidates that ends the search; by default all nodes are
            tried.
    """
    budgets = handle.informers.list(PodDisruptionBudget)
    nodes = handle.snapshot.nodes.infos_at(np.roll(rows, -first))
    return search_in_turn(
        nodes,
        len(rows) if wanted is None else wanted,
        lambda node: select_units(handle, state, pod, node, budgets),
    )


def select_units(
    handle: Handle,
    state: CycleState,
    pod: Pod,
    node: NodeInfo,
    budgets: Sequence[PodDisruptionBudget],
) -> Candidate | Status:
    """Find the units to evict from a node to make room for a pod.

    A group that can only be evicted as a whole is one unit, with its pods on other
    nodes.

    Args:
        handle: The framework.
        state: The pod's scratch space after filtering; it is not changed.
        pod: The pod that needs room.
        node: The node; it is not changed.
        budgets: All disruption budgets.
    """
    units = [
        unit
        for unit in units_on([node], handle.pod_groups)
        if unit.priority < pod.priority
    ]
    if not units:
        return NO_VICTIMS
    trial = _UnitTrial(handle, state, pod, node)
    for unit in units:
        if (status := trial.remove(unit)) is not None:
            return status
    if (status := trial.fits()) is not None:
        return status
    violating, others = split_units(sorted(units, key=unit_importance), budgets)
    victims: list[VictimUnit] = []
    violations = 0
    for unit, broken in [*violating, *((unit, 0) for unit in others)]:
        status = trial.add(unit)
        if status is None and trial.fits() is not None:
            victims.append(unit)
            violations += broken
            status = trial.remove(unit)
        if status is not None:
            return status
    if not victims:
        text = f'expected at least one victim pod on node "{node.name}"'
        return Status.from_error(text)
    victims.sort(key=unit_importance)
    pods = tuple(victim for unit in victims for victim in unit.pods)
    return Candidate(node_name=node.name, victims=pods, violations=violations)


class _UnitTrial:
    """A copy of a node, with units removed and added for a trial.

    Only this node is changed. PreFilter gets the changes of all nodes, the others as
    they are.
    """

    def __init__(
        self, handle: Handle, state: CycleState, pod: Pod, node: NodeInfo
    ) -> None:
        self._handle = handle
        self._state = state.clone()
        self._pod = pod
        self._node = node.clone()

    def fits(self) -> Status | None:
        return self._handle.filters.run_with_nominated_pods(
            self._state, self._pod, self._node
        )

    def remove(self, unit: VictimUnit) -> Status | None:
        for victim in unit.pods:
            node = self._node_of(victim)
            if node is None:
                return _gone(victim)
            # Identity: `_node_of` returns the copy, or another node of the snapshot.
            if node is self._node:
                node.remove_pod(victim)
            status = self._handle.filters.remove_pod(
                self._state, self._pod, victim, node
            )
            if status is not None:
                return Status.from_error(status.message)
        return None

    def add(self, unit: VictimUnit) -> Status | None:
        for victim in unit.pods:
            node = self._node_of(victim)
            if node is None:
                return _gone(victim)
            # Identity: as in `remove`.
            if node is self._node:
                node.add_pod(victim)
            status = self._handle.filters.add_pod(self._state, self._pod, victim, node)
            if status is not None:
                return Status.from_error(status.message)
        return None

    def _node_of(self, victim: Pod) -> NodeInfo | None:
        if victim.node_name == self._node.name:
            return self._node
        return self._handle.snapshot.get(victim.node_name)


def _gone(victim: Pod) -> Status:
    name = victim.node_name
    return Status.from_error(f'failed to get node info for node "{name}" from snapshot')
