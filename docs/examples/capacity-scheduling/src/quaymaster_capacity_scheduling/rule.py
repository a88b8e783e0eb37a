"""Who may be evicted for whom, and what the quotas say when somebody has gone.

Mirrors ``PreFilter`` and ``SelectVictimsOnNode`` in ``capacity_scheduling.go``
(sigs.k8s.io/scheduler-plugins v0.34.7, ``pkg/capacityscheduling``).
"""

from collections.abc import Collection, Mapping
from typing import Final

import attrs
import numpy as np
from quaymaster import BoolArray, CycleState, NodeInfo, Pod, StateKey, Status
from quaymaster.objects import Resources
from quaymaster.preemption import Limit, LowerPriority, PodColumns, VictimRule

from quaymaster_capacity_scheduling.amounts import COUNTED, Bounds, first_over, taken
from quaymaster_capacity_scheduling.ledger import Books

__all__ = ["DEMAND", "Demand", "QuotaRule"]


@attrs.frozen(eq=False, kw_only=True)
class Demand:
    """How an attempt stands to the quotas.

    Attributes:
        books: How the quotas stand.
        own: What the pod wants, and pods of its namespace that are promised a node and
            are at least as important.
        all: The same, and promised pods of other namespaces that are within their
            minimum.
    """

    books: Books
    own: Resources
    all: Resources

    def clone(self) -> "Demand":
        """Return it as it is: nothing in it changes."""
        return self

    def problem(
        self, namespace: str, own_gone: Resources, all_gone: Resources
    ) -> Status | None:
        """Return why the quotas refuse the pod, or None.

        Args:
            namespace: The pod's.
            own_gone: What pods of this namespace give up.
            all_gone: What pods of all namespaces with a quota give up.
        """
        books = self.books
        bounds = books.bounds.get(namespace)
        if bounds is None:
            return None
        used = _less(books.used[namespace], own_gone)
        if name := bounds.over_max(used, self.own):
            return Status.unschedulable(f"over the max of its ElasticQuota: {name}")
        total = _less(books.total_used, all_gone)
        total.add(self.all)
        if name := first_over(books.total_min, total):
            return Status.unschedulable(f"over the min of all ElasticQuotas: {name}")
        return None

    def takes_back(self, namespace: str) -> bool:
        """Whether the demand is within what a namespace with a quota is promised."""
        books = self.books
        return not books.bounds[namespace].over_min(books.used[namespace], self.own)

    def borrowers(self, namespace: str) -> Mapping[str, Bounds]:
        """Return the other namespaces that use more than they are promised."""
        books = self.books
        return {
            name: bounds
            for name, bounds in books.bounds.items()
            if name != namespace and bounds.over_min(books.used[name])
        }


DEMAND: Final = StateKey[Demand](
    "CapacityScheduling", missing="CapacityScheduling: no PreFilter"
)


class QuotaRule(VictimRule, Limit):
    """Within its minimum, a namespace takes back what others have borrowed.

    Beyond, it may only replace its own pods by more important ones. Pods without any
    quota preempt each other by priority.
    """

    def __init__(self) -> None:
        self._lower = LowerPriority()

    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        """See `VictimRule.victims`."""
        demand = state[DEMAND]
        bounds = demand.books.bounds
        lower = self._lower.victims(state, pod, node)
        if pod.namespace not in bounds:
            return [one for one in lower if one.namespace not in bounds]
        if not demand.takes_back(pod.namespace):
            return [one for one in lower if one.namespace == pod.namespace]
        lenders = demand.borrowers(pod.namespace)
        used = {name: demand.books.used[name].copy() for name in lenders}
        found = []
        for one in sorted(node.pods.values(), key=self.importance)[::-1]:
            name = one.namespace
            if name in lenders and lenders[name].over_min(used[name]):
                used[name].add(taken(one), -1)
                found.append(one)
        return found

    def victims_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        """See `VictimRule.victims_on_rows`."""
        demand = state[DEMAND]
        bounds = demand.books.bounds
        if pod.namespace in bounds and demand.takes_back(pod.namespace):
            return _lent(demand, pod, pods)
        lower = self._lower.victims_on_rows(state, pod, pods)
        if pod.namespace in bounds:
            return lower & pods.in_groups(pod.namespace.__eq__)
        return lower & ~pods.in_groups(bounds.__contains__)

    def exceeded(
        self, state: CycleState, pod: Pod, node: NodeInfo, gone: Collection[Pod]
    ) -> Status | None:
        """See `Limit.exceeded`."""
        demand = state[DEMAND]
        own, everybody = Resources(), Resources()
        for one in gone:
            if one.namespace == pod.namespace:
                own.add(taken(one))
            if one.namespace in demand.books.bounds:
                everybody.add(taken(one))
        return demand.problem(pod.namespace, own, everybody)

    def exceeded_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns, gone: BoolArray
    ) -> BoolArray:
        """See `Limit.exceeded_on_rows`."""
        demand = state[DEMAND]
        found: BoolArray = np.zeros(len(pods.rows), dtype=np.bool_)
        books = demand.books
        bounds = books.bounds.get(pod.namespace)
        if bounds is None:
            return found
        used, total = books.used[pod.namespace], books.total_used
        gone = gone & pods.in_groups(books.bounds.__contains__)
        own_gone = gone & pods.in_groups(pod.namespace.__eq__)
        for name in _names(demand.own, demand.all, total):
            requested = pods.requested(name)
            least = books.total_min.get(name) - total.get(name) - demand.all.get(name)
            found |= -np.where(gone, requested, 0).sum(axis=0) > least
            if bounds.max is not None and _is_bound(name, bounds.max, demand.own):
                most = bounds.max.get(name) - used.get(name) - demand.own.get(name)
                found |= -np.where(own_gone, requested, 0).sum(axis=0) > most
        return found


def _lent(demand: Demand, pod: Pod, pods: PodColumns) -> BoolArray:
    """Tell which pods are on what others have borrowed, the least important first."""
    found: BoolArray = np.zeros(pods.group.shape, dtype=np.bool_)
    borrowers = demand.borrowers(pod.namespace)
    if not borrowers:
        return found
    used = demand.books.used
    names = _names(*(used[name] for name in borrowers))
    # Place 0 is for everybody else, who is never over anything.
    place_of = {name: place for place, name in enumerate(borrowers, 1)}
    over = np.zeros((len(names), len(borrowers) + 1), dtype=np.int64)
    for name, bounds in borrowers.items():
        for index, resource in enumerate(names):
            amount = used[name].get(resource) - bounds.min.get(resource)
            over[index, place_of[name]] = amount
    # The last group is for places without a pod, whose group is -1.
    code = np.array([*(place_of.get(str(one), 0) for one in pods.groups), 0])
    group, columns = code[pods.group], np.arange(len(pods.rows))
    left = np.repeat(over[:, :, None], len(pods.rows), axis=2)
    requests = np.stack([pods.requested(resource) for resource in names])
    for rank in reversed(range(len(found))):
        here = left[:, group[rank], columns]
        found[rank] = (here > 0).any(axis=0)
        left[:, group[rank], columns] = here - requests[:, rank] * found[rank]
    return found


def _names(*amounts: Resources) -> list[str]:
    """The resources that bounds are about, and those that there is any of."""
    return list(dict.fromkeys([*COUNTED, *(n for one in amounts for n in one.scalars)]))


def _is_bound(name: str, most: Resources, demand: Resources) -> bool:
    return name in COUNTED or (name in most.scalars and name in demand.scalars)


def _less(amounts: Resources, gone: Resources) -> Resources:
    left = amounts.copy()
    left.add(gone, -1)
    return left
