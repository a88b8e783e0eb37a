"""The cycle of a group: one decision for all its pods, then each is bound or requeued.

Mirrors ``scheduleOnePodGroup`` (Kubernetes v1.37,
``pkg/scheduler/schedule_one_podgroup.go``); `CompositeCycle` adds trees of groups. The
algorithm itself is in `quaymaster._core.groups`.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from quaymaster._api.objects import Pod
from quaymaster._api.objects.groups import GroupObject, PodGroup
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.pod_groups import PodGroupInfo
from quaymaster._core.contract.status import Code, Status
from quaymaster._core.cycle.algorithm import PickNode
from quaymaster._core.cycle.decisions import CLEAR_NOMINATION, Decision
from quaymaster._core.engine.binding_cycle import BindingCycle
from quaymaster._core.engine.failure import FailureHandler
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.group_conditions import GroupConditions
from quaymaster._core.engine.group_failures import member_failure, status_failure
from quaymaster._core.engine.group_placing import GroupPlacing
from quaymaster._core.engine.group_reports import GroupObserver, GroupReport
from quaymaster._core.engine.history import AttemptHistory
from quaymaster._core.engine.measured_groups import MeasuredGroups
from quaymaster._core.engine.profile_runner import ProfileRunner
from quaymaster._core.engine.progress import Progress
from quaymaster._core.groups.in_flight import nominations_in_flight
from quaymaster._core.groups.placing import Attempting
from quaymaster._core.groups.results import GroupResult, MemberResult, PlacementTrial
from quaymaster._core.groups.validation import GroupRules
from quaymaster._core.queue.group_queue import GroupQueue
from quaymaster._core.queue.queued_group import QueuedGroup
from quaymaster._core.state.group_states import GroupState, GroupStates

__all__ = ["GroupCycle", "GroupParts", "MemberHooks"]

_GONE: Final = 'podgroup.scheduling.k8s.io "{}" not found'


class GroupParts(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The parts of an engine that the cycle of a group uses.

    Attributes:
        runner: The profiles at work on a copy of the cluster.
        states: The pods of each group.
        queue: Gets the group again.
        failures: Requeues the pods that got no node.
        binding: Binds the pods that got a node.
        conditions: Writes the condition of the group.
        progress: Notified of each attempt.
        history: The last attempts.
        measured: Measures cycles, if there are metrics.
    """

    runner: ProfileRunner
    states: GroupStates
    queue: GroupQueue
    failures: FailureHandler
    binding: BindingCycle
    conditions: GroupConditions
    progress: Progress
    history: AttemptHistory
    measured: MeasuredGroups | None = None


