"""Builds the part of a scheduler that schedules groups, on the other parts."""

from collections.abc import Callable

from quaymaster._api.objects import Pod
from quaymaster._core.contract.attempt_marks import AttemptMarks
from quaymaster._core.cycle.algorithm import PickNode
from quaymaster._core.engine.assembly import Engine
from quaymaster._core.engine.composite_cycle import CompositeCycle
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.group_conditions import GroupConditions
from quaymaster._core.engine.group_cycle import GroupCycle, GroupParts, MemberHooks
from quaymaster._core.engine.measured_attempts import MeasuredAttempts
from quaymaster._core.engine.measured_groups import MeasuredGroups
from quaymaster._core.engine.reports import Observer
from quaymaster._core.groups.placing import Attempting
from quaymaster._core.queue.group_queue import GroupQueue
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.state.composite_states import CompositeStates

__all__ = ["assemble_groups"]


def assemble_groups(
    engine: Engine,
    *,
    is_skipped: Callable[[Pod], bool],
    pick_node: PickNode,
    observer: Observer | None,
    marks: AttemptMarks | None,
) -> GroupCycle:
    """Build what schedules groups; the feature gate GenericWorkload must be on.

    Args:
        engine: The other parts of the scheduler.
        is_skipped: Whether a pod need not be tried; the reason is reported.
        pick_node: Breaks ties.
        observer: Notified of each attempt.
        marks: Mark each attempt, for a process that watches the scheduler.
    """
    runner, queue = engine.runner, engine.queue
    states = runner.groups
    assert states is not None, "the feature gate is on"
    assert isinstance(queue, GroupQueue), "the feature gate is on"
    parts = GroupParts(
        runner=runner,
        states=states,
        queue=queue,
        failures=engine.failures,
        binding=engine.binding,
        conditions=GroupConditions(runner.cluster, runner.executor, runner.clock),
        progress=engine.progress,
        history=engine.history,
        measured=None if runner.metrics is None else MeasuredGroups(runner.metrics),
    )
    attempts = _MemberAttempts(observer, marks, engine.measured)
    hooks = MemberHooks(
        is_skipped=is_skipped, attempting=attempts.attempting, pick_node=pick_node
    )
    if isinstance(states, CompositeStates):
        return CompositeCycle(parts, hooks, states)
    return GroupCycle(parts, hooks)


class _MemberAttempts:
    """Reports the attempts for the pods of a group, like those for other pods."""

    def __init__(
        self,
        observer: Observer | None,
        marks: AttemptMarks | None,
        measured: MeasuredAttempts | None,
    ) -> None:
        self.observer = observer
        self.marks = marks
        self.measured = measured

    def attempting(self, framework: Framework) -> Attempting | None:
        """Return what reports the attempts of one cycle; None without listeners."""
        listeners = (self.observer, self.marks, self.measured)
        if all(listener is None for listener in listeners):
            return None
        return _CycleAttempts(self, framework)


class _CycleAttempts:
    """Reports the attempts of one cycle; implements `Attempting`.

    A pod that is tried on several placements is one attempt for the observer.
    """

    def __init__(self, attempts: _MemberAttempts, framework: Framework) -> None:
        self._attempts = attempts
        self._framework = framework
        self._reported: set[str] = set()

    def begin(self, queued: QueuedPod) -> None:
        """See `Attempting`."""
        attempts, uid = self._attempts, queued.pod.metadata.uid
        if attempts.marks is not None:
            attempts.marks.begin(queued.pod)
        if attempts.observer is not None and uid not in self._reported:
            self._reported.add(uid)
            attempts.observer.attempting(queued.pod, self._framework)
        if attempts.measured is not None:
            attempts.measured.begin(queued, self._framework)

    def end(self) -> None:
        """See `Attempting`."""
        attempts = self._attempts
        if attempts.measured is not None:
            attempts.measured.decided()
            attempts.measured.ended()
        if attempts.marks is not None:
            attempts.marks.end()
