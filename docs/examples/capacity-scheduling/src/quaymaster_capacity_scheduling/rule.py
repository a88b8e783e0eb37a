"""Decide which pods may be evicted for a pod, and check the quotas without them.

Mirrors ``PreFilter`` and ``SelectVictimsOnNode`` in ``capacity_scheduling.go``
(sigs.k8s.io/scheduler-plugins v0.34.7, ``pkg/capacityscheduling``).
"""

from collections.abc import Collection, Hashable, Mapping
from typing import Final

import attrs
import numpy as np
from quaymaster import BoolArray, CycleState, NodeInfo, Pod, StateKey, Status
from quaymaster.objects import Resources
from quaymaster.preemption import Limit, LowerPriority, PodColumns, VictimRule

from quaymaster_capacity_scheduling.amounts import (
    COUNTED,
    Bounds,
    first_over,
    less,
    taken,
    total_of,
)
from quaymaster_capacity_scheduling.ledger import Books

__all__ = ["DEMAND", "Demand", "QuotaRule"]


@attrs.frozen(eq=False, kw_only=True)
class Demand:
    """The quotas and the demand of one attempt.

    Attributes:
        books: The state of the quotas.
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

    def problem(self, namespace: str) -> Status | None:
        """Return why the quotas refuse the pod now, or None."""
        books = self.books
        if namespace not in books.bounds:
            return None
        return self._problem(namespace, books.of(namespace).used, books.total_used)

    def problem_without(
        self, namespace: str, own_gone: Resources, all_gone: Resources
    ) -> Status | None:
        """Return why the quotas refuse the pod even then, or None.

        Pods that are on their way out anyway are taken to have gone.

        Args:
            namespace: The pod's.
            own_gone: What others of this namespace give up.
            all_gone: What others of all namespaces with a quota give up.
        """
        books = self.books
        if namespace not in books.bounds:
            return None
        used = less(books.of(namespace).staying, own_gone)
        return self._problem(namespace, used, less(books.total_staying, all_gone))

    def _problem(
        self, namespace: str, used: Resources, total_used: Resources
    ) -> Status | None:
        bounds = self.books.bounds[namespace]
        if name := bounds.over_max(used, self.own):
            return Status.unschedulable(f"over the max of its ElasticQuota: {name}")
        extended = (*total_used.scalars, *self.all.scalars)
        if name := first_over(self.books.total_min, total_used, self.all, extended):
            return Status.unschedulable(f"over the min of all ElasticQuotas: {name}")
        return None

    def takes_back(self, namespace: str) -> bool:
        """Whether the demand is within what a namespace with a quota is promised."""
        books = self.books
        return not books.bounds[namespace].over_min(
            books.of(namespace).staying, self.own
        )

    def can_preempt(self, pod: Pod) -> bool:
        """Whether some node may have victims for a pod."""
        books, name = self.books, pod.namespace
        if name not in books.bounds:
            free = books.shares.keys() - books.bounds.keys()
            return any(
                books.of(namespace).has_below(pod.priority) for namespace in free
            )
        if self.takes_back(name):
            return bool(self.borrowers(name))
        return books.of(name).has_below(pod.priority)

    def borrowers(self, namespace: str) -> Mapping[str, Bounds]:
        """Return the others that use more than they are promised, and go on to."""
        books = self.books
        return {
            name: bounds
            for name, bounds in books.bounds.items()
            if name != namespace and bounds.over_min(books.of(name).staying)
        }


DEMAND: Final = StateKey[Demand](
    "CapacityScheduling", missing="CapacityScheduling: no PreFilter"
)


_LEAVING: Final = "-"  # no namespace begins like this


class QuotaRule(VictimRule, Limit):
    """Within its minimum, a namespace takes back what others have borrowed.

    Beyond, it may only replace its own pods by more important ones. Pods without any
    quota preempt each other by priority.
    """

    def __init__(self) -> None:
        self._lower = LowerPriority()

    def group(self, pod: Pod) -> str:
        """See `VictimRule.group`: the namespace, marked if the pod is leaving."""
        return f"{_LEAVING}{pod.namespace}" if pod.is_terminating else pod.namespace

    def victims(self, state: CycleState, pod: Pod, node: NodeInfo) -> Collection[Pod]:
        """See `VictimRule.victims`."""
        demand = state[DEMAND]
        bounds = demand.books.bounds
        lower = self._lower.victims(state, pod, node)
        if pod.namespace not in bounds:
            return [other for other in lower if other.namespace not in bounds]
        if not demand.takes_back(pod.namespace):
            return [other for other in lower if other.namespace == pod.namespace]
        borrowers = demand.borrowers(pod.namespace)
        used = {name: demand.books.of(name).staying.copy() for name in borrowers}
        found = []
        for candidate in sorted(node.pods.values(), key=self.importance)[::-1]:
            name = candidate.namespace
            if candidate.is_terminating:
                if name in bounds and name != pod.namespace:
                    found.append(candidate)
            elif name in borrowers and borrowers[name].over_min(used[name]):
                used[name].add(taken(candidate), -1)
                found.append(candidate)
        return found

    def victims_on_rows(
        self, state: CycleState, pod: Pod, pods: PodColumns
    ) -> BoolArray:
        """See `VictimRule.victims_on_rows`."""
        demand, own = state[DEMAND], pod.namespace
        bounds = demand.books.bounds
        if own in bounds and demand.takes_back(own):
            return _lent(demand, own, pods)
        lower = self._lower.victims_on_rows(state, pod, pods)
        if own in bounds:
            return lower & pods.in_groups(lambda group: _namespace(group) == own)
        return lower & ~pods.in_groups(lambda group: _namespace(group) in bounds)

    def exceeded(
        self, state: CycleState, pod: Pod, node: NodeInfo, gone: Collection[Pod]
    ) -> Status | None:
        """See `Limit.exceeded`."""
        demand = state[DEMAND]
        bounds = demand.books.bounds
        evicted = [
            victim
            for victim in gone
            if victim.namespace in bounds and not victim.is_terminating
        ]
        own = (taken(victim) for victim in evicted if victim.namespace == pod.namespace)
        everybody = total_of(map(taken, evicted))
        return demand.problem_without(pod.namespace, total_of(own), everybody)

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
        used, total = books.of(pod.namespace).staying, books.total_staying
        # Names of groups of terminating pods are not namespaces.
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


def _lent(demand: Demand, own: str, pods: PodColumns) -> BoolArray:
    """Return which pods use borrowed quota, the least important first.

    Terminating pods are included.
    """
    bounds = demand.books.bounds
    found = pods.in_groups(
        lambda group: _namespace(group) in bounds.keys() - {own} and _leaves(group)
    )
    borrowers = demand.borrowers(own)
    if not borrowers:
        return found
    staying = {name: demand.books.of(name).staying for name in borrowers}
    names = _names(*staying.values())
    # Place 0 is for everybody else, who is never over anything.
    place_of = {name: place for place, name in enumerate(borrowers, 1)}
    over = np.zeros((len(names), len(borrowers) + 1), dtype=np.int64)
    for name, its in borrowers.items():
        for index, resource in enumerate(names):
            amount = staying[name].get(resource) - its.min.get(resource)
            over[index, place_of[name]] = amount
    # The last group is for places without a pod, whose group is -1.
    code = np.array([*(place_of.get(str(group), 0) for group in pods.groups), 0])
    group, columns = code[pods.group], np.arange(len(pods.rows))
    left = np.repeat(over[:, :, None], len(pods.rows), axis=2)
    requests = np.stack([pods.requested(resource) for resource in names])
    for rank in reversed(range(len(found))):
        here = left[:, group[rank], columns]
        lent = (here > 0).any(axis=0)
        left[:, group[rank], columns] = here - requests[:, rank] * lent
        found[rank] |= lent
    return found


def _leaves(group: Hashable) -> bool:
    return str(group).startswith(_LEAVING)


def _namespace(group: Hashable) -> str:
    return str(group).removeprefix(_LEAVING)


def _names(*amounts: Resources) -> list[str]:
    """The resources that bounds are about, and those that there is any of."""
    return list(
        dict.fromkeys([*COUNTED, *(n for amount in amounts for n in amount.scalars)])
    )


def _is_bound(name: str, most: Resources, demand: Resources) -> bool:
    return name in COUNTED or (name in most.scalars and name in demand.scalars)
