"""The scheduler: one thread and one loop that owns all state.

Each turn drains the inbox and the watches, fires due timers, and runs a scheduling
cycle for one pod. With a real clock the loop then waits until something arrives. With a
virtual clock, time jumps to the next timer. Mirrors ``Scheduler`` (Kubernetes v1.36,
``pkg/scheduler/scheduler.go``, ``schedule_one.go``).
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from random import Random
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from quaymaster._api.objects import Pod
from quaymaster._base.errors import VerificationError, counted
from quaymaster._base.raised import describe_exception
from quaymaster._core.binding.executor import Executor, InlineExecutor, Post
from quaymaster._core.config.changes import ConfigChanges
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.attempt_marks import AttemptMarks
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import Cluster, EventNote
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.decisions import Decision, FitError
from quaymaster._core.cycle.scoring import Ties
from quaymaster._core.engine.assembly import assemble
from quaymaster._core.engine.failure import Failure, FailureKind, failure_of
from quaymaster._core.engine.framework import Framework
from quaymaster._core.engine.profile_runner import ProfileRunner
from quaymaster._core.engine.reload import reload
from quaymaster._core.engine.reports import Observer
from quaymaster._core.queue.events import PluginChange
from quaymaster._core.queue.queued_pod import QueuedPod
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._core.runtime.plugin_metrics import PluginMetric
from quaymaster._core.state.node_table import NodeTable

if TYPE_CHECKING:
    from quaymaster._core.engine.group_cycle import GroupCycle
    from quaymaster._core.engine.group_reports import GroupObserver

__all__ = ["Observer", "Scheduler"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Scheduler:
    """Schedules the pods of a cluster.

    Args:
        cluster: The cluster to watch and to bind in.
        config: Profiles and settings.
        registry: Finds plugins by name.
        clock: The engine's time; a simulated cluster uses it as well.
        seed: The seed of the choice between equally good nodes.
        make_executor: Makes the executor for calls that may wait for the cluster; its
            argument posts calls into the engine's inbox. Inline by default.
        observer: Notified of attempts, binds, and Events and errors of plugins.
        on_failure: Called with each pod whose attempt failed and that will be tried
            again, and with the failure.
        options: Other settings.
        stopwatch: Returns the time that hooks are measured with, in seconds. Unlike the
            clock, it is never virtual.
        metrics: Records metrics; may be None.
        generator: Used instead of a generator with the seed.
        marks: Mark what the scheduler does, for a process that watches it.

    Attributes:
        snapshot: Nodes and pods, as decisions see them.
        queue: The pods that wait for an attempt.
        waiting: The pods that wait on Permit.
        cache: The nodes and their pods, including assumed pods.
        informers: The copies of the cluster's objects.
        frameworks: Scheduler name -> the profile at work.
        past_attempts: The last attempts, as they ended.

    Raises:
        ObserverError: An installed observer cannot be used.
        ProfileError: A profile's plugins cannot be built.
        ExtenderError: An extender's URL or certificates cannot be used.
    """

    def __init__(
        self,
        cluster: Cluster,
        config: SchedulerConfig,
        registry: PluginRegistry,
        *,
        clock: Clock,
        seed: int = 0,
        make_executor: Callable[[Post], Executor] = InlineExecutor,
        observer: Observer | None = None,
        on_failure: Callable[[Pod, Failure], None] | None = None,
        options: SchedulerOptions | None = None,
        stopwatch: Callable[[], float] = time.perf_counter,
        metrics: SchedulerMetrics | None = None,
        generator: Random | None = None,
        marks: AttemptMarks | None = None,
    ) -> None:
        runner = ProfileRunner(
            cluster,
            config,
            registry,
            clock=clock,
            seed=seed,
            make_executor=make_executor,
            observer=observer,
            activate=self._activate,
            wake=self._wake,
            reorder=self._reorder,
            options=options,
            stopwatch=stopwatch,
            metrics=metrics,
            generator=generator,
            marks=marks,
        )
        engine = assemble(runner, on_failure)
        self.snapshot = runner.snapshot
        self.queue = engine.queue
        self.waiting = runner.waiting
        self.cache = runner.cache
        self.informers = runner.informers
        self.frameworks: Mapping[str, Framework] = runner.frameworks
        self._observer = observer
        self._marks = marks
        self._runner = runner
        self._engine = engine
        # Copied here, because each attempt uses them: one attribute lookup, not two.
        self._random = runner.random
        self._binding = engine.binding
        self._progress = engine.progress
        self._measured = engine.measured
        # Equal attempts share their outcome.
        self._failures: WeakKeyDictionary[FitError, Failure] = WeakKeyDictionary()
        self.past_attempts = engine.history
        self._groups = self._group_cycle()

    @property
    def config(self) -> SchedulerConfig:
        """The configuration in force."""
        return self._runner.config

    @property
    def binds_in_flight(self) -> int:
        """The number of pods that are being bound."""
        return self._binding.in_flight

    def start(self) -> None:
        """List the cluster's objects, start to watch them, and start the plugins.

        A kind that cannot be listed is tried again every second. No pod is scheduled
        before every kind has been listed.
        """
        self._runner.start(self._engine.handlers)
        self.queue.start()

    def run(
        self, stop: threading.Event, drain_seconds: Callable[[], float] = lambda: 0.0
    ) -> None:
        """Schedule until ``stop`` is set; the caller that sets it must call `wake`.

        Args:
            stop: Set to end the loop.
            drain_seconds: Called then; returns for how long to `drain`. By default the
                scheduler does not drain.
        """
        self._runner.inbox.adopt()
        while not stop.is_set():
            if not self.turn():
                self.wait()
        self.drain(drain_seconds())
        self.close()

    def drain(self, seconds: float) -> int:
        """Start no more attempts, and wait for the pods that are being bound.

        If the answer of a bind is lost, the pod is read, as always. Pods that wait in a
        queue or on Permit are left to the next scheduler, which finds them unbound.

        Args:
            seconds: The maximum time to wait.

        Returns:
            The number of pods that are still being bound, and may be bound or not.
        """
        binding, runner = self._binding, self._runner
        deadline = runner.clock.now() + seconds
        timer = runner.clock.call_at(deadline, lambda: None)
        while binding.in_flight and runner.clock.now() < deadline:
            if not runner.catch_up() and not runner.wait():
                break
        timer.cancel()
        if binding.in_flight and seconds:
            text = "still being bound after %g s, and may be bound or not: %s"
            _log.warning(text, seconds, counted(binding.in_flight, "pod"))
        return binding.in_flight

    def close(self) -> None:
        """Close the plugins, and wait for running calls.

        Timers and tasks of plugins are cancelled. `run` calls it at its end. Callers of
        `turn` call it on the thread of the turns. It may be called twice.
        """
        self._runner.close()
        self._engine.patches.log_failures()

    def wake(self) -> None:
        """End the current wait of the loop; may be called from any thread."""
        self._runner.inbox.notify()

    def settle(self) -> None:
        """Schedule until the scheduler is settled; the clock must be virtual.

        It is settled when each pending pod is gated, or has been tried since the last
        change of the cluster. A pod whose attempts end with errors gets a few more
        attempts. If nothing changes for a day because something takes longer, such as
        the end of a pod, pods are not retried until the next change.
        """
        while not self.is_stuck:
            if not self.turn() and not self.pass_time():
                break
        self.queue.rest(False)

    @property
    def is_stuck(self) -> bool:
        """Whether all pending pods were tried several times without any change."""
        # Most calls end here: a driver asks before each attempt.
        if not self._progress.attempts_since:
            return False
        return self._progress.is_stuck(len(self.queue) + len(self.waiting))

    def pass_time(self) -> bool:
        """Let time pass until something is due, unless the scheduler is settled.

        It is the step of `settle` after a `turn` that found nothing to do.

        Returns:
            Whether there is something to wait for.
        """
        if self._is_settled():
            return False
        self.queue.rest(self._progress.is_idle(self.queue.records()))
        return self._runner.wait()

    def turn(self) -> bool:
        """Handle posted calls, changes and due timers, then try one pod.

        Returns:
            Whether there was anything to do.

        Raises:
            EndlessLoopError: The clock is virtual, and time would stand still for ever,
                because a plugin makes a pod active again after each attempt, say.
        """
        busy = self._runner.catch_up()
        queued = self.queue.pop() if self.informers.has_listed else None
        if isinstance(queued, QueuedPod):
            self._schedule(queued)
        elif queued is not None and self._groups is not None:
            self._groups.schedule(queued)
        elif busy:
            self._progress.note_idle_turn()
        return busy or queued is not None

    @contextmanager
    def deciding_by(self, scheduler_name: str, algorithm: Algorithm) -> Iterator[None]:
        """Use another algorithm for the pods of a profile, inside a ``with`` block.

        Args:
            scheduler_name: The profile, which must not be reloaded meanwhile.
            algorithm: Decides for its pods.
        """
        frameworks = self._runner.frameworks
        usual = frameworks[scheduler_name]
        frameworks[scheduler_name] = replace(usual, algorithm=algorithm)
        try:
            yield
        finally:
            frameworks[scheduler_name] = usual

    def hooks_unobserved(self) -> AbstractContextManager[None]:
        """Return a context in which calls of hooks are not reported to observers.

        It is for questions that are not decisions, such as an explanation. Observers
        are those of the options, the installed ones and the trace of hooks. Metrics of
        plugins do not count these calls.
        """
        return self._runner.hooks_unobserved()

    def catch_up(self) -> bool:
        """Handle posted calls, changes and due timers; return whether any came."""
        return self._runner.catch_up()

    def wait(self) -> None:
        """Let time pass until something arrives or a timer is due; see `catch_up`."""
        self._runner.wait()

    def reload(self, config: SchedulerConfig) -> Future[ConfigChanges]:
        """Replace the configuration; may be called from any thread.

        The new profiles are built and swapped in between two scheduling cycles, on the
        scheduler's thread, which therefore must not wait for the result. If a profile
        cannot be built, nothing is changed. Pending pods keep their history and are
        tried again. Pods of a new profile are queued, and those of a removed profile
        leave the queue. A pod that has a node, waiting on Permit or being bound, is
        completed by the plugins that chose its node.

        Args:
            config: The new configuration, complete and checked.

        Returns:
            The differences, once the configuration is in force; or the error:
            `ProfileError`, `ExtenderError`, `KubernetesError` if it was loaded for
            another version of Kubernetes, or the exception of a plugin's hook.
        """
        return self._runner.inbox.ask(lambda: reload(self._engine, config))

    def ask(self, question: Callable[[], T]) -> Future[T]:
        """Run a call on the scheduler's thread; may be called from any thread.

        Other threads must use it to read the scheduler's state, such as its queue. The
        scheduler's thread must not wait for the result.

        Args:
            question: Called between two scheduling cycles, while `run` or `turn` runs.

        Returns:
            A future of the return value or the exception.
        """
        return self._runner.inbox.ask(question)

    def plugin_metrics(self) -> Sequence[PluginMetric]:
        """Return the metrics of plugins, by name; on the scheduler's thread."""
        return self._runner.plugin_metrics.metrics()

    def unlisted(self) -> Sequence[str]:
        """Return the kinds that have never been listed; on the scheduler's thread.

        As long as there are any, no pod is scheduled.
        """
        return [kind.kind for kind in self.informers.unlisted()]

    def gate_of(self, pod: Pod) -> Status | None:
        """Return the status of the plugin that gates a pod, or None if none does."""
        queued = self.queue.get(pod.key)
        if queued is None or not queued.gating_plugin:
            return None
        framework = self.frameworks[pod.spec.scheduler_name]
        status = framework.pre_enqueue(queued.gating_plugin, queued.pod)
        return (status or Status.unresolvable()).with_plugin(queued.gating_plugin)

    def follow_groups(self, observer: "GroupObserver") -> None:
        """Call an observer with each cycle of a group; without the gate there is none.

        Args:
            observer: Replaces the observer before, if any.
        """
        if self._groups is not None:
            self._groups.observer = observer

    def _group_cycle(self) -> "GroupCycle | None":
        """Return what schedules groups; None without the feature gate."""
        if self._runner.groups is None:
            return None
        from quaymaster._core.engine.group_assembly import (  # noqa: PLC0415 - rarely
            assemble_groups,
        )

        return assemble_groups(
            self._engine,
            is_skipped=self._is_skipped,
            pick_node=self._pick_node,
            observer=self._observer,
            marks=self._marks,
        )

    def _schedule(self, queued: QueuedPod) -> None:
        pod = queued.pod
        framework = self.frameworks.get(pod.spec.scheduler_name)
        if framework is None or self._is_skipped(pod):
            self.queue.done(pod.uid)
            return
        if self._marks is not None:
            self._marks.begin(pod)
        self._progress.note_attempt(queued)
        if self._observer is not None:
            self._observer.attempting(pod, framework)
        if self._measured is not None:
            framework = self._measured.begin(queued, framework)
        state = CycleState()
        outcome = self._find_node(framework, state, pod)
        if self._measured is not None:
            self._measured.decided()
        if isinstance(outcome, Decision):
            self.past_attempts.decided(queued, outcome)
            self._binding.begin(queued, state, framework.binding, outcome)
        else:
            self._engine.failures.attempt_failed(queued, outcome)
        if self._marks is not None:
            self._marks.end()
        if self._measured is not None:
            self._measured.ended()

    def _find_node(
        self, framework: Framework, state: CycleState, pod: Pod
    ) -> Decision | Failure:
        """Run the algorithm; an exception in it fails this attempt only."""
        try:
            outcome = framework.algorithm.schedule(state, pod, self._pick_node)
            # Successes leave at once: a report of a broken contract needs a rejection.
            if isinstance(outcome, Decision):
                return outcome
            if outcome.status.error is not None:
                self._runner.reports.broken_contract(pod, outcome.status)
            if outcome.post_filter is not None:
                if self._measured is not None:
                    self._measured.preempted()
                status = outcome.post_filter.status
                if status is not None and status.error is not None:
                    self._runner.reports.broken_contract(pod, status)
            failure = self._failures.get(outcome)
            if failure is None:
                failure = self._failures[outcome] = failure_of(outcome)
            return failure
        except VerificationError:
            # The user asked for verification to find this, so the whole run ends.
            raise
        except Exception as error:
            text = "the attempt to schedule pod %s broke"
            _log.exception(text, pod.key, extra={"pod": pod.key})
            message = describe_exception(error)
            return Failure(kind=FailureKind.ERROR, message=message)

    def _is_skipped(self, pod: Pod) -> bool:
        # Not by the properties of the pod: Python 3.11 calls a property slowly.
        metadata = pod.metadata
        if metadata.deletion_timestamp is not None:
            self._runner.cluster.record(_skipped(pod))
            return True
        # As ``skipPodSchedule``: an update brought back a pod that is being bound.
        return self.cache.is_assumed(metadata.uid)

    def _pick_node(self, _nodes: NodeTable, rows: Ties) -> int:
        # Takes a third of the time of `randrange`, and is as uniform for so few rows.
        return int(rows[int(self._random.random() * len(rows))])

    def _activate(self, pods: Sequence[Pod]) -> None:
        # Looked up late: plugins are built before the queue, which needs their hooks.
        self.queue.activate(pods)

    def _reorder(self, pods: Sequence[Pod]) -> None:
        self.queue.reorder(pods)

    def _wake(self, scheduler_name: str, plugin: str) -> None:
        self.queue.move_all(PluginChange.of(scheduler_name, plugin))

    def _is_settled(self) -> bool:
        return (
            not self._runner.clock.has_foreground_timers
            and not self._binding.in_flight
            and not len(self.waiting)
            and all(map(self._progress.is_settled, self.queue.records()))
        )


def _skipped(pod: Pod) -> EventNote:
    return EventNote(
        regarding=pod,
        type="Warning",
        reason="FailedScheduling",
        action="Scheduling",
        note=f"skip schedule deleting pod: {pod.key}",
        reporter=pod.spec.scheduler_name,
    )
