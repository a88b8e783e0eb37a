"""A plugin that binds pods with a ticket, and mistakes in it."""

from collections.abc import Sequence

from quaymaster import CycleState, Pod, Status, hookimpl
from quaymaster.cluster import ApiError, Verb, Write
from quaymaster.testing import clusters, pods
from tests.kit.planted.mistake import Mistake, Plugin

__all__ = ["OWN", "TICKET_MISTAKES", "Tickets"]

LABEL, TICKET = "example.com/counted", "example.com/ticket"


def _is_counted(pod: Pod) -> bool:
    return LABEL in pod.labels


class Tickets(Plugin):
    """Correct: binds counted pods, and leaves others to the next plugin."""

    reads = ()
    writes = (Write(Verb.CREATE, Pod, "binding"),)
    blocks = False
    bound = 0

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        if _is_counted(pod):
            state.annotate(TICKET, node_name)

    @hookimpl
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        if not _is_counted(pod):
            return Status.skip()
        try:
            self.write(state, pod, node_name)
        except ApiError as error:
            return Status.from_error(error)
        self.bound += 1
        return None

    def write(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Write the binding."""
        self.handle.cluster.bind(pod, node_name, annotations=state.annotations)


class TakesOthers(Tickets):
    """Reports the pods as bound that it leaves to others."""

    @hookimpl
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        if not _is_counted(pod):
            return None
        return super().bind(state, pod, node_name)


class HidesConflicts(Tickets):
    """Takes a conflict for the answer that the pod is bound already."""

    @hookimpl
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        answer = super().bind(state, pod, node_name)
        return answer if answer is not None and answer.is_skip else None


class RejectsAfterFailedBinds(Tickets):
    """Rejects the pod if the call fails."""

    @hookimpl
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        answer = super().bind(state, pod, node_name)
        is_error = answer is not None and answer.is_error
        return Status.unschedulable("there is no ticket") if is_error else answer


class AnnotatesLate(Tickets):
    """Annotates the pod once it is bound."""

    @hookimpl
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Annotate it later."""

    @hookimpl
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        if _is_counted(pod):
            state.annotate(TICKET, node_name)


OWN = clusters(pods=pods({"labels": {LABEL: ""}}))
TICKET_MISTAKES: Sequence[Mistake] = (
    Mistake(TakesOthers, ["binding"], OWN),
    Mistake(HidesConflicts, ["binding"], OWN),
    Mistake(RejectsAfterFailedBinds, ["binding"], OWN),
    Mistake(AnnotatesLate, ["failures"], OWN),
)
