"""Keep namespaces within their elastic quotas, and preempt borrowers.

Mirrors ``CapacityScheduling`` (sigs.k8s.io/scheduler-plugins v0.34.7,
``pkg/capacityscheduling/capacity_scheduling.go``).
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from quaymaster import (
    Change,
    ClusterEventWithHint,
    Code,
    CycleState,
    EventsOf,
    Handle,
    NodeStatuses,
    NominatingInfo,
    NominatingMode,
    Pod,
    PostFilterResult,
    QueueingHint,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.cluster import Verb, Write
from quaymaster.objects import PodDisruptionBudget, Resources
from quaymaster.preemption import (
    DryRun,
    Evictions,
    Search,
    best_candidates,
    unfit_message,
)

from quaymaster_capacity_scheduling.amounts import demanded
from quaymaster_capacity_scheduling.args import CapacitySchedulingArgs
from quaymaster_capacity_scheduling.elastic_quota import ElasticQuota
from quaymaster_capacity_scheduling.eligibility import why_not_eligible
from quaymaster_capacity_scheduling.ledger import Ledger
from quaymaster_capacity_scheduling.rule import DEMAND, Demand, QuotaRule
from quaymaster_capacity_scheduling.statuses import Statuses

__all__ = ["CapacityScheduling"]

_UNDER_WAY: Final = Status.unresolvable("waiting for the end of its victims")
_NOTHING: Final = Resources()


class CapacityScheduling:
    """Namespaces lend each other unused quota, and reclaim it.

    Args:
        args: How often the status of quotas is updated.
        handle: The framework.
    """

    Args = CapacitySchedulingArgs
    kinds = (ElasticQuota,)
    blocks = False
    reads = (PodDisruptionBudget,)
    writes = (
        Write(Verb.DELETE, Pod),
        Write(Verb.PATCH, Pod, "status"),
        Write(Verb.PATCH, ElasticQuota, "status"),
    )

    def __init__(self, args: CapacitySchedulingArgs, handle: Handle) -> None:
        self._args = args
        self._handle = handle
        self.ledger = Ledger(handle)
        self.rule = QuotaRule()
        self.dry_run = DryRun(handle, rule=self.rule, limit=self.rule)
        self._evictions = Evictions(handle, handle.plugin_name)

    @hookimpl
    def start(self) -> None:
        if period := self._args.elastic_quota_status_seconds:
            Statuses(self._handle, period).begin()

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        return _UNDER_WAY if self._evictions.is_under_way(pod) else None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            on_pod(
                Change.DELETE | Change.UPDATE_POD_SCALE_DOWN,
                self._after_pod_change,
            ),
            EventsOf(ElasticQuota)(Change.ALL, _after_quota_change),
        ]

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        demand = state[DEMAND] = self._demand(pod)
        return demand.problem(pod.namespace)

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        stored = self._handle.informers.get(Pod, pod.key) or pod
        problem = why_not_eligible(self._handle, state, stored, statuses)
        if problem:
            return Status.unschedulable(problem)
        rows = statuses.rows_with(Code.UNSCHEDULABLE)
        if len(rows) and (problem := _needs_no_search(state[DEMAND], stored)):
            return Status.unschedulable(problem)
        found = self.dry_run.find(state, stored, rows)
        if not found.candidates:
            return self._nobody_helps(found)
        candidates = self._handle.run_preemption_extenders(stored, found.candidates)
        if isinstance(candidates, Status):
            return candidates
        if not candidates:
            return Status.unschedulable("no candidate is left by the extenders")
        best = best_candidates(candidates)[0]
        self._evictions.start(stored, best)
        return PostFilterResult(nominating=_nominate(best.node_name))

    def _demand(self, pod: Pod) -> Demand:
        books, wanted = self.ledger.books(), demanded(pod)
        nominated = self._handle.nominated_pods()
        if not nominated or pod.namespace not in books.bounds:
            return Demand(books=books, own=wanted, all=wanted)
        own, everybody = wanted.copy(), wanted.copy()
        for pods in nominated.values():
            for other in pods:
                bounds = books.bounds.get(other.namespace)
                if bounds is None or other.uid == pod.uid:
                    continue
                if other.namespace != pod.namespace:
                    if not bounds.over_min(books.of(other.namespace).used):
                        everybody.add(demanded(other))
                elif other.priority >= pod.priority:
                    own.add(demanded(other))
                    everybody.add(demanded(other))
        return Demand(books=books, own=own, all=everybody)

    def _nobody_helps(self, found: Search) -> PostFilterResult | Status:
        if errors := found.errors:
            return Status.from_error(", ".join(errors))
        reasons = Counter(
            reason for status in found.statuses.values() for reason in status.reasons
        )
        nodes = len(self._handle.snapshot)
        if untried := nodes - len(found.statuses):
            reasons["Preemption is not helpful for scheduling"] += untried
        status = Status.unschedulable(unfit_message(nodes, reasons))
        return PostFilterResult(status, nominating=_nominate(""))

    def _after_pod_change(self, pod: Pod, old: Pod, new: Pod | None) -> QueueingHint:
        """Wake a pod for itself, and for all that gives something back."""
        if new is not None and new.uid == pod.uid:
            return QueueingHint.QUEUE
        has_place = old.node_name or old.status.nominated_node_name
        gives_back = has_place and self.ledger.has_quota(old.namespace)
        return QueueingHint.QUEUE if gives_back else QueueingHint.SKIP


def _needs_no_search(demand: Demand, pod: Pod) -> str:
    """Return why no node has victims, or an empty text."""
    name = pod.namespace
    if demand.problem(name) and not demand.problem_without(name, _NOTHING, _NOTHING):
        return "waiting for pods that are on their way out."
    return "" if demand.can_preempt(pod) else "nobody may have to go for it."


def _after_quota_change(
    _pod: Pod, old: ElasticQuota | None, new: ElasticQuota | None
) -> QueueingHint:
    """Any quota may help, since all their minima are added up; a status may not."""
    if old is not None and new is not None and old.spec == new.spec:
        return QueueingHint.SKIP
    return QueueingHint.QUEUE


def _nominate(node_name: str) -> NominatingInfo:
    return NominatingInfo(node_name, NominatingMode.OVERRIDE)
