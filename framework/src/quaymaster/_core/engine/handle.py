"""The handle for the plugins of one profile."""

import copy
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from random import Random
from typing import Final, TypeVar, cast, overload

import attrs

from quaymaster._api.objects import Pod
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._core.binding.executor import Executor, InlineExecutor, Post
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import Cluster, EventNote
from quaymaster._core.contract.declarations import may_block
from quaymaster._core.contract.handle import WaitingPod
from quaymaster._core.contract.informers import Informers
from quaymaster._core.contract.plugin_metrics import (
    CounterMetric,
    GaugeMetric,
    HistogramMetric,
    MetricKind,
)
from quaymaster._core.contract.results import Candidate
from quaymaster._core.contract.status import Status
from quaymaster._core.cycle.algorithm import Algorithm
from quaymaster._core.cycle.nominated import Nominator
from quaymaster._core.engine.guarded import PluginClock, run_guarded
from quaymaster._core.engine.object_callbacks import ObjectCallbacks, PluginInformers
from quaymaster._core.engine.profile_filters import ProfileFilters
from quaymaster._core.engine.snapshot_trial import EngineTrial
from quaymaster._core.extenders.chain import NO_EXTENDERS, Extenders
from quaymaster._core.runtime.guards import HookGuards
from quaymaster._core.runtime.metrics import SchedulerMetrics
from quaymaster._core.runtime.plugin_metrics import (
    DEFAULT_BUCKETS,
    MetricOwner,
    PluginMetrics,
)
from quaymaster._core.state.group_states import GroupStates
from quaymaster._core.state.snapshot import Snapshot

__all__ = ["EngineHandle", "Services"]


T = TypeVar("T")

_NO_GUARDS: Final = HookGuards()


def _no_pod(_uid: str) -> WaitingPod | None:
    return None


def _no_queue(_pods: Sequence[Pod]) -> None:
    return None


def _is_always_own() -> bool:
    return True


def _no_order(_pods: Sequence[Pod]) -> None:
    return None


def _no_pods_to_wake(_scheduler_name: str, _plugin: str) -> None:
    return None


@attrs.frozen(eq=False, kw_only=True)
class Services:
    """The parts of an engine that plugins may use.

    Attributes:
        nominator: The nominations of all pods.
        waiting_pods: Returns the pods that wait on Permit; by default none.
        waiting_pod: Returns a pod that waits on Permit, by its uid.
        activate: Moves pods to the active queue; by default there is no queue.
        wake: Wakes the pods of a profile that one of its plugins has rejected, by the
            names of both; called on the engine's thread.
        reorder: Computes the sort keys of queued pods again; called on the engine's
            thread.
        post: Runs a call on the engine's thread; may be called from any thread. By
            default the call is made at once.
        is_own_thread: Whether the calling thread is the engine's; by default it is.
        record: Writes an Event; by default to the cluster.
        random: The engine's seeded generator.
        executor: Runs tasks that may wait for the cluster; inline by default.
        metrics: Records metrics; may be None.
        plugin_metrics: The metrics of plugins.
        shared: The objects that plugins of all profiles share, by class.
        pod_groups: The pods of each PodGroup; None without GenericWorkload.
    """

    clock: Clock
    cluster: Cluster
    informers: Informers
    snapshot: Snapshot
    nominator: Nominator
    waiting_pods: Callable[[], Iterable[WaitingPod]] = tuple
    waiting_pod: Callable[[str], WaitingPod | None] = _no_pod
    activate: Callable[[Sequence[Pod]], None] = _no_queue
    wake: Callable[[str, str], None] = _no_pods_to_wake
    reorder: Callable[[Sequence[Pod]], None] = _no_order
    post: Post = operator.call
    is_own_thread: Callable[[], bool] = _is_always_own
    record: Callable[[EventNote], None] = attrs.Factory(
        lambda self: self.cluster.record, takes_self=True
    )
    random: Random = attrs.field(factory=lambda: Random(0))
    executor: Executor = attrs.field(factory=InlineExecutor)
    metrics: SchedulerMetrics | None = None
    plugin_metrics: PluginMetrics = attrs.Factory(
        lambda self: PluginMetrics(self.post, self.is_own_thread), takes_self=True
    )
    shared: dict[type, object] = attrs.field(factory=dict)
    pod_groups: GroupStates | None = None


