"""The scheduler: one thread, one loop, all state.

Each turn drains the inbox and the watches, fires the timers that are due, and takes
one pod through a scheduling cycle. With a real clock the loop then waits for something
to happen; with a virtual one time jumps to the next timer. Mirrors ``Scheduler``
(Kubernetes v1.36, ``pkg/scheduler/scheduler.go``, ``schedule_one.go``).
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from random import Random
from typing import TypeVar

import attrs

from quaymaster._api.objects import Pod
from quaymaster._base.errors import VerificationError
from quaymaster._base.raised import describe_exception
from quaymaster._core.binding.executor import Executor, InlineExecutor, Post
from quaymaster._core.config.changes import ConfigChanges
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import Cluster, EventNote
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.decisions import Decision
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
from quaymaster._core.state.node_table import NodeTable

__all__ = ["Observer", "Scheduler"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Scheduler:
    """Schedules the pods of a cluster.

    Args:
        cluster: The cluster to watch and to bind in.
        config: Profiles and settings.
        registry: Where plugins are found by name.
        clock: The engine's time; the cluster's too, if that is simulated.
        seed: Seeds the choice between equally good nodes.
        make_executor: Given how to post calls into the engine's inbox, makes what runs
            calls that may wait for the cluster; inline by default.
        observer: Is told what happens.
        on_failure: Called with every pod whose attempt has failed, and why, if it is to
            be tried again.
        options: What else can be set.
        stopwatch: The time that hooks are measured with, in seconds; unlike the clock
            it always runs.
        metrics: Takes numbers about all that happens, if given.
        generator: Draws whatever is drawn, instead of one with the seed.

    Attributes:
        snapshot: Nodes and pods, as decisions see them.
        queue: The pods that wait for an attempt.
        waiting: The pods that wait on Permit.
        cache: What runs where, with the pods that are assumed to.
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
            options=options,
            stopwatch=stopwatch,
            metrics=metrics,
            generator=generator,
        )
        engine = assemble(runner, on_failure)
        self.snapshot = runner.snapshot
        self.queue = engine.queue
        self.waiting = runner.waiting
        self.cache = runner.cache
        self.informers = runner.informers
        self.frameworks: Mapping[str, Framework] = runner.frameworks
        self._observer = observer
        self._runner = runner
        self._engine = engine
        # Each attempt needs these: one step to each of them, not two.
        self._random = runner.random
        self._binding = engine.binding
        self._progress = engine.progress
        self._measured = engine.measured
        self.past_attempts = engine.history

    @property
    def config(self) -> SchedulerConfig:
        """The configuration in force."""
        return self._runner.config

    @property
    def binds_in_flight(self) -> int:
        """How many pods are being bound right now."""
        return self._binding.in_flight

    def start(self) -> None:
        """Learn what there is in the cluster, begin to follow it, and start plugins.

        What cannot be listed is tried again every second, and nothing is scheduled
        before everything has been listed.
        """
        self._runner.start(self._engine.handlers)
        self.queue.start()

    def run(
        self, stop: threading.Event, drain_seconds: Callable[[], float] = lambda: 0.0
    ) -> None:
        """Schedule until ``stop`` is set; whoever sets it calls `wake` as well.

        Args:
            stop: When to stop.
            drain_seconds: Asked then for how long to `drain`; by default not at all.
        """
        self._runner.inbox.adopt()
        while not stop.is_set():
            if not self.turn():
                self.wait()
        self.drain(drain_seconds())
        self.close()

    def drain(self, seconds: float) -> int:
        """Try no more pods, and wait for those that are being bound.

        A bind without an answer is settled by reading the pod, as always. Pods that
        wait in a queue or on Permit are left to the next scheduler, which finds them
        unbound.

        Args:
            seconds: For how long to wait.

        Returns:
            How many pods are still being bound then: 0 if nothing is in doubt.
        """
        binding, runner = self._binding, self._runner
        deadline = runner.clock.now() + seconds
        timer = runner.clock.call_at(deadline, lambda: None)
        while binding.in_flight and runner.clock.now() < deadline:
            if not runner.catch_up() and not runner.wait():
                break
        timer.cancel()
        if binding.in_flight and seconds:
            text = "%d pods are still being bound after %g s: they may be bound or not"
            _log.warning(text, binding.in_flight, seconds)
        return binding.in_flight

    def close(self) -> None:
        """Close the plugins, and wait for calls on their way.

        Their timers and tasks are cancelled. It is called on the thread that takes the
        turns, by whoever does not call `run`; a second time does no harm.
        """
        self._runner.close()
        self._engine.patches.log_failures()

    def wake(self) -> None:
        """Let the loop look around; from any thread."""
        self._runner.inbox.notify()

    def settle(self) -> None:
        """Schedule until nothing moves any more; the clock must be a virtual one.

        That is when no work is left but pods which have been tried since the last
        change of the cluster, and pods that are gated. One that meets errors, or is
        tried again and again to no effect, gets a few more tries. While something takes
        longer than a day in which nothing else changes, such as the end of a pod,
        pods are not tried again and again.
        """
        while not self.is_stuck:
            if not self.turn() and not self.pass_time():
                break
        self.queue.rest(False)

    @property
    def is_stuck(self) -> bool:
        """Whether all pods have been tried again and again to no effect."""
        return self._progress.is_stuck(len(self.queue) + len(self.waiting))

    def pass_time(self) -> bool:
        """Let time pass until something is due, unless nothing moves any more.

        It is one step of `settle`, for when `turn` found nothing to do.

        Returns:
            Whether there is something to wait for.
        """
        if self._is_settled():
            return False
        self.queue.rest(self._progress.is_in_vain(self.queue))
        return self._runner.wait()

    def turn(self) -> bool:
        """Handle what has arrived and is due, then try one pod.

        Returns:
            Whether there was anything to do.
        """
        busy = self._runner.catch_up()
        queued = self.queue.pop() if self.informers.has_listed else None
        if queued is not None:
            self._schedule(queued)
        return busy or queued is not None

    @contextmanager
    def deciding_by(self, scheduler_name: str, algorithm: Algorithm) -> Iterator[None]:
        """Have another algorithm decide for the pods of a profile, in a block.

        Args:
            scheduler_name: The profile, which must not be reloaded meanwhile.
            algorithm: Decides for its pods.
        """
        frameworks = self._runner.frameworks
        usual = frameworks[scheduler_name]
        frameworks[scheduler_name] = attrs.evolve(usual, algorithm=algorithm)
        try:
            yield
        finally:
            frameworks[scheduler_name] = usual

    def hooks_unobserved(self) -> AbstractContextManager[None]:
        """Return a context in which calls of hooks are not reported to observers.

        It is for questions that are not decisions, such as an explanation. Observers
        are those of the options, the installed ones and the trace of hooks.
        """
        return self._runner.hooks_unobserved()

    def catch_up(self) -> bool:
        """Handle what has arrived and is due; return whether there was anything."""
        return self._runner.catch_up()

    def wait(self) -> None:
        """Let time pass until something arrives or is due; see `catch_up`."""
        self._runner.wait()

    def reload(self, config: SchedulerConfig) -> Future[ConfigChanges]:
        """Go on with another configuration; from any thread.

        It is built and swapped in between two scheduling cycles, on the scheduler's
        thread, which therefore must not wait for the answer. If anything of it cannot
        be built, everything stays as it was. Pending pods keep their history and are
        tried again. Those of a new profile are queued, and those of one that is gone
        leave. A pod that has a node already, waiting on Permit or being bound, goes on
        with the plugins that gave it the node, to its end.

        Args:
            config: The new configuration, complete and checked.

        Returns:
            What is different, once it is in force; or the error that kept it out:
            `ProfileError`, `ExtenderError`, `KubernetesError` if it was loaded for
            another version of Kubernetes, or what a plugin's hooks raised.
        """
        return self._runner.inbox.ask(lambda: reload(self._engine, config))

    def ask(self, question: Callable[[], T]) -> Future[T]:
        """Have a call made on the scheduler's thread; from any thread.

        Whoever reads what the scheduler holds, such as its queue, has to do it so. The
        scheduler's thread must not wait for the answer.

        Args:
            question: Is called between two scheduling cycles, while `run` or `turn`
                is called.

        Returns:
            What it returns or raises.
        """
        return self._runner.inbox.ask(question)

    def unlisted(self) -> Sequence[str]:
        """Return the kinds that have never been listed; on the scheduler's thread.

        As long as there are any, nothing is scheduled.
        """
        return [kind.kind for kind in self.informers.unlisted()]

    def gate_of(self, pod: Pod) -> Status | None:
        """Return what keeps a pod out of the queue, or None if nothing does."""
        queued = self.queue.get(pod.key)
        if queued is None or not queued.gating_plugin:
            return None
        framework = self.frameworks[pod.spec.scheduler_name]
        status = framework.pre_enqueue(queued.gating_plugin, queued.pod)
        return (status or Status.unresolvable()).with_plugin(queued.gating_plugin)

    def _schedule(self, queued: QueuedPod) -> None:
        pod = queued.pod
        framework = self.frameworks.get(pod.spec.scheduler_name)
        if framework is None or self._is_skipped(pod):
            self.queue.done(pod.uid)
            return
        self._progress.note_attempt(queued)
        if self._observer is not None:
            self._observer.attempting(pod, framework)
        if self._measured is not None:
            framework = self._measured.begin(queued, framework)
        state = CycleState()
        found = self._find_node(framework, state, pod)
        if self._measured is not None:
            self._measured.decided()
        if isinstance(found, Decision):
            self.past_attempts.decided(queued, found)
            self._binding.begin(queued, state, framework.binding, found)
        else:
            self._engine.failures.attempt_failed(queued, found)
        if self._measured is not None:
            self._measured.ended()

    def _find_node(
        self, framework: Framework, state: CycleState, pod: Pod
    ) -> Decision | Failure:
        """Run the algorithm; an error in it fails this attempt only."""
        try:
            found = framework.algorithm.schedule(state, pod, self._pick_node)
            if isinstance(found, Decision):
                return found
            reports = self._runner.reports
            reports.broken_contract(pod, found.status)
            if found.post_filter is not None:
                if self._measured is not None:
                    self._measured.preempted()
                reports.broken_contract(pod, found.post_filter.status)
            return failure_of(found)
        except VerificationError:
            raise
        except Exception as error:
            text = "the attempt to schedule pod %s broke"
            _log.exception(text, pod.key, extra={"pod": pod.key})
            message = describe_exception(error)
            return Failure(kind=FailureKind.ERROR, message=message)

    def _is_skipped(self, pod: Pod) -> bool:
        metadata = pod.metadata
        if metadata.deletion_timestamp is not None:
            self._runner.cluster.record(_skipped(pod))
            return True
        return self.cache.is_assumed(metadata.uid)

    def _pick_node(self, _nodes: NodeTable, rows: Ties) -> int:
        # A third of the time of randrange, and as even for so few.
        return int(rows[int(self._random.random() * len(rows))])

    def _activate(self, pods: Sequence[Pod]) -> None:
        # Plugins are built before the queue, which has to know their hooks.
        self.queue.activate(pods)

    def _wake(self, scheduler_name: str, plugin: str) -> None:
        self.queue.move_all(PluginChange.of(scheduler_name, plugin))

    def _is_settled(self) -> bool:
        return (
            not self._runner.clock.has_foreground_timers
            and not self._binding.in_flight
            and not len(self.waiting)
            and all(map(self._progress.has_had_its_chance, self.queue))
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
