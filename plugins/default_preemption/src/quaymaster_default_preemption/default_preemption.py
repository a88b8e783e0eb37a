"""Make room for a pod by evicting pods of lower priority.

An unschedulable pod gets the node where preemption does the least harm. The pods of
lower priority that block it there are evicted, and the pod is nominated to that node.

Mirrors ``DefaultPreemption`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go``) and
``Evaluator`` (``pkg/scheduler/framework/preemption/preemption.go``).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Code,
    CycleState,
    Handle,
    NodeInfo,
    NodeStatuses,
    NominatingInfo,
    NominatingMode,
    Pod,
    PostFilterResult,
    QueueingHint,
    StateKey,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.cluster import Verb, Write
from quaymaster.columns import RowArray
from quaymaster.hookspecs import PlaceGroup, PodGroupInfo, PodGroupPostFilterResult
from quaymaster.objects import PodDisruptionBudget
from quaymaster.preemption import (
    Candidate,
    DryRun,
    Evictions,
    GroupSearch,
    LowerPriority,
    LowerUnitPriority,
    Search,
    VictimRule,
    best_candidates,
    find_units,
    is_waiting_for_victims,
    may_preempt,
    unfit_message,
    why_not_eligible,
)
from quaymaster_default_preemption.args import (
    DefaultPreemptionArgs,
    max_candidates,
)
from quaymaster_default_preemption.facts import Outcomes

__all__ = ["DefaultPreemption"]

_OUTCOMES: Final = StateKey[Outcomes]("ExplainDefaultPreemption")
_UNDER_WAY: Final = Status.unresolvable(
    "waiting for the preemption for this pod to be finished"
)
_GROUP_UNDER_WAY: Final = Status.unresolvable(
    "waiting for the preemption for this pod group to be finished"
)
_GROUP_PREFIX: Final = "pod group preemption"
_NOT_HELPFUL: Final = "Preemption is not helpful for scheduling"
_NO_CANDIDATE: Final = "no candidate node for preemption"


class DefaultPreemption:
    """Finds the node where preemption does the least harm, and evicts the victims.

    Args:
        args: How many candidates are enough.
        handle: The framework.
    """

    Args = DefaultPreemptionArgs

    reads = (PodDisruptionBudget,)
    writes = (Write(Verb.DELETE, Pod), Write(Verb.PATCH, Pod, "status"))
    blocks = False
    gates_groups = True

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._dry_run = DryRun(handle)
        self._tells_of_success = handle.kubernetes.has("preemption-messages")
        self._evictions = Evictions(handle, "DefaultPreemption")
        self._group_search = GroupSearch(handle)
        self._groups = handle.pod_groups
        gate = "PodGroupPreemptionPolicy"
        self._groups_have_policies = handle.kubernetes.enabled(gate)

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        groups = self._groups
        if groups is None or not pod.group_key:
            return _UNDER_WAY if self._evictions.is_under_way(pod) else None
        root = groups.root_of(pod)
        if root is None:
            return None
        is_under_way = self._evictions.is_under_way_for(root)
        return _GROUP_UNDER_WAY if is_under_way else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # A deletion opens the gate above. Whether it also makes the pod schedulable is
        # decided by the hints of the plugins that rejected the pod.
        return [on_pod.assigned(Change.DELETE, _after_pod_deletion)]

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        # The newest version, whose nominated node may have been set by an earlier
        # attempt, as ``Preempt`` reads it from its lister.
        stored = self._handle.informers.get(Pod, pod.key)
        if stored is None:
            return _prefixed(Status.from_error(f'pod "{pod.name}" not found'))
        problem = self._why_not_eligible(state, stored, statuses)
        if problem:
            return _prefixed(Status.unschedulable(problem))
        search = self.find_candidates(state, stored, statuses)
        if not search.candidates:
            return self._no_candidates(stored, search)
        candidates = self._handle.run_preemption_extenders(stored, search.candidates)
        if isinstance(candidates, Status):
            return _prefixed(candidates)
        if not candidates:
            return _prefixed(Status.unschedulable(_NO_CANDIDATE))
        best = self.choose(candidates)
        self._evictions.start(stored, best)
        message = _success(best) if self._tells_of_success else ""
        return PostFilterResult(nominating=_nominate(best.node_name), message=message)

    @hookimpl
    def pod_group_post_filter(
        self, group: PodGroupInfo, place: PlaceGroup
    ) -> PodGroupPostFilterResult:
        if not may_preempt(group, groups_have_policies=self._groups_have_policies):
            return _group_result(
                Status.unschedulable("not eligible due to preemptionPolicy=Never.")
            )
        if is_waiting_for_victims(self._handle, group):
            nominated = {
                pod.key: _nominate(pod.status.nominated_node_name) for pod in group.pods
            }
            return _group_success("ongoing preemption on nominated nodes", nominated)
        placement = self._group_search.find(group, place)
        if isinstance(placement, Status):
            return _group_result(placement)
        self._evictions.start_for_group(group.group, group.pods, placement.pods)
        nominated = {
            attempt.pod.key: _nominate(attempt.node_name)
            for attempt in placement.attempts
        }
        text = (
            f"found a placement for podgroup, preempting {len(placement.pods)} victims"
        )
        return _group_success(text, nominated)

    @hookimpl
    def explain_post_filter(
        self, state: CycleState, pod: Pod, node: NodeInfo, statuses: NodeStatuses
    ) -> Sequence[str]:
        if statuses[node.name].code is not Code.UNSCHEDULABLE:
            return ()
        problem = why_not_eligible(self._handle, state, pod, statuses)
        if problem:
            return [f"preemption: {problem.rstrip('.')}"]
        outcome = state.get(_OUTCOMES)
        if outcome is None:  # one search for all nodes
            rows = statuses.rows_with(Code.UNSCHEDULABLE)
            search = self._search(state, pod, rows, 0, len(rows))
            outcome = state[_OUTCOMES] = Outcomes(search, self._budgets())
        return outcome.explain(pod, node)

    def _budgets(self) -> Sequence[PodDisruptionBudget]:
        return self._handle.informers.list(PodDisruptionBudget)

    def find_candidates(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> Search:
        """Try nodes until there are enough candidates, without changing anything.

        Args:
            state: The pod's scratch space after filtering.
            pod: The unschedulable pod.
            statuses: Why each node was rejected. Only Unschedulable nodes are
                tried: on the others, evicting pods would not help.
        """
        rows = statuses.rows_with(Code.UNSCHEDULABLE)
        if not len(rows):
            return Search()
        offset, limit = self._first_of(len(rows))
        return self._search(state, pod, rows, offset, limit)

    def _first_of(self, nodes: int) -> tuple[int, int]:
        """Return which of some nodes to try first, and how many candidates to find."""
        limit = max_candidates(self._args, nodes)
        # The first node does not matter if all nodes are tried.
        # Another first node each time, so that the same nodes are not drained by every
        # preemptor of a large cluster.
        first = self._handle.random.randrange(nodes) if limit < nodes else 0
        return first, limit

    def _search(
        self, state: CycleState, pod: Pod, rows: RowArray, first: int, limit: int
    ) -> Search:
        """Try nodes; if pods of groups run anywhere, victims may be whole groups."""
        groups = self._groups
        if groups is not None and any(group.scheduled_count for group in groups):
            handle = self._handle
            return find_units(handle, state, pod, rows, first=first, wanted=limit)
        return self._dry_run.find(state, pod, rows, first=first, wanted=limit)

    def _why_not_eligible(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> str:
        """Return why a pod may not preempt others now; empty if it may."""
        # Most pods: whatever the rule, they may.
        if pod.spec.preemption_policy != "Never" and (
            not pod.status.nominated_node_name
        ):
            return ""
        return why_not_eligible(self._handle, state, pod, statuses, rule=self._rule())

    def _rule(self) -> VictimRule:
        groups = self._groups
        return LowerPriority() if groups is None else LowerUnitPriority(groups)

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the best candidate; the random generator breaks ties."""
        best = best_candidates(candidates)
        if len(best) == 1:
            return best[0]
        return best[self._handle.random.randrange(len(best))]

    def _no_candidates(self, pod: Pod, search: Search) -> PostFilterResult | Status:
        counts = search.counted()
        if any(status.is_error for status in counts):
            errors = search.errors
            text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
            return _prefixed(Status.from_error(text))
        nodes = len(self._handle.snapshot)
        untried = nodes - len(search.statuses)
        result = _unfit(nodes, untried, tuple(counts.items()))
        if not search.has_no_victims:
            # Such a search depends on more than the nodes, such as budgets.
            return result
        repeats = self._repeats(pod, len(search.statuses))
        return PostFilterResult(result.status, result.nominating, repeats=repeats)

    def _repeats(self, pod: Pod, nodes: int) -> Callable[[Pod], bool]:
        """Return whether there are no victims for another pod either.

        Args:
            pod: A pod for which no node has any pod of lower priority.
            nodes: The number of nodes that could be tried.
        """
        priority, random = pod.priority, self._handle.random
        get = self._handle.informers.get
        is_drawn = max_candidates(self._args, nodes) < nodes

        def repeats(other: Pod) -> bool:
            stored = get(Pod, other.key)
            if (
                stored is None
                or stored.priority != priority
                or stored.spec.preemption_policy == "Never"
                or stored.status.nominated_node_name
            ):
                return False
            if is_drawn:
                # As the search: the order of random numbers is kept.
                random.randrange(nodes)
            return True

        return repeats


