"""Check whether a pod may preempt others.

Mirrors ``PodEligibleToPreemptOthers`` in ``capacity_scheduling.go``
(sigs.k8s.io/scheduler-plugins v0.34.7, ``pkg/capacityscheduling``).
"""

from quaymaster import Code, CycleState, Handle, NodeStatuses, Pod

from quaymaster_capacity_scheduling.rule import DEMAND, Demand

__all__ = ["why_not_eligible"]


def why_not_eligible(
    handle: Handle, state: CycleState, pod: Pod, statuses: NodeStatuses
) -> str:
    """Return why a pod may not preempt others now, or an empty text.

    On its nominated node, pods may be terminating already and leave enough room. Unlike
    in `quaymaster.preemption.why_not_eligible`, every terminating pod counts, whatever
    the reason.

    Args:
        handle: The framework.
        state: The pod's scratch space after filtering.
        pod: The unschedulable pod.
        statuses: Why each node was rejected.
    """
    if pod.spec.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    nominated = pod.status.nominated_node_name
    if not nominated or statuses[nominated].code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""
    node, demand = handle.snapshot.get(nominated), state[DEMAND]
    ending = [
        victim
        for victim in (node.pods.values() if node else ())
        if victim.is_terminating
    ]
    if any(_leaves_room(demand, pod, victim) for victim in ending):
        return "not eligible due to a terminating pod on the nominated node."
    return ""


def _leaves_room(demand: Demand, pod: Pod, ending: Pod) -> bool:
    bounds = demand.books.bounds
    has_quota = ending.namespace in bounds
    if pod.namespace not in bounds:
        return not has_quota and ending.priority < pod.priority
    if ending.namespace == pod.namespace:
        return ending.priority < pod.priority
    used = demand.books.of(ending.namespace).used
    return (
        has_quota
        and demand.takes_back(pod.namespace)
        and bool(bounds[ending.namespace].over_min(used))
    )
