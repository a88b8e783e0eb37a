"""Runs PreBind of a plugin on a bench."""

from quaymaster._api.objects import Pod
from quaymaster._authors.testing.contract.bench import Bench
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.results import PreBindWait
from quaymaster._core.contract.status import Status

__all__ = ["pre_bind"]


def pre_bind(
    bench: Bench, state: CycleState, assumed: Pod, node_name: str
) -> Status | None:
    """Run PreBind for an assumed pod, and deliver what it writes.

    Returns:
        None if the pod may be bound. A wait that does not end at once ends in its time
        limit, because no controller acts on the objects of a bench.

    Raises:
        HookFailedError: A hook failed.
    """
    subject = bench.subject
    if not subject.has("pre_bind"):
        return None
    if subject.has("pre_bind_pre_flight"):
        flight = bench.ask("pre_bind_pre_flight", state, assumed, node_name)
        if isinstance(flight, Status):
            return None if flight.is_skip else flight
    answer = bench.ask("pre_bind", state, assumed, node_name)
    bench.deliver()
    if isinstance(answer, PreBindWait):
        outcome = answer.check()
        if isinstance(outcome, Status):
            return outcome
        return None if outcome else answer.timed_out
    assert answer is None or isinstance(answer, Status)
    return answer
