"""Builds the parts of a scheduler and connects them."""

from collections.abc import Callable
from functools import partial

import msgspec

from quaymaster._api.objects import Pod
from quaymaster._core.contract.trace import TraceTopic
from quaymaster._core.engine.binding_cycle import BindingCycle
from quaymaster._core.engine.effective_slices import EffectiveSlices
from quaymaster._core.engine.event_handlers import EventHandlers
from quaymaster._core.engine.failure import (
    Failure,
    FailureHandler,
    FailureListener,
)
from quaymaster._core.engine.framework import backoff_policy, queue_profiles
from quaymaster._core.engine.history import AttemptHistory
from quaymaster._core.engine.measured_attempts import MeasuredAttempts
from quaymaster._core.engine.pod_patches import PodPatches
from quaymaster._core.engine.profile_runner import ProfileRunner
from quaymaster._core.engine.progress import Progress
from quaymaster._core.queue.rules import QueueRules
from quaymaster._core.queue.scheduling_queue import SchedulingQueue

__all__ = ["Engine", "assemble"]


class Engine(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The parts of a scheduler.

    Attributes:
        runner: The profiles at work on a copy of the cluster.
        queue: The pods that wait for an attempt.
        handlers: Pass every change of the cluster to the cache and the queue.
        failures: Sends failed pods back to the queue.
        binding: Runs the binding cycle of pods that have a node.
        patches: Writes conditions and nominations of pods to the cluster.
        progress: Decides whether the engine makes progress.
        history: The last attempts.
        measured: Measures attempts, if the scheduler has metrics.
    """

    runner: ProfileRunner
    queue: SchedulingQueue
    handlers: EventHandlers
    failures: FailureHandler
    binding: BindingCycle
    patches: PodPatches
    progress: Progress
    history: AttemptHistory
    measured: MeasuredAttempts | None = None


def assemble(
    runner: ProfileRunner, on_failure: Callable[[Pod, Failure], None] | None
) -> Engine:
    """Build the parts of a scheduler around its profiles.

    Args:
        runner: The profiles at work on a copy of the cluster.
        on_failure: Called with each pod whose attempt failed and that will be tried
            again, and with the failure.
    """
    metrics = runner.metrics
    measured = MeasuredAttempts(metrics) if metrics is not None else None
    queue = _queue(runner)
    patches = PodPatches(runner.cluster, runner.executor, runner.clock)
    history = AttemptHistory(
        runner.snapshot.nodes, runner.clock, runner.options.kept_attempts
    )
    progress = Progress(runner.clock, history)
    failures = _failures(runner, queue, patches, on_failure, measured, history)
    return Engine(
        runner=runner,
        queue=queue,
        handlers=_handlers(runner, queue, progress),
        failures=failures,
        binding=BindingCycle(
            runner=runner,
            queue=queue,
            failures=failures,
            patches=patches,
            progress=progress,
            measured=measured,
        ),
        patches=patches,
        progress=progress,
        history=history,
        measured=measured,
    )


def _failures(
    runner: ProfileRunner,
    queue: SchedulingQueue,
    patches: PodPatches,
    on_failure: Callable[[Pod, Failure], None] | None,
    measured: MeasuredAttempts | None,
    history: AttemptHistory,
) -> FailureHandler:
    listeners: tuple[FailureListener, ...] = (history,)
    if measured is not None:
        listeners = (history, measured)
    return FailureHandler(
        clock=runner.clock,
        queue=queue,
        cache=runner.cache,
        lookup=runner.stored_pod,
        patch_status=patches.send,
        record=runner.cluster.record,
        on_failure=on_failure,
        listeners=listeners,
    )


def _queue(runner: ProfileRunner) -> SchedulingQueue:
    options = runner.options
    make_queue = SchedulingQueue
    if runner.groups is not None:
        from quaymaster._core.queue.new_group_queue import (  # noqa: PLC0415 - below
            group_queue_type,
        )

        make_queue = group_queue_type(runner.config.kubernetes)
    return make_queue(
        clock=runner.clock,
        profiles=queue_profiles(
            runner.frameworks,
            runner.config,
            daemon_sets_first=options.daemon_sets_first,
        ),
        nominator=runner.nominator,
        backoff=backoff_policy(runner.config),
        max_in_unschedulable_seconds=options.max_in_unschedulable_seconds,
        flush_gated_pods=options.flush_gated_pods,
        rules=QueueRules.of(runner.config.kubernetes),
        trace=runner.trace_callback(TraceTopic.QUEUE),
        metrics=runner.metrics,
    )


def _handlers(
    runner: ProfileRunner, queue: SchedulingQueue, progress: Progress
) -> EventHandlers:
    make_handlers: Callable[..., EventHandlers] = EventHandlers
    if runner.groups is not None:
        from quaymaster._core.engine.group_handlers import (  # noqa: PLC0415 - below
            GroupEventHandlers,
        )

        make_handlers = partial(GroupEventHandlers, groups=runner.groups)
    return make_handlers(
        cache=runner.cache,
        queue=queue,
        scheduler_names=runner.frameworks,
        reject_waiting=runner.waiting.reject_deleted,
        progress=progress,
        kubernetes=runner.config.kubernetes,
        slices=EffectiveSlices(runner.informers, runner.config.kubernetes),
    )


# The parts of groups are imported when groups are switched on: a small simulation takes
# about as long as its imports.
