"""Elastic quotas: a namespace may borrow the unused part of others, and gives it back.

Semantics as in ``pkg/capacityscheduling`` (sigs.k8s.io/scheduler-plugins v0.34.7), with
CPU alone, and quotas as arguments.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import attrs
import numpy as np

from quaymaster import (
    BoolArray,
    Change,
    ClusterEventWithHint,
    Code,
    CycleState,
    Handle,
    NodeInfo,
    NodeStatuses,
    NodeTable,
    NominatingInfo,
    NominatingMode,
    Pod,
    PostFilterResult,
    StateKey,
    Status,
    hookimpl,
    on_pod,
)
from quaymaster.columns import RowReader
from quaymaster.config import integer
from quaymaster.objects import pod_requests
from quaymaster.preemption import (
    DryRun,
    Evictions,
    Limit,
    LowerPriority,
    PodColumns,
    VictimRule,
    best_candidates,
    importance,
    why_not_eligible,
)

__all__ = ["Demand", "ElasticQuotas", "Quota", "QuotaRule", "cpu"]


@attrs.frozen(kw_only=True)
class Quota:
    """A namespace's guaranteed minimum and its maximum, in millicores."""

    namespace: str
    min: int = attrs.field(validator=integer(0))
    max: int = attrs.field(validator=integer(0))


@attrs.frozen(kw_only=True)
class ElasticQuotasArgs:
    """The quotas, at most one for each namespace."""

    quotas: tuple[Quota, ...] = ()


@attrs.frozen(eq=False, kw_only=True)
class Demand:
    """Requests of an attempt to compare with the quotas, in millicores.

    Attributes:
        used: Namespace -> the requests of its pods on nodes, for those with a quota.
        own: The requests of the pod, and of nominated pods of its namespace.
        all: The same, with nominated pods of others that are within their minimum.
    """

    used: Mapping[str, int]
    own: int
    all: int

    def clone(self) -> "Demand":
        return self


DEMAND = StateKey[Demand]("ElasticQuotas", missing="ElasticQuotas: no PreFilter")


def cpu(pod: Pod) -> int:
    """Return the CPU request of a pod, in millicores."""
    return pod_requests(pod).milli_cpu


class QuotaRule(VictimRule, Limit):
    """Lets a namespace within its minimum take back what others have borrowed.

    Beyond its minimum, it may only replace its own pods by more important ones. Pods
    without a quota preempt each other by priority.
    """

    def __init__(self, quotas: Mapping[str, Quota]) -> None:
        self._quotas = quotas
        self._sum_of_min = sum(quota.min for quota in quotas.values())
        self._lower = LowerPriority()

    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        lower = self._lower.victims(state, pod, node)
        if pod.namespace not in self._quotas:
            return [victim for victim in lower if victim.namespace not in self._quotas]
        if not self._takes_back(state, pod):
            return [victim for victim in lower if victim.namespace == pod.namespace]
        borrowed = self._borrowed(state, pod)
        found = []
        for victim in sorted(node.pods.values(), key=importance)[::-1]:
            if borrowed.get(victim.namespace, 0) > 0:
                borrowed[victim.namespace] -= cpu(victim)
                found.append(victim)
        return found

    def victims_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        lower = self._lower.victims_on_rows(state, pod, pods)
        if pod.namespace not in self._quotas:
            return lower & ~pods.in_groups(self._quotas.__contains__)
        if not self._takes_back(state, pod):
            return lower & pods.in_groups(pod.namespace.__eq__)
        borrowed = self._borrowed(state, pod)
        amounts = [borrowed.get(str(name), 0) for name in pods.groups]
        # The last entry is for places without a pod, whose group is -1.
        left = np.repeat(np.array([[*amounts, 0]]).T, len(pods.rows), axis=1)
        found: BoolArray = np.zeros(pods.group.shape, dtype=np.bool_)
        requests, places = pods.requested("cpu"), np.arange(len(pods.rows))
        for rank in reversed(range(len(found))):
            groups = pods.group[rank]
            found[rank] = left[groups, places] > 0
            left[groups, places] -= np.where(found[rank], requests[rank], 0)
        return found

    def exceeded(
        self, state: CycleState, pod: Pod, node: NodeInfo, gone: Collection[Pod]
    ) -> Status | None:
        own = sum(cpu(victim) for victim in gone if victim.namespace == pod.namespace)
        freed = sum(cpu(victim) for victim in gone if victim.namespace in self._quotas)
        return self.too_much(state[DEMAND], pod, own, freed)

    def exceeded_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns, gone: BoolArray
    ) -> BoolArray:
        quota, demand = self._quotas.get(pod.namespace), state[DEMAND]
        if quota is None:
            return np.zeros(len(pods.rows), dtype=np.bool_)
        freed = np.where(
            gone & pods.in_groups(self._quotas.__contains__), pods.requested("cpu"), 0
        )
        own = np.where(pods.in_groups(pod.namespace.__eq__), freed, 0).sum(axis=0)
        over_max = demand.used[pod.namespace] + demand.own - own > quota.max
        total = sum(demand.used.values()) + demand.all - freed.sum(axis=0)
        found: BoolArray = over_max | (total > self._sum_of_min)
        return found

    def too_much(
        self, demand: Demand, pod: Pod, own: int = 0, freed: int = 0
    ) -> Status | None:
        """Return the rejection of a pod by the quotas, or None.

        Args:
            demand: The requests of the attempt.
            pod: The pod.
            own: The requests of evicted pods of its namespace, in millicores.
            freed: The requests of evicted pods of all namespaces.
        """
        quota = self._quotas.get(pod.namespace)
        if quota is None:
            return None
        if demand.used[pod.namespace] + demand.own - own > quota.max:
            return Status.unschedulable("over the maximum of the quota")
        if sum(demand.used.values()) + demand.all - freed > self._sum_of_min:
            return Status.unschedulable("over the minima of all quotas")
        return None

    def _takes_back(self, state: CycleState, pod: Pod) -> bool:
        demand = state[DEMAND]
        own = demand.used[pod.namespace] + demand.own
        return own <= self._quotas[pod.namespace].min

    def _borrowed(self, state: CycleState, pod: Pod) -> dict[str, int]:
        """Return the use of other namespaces beyond their minimum."""
        used = state[DEMAND].used
        return {
            name: used[name] - quota.min
            for name, quota in self._quotas.items()
            if name != pod.namespace
        }


