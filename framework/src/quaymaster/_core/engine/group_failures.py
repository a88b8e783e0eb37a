"""The failures of the pods of a group after its cycle.

Mirrors ``submitPodGroupAlgorithmResult`` (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``).
"""

import attrs

from quaymaster._core.contract.results import NominatingInfo
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.decisions import CLEAR_NOMINATION, Decision, FitError
from quaymaster._core.engine.failure import Failure, FailureKind, failure_of
from quaymaster._core.groups.results import GroupResult, MemberResult, unschedulable

__all__ = ["member_failure", "status_failure"]


def member_failure(member: MemberResult, result: GroupResult) -> Failure:
    """Return why a pod of a group is not bound after a cycle.

    Args:
        member: The result for the pod; it got no node, or its group failed.
        result: The result for the group.
    """
    status = result.status
    if status is not None and not status.is_rejected:
        return status_failure(member.error or status, CLEAR_NOMINATION)
    outcome = member.outcome
    if isinstance(outcome, FitError):
        return attrs.evolve(failure_of(outcome), nominating=member.nominating)
    if isinstance(outcome, Status):
        refusal = Failure.on_node(outcome)
        return attrs.evolve(refusal, nominating=member.nominating)
    if isinstance(outcome, Decision):
        status = status or unschedulable()
        if result.is_waiting:
            return status_failure(status, member.nominating)
        return status_failure(unschedulable(status.message), CLEAR_NOMINATION)
    return status_failure(result.untried or unschedulable(), member.nominating)


def status_failure(status: Status, nominating: NominatingInfo | None) -> Failure:
    """Return the failure of a pod that has the status of its group.

    Args:
        status: The status.
        nominating: The change of the pod's nomination; None keeps it.
    """
    kind = FailureKind.REJECTED if status.is_rejected else FailureKind.ERROR
    return Failure(kind=kind, message=status.message, nominating=nominating)