# Pods that wait for a node are tried again and again with the same outcome. To render
# it took a quarter of this hook.
@lru_cache(maxsize=256)
def _unfit(
    nodes: int, untried: int, counts: tuple[tuple[Status, int], ...]
) -> PostFilterResult:
    """Return the result without a candidate: why each node is none."""
    reasons: Counter[str] = Counter()
    for status, count in counts:
        for reason in status.reasons:
            reasons[reason] += count
    if untried:
        reasons[_NOT_HELPFUL] += untried
    return PostFilterResult(
        # The empty nomination clears an earlier one: room is no longer kept for a pod
        # that nothing helps.
        _prefixed(Status.unschedulable(unfit_message(nodes, reasons))),
        nominating=_nominate(""),
    )


def _nominate(node_name: str) -> NominatingInfo:
    return NominatingInfo(node_name, NominatingMode.OVERRIDE)


def _success(best: Candidate) -> str:
    return (
        "preemption: found a potential placement for pod on node "
        f"{best.node_name}, preempting {len(best.victims)} victims"
    )


def _prefixed(status: Status) -> Status:
    return Status(status.code, (f"preemption: {status.message}",), error=status.error)


def _group_result(status: Status) -> PodGroupPostFilterResult:
    message = status.message
    if message:
        reasons = (f"{_GROUP_PREFIX}: {message}",)
        status = Status(status.code, reasons, error=status.error)
    return PodGroupPostFilterResult(status=status)


def _group_success(
    text: str, nominated: Mapping[str, NominatingInfo]
) -> PodGroupPostFilterResult:
    return PodGroupPostFilterResult(
        nominating=nominated, message=f"{_GROUP_PREFIX}: {text}"
    )


def _after_pod_deletion(_pod: Pod, _old: Pod, _new: None) -> QueueingHint:
    return QueueingHint.SKIP
