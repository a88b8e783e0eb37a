"""The scheduler: one thread, one loop, all state.

Each turn drains the inbox and the watches, fires the timers that are due, and takes
one pod through a scheduling cycle. With a real clock the loop then waits for something
to happen; with a virtual one time jumps to the next timer. Mirrors ``Scheduler``
(Kubernetes v1.36, ``pkg/scheduler/scheduler.go``, ``schedule_one.go``).
"""

import logging
import math
import random
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import Future
from typing import Protocol

from quaymaster._binding.binding_cycle import BindingCycle
from quaymaster._binding.executor import Executor, InlineExecutor, Post
from quaymaster._binding.waiting_pods import WaitingPods
from quaymaster._cache.cache import Cache
from quaymaster._config.changes import ConfigChanges, compare
from quaymaster._cycle.decisions import Decision
from quaymaster._cycle.sampling import NodeOrder
from quaymaster._cycle.scoring import Ties
from quaymaster._engine.changes import is_mere_report
from quaymaster._engine.event_handlers import EventHandlers
from quaymaster._engine.failure import Failure, FailureHandler, FailureKind, failure_of
from quaymaster._engine.framework import (
    Framework,
    backoff_policy,
    build_frameworks,
    queue_profiles,
)
from quaymaster._engine.handle import Services
from quaymaster._engine.inbox import Inbox
from quaymaster._engine.informers import EngineInformers
from quaymaster._engine.outcomes import Outcomes
from quaymaster._engine.pod_patches import PodPatches
from quaymaster._mutations import MutationGuard
from quaymaster._queue import QueuedPod, SchedulingQueue
from quaymaster._raised import describe_exception
from quaymaster._runtime import Guard, HookErrors, HookGuards, SlowHooks
from quaymaster.clock import Clock
from quaymaster.cluster import Cluster, EventNote
from quaymaster.config import SchedulerConfig
from quaymaster.cycle_state import CycleState
from quaymaster.errors import PluginError, VerificationError
from quaymaster.node_table import NodeTable
from quaymaster.objects import ApiObject, Pod
from quaymaster.options import EngineOptions, HookError, SlowHook
from quaymaster.registry import PluginRegistry
from quaymaster.snapshot import Snapshot
from quaymaster.status import Status

__all__ = ["Observer", "Scheduler"]

_log = logging.getLogger(__name__)

_TRIES_TO_GIVE_UP_AFTER = 5
_SECONDS_TO_RETRY_WATCH = 1.0


