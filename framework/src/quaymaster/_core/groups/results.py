"""The results of a group's cycle: of the group, and of each of its pods.

Mirrors ``podGroupAlgorithmResult`` and ``algorithmResult`` (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``).
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec

from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PodGroupPlacement,
    PodGroupPostFilterResult,
)
from quaymaster._core.contract.results import NominatingInfo
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.cycle.decisions import Decision, FitError
from quaymaster._core.queue.queued_pod import QueuedPod

__all__ = [
    "GroupResult",
    "MemberResult",
    "Outcome",
    "PlacementTrial",
    "apply_answer",
    "first_text",
    "unschedulable",
    "wrapped_error",
]

_UNSCHEDULABLE: Final = "pod group is unschedulable"

Outcome: TypeAlias = Decision | FitError | Status | None
"""A node, no node, the rejection or failure at Reserve, or None: not tried."""


class MemberResult(msgspec.Struct, eq=False):
    """The result for one pod of a group.

    Attributes:
        queued: The pod's record in the queue.
        state: Its cycle state.
        outcome: The outcome of the algorithm.
        nominating: The change of its nomination; None keeps it.
    """

    queued: QueuedPod
    state: CycleState
    outcome: Outcome = None
    nominating: NominatingInfo | None = None

    @property
    def is_tried(self) -> bool:
        """Whether the pod was tried."""
        return self.outcome is not None

    @property
    def has_node(self) -> bool:
        """Whether the pod got a node."""
        return isinstance(self.outcome, Decision)

    @property
    def error(self) -> Status | None:
        """The error that ended the attempt, or None after a verdict on the pod."""
        status = self.outcome
        if isinstance(status, FitError):
            status = status.status
        if isinstance(status, Status) and not status.is_rejected:
            return status
        return None


class GroupResult(msgspec.Struct, eq=False):
    """The result for a group.

    Attributes:
        status: None for success, Unschedulable, or an Error.
        members: The results of the pods, in order: first those that were tried, later
            also the others.
        untried: The status of the pods that were not tried.
        is_waiting: Whether a PodGroupPostFilter plugin has made room, for which the
            group now waits.
    """

    status: Status | None
    members: list[MemberResult]
    untried: Status | None = None
    is_waiting: bool = False

    def attempts(self) -> Sequence[MemberAttempt]:
        """Return the attempts of the pods that were tried, for the hooks of groups."""
        return [_attempt(member) for member in self.members if member.is_tried]

    def proposed(self) -> Sequence[MemberAttempt]:
        """Return the attempts of the pods that got a node, in order."""
        return [attempt for attempt in self.attempts() if attempt.node_name]

    def copied(self) -> "GroupResult":
        """Return a copy, which keeps its status and its pods."""
        return GroupResult(self.status, list(self.members))

    def require_node(self) -> None:
        """Reject a group that could be scheduled, but of which no pod got a node."""
        if self.status is None and not any(member.has_node for member in self.members):
            self.status = unschedulable()

    def append_reason(self, reason: str, times: int = 1) -> None:
        """Append a reason to the status of a group that does not fit."""
        status = self.status
        if status is not None:
            reasons = (*status.reasons, *[reason] * times)
            self.status = Status(status.code, reasons, status.plugin, status.error)


def apply_answer(
    answer: PodGroupPostFilterResult, result: GroupResult, times: int = 1
) -> None:
    """Apply the answer of the PodGroupPostFilter plugins to the result of a group.

    Mirrors ``applyPodGroupPostFilterResult``.

    Args:
        answer: The answer.
        result: The result.
        times: How often its message is appended to the status of the group.
    """
    status = answer.status
    if status is None:
        result.is_waiting = True
        for member in result.members:
            nominating = answer.nominating.get(member.queued.key)
            if nominating is not None:
                member.nominating = nominating
        result.append_reason(answer.message, times)
    elif status.is_rejected:
        result.append_reason(status.message, times)
    else:
        # Upstream replaces the status, and with it the reasons why the group did not
        # fit: an error in PodGroupPostFilter hides them.
        result.status = status


class PlacementTrial(msgspec.Struct, frozen=True, eq=False):
    """A group on one placement.

    Attributes:
        placement: The placement.
        state: Its cycle state.
        result: The result of the pods that were tried there.
    """

    placement: PodGroupPlacement
    state: CycleState
    result: GroupResult


def _attempt(member: MemberResult) -> MemberAttempt:
    outcome = member.outcome
    node_name = outcome.node.name if isinstance(outcome, Decision) else ""
    return MemberAttempt(member.queued.pod, member.state, node_name)


def unschedulable(*reasons: str) -> Status:
    """Return the status with the error ``pod group is unschedulable`` and reasons."""
    return Status(Code.UNSCHEDULABLE, (_UNSCHEDULABLE, *reasons))


def wrapped_error(prefix: str, status: Status) -> Status:
    """Return an Error whose text is a prefix and the text of another status."""
    text = f"{prefix}: {status.message}"
    return Status(Code.ERROR, (text,), status.plugin, status.error)


def first_text(status: Status) -> str:
    """Return what upstream shows of a status: its error, or else its reasons.

    Mirrors ``AsError`` (k8s.io/kube-scheduler v0.37, ``framework/interface.go``).
    """
    if status.reasons[:1] == (_UNSCHEDULABLE,):
        return _UNSCHEDULABLE
    return status.message
