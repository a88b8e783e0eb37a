"""Finds the pods that would have to go from a node, by trying.

Mirrors ``SelectVictimsOnNode`` (Kubernetes v1.36,
``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go``).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from quaymaster._contract.cycle_state import CycleState
from quaymaster._contract.handle import Handle
from quaymaster._contract.hookspecs import PodUse
from quaymaster._contract.results import Candidate
from quaymaster._contract.status import Status
from quaymaster._objects import Pod, PodDisruptionBudget
from quaymaster._preemption.budgets import is_protected, split_by_budgets
from quaymaster._preemption.candidates import importance
from quaymaster._preemption.row_search import RowSearch
from quaymaster._preemption.row_trial import NO_VICTIMS, RowTrial
from quaymaster._state.arrays import RowArray
from quaymaster._state.node_info import NodeInfo

__all__ = ["NO_VICTIMS", "DryRun", "MayPreempt", "NodeTrial", "select_victims"]

MayPreempt: TypeAlias = Callable[[NodeInfo, Pod], bool]
"""Whether a pod on a node may be preempted; asked for pods of lower priority only."""

NodeTrial: TypeAlias = Callable[[NodeInfo], "Candidate | Status"]
"""Tries one node: a candidate, or why it is none."""


class DryRun:
    """Tries nodes for one profile's plugin; keep one for as long as the plugin lives.

    Where no filter looks at single pods, many nodes are tried at once on columns. The
    answers are those of `select_victims`.

    Args:
        handle: The framework.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._row_search = RowSearch(handle)

    def prepare(
        self,
        state: CycleState,
        pod: Pod,
        nodes: Sequence[NodeInfo],
        budgets: Sequence[PodDisruptionBudget],
    ) -> NodeTrial:
        """Prepare to try some nodes, each of which may then be asked for.

        Args:
            state: The pod's scratch space after filtering; it is not changed.
            pod: The pod that needs room.
            nodes: The nodes that may be asked for.
            budgets: All disruption budgets.
        """
        at_once: RowTrial | None = None
        if nodes and self._handle.filters.pod_use(state) is not PodUse.PODS:
            at_once = self._row_search.trial(state, pod, nodes)

        def trial(node: NodeInfo) -> Candidate | Status:
            if at_once is not None and not _has_protected(pod, node, budgets):
                found = at_once.answer(node)
                if found is not None:
                    return found
            return select_victims(self._handle, state, pod, node, budgets)

        return trial

    def search(
        self,
        state: CycleState,
        pod: Pod,
        rows: RowArray,
        first: int,
        wanted: int,
    ) -> tuple[Sequence[Candidate], Mapping[str, Status]] | None:
        """Try nodes in turn until there are enough candidates, without any budgets.

        Args:
            state: The pod's scratch space after filtering; it is not changed.
            pod: The pod that needs room.
            rows: The nodes that could be tried.
            first: Where among them to begin; the last is followed by the first.
            wanted: With how many candidates the search ends; at least one.

        Returns:
            The candidates in the order of trying, and node name -> why it is none; or
            None if nodes must be tried one by one.
        """
        if self._handle.filters.pod_use(state) is PodUse.PODS:
            return None
        return self._row_search.find(state, pod, np.roll(rows, -first), wanted)


def _has_protected(
    pod: Pod, node: NodeInfo, budgets: Sequence[PodDisruptionBudget]
) -> bool:
    """Whether budgets protect any pod on a node that could be a victim."""
    return bool(budgets) and any(
        victim.priority < pod.priority and is_protected(victim, budgets)
        for victim in node.pods.values()
    )


def select_victims(
    handle: Handle,
    state: CycleState,
    pod: Pod,
    node: NodeInfo,
    budgets: Sequence[PodDisruptionBudget],
    *,
    may_preempt: MayPreempt = lambda _node, _victim: True,
) -> Candidate | Status:
    """Find the pods that would have to go from a node to make room for another.

    All pods of lower priority are imagined away. If the pod then fits, they come back
    one by one as far as it still does, first those whose eviction would break a
    budget, then the others, in both groups the most important first.

    Args:
        handle: The framework.
        state: The pod's scratch space after filtering; it is not changed.
        pod: The pod that needs room.
        node: The node; it is not changed.
        budgets: All disruption budgets.
        may_preempt: Which of the pods with lower priority may be preempted.
    """
    potential = [
        victim
        for victim in node.pods.values()
        if victim.priority < pod.priority and may_preempt(node, victim)
    ]
    if not potential:
        return NO_VICTIMS
    trial = _Trial(handle, state.clone(), pod, node.clone())
    for victim in potential:
        status = trial.remove(victim)
        if status is not None:
            return status
    status = trial.fits()
    if status is not None:
        return status
    violating, others = split_by_budgets(sorted(potential, key=importance), budgets)
    broken = trial.reprieve(violating)
    if isinstance(broken, Status):
        return broken
    kept_in = trial.reprieve(others)
    if isinstance(kept_in, Status):
        return kept_in
    victims = broken + kept_in
    if not victims:
        text = f'expected at least one victim pod on node "{node.name}"'
        return Status.from_error(text)
    if violating and others:
        victims.sort(key=importance)
    return Candidate(
        node_name=node.name, victims=tuple(victims), violations=len(broken)
    )


class _Trial:
    """One node that pods are imagined away from, and back."""

    def __init__(
        self, handle: Handle, state: CycleState, pod: Pod, node: NodeInfo
    ) -> None:
        self._handle = handle
        self._state = state
        self._pod = pod
        self._node = node

    def fits(self) -> Status | None:
        return self._handle.filters.run_with_nominated_pods(
            self._state, self._pod, self._node
        )

    def remove(self, victim: Pod) -> Status | None:
        self._node.remove_pod(victim)
        return _as_error(
            self._handle.filters.remove_pod(self._state, self._pod, victim, self._node)
        )

    def add(self, victim: Pod) -> Status | None:
        self._node.add_pod(victim)
        return _as_error(
            self._handle.filters.add_pod(self._state, self._pod, victim, self._node)
        )

    def reprieve(self, pods: Sequence[Pod]) -> list[Pod] | Status:
        """Bring back the pods that can stay; return those that cannot, or an Error."""
        victims = []
        for pod in pods:
            status = self.add(pod)
            if status is None and self.fits() is not None:
                victims.append(pod)
                status = self.remove(pod)
            if status is not None:
                return status
        return victims


def _as_error(status: Status | None) -> Status | None:
    return None if status is None else Status.from_error(status.message)