class _Usage:
    """Keeps the sum of each namespace's CPU requests up to date, in millicores."""

    def __init__(self) -> None:
        self._reader = RowReader()
        self._by_row: dict[int, Counter[str]] = {}
        self._total: Counter[str] = Counter()

    def total(self, nodes: NodeTable) -> Counter[str]:
        for row in self._reader.changed(nodes):
            self._total.subtract(self._by_row.pop(row, {}))
            info = nodes.infos[row]
            if info is not None and info.pods:
                sums = self._by_row[row] = Counter[str]()
                for pod in info.pods.values():
                    sums[pod.namespace] += cpu(pod)
                self._total.update(sums)
        return self._total


class ElasticQuotas:
    """Keeps namespaces within their quotas; preempts for those below their minimum."""

    Args = ElasticQuotasArgs

    def __init__(self, args: ElasticQuotasArgs, handle: Handle) -> None:
        self._handle = handle
        self._quotas = {quota.namespace: quota for quota in args.quotas}
        self._usage = _Usage()
        self.rule = QuotaRule(self._quotas)
        self.dry_run = DryRun(handle, rule=self.rule, limit=self.rule)
        self._evictions = Evictions(handle, "ElasticQuotas")

    @hookimpl
    def pre_enqueue(self, pod: Pod) -> Status | None:
        if self._evictions.is_under_way(pod):
            return Status.unresolvable("waiting for the end of its victims")
        return None

    @hookimpl
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [on_pod(Change.DELETE)]

    @hookimpl
    def pre_filter(self, state: CycleState, pod: Pod) -> Status | None:
        demand = state[DEMAND] = self._demand(pod)
        return self.rule.too_much(demand, pod)

    @hookimpl
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        problem = why_not_eligible(self._handle, state, pod, statuses, rule=self.rule)
        if problem:
            return Status.unschedulable(problem)
        rows = statuses.rows_with(Code.UNSCHEDULABLE)
        candidates = self.dry_run.find(state, pod, rows, wanted=100).candidates
        if not candidates:
            return Status.unschedulable("nobody may go for it")
        best = best_candidates(candidates)[0]
        self._evictions.start(pod, best)
        nominating = NominatingInfo(best.node_name, NominatingMode.OVERRIDE)
        return PostFilterResult(nominating=nominating)

    def _demand(self, pod: Pod) -> Demand:
        total = self._usage.total(self._handle.snapshot.nodes)
        used = {name: total[name] for name in self._quotas}
        own = everybody = cpu(pod)
        for pods in self._handle.nominated_pods().values():
            for other in pods:
                quota = self._quotas.get(other.namespace)
                if quota is None or other.uid == pod.uid:
                    continue
                if other.namespace != pod.namespace:
                    within = used[other.namespace] <= quota.min
                    everybody += cpu(other) if within else 0
                elif other.priority >= pod.priority:
                    own += cpu(other)
                    everybody += cpu(other)
        return Demand(used=used, own=own, all=everybody)