class MemberHooks(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What the scheduler does for each pod that it tries.

    Attributes:
        is_skipped: Whether a pod need not be tried; the reason is reported.
        attempting: Returns what reports the attempts of one cycle, or None.
        pick_node: Breaks ties.
    """

    is_skipped: Callable[[Pod], bool]
    attempting: Callable[[Framework], Attempting | None]
    pick_node: PickNode


class GroupCycle:
    """Schedules the groups of all profiles.

    Args:
        parts: The parts of the engine.
        hooks: What the scheduler does for each pod that it tries.

    Attributes:
        observer: Called with each cycle, or None.
    """

    def __init__(self, parts: GroupParts, hooks: MemberHooks) -> None:
        self._parts = parts
        self._hooks = hooks
        self.observer: GroupObserver | None = None
        self._frameworks = parts.runner.frameworks
        gate = "PodGroupPreemptionPolicy"
        self._rules = GroupRules(
            self._frameworks,
            groups_have_policies=parts.runner.config.kubernetes.enabled(gate),
        )

    def schedule(self, queued: QueuedGroup) -> None:
        """Try a group that was popped: bind its pods that fit, requeue the others."""
        self._parts.progress.note_attempt(queued)
        leaves = self._leaves(queued)
        if leaves is None:
            problem = _GONE.format(queued.group.name)
            self._fail_before(queued, (), Status.from_error(problem))
            return
        pods = [record.pod for record in queued.pods]
        scheduled = [pod for leaf in leaves for pod in leaf.scheduled()]
        problem = self._rules.problem(queued.group, pods, scheduled)
        if problem:
            self._fail_before(queued, leaves, Status.from_error(problem))
            return
        self._skip_pods(queued)
        if queued.pods:
            self._run(queued)
        else:
            self._parts.queue.add_attempted_group(queued, (), None)

    def _leaves(self, queued: QueuedGroup) -> Sequence[GroupState] | None:
        """Return the PodGroups of a record, whose object is renewed, or None."""
        state = self._parts.states.get(queued.group_key)
        if state is None or state.group is None:
            return None
        queued.group = state.group
        return (state,)

    def _skip_pods(self, queued: QueuedGroup) -> None:
        """Drop the pods that are being deleted, or are assumed already."""
        for record in list(queued.pods):
            if self._hooks.is_skipped(record.pod):
                self._parts.queue.done(record.pod.uid)
                queued.pods.remove(record)

    def _fail_before(
        self, queued: QueuedGroup, leaves: Iterable[GroupState], status: Status
    ) -> None:
        """End a cycle in which no pod was tried, with an error.

        Mirrors ``handlePodGroupFailureBeforeScheduling``.
        """
        failure = status_failure(status, CLEAR_NOMINATION)
        for record in queued.pods:
            if record.pod.spec.scheduler_name in self._frameworks:
                self._parts.failures.attempt_failed(record, failure)
            else:
                self._parts.queue.done(record.pod.uid)
        for leaf in leaves:
            if leaf.group is None:
                continue
            self._parts.conditions.update(leaf.group, status)
            pods = [q.pod for q in queued.pods if q.pod.group_key == leaf.key]
            info = PodGroupInfo(group=leaf.group, pods=tuple(pods))
            self._report(None, info, (CycleState(), ()), GroupResult(status, []))
        self._parts.queue.add_attempted_group(queued, (), status)

    def _run(self, queued: QueuedGroup) -> None:
        """Try the pods, then bind or requeue each of them, and requeue the group.

        Mirrors ``podGroupCycle``.
        """
        records = tuple(queued.pods)
        framework = self._frameworks[records[0].pod.spec.scheduler_name]
        pods = tuple(record.pod for record in records)
        info = PodGroupInfo(group=queued.group, pods=pods)
        runner, hooks = self._parts.runner, self._hooks
        state = self._parts.states.get(queued.group_key)
        assert state is not None, "it was there before"
        measured = self._parts.measured
        placing = GroupPlacing(
            runner, framework, info, records, state, hooks.pick_node, measured
        )
        if measured is not None:
            measured.begin()
        with nominations_in_flight(runner.nominator, pods):
            result = placing.run(hooks.attempting(framework))
            # The queue gets the status before PodGroupPostFilter, as upstream.
            status = result.status
            if measured is not None:
                measured.decided()
            if status is not None and status.code is Code.UNSCHEDULABLE:
                placing.post_filter(result)
            self._report(framework, info, (placing.state, placing.trials), result)
        self._submit_all(framework, queued.group, result)
        if measured is not None:
            measured.ended(framework.profile.config.scheduler_name, result)
        self._parts.queue.add_attempted_group(queued, (), status)

    def _submit_all(
        self, framework: Framework, group: GroupObject, result: GroupResult
    ) -> None:
        """Bind or requeue each pod of a PodGroup, and write its condition.

        Mirrors ``submitPodGroupAlgorithmResult``.
        """
        assert isinstance(group, PodGroup), "only PodGroups have pods"
        for member in result.members:
            self._submit(framework, member, result)
        self._parts.conditions.update(group, result.status)

    def _report(
        self,
        framework: Framework | None,
        info: PodGroupInfo,
        tried: tuple[CycleState, Sequence[PlacementTrial]],
        result: GroupResult,
    ) -> None:
        """Pass the cycle of a PodGroup to the observer, if there is one."""
        if self.observer is None:
            return
        runner, (cycle_state, trials) = self._parts.runner, tried
        state = self._parts.states.get(info.key)
        self.observer(
            GroupReport(
                info=info,
                scheduled=() if state is None else tuple(state.scheduled()),
                framework=framework,
                state=cycle_state,
                nodes=runner.snapshot.nodes,
                cache=runner.cache,
                trials=trials,
                result=result,
            )
        )

    def _submit(
        self, framework: Framework, member: MemberResult, result: GroupResult
    ) -> None:
        """Bind a pod that got a node together with its group, or requeue it."""
        queued, outcome = member.queued, member.outcome
        if result.status is None and isinstance(outcome, Decision):
            self._parts.history.decided(queued, outcome)
            member.state.group = None
            self._parts.binding.begin(queued, member.state, framework.binding, outcome)
        else:
            failure = member_failure(member, result)
            self._parts.failures.attempt_failed(queued, failure)
