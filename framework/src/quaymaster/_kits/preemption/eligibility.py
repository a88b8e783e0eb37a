"""Whether a pod may preempt others at all.

Mirrors ``PodEligibleToPreemptOthers`` (Kubernetes v1.36,
``pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go``).
"""

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.handle import Handle
from quaymaster._core.contract.results import NodeStatuses
from quaymaster._core.contract.status import Code
from quaymaster._kits.preemption.evictions import is_preempted
from quaymaster._kits.preemption.rules import LOWER_PRIORITY, VictimRule

__all__ = ["why_not_eligible"]


def why_not_eligible(
    handle: Handle,
    state: CycleState,
    pod: Pod,
    statuses: NodeStatuses,
    *,
    rule: VictimRule = LOWER_PRIORITY,
) -> str:
    """Return why a pod may not preempt others now; empty if it may.

    It may not if its policy is Never, or if a victim on its nominated node is already
    terminating. Victims are the pods that the rule selects.

    Args:
        handle: The framework.
        state: The pod's scratch space after filtering.
        pod: The pod that fits nowhere.
        statuses: Why each node was rejected.
        rule: Selects the possible victims; by default pods of lower priority.
    """
    if pod.spec.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    nominated = pod.status.nominated_node_name
    if not nominated:
        return ""
    if statuses[nominated].code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""  # waiting does not help, so the pod may preempt elsewhere
    node = handle.snapshot.get(nominated)
    if node is not None and any(map(is_preempted, rule.victims(state, pod, node))):
        return "not eligible due to a terminating pod on the nominated node."
    return ""
