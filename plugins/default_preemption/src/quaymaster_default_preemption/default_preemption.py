"""Make room for a pod by evicting pods of lower priority.

An unschedulable pod gets the node where preemption does the least harm. The pods of
lower priority that block it there are evicted, and the pod is nominated to that node.

Mirrors ``DefaultPreemption`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go``) and
``Evaluator`` (``pkg/scheduler/framework/preemption/preemption.go``). Different from
upstream, there is no preemption for pod groups (off by default).
"""

from collections import Counter
from collections.abc import Sequence
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
from quaymaster.objects import PodDisruptionBudget
from quaymaster.preemption import (
    Candidate,
    DryRun,
    Evictions,
    Search,
    best_candidates,
    unfit_message,
    why_not_eligible,
)
from quaymaster_default_preemption.args import (
    DefaultPreemptionArgs,
    candidates_wanted,
)
from quaymaster_default_preemption.facts import Outcomes

__all__ = ["DefaultPreemption"]

_OUTCOMES: Final = StateKey[Outcomes]("ExplainDefaultPreemption")
_UNDER_WAY: Final = Status.unresolvable(
    "waiting for the preemption for this pod to be finished"
)
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

    def __init__(self, args: DefaultPreemptionArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self._dry_run = DryRun(handle)
        self._tells_of_success = handle.kubernetes.has("preemption-messages")
        self._evictions = Evictions(handle, "DefaultPreemption")

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return _UNDER_WAY if self._evictions.is_under_way(pod) else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        # A deletion opens the gate above. Whether it also makes the pod schedulable is
        # decided by the hints of the plugins that rejected the pod.
        return [on_pod.assigned(Change.DELETE, _after_pod_deletion)]

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        stored = self._handle.informers.get(Pod, pod.key)
        if stored is None:
            return _prefixed(Status.from_error(f'pod "{pod.name}" not found'))
        problem = why_not_eligible(self._handle, state, stored, statuses)
        if problem:
            return _prefixed(Status.unschedulable(problem))
        search = self.find_candidates(state, stored, statuses)
        if not search.candidates:
            return self._nobody_helps(search)
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
            search = self._dry_run.find(state, pod, rows)
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
        handle = self._handle
        rows = statuses.rows_with(Code.UNSCHEDULABLE)
        if not len(rows):
            return Search()
        wanted = candidates_wanted(self._args, len(rows))
        # The first node does not matter if all nodes are tried.
        offset = handle.random.randrange(len(rows)) if wanted < len(rows) else 0
        return self._dry_run.find(state, pod, rows, first=offset, wanted=wanted)

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the best candidate; the random generator breaks ties."""
        best = best_candidates(candidates)
        if len(best) == 1:
            return best[0]
        return best[self._handle.random.randrange(len(best))]

    def _nobody_helps(self, search: Search) -> PostFilterResult | Status:
        if errors := search.errors:
            text = errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]"
            return _prefixed(Status.from_error(text))
        nodes = len(self._handle.snapshot)
        reasons: Counter[str] = Counter()
        for status, count in search.counted().items():
            for reason in status.reasons:
                reasons[reason] += count
        if untried := nodes - len(search.statuses):
            reasons[_NOT_HELPFUL] += untried
        text = unfit_message(nodes, reasons)
        return PostFilterResult(
            _prefixed(Status.unschedulable(text)), nominating=_nominate("")
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


def _after_pod_deletion(_pod: Pod, _old: Pod, _new: None) -> QueueingHint:
    return QueueingHint.SKIP
