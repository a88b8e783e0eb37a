"""The profiles of a configuration, at work on a copy of a cluster.

This is enough to filter and score nodes. The scheduler adds a queue of pending pods. An
extender needs no queue: its pods wait in another scheduler.
"""

import math
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from quaymaster._api.objects import Pod
from quaymaster._base.versions.kubernetes import KubernetesError
from quaymaster._core.binding.executor import Executor, InlineExecutor, Post
from quaymaster._core.binding.waiting_pods import WaitingPods
from quaymaster._core.config.changes import ConfigChanges, compare
from quaymaster._core.config.kinds import kinds_read
from quaymaster._core.config.model import SchedulerConfig
from quaymaster._core.contract.attempt_marks import AttemptMarks
from quaymaster._core.contract.clock import Clock, VirtualClock
from quaymaster._core.contract.cluster import Cluster
from quaymaster._core.contract.options import SchedulerOptions
from quaymaster._core.contract.trace import TraceCallback, TraceTopic
from quaymaster._core.cycle.sampling import NodeOrder
from quaymaster._core.engine.framework import (
    Framework,
    FrameworkBuilder,
    begin_callbacks,
    retire,
    start_plugins,
)
from quaymaster._core.engine.handle import Services
from quaymaster._core.engine.inbox import Inbox
from quaymaster._core.engine.informers import ChangeHandler, EngineInformers
from quaymaster._core.engine.reports import Observer, Reports
from quaymaster._core.queue.nominator import Nominator
from quaymaster._core.registry.registry import PluginRegistry
from quaymaster._core.runtime.guards import HookGuards, HookTimer, Watch
from quaymaster._core.runtime.marked_hooks import MarkedHooks
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._core.runtime.slow_hooks import SlowHooks
from quaymaster._core.runtime.unobserved_hooks import UnobservedHooks
from quaymaster._core.state.cache import Cache
from quaymaster._core.state.snapshot import Snapshot

if TYPE_CHECKING:
    from quaymaster._core.state.group_states import GroupStates

__all__ = ["ProfileRunner"]

# Upstream's reflectors start with 0.8 s; see `EngineInformers`.
_SECONDS_TO_RETRY_WATCH = 1.0


def _nothing(*_args: object) -> None:
    """Do nothing; the default of optional callbacks."""


