"""Whether a pod may preempt others at all.

Mirrors ``PodEligibleToPreemptOthers`` in ``capacity_scheduling.go``
(sigs.k8s.io/scheduler-plugins v0.34.7, ``pkg/capacityscheduling``).
"""

from quaymaster import Code, CycleState, Handle, NodeStatuses, Pod

from quaymaster_capacity_scheduling.rule import DEMAND, Demand

__all__ = ["why_not_eligible"]


def why_not_eligible(
    handle: Handle, state: CycleState, pod: Pod, statuses: NodeStatuses
) -> str:
    """Tell why a pod may not preempt others now; nothing if it may.

    On the node that it is nominated to, somebody may be on the way out already, and
    leave room that it can have. Other than by `quaymaster.preemption.why_not_eligible`,
    any pod counts that ends, for whatever reason.

    Args:
        handle: The framework.
        state: The pod's scratch space after filtering.
        pod: The pod that fits nowhere.
        statuses: Why each node was rejected.
    """
    if pod.spec.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    nominated = pod.status.nominated_node_name
    if not nominated or statuses[nominated].code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""
    node, demand = handle.snapshot.get(nominated), state[DEMAND]
    ending = [one for one in (node.pods.values() if node else ()) if one.is_terminating]
    if any(_leaves_room(demand, pod, one) for one in ending):
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
