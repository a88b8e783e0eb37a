"""Finds the pods to evict from a node, by trials with the filters.

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
    """Tries nodes for one profile's plugin; keep one for the lifetime of the plugin.

    If no filter reads single pods, many nodes are tried at once on columns. The results
    are those of `select_victims`.

    Args:
        handle: The framework.
        rule: Selects the possible victims; by default pods of lower priority.
        limit: A condition besides the filters, or None.

    Attributes:
        rule: What selects the possible victims.
        limit: The condition besides the filters, or None.
    """

    def __init__(
        self,
        handle: Handle,
        *,
        rule: VictimRule = LOWER_PRIORITY,
        limit: Limit | None = None,
    ) -> None:
        self._handle = handle
        self.rule = rule
        self.limit = limit
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
        """Try nodes in turn until there are enough candidates, in the fastest way.

        Budgets are respected. The search continues while every candidate breaks one.

        Args:
            state: The pod's scratch space after filtering; it is not changed.
            pod: The pod that needs room.
            rows: The nodes to try: `NodeStatuses.rows_with`.
            first: The index of the first node to try; the last is followed by index 0.
            wanted: The number of candidates that ends the search; by default all nodes
                are tried.
        """
        if wanted is None:
            wanted = len(rows)
        # In a cluster full of pods of one priority, each pending pod would otherwise
        # prepare a dry run that cannot succeed.
        if isinstance(self.rule, LowerPriority) and not self._are_below(pod, rows):
            nodes = self._handle.snapshot.nodes
            return Search((), SameStatus(nodes, rows, NO_VICTIMS))
        budgets = self._handle.informers.list(PodDisruptionBudget)
        if wanted and not budgets and self._uses_rows(state):
            # The search starts at an offset, as by ``GetOffsetAndNumCandidates``, so
            # that not all preemptors choose the same nodes.
            turned = np.concatenate((rows[first:], rows[:first]))
            cached = self._row_search.find_cached(state, pod, turned, wanted)
            if cached is not None and cached.candidates:
                # Statuses beside candidates are seldom read, so they are found by a
                # second search if they are.
                find = partial(self._find_uncached, state, pod, rows, first, wanted)
                return Search(cached.candidates, LaterStatuses(lambda: find().statuses))
            if cached is not None:
                return cached
        return self._find_uncached(state, pod, rows, first, wanted)

    def _find_uncached(
        self, state: CycleState, pod: Pod, rows: RowArray, first: int, wanted: int
    ) -> Search:
        """Return the same as `find`, without cached results."""
        budgets = self._handle.informers.list(PodDisruptionBudget)
        result = None
        if wanted and not budgets:
            result = self.search(state, pod, rows, first, wanted)
        if result is not None:
            return Search(*result)
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
        """Return a function that tries single nodes of a list.

        Args:
            state: The pod's scratch space after filtering; it is not changed.
            pod: The pod that needs room.
            nodes: The nodes that the function may try.
            budgets: All disruption budgets.
        """
        at_once: RowTrial | None = None
        if nodes and self._uses_rows(state):
            at_once = self._row_search.trial(state, pod, nodes)

        def trial(node: NodeInfo) -> Candidate | Status:
            if at_once is not None and not self._has_protected(
                state, pod, node, budgets
            ):
                answer = at_once.answer(node)
                if answer is not None:
                    return answer
            return select_victims(
                self._handle,
                state,
                pod,
                node,
                budgets,
                rule=self.rule,
                limit=self.limit,
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
            rows: The nodes to try.
            first: The index of the first node to try; the last is followed by index 0.
            wanted: The number of candidates that ends the search; at least one.

        Returns:
            The candidates in the order of trying, and node name -> the status of a node
            that is not a candidate. None if nodes must be tried one by one.
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
        return self._lowest.are_any_below(nodes, rows, pod.priority)

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
            for victim in self.rule.victims(state, pod, node)
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
    """Find the pods to evict from a node to make room for another pod.

    The trial removes all pods that the rule selects. If the pod then fits, they are
    added again one by one, and stay if the pod still fits. Pods whose eviction would
    break a budget come first, then the others; in both groups the most important first.

    Args:
        handle: The framework.
        state: The pod's scratch space after filtering; it is not changed.
        pod: The pod that needs room.
        node: The node; it is not changed.
        budgets: All disruption budgets.
        rule: Selects the possible victims, and the order in which they are added again;
            by default pods of lower priority.
        limit: A condition besides the filters, or None.
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
    """A copy of a node, with pods removed and added for a trial."""

    def __init__(
        self,
        handle: Handle,
        state: CycleState,
        pod: Pod,
        node: NodeInfo,
        limit: Limit | None,
    ) -> None:
        self._handle = handle
        self._original_state = state
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
            self._original_state, self._pod, self._whole, tuple(self._gone.values())
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
        """Add pods again; return the victims that cannot stay, or an Error."""
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