class ProfileRunner:
    """Keeps a copy of a cluster up to date, and runs the plugins of profiles on it.

    Args:
        cluster: The cluster to follow.
        config: The profiles and extenders.
        registry: Finds plugins by name.
        clock: The engine's time.
        seed: The seed of the engine's generator.
        make_executor: Makes the executor for calls that may wait for the cluster; its
            argument posts calls into the inbox.
        observer: Notified of binds, and of plugins' Events, slow hooks and errors.
        activate: Moves pods to the active queue, when plugins request it.
        wake: Wakes the pods of a profile that one of its plugins has rejected, by the
            names of both.
        reorder: Computes the sort keys of queued pods again.
        options: Other settings.
        stopwatch: Returns the time that hooks are measured with, in seconds.
        metrics: Records metrics; may be None.
        generator: Used instead of a generator with the seed.
        marks: Mark hooks that run outside of attempts.

    Attributes:
        clock: The engine's time.
        cluster: The cluster to follow.
        options: Other settings.
        metrics: Records metrics; may be None.
        inbox: The calls that other threads post for the engine.
        executor: Runs calls that may wait for the cluster.
        random: The engine's generator.
        informers: The copies of the cluster's objects.
        snapshot: Nodes and pods, as decisions see them.
        groups: The pods of groups by their state; None while the feature gate
            GenericWorkload is off.
        cache: Keeps the snapshot up to date.
        nominator: The pods that are nominated to nodes.
        waiting: The pods that wait on Permit.
        reports: Reports binds, and Events and errors of plugins.
        plugin_metrics: The metrics that plugins have of their own.
        config: The configuration in force.
        frameworks: Scheduler name -> the profile at work; always the same object.

    Raises:
        KindError: Two plugins declare one kind by two classes.
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
        activate: Callable[[Sequence[Pod]], None] = _nothing,
        wake: Callable[[str, str], None] = _nothing,
        reorder: Callable[[Sequence[Pod]], None] = _nothing,
        options: SchedulerOptions | None = None,
        stopwatch: Callable[[], float] = time.perf_counter,
        metrics: SchedulerMetrics | None = None,
        generator: random.Random | None = None,
        marks: AttemptMarks | None = None,
    ) -> None:
        self._marks = marks
        self.metrics = metrics
        self.clock = clock
        self._start = clock.now()
        self.cluster = cluster
        self.options = options or SchedulerOptions()
        self.inbox = Inbox(is_virtual=isinstance(clock, VirtualClock))
        self.executor = make_executor(self.inbox.post)
        self.random = random.Random(seed) if generator is None else generator
        self.informers = EngineInformers(
            cluster,
            self.inbox.notify,
            lambda retry: clock.call_later(_SECONDS_TO_RETRY_WATCH, retry),
        )
        self.snapshot = Snapshot(config.kubernetes)
        self.groups = _group_states(config)
        self.cache = _cache(
            self.snapshot, self.groups, self.trace_callback(TraceTopic.CACHE)
        )
        self.nominator = Nominator(self.stored_pod)
        self.waiting = _waiting_pods(clock, self.inbox.post, metrics)
        self.reports = Reports(cluster, clock, self.inbox, observer)
        self._registry = registry
        self._stopwatch = stopwatch
        self._observers = [*registry.make_observers(), *self.options.hook_observers]
        if hook_trace := self.trace_callback(TraceTopic.PLUGIN):
            from quaymaster._core.runtime.hook_trace import (  # noqa: PLC0415 - below
                HookTrace,
            )

            self._observers.append(HookTrace(hook_trace))
        self._order = NodeOrder()
        self._services = self._services_with(activate, wake, reorder)
        self.plugin_metrics = self._services.plugin_metrics
        self._handler: ChangeHandler | None = None
        self.config = config
        # Before the plugins are built: they may use informers in their constructors.
        self.informers.follow(kinds_read(config, registry))
        self.frameworks = self.build(config)
        self._let_reject(self.frameworks)

    def start(self, handler: ChangeHandler) -> None:
        """List the cluster's objects, start to watch them, and start the plugins.

        Args:
            handler: Gets every change, after the copies have been updated.
        """
        if self.metrics is not None:
            from quaymaster._core.engine.measured_events import (  # noqa: PLC0415 - below
                MeasuredChanges,
            )

            handler = MeasuredChanges(handler, self.metrics, self.config.kubernetes)
        self._handler = handler
        # First, so that callbacks get all objects before a hook is called for a pod.
        begin_callbacks(self.frameworks.values())
        self.informers.start(handler)
        start_plugins(self.frameworks.values())

    def catch_up(self) -> bool:
        """Handle posted calls, changes and due timers; return whether any came."""
        busy = self.inbox.has_work and self.read_changes()
        return self.clock.run_due() > 0 or busy

    def read_changes(self) -> bool:
        """Handle posted calls and changes; return whether any came."""
        if not self.inbox.has_work:
            return False
        busy = self.inbox.drain()
        return self.informers.sync() or busy

    def wait(self) -> bool:
        """Let time pass until something arrives or a timer is due; see `Clock.wait`."""
        return self.inbox.wait(self.clock)

    def close(self) -> None:
        """Close the plugins, and wait for running calls; it may be called twice."""
        retire(self.frameworks.values())
        self.executor.close()

    def trace_callback(self, topic: TraceTopic) -> TraceCallback | None:
        """Return the trace callback for a topic, or None if it is not traced."""
        trace = self.options.trace
        if trace is None:
            return None
        now, start = self.clock.now, self._start
        return trace.on(topic, lambda: now() - start)

    def hooks_unobserved(self) -> AbstractContextManager[None]:
        """Return a context in which calls of hooks are not observed.

        They are not reported to observers, and not counted in metrics of plugins.
        """
        return UnobservedHooks(self._observers, self.plugin_metrics)

    def stored_pod(self, key: str) -> Pod | None:
        """Return a pod from the informers, or None."""
        return self.informers.get(Pod, key)

    def build(self, config: SchedulerConfig) -> dict[str, Framework]:
        """Build the profiles of a configuration; those at work are not changed.

        Raises:
            ProfileError: A profile's plugins cannot be built.
            ExtenderError: An extender's URL or certificates cannot be used.
        """
        builder = FrameworkBuilder(
            registry=self._registry,
            services=self._services,
            order=self._order,
            options=self.options,
            guards=self._guards(),
            kinds=self.informers.kinds,
            metrics=self.metrics,
            run_here=self.inbox.run_here,
        )
        return builder.build_all(config)

    def reload(
        self,
        config: SchedulerConfig,
        adopt: Callable[[Mapping[str, Framework]], None] = _nothing,
    ) -> ConfigChanges:
        """Replace the profiles by those of another configuration.

        If any step fails, nothing is changed. The plugins of the old profiles are
        closed before those of the new profiles are started.

        Args:
            config: The new configuration, complete and checked.
            adopt: Called with the new profiles; the last step that may fail.

        Returns:
            The differences between the configurations.

        Raises:
            KubernetesError: It is for another version of Kubernetes.
        """
        _check_version(self.config, config)
        changes = compare(self.config, config)
        new_kinds = self.informers.follow(kinds_read(config, self._registry))
        try:
            frameworks = self._adopted(self.build(config), adopt)
        except BaseException:
            self.informers.forget(new_kinds)
            raise
        retire(self.frameworks.values())
        # In place, because the event handlers share the mapping.
        self.frameworks.clear()
        self.frameworks.update(frameworks)
        self.plugin_metrics.drop_unowned()
        self._let_reject(frameworks)
        self.config = config
        # Kinds that only the old plugins use stay followed: they may still bind pods.
        if self._handler is not None:
            self.informers.start(self._handler)
            start_plugins(frameworks.values())
        return changes

    def _adopted(
        self,
        frameworks: dict[str, Framework],
        adopt: Callable[[Mapping[str, Framework]], None],
    ) -> Mapping[str, Framework]:
        """Return the profiles after `adopt`; close them if it fails."""
        try:
            # First: the queue calls hooks of the new plugins.
            begin_callbacks(frameworks.values())
            adopt(frameworks)
        except BaseException:
            retire(frameworks.values())
            raise
        return frameworks

    def _services_with(
        self,
        activate: Callable[[Sequence[Pod]], None],
        wake: Callable[[str, str], None],
        reorder: Callable[[Sequence[Pod]], None],
    ) -> Services:
        """Return the parts that plugins may use."""
        return Services(
            clock=self.clock,
            cluster=self.cluster,
            informers=self.informers,
            snapshot=self.snapshot,
            nominator=self.nominator,
            waiting_pods=lambda: self.waiting,
            waiting_pod=self.waiting.get,
            activate=lambda pods: self.inbox.post(lambda: activate(pods)),
            wake=wake,
            reorder=reorder,
            post=self.inbox.post,
            is_own_thread=self.inbox.is_own_thread,
            record=self.reports.record,
            random=self.random,
            executor=self.executor,
            metrics=self.metrics,
            pod_groups=self.groups,
        )

    def _guards(self) -> HookGuards:
        """Return the guards, which report hooks that fail or take too long."""
        stopwatch, reports = self._stopwatch, self.reports
        limit = self.options.slow_hook_seconds
        limit = math.inf if limit is None else limit
        if self.metrics is not None:
            self.metrics.sampling.limit(limit)
        slow = SlowHooks(stopwatch, limit, reports.slow)
        timer = HookTimer(stopwatch, limit, slow.report)
        watches: list[Watch] = []
        if self.options.check_mutations:
            from quaymaster._core.mutations.guard import (  # noqa: PLC0415 - below
                MutationGuard,
            )

            watches.append(MutationGuard(self.snapshot))
        if self._marks is not None:
            watches.append(MarkedHooks(self._marks))
        if self._observers:
            from quaymaster._core.runtime.observed import (  # noqa: PLC0415 - below
                ObservedHooks,
            )

            run_here = self.inbox.run_here
            watches.append(ObservedHooks(self._observers, stopwatch, run_here))
        return HookGuards(timer, reports.hook_failed, watches)

    def _let_reject(self, frameworks: Mapping[str, Framework]) -> None:
        """Allow the plugins of these profiles to reject pods that wait on Permit."""
        self.waiting.rejecting = _plugin_names(frameworks.values())


# Groups, metrics, traces, observers and the search for mutations are imported when they
# are switched on: a small simulation takes about as long as its imports.


def _group_states(config: SchedulerConfig) -> "GroupStates | None":
    if not config.kubernetes.enabled("GenericWorkload"):
        return None
    from quaymaster._core.state.new_group_states import (  # noqa: PLC0415 - above
        new_group_states,
    )

    return new_group_states(config.kubernetes)


def _cache(
    snapshot: Snapshot, groups: "GroupStates | None", trace: TraceCallback | None
) -> Cache:
    if trace is not None:
        from quaymaster._core.engine.traced_cache import (  # noqa: PLC0415 - above
            TracedCache,
        )

        return TracedCache(snapshot, groups, trace)
    if groups is not None:
        from quaymaster._core.state.group_cache import (  # noqa: PLC0415 - above
            GroupCache,
        )

        return GroupCache(snapshot, groups)
    return Cache(snapshot)


def _waiting_pods(
    clock: Clock, post: Post, metrics: SchedulerMetrics | None
) -> WaitingPods:
    if metrics is None:
        return WaitingPods(clock, post)
    from quaymaster._core.engine.measured_events import (  # noqa: PLC0415 - above
        MeasuredWaits,
    )

    return MeasuredWaits(clock, post, metrics)


def _check_version(old: SchedulerConfig, new: SchedulerConfig) -> None:
    """Reject another version: the queue and the event handlers use rules of it.

    Raises:
        KubernetesError: It is another version, or groups are switched on or off.
    """
    version, other = old.kubernetes.version, new.kubernetes.version
    if other != version:
        problem = f"the scheduler runs as {version}, got {other}: start a new scheduler"
        raise KubernetesError("kubernetes_version", problem)
    for gate in ("GenericWorkload", "CompositePodGroup"):
        before, after = old.kubernetes.enabled(gate), new.kubernetes.enabled(gate)
        if before != after:
            problem = f"the scheduler runs with {gate}={str(before).lower()}"
            raise KubernetesError("feature_gates", f"{problem}: start a new scheduler")


def _plugin_names(frameworks: Iterable[Framework]) -> frozenset[str]:
    return frozenset(
        name for framework in frameworks for name in framework.profile.plugins
    )