class EngineHandle:
    """Implements `quaymaster.Handle` for one profile; each plugin has its own.

    Args:
        profile_name: The profile's scheduler name.
        services: The engine's parts.
        extenders: The engine's extenders.
        kubernetes: The version of Kubernetes whose decisions are made.
        guards: Compile the callbacks of plugins, and report those that fail.

    Attributes:
        extenders: The engine's extenders.
        filters: The profile's own filters.
        callbacks: The callbacks of the profile's plugins for changes of objects.
        reported_changes: The changes of their data that plugins have reported since the
            memo looked last: the plugin's name, and a node's name, or empty for all.
    """

    def __init__(
        self,
        profile_name: str,
        services: Services,
        extenders: Extenders = NO_EXTENDERS,
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
        guards: HookGuards = _NO_GUARDS,
    ) -> None:
        self._clock = PluginClock(services.clock)
        self.extenders = extenders
        self._kubernetes = kubernetes
        self._profile_name = profile_name
        self._plugin_name = ""
        self._may_block = True
        self._services = services
        self._is_waking = False
        self.reported_changes: set[tuple[str, str]] = set()
        self.filters = ProfileFilters(services.nominator)
        self.callbacks = ObjectCallbacks(
            services.informers, guards, services.is_own_thread
        )
        self._informers: Informers = services.informers

    def for_plugin(self, name: str, plugin: object = None) -> "EngineHandle":
        """Return the handle of one plugin; it is retired together with this one.

        Args:
            name: The plugin's name.
            plugin: The plugin's class, which may declare that its tasks do not block.
        """
        other = copy.copy(self)
        other._plugin_name = name
        other._may_block = may_block(plugin)
        other._informers = PluginInformers(
            name, self._services.informers, self.callbacks
        )
        return other

    def retire(self) -> None:
        """Cancel timers, tasks and callbacks of the plugins, and accept no new ones.

        This is for plugins that have been replaced, or were never started.
        """
        self._clock.retire()
        self.callbacks.retire()
        self._services.plugin_metrics.retire(self._clock)

    def seal(self) -> None:
        """Accept no new metrics, now that the plugins have started."""
        self._services.plugin_metrics.seal(self._clock)

    def attach(self, algorithm: Algorithm) -> None:
        """Let plugins run the profile's own filters, now that all have been built."""
        self.filters.attach(algorithm)

    @property
    def plugin_name(self) -> str:
        return self._plugin_name

    @property
    def profile_name(self) -> str:
        return self._profile_name

    @property
    def kubernetes(self) -> Kubernetes:
        return self._kubernetes

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def random(self) -> Random:
        return self._services.random

    @property
    def cluster(self) -> Cluster:
        return self._services.cluster

    @property
    def informers(self) -> Informers:
        return self._informers

    @property
    def snapshot(self) -> Snapshot:
        return self._services.snapshot

    @property
    def pod_groups(self) -> GroupStates | None:
        return self._services.pod_groups

    def shared(self, kind: type[T], make: Callable[[], T]) -> T:
        shared = self._services.shared
        if kind not in shared:
            shared[kind] = make()
        return cast("T", shared[kind])

    def waiting_pods(self) -> Iterable[WaitingPod]:
        return self._services.waiting_pods()

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        return self._services.waiting_pod(uid)

    def activate(self, pods: Iterable[Pod]) -> None:
        self._services.activate(_checked_pods("activate", pods))

    def changed(
        self,
        *,
        nodes: Iterable[str] | None = None,
        pods: Iterable[Pod] | None = None,
        requeue: bool = True,
    ) -> None:
        if pods is not None:
            listed = _checked_pods("changed", pods)
            self._services.post(lambda: self._reorder(listed))
            if nodes is None:
                return
        names = ("",) if nodes is None else _checked_names(nodes)
        if self._clock.is_retired or not names:
            return
        # The memo looks at this set before each attempt, so that no attempt uses stale
        # answers. Posting a call would be too late for an attempt in the same turn.
        plugin = self._plugin_name
        self.reported_changes.update([(plugin, name) for name in names])
        if requeue and not self._is_waking:
            self._is_waking = True
            self._services.post(self._wake)

    def _reorder(self, pods: Sequence[Pod]) -> None:
        if not self._clock.is_retired:
            self._services.reorder(pods)

    def _wake(self) -> None:
        self._is_waking = False
        if not self._clock.is_retired:
            self._services.wake(self._profile_name, self._plugin_name)

    @overload
    def nominated_pods(self) -> Mapping[str, Sequence[Pod]]: ...
    @overload
    def nominated_pods(self, node_name: str) -> Sequence[Pod]: ...
    def nominated_pods(
        self, node_name: str | None = None
    ) -> Sequence[Pod] | Mapping[str, Sequence[Pod]]:
        nominator = self._services.nominator
        if node_name is not None:
            return nominator.pods_on(node_name)
        return {name: nominator.pods_on(name) for name in nominator.nodes()}

    def trial(self) -> EngineTrial:
        return EngineTrial(self._services.snapshot, self.filters.stations)

    def run_preemption_extenders(
        self, pod: Pod, candidates: Sequence[Candidate]
    ) -> Sequence[Candidate] | Status:
        return self.extenders.preempt(pod, candidates, self.snapshot.nodes)

    def record(self, note: EventNote) -> None:
        self._services.record(note)

    def counter(
        self, name: str, description: str, labels: Collection[str] = ()
    ) -> CounterMetric:
        metrics = self._services.plugin_metrics
        return metrics.add(self._owner, MetricKind.COUNTER, name, description, labels)

    def gauge(
        self, name: str, description: str, labels: Collection[str] = ()
    ) -> GaugeMetric:
        metrics = self._services.plugin_metrics
        return metrics.add(self._owner, MetricKind.GAUGE, name, description, labels)

    def histogram(
        self,
        name: str,
        description: str,
        labels: Collection[str] = (),
        buckets: Collection[float] | None = None,
    ) -> HistogramMetric:
        metrics = self._services.plugin_metrics
        bounds = DEFAULT_BUCKETS if buckets is None else buckets
        kind = MetricKind.HISTOGRAM
        return metrics.add(self._owner, kind, name, description, labels, bounds)

    @property
    def _owner(self) -> MetricOwner:
        # All plugins of a profile that were built together share the clock.
        return MetricOwner(self._profile_name, self._plugin_name, self._clock)

    def report_preemption(
        self,
        victims: int,
        seconds: float,
        *,
        has_failed: bool = False,
        for_group: bool = False,
    ) -> None:
        metrics = self._services.metrics
        if metrics is not None:
            sizes = metrics.group_victims if for_group else metrics.victims
            sizes.observe(victims)
            result = "error" if has_failed else "success"
            metrics.preemptions[(result,)].observe(seconds)

    def run_in_background(
        self, task: Callable[[], T], done: Callable[[T], None]
    ) -> None:
        run_guarded(
            self._services.executor,
            task,
            done,
            lambda: self._clock.is_retired,
            blocks=self._may_block,
        )


def _checked_pods(method: str, pods: Iterable[Pod]) -> Sequence[Pod]:
    """Return pods as a list.

    Raises:
        TypeError: A value among them is not a pod.
    """
    listed = list(pods)
    for pod in listed:
        value: object = pod
        if not isinstance(value, Pod):
            raise TypeError(f"{method}: expected pods, got {type(pod).__name__}")
    return listed


def _checked_names(nodes: Iterable[str]) -> Sequence[str]:
    """Return the names of nodes.

    Raises:
        TypeError: It is a string, or has a value that is not a string.
    """
    expected = "changed: expected the names of nodes"
    if isinstance(nodes, str):
        remedy = f"write nodes=[{nodes!r}]"
        raise TypeError(f"{expected}, got the string {nodes!r}: {remedy}")
    names = list(nodes)
    for name in names:
        value: object = name
        if not isinstance(value, str) or not value:
            raise TypeError(f"{expected}, got {value!r} among them")
    return names