class Observer(Protocol):
    """Is told what the scheduler does, as it does it, on its thread."""

    def attempting(self, pod: Pod, framework: Framework, /) -> None:
        """A pod is about to be tried."""

    def bound(self, pod: Pod, node_name: str, /) -> None:
        """A pod was bound."""

    def recorded(self, note: EventNote, /) -> None:
        """A plugin wrote an Event."""

    def slow(self, hook: SlowHook, /) -> None:
        """A hook took longer than it may."""

    def failed(self, error: HookError, /) -> None:
        """A hook raised an exception, or broke its contract."""


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

    Attributes:
        snapshot: Nodes and pods, as decisions see them.
        queue: The pods that wait for an attempt.
        waiting: The pods that wait on Permit.
        config: The configuration in force.
        frameworks: Scheduler name -> the profile at work.

    Raises:
        ProfileError: A profile's plugins cannot be built.
        ExtenderError: An extender's URL or certificates are of no use.
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
        options: EngineOptions | None = None,
        stopwatch: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._observer = observer
        self._registry = registry
        self._options = options or EngineOptions()
        self._stopwatch = stopwatch
        self._random = random.Random(seed)
        self._node_order = NodeOrder()
        self._changes = 0
        # Attempts since the last change, while no change was to be expected.
        self._idle_attempts = 0
        self._inbox = Inbox()
        self._thread = threading.get_ident()
        self._hook_errors = HookErrors(clock.now, self._failed)
        self._executor = make_executor(self._inbox.post)
        self._informers = EngineInformers(
            cluster,
            self,
            self._inbox.notify,
            lambda retry: clock.call_later(_SECONDS_TO_RETRY_WATCH, retry),
        )
        self.snapshot = Snapshot()
        self.waiting = WaitingPods(clock, self._inbox.post)
        self._cache = Cache(self.snapshot)
        self.config = config
        self.frameworks = self._build_frameworks(config)
        self.waiting.rejecting = _plugin_names(self.frameworks.values())
        self.queue = self._build_queue(config)
        self._handlers = EventHandlers(
            cache=self._cache,
            queue=self.queue,
            scheduler_names=self.frameworks,
            reject_waiting=self._reject_waiting,
        )
        patches = PodPatches(cluster, self._executor)
        self._failures = FailureHandler(
            clock=clock,
            queue=self.queue,
            cache=self._cache,
            lookup=self._stored,
            patch_status=patches.send,
            record=cluster.record,
            told=on_failure,
        )
        outcomes = Outcomes(
            queue=self.queue,
            cache=self._cache,
            failures=self._failures,
            lookup=self._stored,
            bound=self._bound,
            note=self._note_broken_contract,
        )
        self._binding = BindingCycle(
            cluster, self._executor, self.waiting, outcomes, clock, patches.send
        )

    def start(self) -> None:
        """Learn what there is in the cluster, and begin to follow it.

        What cannot be listed is tried again every second, and nothing is scheduled
        before everything has been listed.
        """
        self._informers.start()
        self.queue.start()

    def run(self, stop: threading.Event) -> None:
        """Schedule until ``stop`` is set; whoever sets it calls `wake` as well."""
        self._thread = threading.get_ident()
        while not stop.is_set():
            if not self.turn():
                self._inbox.wait(self._clock)
        self.close()

    def close(self) -> None:
        """Stop the timers and the tasks of plugins, and wait for calls on their way."""
        _retire(self.frameworks.values())
        self._executor.close()

    def wake(self) -> None:
        """Let the loop look around; from any thread."""
        self._inbox.notify()

    def settle(self) -> None:
        """Schedule until nothing moves any more; the clock must be a virtual one.

        That is when no work is left but pods which have been tried since the last
        change of the cluster, and pods that are gated. One that meets errors, or is
        tried again and again to no effect, gets a few more tries.
        """
        while not self._is_going_round_in_circles():
            if self.turn():
                continue
            if self._is_settled() or not self._inbox.wait(self._clock):
                return

    def turn(self) -> bool:
        """Handle what has arrived and is due, then try one pod.

        Returns:
            Whether there was anything to do.
        """
        busy = self.catch_up()
        queued = self.queue.pop() if self._informers.has_listed else None
        if queued is not None:
            self._schedule(queued)
        return busy or queued is not None

    def catch_up(self) -> bool:
        """Handle what has arrived and is due; return whether there was anything."""
        busy = False
        if self._inbox.has_news:
            busy = self._inbox.drain()
            busy = self._informers.sync() or busy
        return self._clock.run_due() > 0 or busy

    def wait(self) -> None:
        """Let time pass until something arrives or is due; see `catch_up`."""
        self._inbox.wait(self._clock)

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
            `ProfileError`, `ExtenderError`, or what a plugin's hooks raised.
        """
        return self._inbox.ask(lambda: self._reload(config))

    def changed(
        self,
        kind: type[ApiObject],
        old: ApiObject | None,
        new: ApiObject | None,
        *,
        missed: bool = False,
    ) -> None:
        """Take a change of the cluster from an informer."""
        if not is_mere_report(old, new):
            self._note_change()
        self._handlers.changed(kind, old, new, missed=missed)

    def gate_of(self, pod: Pod) -> Status | None:
        """What keeps a pod out of the queue, or None if nothing does."""
        queued = self.queue.get(pod.key)
        if queued is None or not queued.gating_plugin:
            return None
        framework = self.frameworks[pod.spec.scheduler_name]
        status = framework.pre_enqueue(queued.gating_plugin, queued.pod)
        return (status or Status.unresolvable()).with_plugin(queued.gating_plugin)

    def _reload(self, config: SchedulerConfig) -> ConfigChanges:
        changes = compare(self.config, config)
        frameworks = self._build_frameworks(config)
        try:
            profiles = queue_profiles(frameworks, config)
            gone = self.queue.reload(profiles, backoff_policy(config))
        except BaseException:
            _retire(frameworks.values())
            raise
        added = frameworks.keys() - self.frameworks.keys()
        _retire(self.frameworks.values())
        # In place: the event handlers hold it, too.
        self.frameworks.clear()
        self.frameworks.update(frameworks)
        self.waiting.rejecting = _plugin_names(frameworks.values())
        self._queue_pods_of(added)
        self._note_change()
        if gone:
            _log.warning("%d pending pods have no profile any more", len(gone))
        self.config = config
        return changes

    def _queue_pods_of(self, scheduler_names: Collection[str]) -> None:
        """Queue the pending pods of new profiles, but those that still have a node."""
        for pod in self._informers.list(Pod) if scheduler_names else ():
            if pod.spec.scheduler_name not in scheduler_names:
                continue
            has_node = pod.node_name or self._cache.is_assumed(pod.uid)
            if not has_node and not pod.is_finished:
                self.queue.add(pod)

    def _build_frameworks(self, config: SchedulerConfig) -> dict[str, Framework]:
        services = Services(
            clock=self._clock,
            cluster=self._cluster,
            informers=self._informers,
            snapshot=self.snapshot,
            waiting_pods=lambda: self.waiting,
            waiting_pod=self.waiting.get,
            activate=self._activate,
            nominated_pods=self.pods_on,
            record=self._record,
            random=self._random,
            executor=self._executor,
        )
        return build_frameworks(
            config,
            self._registry,
            services,
            self,
            self._node_order,
            self._options,
            self._guards(),
        )

    def _guards(self) -> Sequence[Guard]:
        """What goes around the hooks of plugins."""
        limit = self._options.slow_hook_seconds
        limit = math.inf if limit is None else limit
        slow = SlowHooks(self._stopwatch, limit, self._slow)
        guards: list[Guard] = [
            HookGuards(self._stopwatch, limit, slow.report, self._hook_failed)
        ]
        if self._options.check_mutations:
            guards.append(MutationGuard(self.snapshot))
        return guards

    def _build_queue(self, config: SchedulerConfig) -> SchedulingQueue:
        return SchedulingQueue(
            clock=self._clock,
            profiles=queue_profiles(self.frameworks, config),
            lookup=self._stored,
            backoff=backoff_policy(config),
            max_in_unschedulable_seconds=self._options.max_in_unschedulable_seconds,
            flush_gated_pods=self._options.flush_gated_pods,
        )

    def _schedule(self, queued: QueuedPod) -> None:
        pod = queued.pod
        framework = self.frameworks.get(pod.spec.scheduler_name)
        if framework is None or self._is_skipped(pod):
            self.queue.done(pod.uid)
            return
        queued.attempted_at_change = self._changes
        if not self._clock.has_foreground_timers:
            self._idle_attempts += 1
        if self._observer is not None:
            self._observer.attempting(pod, framework)
        state = CycleState()
        found = self._find_node(framework, state, pod)
        if isinstance(found, Decision):
            self._binding.begin(queued, state, framework.binding, found)
        else:
            self._failures.attempt_failed(queued, found)

    def _find_node(
        self, framework: Framework, state: CycleState, pod: Pod
    ) -> Decision | Failure:
        """Run the algorithm; whatever breaks in it breaks this attempt only."""
        try:
            found = framework.algorithm.schedule(state, pod, self._pick_node)
            if isinstance(found, Decision):
                return found
            self._note_broken_contract(pod, found.status)
            if found.post_filter is not None:
                self._note_broken_contract(pod, found.post_filter.status)
            return failure_of(found)
        except VerificationError:
            raise
        except Exception as error:
            _log.exception("the attempt to schedule pod %s broke", pod.key)
            message = describe_exception(error)
            return Failure(kind=FailureKind.ERROR, message=message)

    def _is_skipped(self, pod: Pod) -> bool:
        metadata = pod.metadata
        if metadata.deletion_timestamp is not None:
            self._cluster.record(_skipped(pod))
            return True
        return self._cache.is_assumed(metadata.uid)

    def _pick_node(self, _nodes: NodeTable, rows: Ties) -> int:
        # A third of the time of randrange, and as even for so few.
        return int(rows[int(self._random.random() * len(rows))])

    def _note_change(self) -> None:
        self._changes += 1
        self._idle_attempts = 0

    def _is_going_round_in_circles(self) -> bool:
        pending = len(self.queue) + len(self.waiting) + 1
        return self._idle_attempts > _TRIES_TO_GIVE_UP_AFTER * pending

    def _is_settled(self) -> bool:
        return (
            not self._clock.has_foreground_timers
            and not self._binding.in_flight
            and not len(self.waiting)
            and all(map(self._has_had_its_chance, self.queue))
        )

    def _has_had_its_chance(self, queued: QueuedPod) -> bool:
        if queued.is_gated:
            return True
        errors = queued.consecutive_errors_count
        return queued.attempted_at_change == self._changes and (
            errors == 0 or errors >= _TRIES_TO_GIVE_UP_AFTER
        )

    def pods_on(self, node_name: str) -> Sequence[Pod]:
        """The pods that are nominated to a node, in the order of nomination."""
        return self.queue.nominator.pods_on(node_name)

    def nodes(self) -> Sequence[str]:
        """The nodes that any pod is nominated to."""
        return self.queue.nominator.nodes()

    def _stored(self, key: str) -> Pod | None:
        return self._informers.get(Pod, key)

    def _activate(self, pods: Iterable[Pod]) -> None:
        listed = list(pods)
        self._inbox.post(lambda: self.queue.activate(listed))

    def _reject_waiting(self, uid: str) -> bool:
        waiting = self.waiting.get(uid)
        if waiting is None:
            return False
        self.waiting.end(waiting, Status.unschedulable("pod was deleted"))
        return True

    def _bound(self, pod: Pod, node_name: str) -> None:
        self._note_change()
        if self._observer is not None:
            self._observer.bound(pod, node_name)

    def _slow(self, hook: SlowHook) -> None:
        if self._observer is not None:
            self._observer.slow(hook)

    def _hook_failed(
        self, plugin: str, hook: str, pod: str, error: BaseException
    ) -> None:
        """Take note of a hook that failed, on whatever thread that was."""

        def report() -> None:
            self._hook_errors.report(plugin, hook, pod, error)

        if threading.get_ident() == self._thread:
            report()
        else:
            self._inbox.post(report)

    def _failed(self, error: HookError) -> None:
        if self._observer is not None:
            self._observer.failed(error)

    def _note_broken_contract(self, pod: Pod, status: Status | None) -> None:
        """Take note of what no guard could see, since only a station looked at it."""
        error = status.error if status is not None else None
        if isinstance(error, PluginError):
            self._hook_errors.report(error.plugin, error.hook, pod.key, error)

    def _record(self, note: EventNote) -> None:
        self._cluster.record(note)
        if self._observer is not None:
            self._observer.recorded(note)


def _retire(frameworks: Iterable[Framework]) -> None:
    for framework in frameworks:
        framework.handle.retire()


def _plugin_names(frameworks: Iterable[Framework]) -> frozenset[str]:
    return frozenset(name for one in frameworks for name in one.profile.plugins)


def _skipped(pod: Pod) -> EventNote:
    return EventNote(
        regarding=pod,
        type="Warning",
        reason="FailedScheduling",
        action="Scheduling",
        note=f"skip schedule deleting pod: {pod.key}",
        reporter=pod.spec.scheduler_name,
    )
