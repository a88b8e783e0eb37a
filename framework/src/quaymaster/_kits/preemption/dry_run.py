"""Finds the pods that would have to go from a node, by trying.

Mirrors ``SelectVictimsOnNode`` (Kubernetes v1.36,
``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go``).
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from quaymaster._api.objects import Pod, PodDisruptionBudget
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.results import Candidate
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import RowArray
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._kits.preemption.budgets import is_protected, split_by_budgets
from quaymaster._kits.preemption.lowest import LowestPriorities
from quaymaster._kits.preemption.row_search import RowSearch
from quaymaster._kits.preemption.row_trial import NO_VICTIMS, RowTrial
from quaymaster._kits.preemption.rules import (
    LOWER_PRIORITY,
    Limit,
    LowerPriority,
    VictimRule,
)
from quaymaster._kits.preemption.search import (
    LaterStatuses,
    NodeTrial,
    SameStatus,
    Search,
    search_in_turn,
)

__all__ = ["NO_VICTIMS", "DryRun", "select_victims"]


class DryRun:
    """Tries nodes for one profile's plugin; keep one for as long as the plugin lives.

    Where no filter looks at single pods, many nodes are tried at once on columns. The
    answers are those of `select_victims`.

    Args:
        handle: The framework.
        rule: Who may have to go; by default pods of lower priority.
        limit: What must hold beside the filters, if anything.
    """

    def __init__(
        self,
        handle: Handle,
        *,
        rule: VictimRule = LOWER_PRIORITY,
        limit: Limit | None = None,
    ) -> None:
        self._handle = handle
        self._rule = rule
        self._limit = limit
        self._row_search = RowSearch(handle, rule, limit)
        self._lowest = LowestPriorities()

    def find(
        self,
        state: CycleState,
        pod: Pod,
        rows: RowArray,
        *,
        first: int = 0,
        wanted: int | None = None,
    ) -> Search:
        """Try nodes in turn until there are enough candidates, by the fastest way.

        Budgets are respected. As long as each candidate breaks one, the search goes on.

        Args:
            state: The pod's scratch space after filtering; it is not changed.
            pod: The pod that needs room.
            rows: The nodes that could be tried: `NodeStatuses.rows_with`.
            first: Where among them to begin; the last is followed by the first.
            wanted: With how many candidates the search ends; without it, all nodes are
                tried.
        """
        if wanted is None:
            wanted = len(rows)
        if isinstance(self._rule, LowerPriority) and not self._are_below(pod, rows):
            nodes = self._handle.snapshot.nodes
            return Search((), SameStatus(nodes, rows, NO_VICTIMS))
        budgets = self._handle.informers.list(PodDisruptionBudget)
        if wanted and not budgets and self._uses_rows(state):
            turned = np.concatenate((rows[first:], rows[:first]))
            known = self._row_search.find_known(state, pod, turned, wanted)
            if known is not None and known.candidates:
                find = partial(self._find_anew, state, pod, rows, first, wanted)
                return Search(known.candidates, LaterStatuses(lambda: find().statuses))
            if known is not None:
                return known
        return self._find_anew(state, pod, rows, first, wanted)

    def _find_anew(
        self, state: CycleState, pod: Pod, rows: RowArray, first: int, wanted: int
    ) -> Search:
        """Find the same as `find`, with nothing remembered."""
        budgets = self._handle.informers.list(PodDisruptionBudget)
        found = None
        if wanted and not budgets:
            found = self.search(state, pod, rows, first, wanted)
        if found is not None:
            return Search(*found)
        infos = self._handle.snapshot.nodes.infos_at(rows)
        trial = self.prepare(state, pod, infos, budgets)
        return search_in_turn((*infos[first:], *infos[:first]), wanted, trial)

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
        if nodes and self._uses_rows(state):
            at_once = self._row_search.trial(state, pod, nodes)

        def trial(node: NodeInfo) -> Candidate | Status:
            if at_once is not None and not self._has_protected(
                state, pod, node, budgets
            ):
                found = at_once.answer(node)
                if found is not None:
                    return found
            return select_victims(
                self._handle,
                state,
                pod,
                node,
                budgets,
                rule=self._rule,
                limit=self._limit,
            )

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
        if not self._uses_rows(state):
            return None
        return self._row_search.find(state, pod, np.roll(rows, -first), wanted)

    def _uses_rows(self, state: CycleState) -> bool:
        """Whether nodes may be tried on columns."""
        return self._handle.filters.pod_use(state) is not PodUse.PODS

    def _are_below(self, pod: Pod, rows: RowArray) -> bool:
        """Whether any pod on some nodes has a lower priority than another pod."""
        nodes = self._handle.snapshot.nodes
        return bool(self._lowest.are_below(nodes, rows, pod.priority).any())

    def _has_protected(
        self,
        state: CycleState,
        pod: Pod,
        node: NodeInfo,
        budgets: Sequence[PodDisruptionBudget],
    ) -> bool:
        """Whether budgets protect any pod on a node that could be a victim."""
        return bool(budgets) and any(
            is_protected(victim, budgets)
            for victim in self._rule.victims(state, pod, node)
        )


def select_victims(
    handle: Handle,
    state: CycleState,
    pod: Pod,
    node: NodeInfo,
    budgets: Sequence[PodDisruptionBudget],
    *,
    rule: VictimRule = LOWER_PRIORITY,
    limit: Limit | None = None,
) -> Candidate | Status:
    """Find the pods that would have to go from a node to make room for another.

    All pods that the rule names are imagined away. If the pod then fits, they come back
    one by one as far as it still does, first those whose eviction would break a
    budget, then the others, in both groups the most important first.

    Args:
        handle: The framework.
        state: The pod's scratch space after filtering; it is not changed.
        pod: The pod that needs room.
        node: The node; it is not changed.
        budgets: All disruption budgets.
        rule: Who may have to go, and in which order pods come back; by default pods
            of lower priority.
        limit: What must hold beside the filters, if anything.
    """
    chosen = {victim.uid for victim in rule.victims(state, pod, node)}
    potential = [victim for uid, victim in node.pods.items() if uid in chosen]
    if not potential:
        return NO_VICTIMS
    trial = _Trial(handle, state, pod, node, limit)
    for victim in potential:
        status = trial.remove(victim)
        if status is not None:
            return status
    status = trial.fits()
    if status is not None:
        return status
    violating, others = split_by_budgets(
        sorted(potential, key=rule.importance),
        budgets,
        stops_at_violated=bool(budgets) and handle.kubernetes.has("budget-walk"),
    )
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
        victims.sort(key=rule.importance)
    return Candidate(
        node_name=node.name, victims=tuple(victims), violations=len(broken)
    )


class _Trial:
    """One node that pods are imagined away from, and back."""

    def __init__(
        self,
        handle: Handle,
        state: CycleState,
        pod: Pod,
        node: NodeInfo,
        limit: Limit | None,
    ) -> None:
        self._handle = handle
        self._given = state
        self._state = state.clone()
        self._pod = pod
        self._whole = node
        self._node = node.clone()
        self._limit = limit
        self._gone: dict[str, Pod] = {}

    def fits(self) -> Status | None:
        status = self._handle.filters.run_with_nominated_pods(
            self._state, self._pod, self._node
        )
        if status is not None or self._limit is None:
            return status
        return self._limit.exceeded(
            self._given, self._pod, self._whole, tuple(self._gone.values())
        )

    def remove(self, victim: Pod) -> Status | None:
        self._gone[victim.uid] = victim
        self._node.remove_pod(victim)
        return _as_error(
            self._handle.filters.remove_pod(self._state, self._pod, victim, self._node)
        )

    def add(self, victim: Pod) -> Status | None:
        del self._gone[victim.uid]
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
