"""The handle: what a plugin gets from the framework besides its arguments.

Mirrors ``Handle`` (k8s.io/kube-scheduler v0.36, ``framework/interface.go``).
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from random import Random
from typing import Protocol, TypeVar, overload

from quaymaster._api.objects import Pod
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import Cluster, EventNote
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.filter_runner import FilterRunner
from quaymaster._core.contract.informers import Informers
from quaymaster._core.contract.plugin_metrics import (
    CounterMetric,
    GaugeMetric,
    HistogramMetric,
)
from quaymaster._core.contract.results import Candidate
from quaymaster._core.contract.status import Status
from quaymaster._core.state.group_states import GroupStates
from quaymaster._core.state.snapshot import Snapshot

__all__ = [
    "Handle",
    "SnapshotTrial",
    "WaitingPod",
]

T = TypeVar("T")


class WaitingPod(Protocol):
    """An assumed pod that Permit plugins keep waiting."""

    @property
    def pod(self) -> Pod:
        """The pod."""

    @property
    def pending_plugins(self) -> frozenset[str]:
        """The plugins that have not allowed the pod yet."""

    def allow(self, plugin: str) -> None:
        """Allow the pod for one plugin; it continues once no plugin is pending.

        A second call, or a call after the wait has ended, does nothing.

        Args:
            plugin: The plugin's name in the profile.

        Raises:
            UnknownObjectionError: The pod has never waited for this plugin.
        """

    def reject(self, plugin: str, message: str) -> None:
        """Reject the pod for a plugin; it goes back to the queue.

        Only events that this plugin registered requeue the pod, so a profile must have
        a plugin of this name. The pod need not be waiting for it.

        Args:
            plugin: The plugin's name in the profile.
            message: The reason.

        Raises:
            UnknownObjectionError: No profile has this plugin, and the pod did not wait
                for it.
        """


class SnapshotTrial(Protocol):
    """Changes of the snapshot that end with a ``with`` block.

    Meanwhile every reader of the snapshot sees them: call only hooks and filters.
    """

    def remove_pod(self, pod: Pod) -> None:
        """Remove a pod from ``pod.node_name``, if it is there."""

    def add_pod(self, pod: Pod) -> None:
        """Add a pod to ``pod.node_name``."""

    def assume_pod(self, pod: Pod, node_name: str) -> Pod:
        """Add a pod without a node to a node; return it with the node."""

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Run the profile's Reserve plugins for an assumed pod; failures are ignored.

        Args:
            state: The pod's scratch space after filtering.
            pod: The pod with its node.
            node_name: The node.
        """

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Release what `reserve` reserved."""


class Handle(Protocol):
    """The framework, seen from one plugin of a profile.

    A plugin stores it when it is built, and uses it from within its hooks. `activate`,
    `changed`, `WaitingPod.allow` and `WaitingPod.reject` may be called from any thread;
    everything else belongs to the scheduling thread.
    """

    @property
    def plugin_name(self) -> str:
        """The name of this plugin in the profile, for messages and `WaitingPod`."""

    @property
    def profile_name(self) -> str:
        """The scheduler name of this profile."""

    @property
    def kubernetes(self) -> Kubernetes:
        """The version of Kubernetes to follow; read it once, in the constructor."""

    @property
    def clock(self) -> Clock:
        """The engine's clock; read no other clock.

        Timers are cancelled when a reload replaces the plugins of this handle, when
        their profile cannot be built, and when the scheduler stops. A timer that is
        set after that never runs.
        """

    @property
    def random(self) -> Random:
        """The engine's seeded random generator; use no other generator."""

    @property
    def cluster(self) -> Cluster:
        """The cluster itself, for PreBind and Bind, and for background tasks.

        Other hooks run on the scheduling thread, and all pods wait for their calls. Use
        `run_in_background` there, or `quaymaster.preemption.Evictions` for evictions.
        """

    @property
    def informers(self) -> Informers:
        """The engine's copy of the cluster's objects."""

    @property
    def snapshot(self) -> Snapshot:
        """All nodes with their pods, assumed ones included."""

    @property
    def pod_groups(self) -> GroupStates | None:
        """The pods of each PodGroup; None without the feature gate GenericWorkload.

        Like the snapshot, it follows the cluster, and counts assumed pods as scheduled.
        """

    def shared(self, kind: type[T], make: Callable[[], T]) -> T:
        """Return the only object of a class, shared by all profiles of the engine.

        Use it for data that all profiles need, such as reservations for pods that are
        being bound. Each profile has its own plugins, and new ones after a reload. The
        shared object lives as long as the engine.

        Args:
            kind: The class of the object, which is the plugin's own.
            make: Creates the object at the first call.
        """

    def waiting_pods(self) -> Iterable[WaitingPod]:
        """Return all pods that wait on Permit, the longest wait first.

        A pod may wait for other plugins only: then its ``pending_plugins`` do not
        include this plugin, which can reject the pod, but not allow it.
        """

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """Return one waiting pod by its uid, or None."""

    def activate(self, pods: Iterable[Pod]) -> None:
        """Move pods to the active queue at once, whatever their backoff."""

    def changed(
        self,
        *,
        nodes: Iterable[str] | None = None,
        pods: Iterable[Pod] | None = None,
        requeue: bool = True,
    ) -> None:
        """Report that other data than nodes and pods have changed its results.

        These are data from outside the cluster, and objects that the plugin reads
        although its scope is ``Scope.NODE``. The profile's cached results of this
        plugin, also of ``sign_pod``, become stale from the next attempt on. The pods of
        this profile that it has rejected or gated are requeued, as by an event that it
        registered: pods that it keeps ``PENDING`` at once, the others after their
        backoff. An attempt in progress gets the event when it ends. Other pods are not
        requeued. So only a plugin with ``pre_enqueue``, ``pre_filter``, ``filter``,
        ``reserve`` or ``permit`` has pods to requeue.

        Call it after the data have changed, and only if they have. Change the data on
        the scheduling thread, in ``done`` of `run_in_background` or in a timer. Any
        thread may call this method, as often as needed: calls before the engine handles
        the report count as one. It does nothing once the plugin has been replaced.

        Args:
            nodes: The names of the nodes whose results have changed. Then only cached
                results of ``filter`` and ``score`` for these nodes become stale, which
                costs no more than a changed label. Those of ``sign_pod``,
                ``pre_filter`` and ``pre_score`` stay cached, with what they have
                written to the cycle state. By default, all results become stale.
            pods: The pods whose sort keys have changed. ``queue_sort`` is called again
                for those in the active and the backoff queue, which get their new
                places before the next attempt; a call from a callback of ``on_change``
                or from a timer may take effect one attempt later. With pods alone, no
                cached result becomes stale, and no pod is requeued.
            requeue: Whether to requeue pods. False is for changes of objects for which
                the plugin has registered events: these requeue its pods by their hints.

        Raises:
            TypeError: ``nodes`` is a string, or has a value that is not a string;
                or ``pods`` has a value that is not a pod.
        """

    @overload
    def nominated_pods(self) -> Mapping[str, Sequence[Pod]]: ...
    @overload
    def nominated_pods(self, node_name: str) -> Sequence[Pod]: ...
    def nominated_pods(
        self, node_name: str | None = None
    ) -> Sequence[Pod] | Mapping[str, Sequence[Pod]]:
        """Return the pods that are nominated to a node, or to any.

        The pod that is being scheduled may be among them. Its node need not exist.

        Args:
            node_name: The node; without it, the pods of all nodes are returned.

        Returns:
            The pods in the order of nomination; the same object as before if nothing
            has changed. For all nodes: node name -> its pods, without empty entries.
        """

    @property
    def filters(self) -> FilterRunner:
        """This profile's own filters, for trials of a plugin."""

    def trial(self) -> AbstractContextManager[SnapshotTrial]:
        """Return a context in which the snapshot may be changed for a trial.

        It must not be nested. At its end, the snapshot is as it was before.
        """

    def run_preemption_extenders(
        self, pod: Pod, candidates: Sequence[Candidate]
    ) -> Sequence[Candidate] | Status:
        """Let extenders drop candidates for preemption, or change their victims.

        Args:
            pod: The pod that needs room.
            candidates: Where room could be made.

        Returns:
            The candidates that are left, or the Error of an extender.
        """

    def record(self, note: EventNote) -> None:
        """Write an Event about an object."""

    def counter(
        self, name: str, description: str, labels: Collection[str] = ()
    ) -> CounterMetric:
        """Make a metric of this plugin that counts.

        Call it once, in the constructor or in ``start``. The full name begins with
        ``quaymaster_`` and the plugin's name: ``fetches_total`` of ``SpotPrice`` is
        ``quaymaster_spot_price_fetches_total``. Profiles with the same plugin share the
        metric; a label ``profile`` is added. The numbers are on
        ``/metrics``, in ``simulate --timings``, and in `PluginHarness.metric`.

        Args:
            name: The name in snake_case, without the prefix; it ends with ``_total``.
            description: What it counts, for people.
            labels: The names of its labels. Their values must be few: of more than
                1,000 combinations the rest is not counted.

        Raises:
            MetricError: The definition is wrong, the plugin has this metric already, or
                it has started already.
            RuntimeError: The calling thread is not the scheduling thread.
        """

    def gauge(
        self, name: str, description: str, labels: Collection[str] = ()
    ) -> GaugeMetric:
        """Make a metric of this plugin that grows and falls; see `counter`.

        Args:
            name: The name in snake_case; it must not end with ``_total``.
            description: What it measures, with the unit.
            labels: The names of its labels.

        Raises:
            MetricError: The definition is wrong, the plugin has this metric already, or
                it has started already.
            RuntimeError: The calling thread is not the scheduling thread.
        """

    def histogram(
        self,
        name: str,
        description: str,
        labels: Collection[str] = (),
        buckets: Collection[float] | None = None,
    ) -> HistogramMetric:
        """Make a metric of this plugin that counts numbers by size; see `counter`.

        Args:
            name: The name in snake_case; it must not end with ``_total``.
            description: What it measures, with the unit.
            labels: The names of its labels.
            buckets: The upper bounds of the buckets, ascending. By default, they grow
                from 1 ms to 16 s, for seconds.

        Raises:
            MetricError: The definition is wrong, the plugin has this metric already, or
                it has started already.
            RuntimeError: The calling thread is not the scheduling thread.
        """

    def report_preemption(
        self,
        victims: int,
        seconds: float,
        *,
        has_failed: bool = False,
        for_group: bool = False,
    ) -> None:
        """Count an eviction in the scheduler's metrics, if it has any.

        `quaymaster.preemption.Evictions` calls it itself.

        Args:
            victims: How many pods were to be evicted.
            seconds: How long it took to evict them.
            has_failed: Whether a call to the cluster has failed.
            for_group: Whether the room was for a group, and not for a single pod.
        """

    def run_in_background(
        self, task: Callable[[], T], done: Callable[[T], None]
    ) -> None:
        """Run calls that may wait for the cluster outside the scheduling thread.

        In a simulation both functions run at once, before this returns. After a reload
        has replaced the plugins of this handle, or the scheduler has stopped, no
        further task starts.

        Args:
            task: Makes the calls, on its own thread unless the plugin's class declares
                ``blocks = False``. It must use nothing of the handle but `cluster`, and
                must not raise.
            done: Takes the result, on the scheduling thread.
        """
