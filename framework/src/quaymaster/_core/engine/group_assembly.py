"""Builds the part of a scheduler that schedules groups, on the other parts."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
        self._observer = observer
        self._marks = marks
        self._measured = measured

    def attempting(self, framework: Framework) -> Attempting:
        """Return what makes the context of each attempt of one cycle.

        A pod that is tried on several placements is one attempt for the observer.
        """
        reported: set[str] = set()

        @contextmanager
        def attempt(queued: QueuedPod) -> Iterator[None]:
            uid = queued.pod.uid
            is_first = uid not in reported
            reported.add(uid)
            with self._attempt(queued, framework, is_first=is_first):
                yield

        return attempt

    @contextmanager
    def _attempt(
        self, queued: QueuedPod, framework: Framework, *, is_first: bool
    ) -> Iterator[None]:
        """Return the context of an attempt, which does not bind the pod."""
        if self._marks is not None:
            self._marks.begin(queued.pod)
        if self._observer is not None and is_first:
            self._observer.attempting(queued.pod, framework)
        if self._measured is not None:
            self._measured.begin(queued, framework)
        yield
        if self._measured is not None:
            self._measured.decided()
            self._measured.ended()
        if self._marks is not None:
            self._marks.end()
