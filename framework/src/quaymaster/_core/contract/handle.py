"""The handle: what a plugin gets from the framework besides its arguments.

Mirrors ``Handle`` (k8s.io/kube-scheduler v0.36, ``framework/interface.go``).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from random import Random
from typing import Protocol, TypeAlias, TypeVar, overload

import msgspec

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.kinds import KINDS
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import Cluster, EventNote
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.object_index import ObjectIndex
from quaymaster._core.contract.plugin_metrics import (
    CounterMetric,
    GaugeMetric,
    HistogramMetric,
)
from quaymaster._core.contract.results import Candidate, FilteredRows
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import BoolArray, Rows
from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.group_states import GroupStates
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.snapshot import Snapshot

__all__ = [
    "FilterRunner",
    "Handle",
    "Informers",
    "LastingFilters",
    "ObjectCallback",
    "SnapshotTrial",
    "UnfollowedKindError",
    "WaitingPod",
]

ObjT = TypeVar("ObjT", bound=ApiObject)
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

ObjectCallback: TypeAlias = Callable[[ObjT | None, ObjT | None], None]
"""Gets an object before and after a change. The first is None if the object was added,
the second if it was deleted."""


class UnfollowedKindError(QuaymasterError, KeyError):
    """A kind of objects that the scheduler does not follow.

    Attributes:
        kind: The kind's name.
        followed: The names of the kinds that it follows.
    """

    def __init__(
        self, kind: type[ApiObject], followed: Iterable[type[ApiObject]]
    ) -> None:
        self.kind = kind.kind or kind.__name__
        self.followed = tuple(other.kind for other in followed)
        self._attribute = "reads" if kind in KINDS.values() else "kinds"
        super().__init__(self.kind)

    def __str__(self) -> str:
        return (
            f"{self.kind} is not followed (followed: {', '.join(self.followed)}); a "
            "plugin that needs it declares it in its class: "
            f"{self._attribute} = ({self.kind},)"
        )


class Informers(Protocol):
    """The engine's own copy of the cluster's objects, kept up to date by watches.

    It has nodes, pods, and the kinds that the active plugins declare as ``reads`` and
    ``kinds``. If a plugin declares neither its reads nor its writes, it also has
    namespaces, services, owners of pods, volumes, disruption budgets and so on.
    """

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """Return one object by its key, or None.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
        """

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        """Return the objects of a kind, of one namespace if given, as they arrived.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
        """

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """Return the log of added, changed and deleted objects of a kind.

        Indexes over these objects follow it. The log is kept from the first call on.
        Read it within hooks.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
        """

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """Return an index of the objects of a kind: ``index(Pod, by=lambda p: ...)``.

        Create it once, in the constructor or in ``start``, and use it within hooks.

        Args:
            kind: The class of the objects.
            by: Returns the key of an object, such as a label, a namespace, or a tuple;
                None leaves the object out of the index. It must depend on the object
                alone.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
        """

    def on_change(
        self, kind: type[ObjT], callback: ObjectCallback[ObjT]
    ) -> Callable[[], None]:
        """Call a function whenever an object of a kind is added, changed or deleted.

        Mirrors ``AddEventHandler`` of client-go's shared informers. Call it in the
        constructor or in ``start``. Existing objects are delivered as added: before
        ``start`` for a callback of the constructor, else within this call.

        The callback runs on the scheduling thread, between two attempts, in the order
        of the changes. It runs before the hints of `EventsOf` and ``pre_enqueue`` get
        the same change. The snapshot does not have a change of a node or pod yet. A
        deletion and a new object of the same key may arrive as two calls, or as one
        change with another uid.

        The callback may use the whole handle: `WaitingPod.allow`, `Handle.activate`,
        `Handle.changed`. It must be quick, must not change the objects, and must return
        None. If it raises an exception, this is reported like that of a hook, and has
        no other effect. No more calls are made once the plugin has been replaced.

        Args:
            kind: The class of the objects.
            callback: Called with the object before and after the change: (None, new),
                (old, new) or (old, None).

        Returns:
            A function that ends the calls, for a plugin that needs them only for some
            time.

        Raises:
            UnfollowedKindError: No plugin declared this kind.
            TypeError: The first argument is not a class of objects, or the callback
                cannot be called with two arguments.
            RuntimeError: The calling thread is not the scheduling thread, or the
                plugin has registered this callback already.
        """


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


class LastingFilters(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The filters of an attempt whose verdicts are the same for each pod of a kind.

    Their verdict on a node depends on the node, the pods on it and the pods nominated
    to it. It stays valid until one of these changes.

    Attributes:
        kind: The same object for pods of the same kind, while the verdicts are valid.
        plugins: The plugins of these filters.
        others: The plugins of the other filters of the attempt, which have to run for
            each pod. None of them reads the pods on a node.
        nominated: The log of rows whose nominated pods have changed, of those that the
            pod must leave room for. None if there have been none yet.
    """

    kind: object
    plugins: frozenset[str]
    others: frozenset[str]
    nominated: ChangeLog[int] | None


class FilterRunner(Protocol):
    """Runs the filters of one profile on trial states of the cluster.

    With it, preemption finds the nodes where a pod would fit without some other pods.
    It works once all plugins of the profile have been built, so only within hooks.
    """

    def run(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Run the Filter plugins on one node; return the first rejection."""

    def run_with_nominated_pods(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Status | None:
        """Run them with the nominated pods of equal or higher priority in place."""

    def run_on_rows(
        self,
        state: CycleState,
        pod: Pod,
        nodes: NodeTable,
        rows: Rows,
        pod_use: PodUse | None = None,
        among: Collection[str] | None = None,
    ) -> FilteredRows | Status:
        """Run the Filter plugins on many nodes, without nominated pods.

        Args:
            state: The pod's scratch space.
            pod: The pod being scheduled.
            nodes: The snapshot's table, or a trial table (`NodeTable.imagined`). The
                latter needs `pod_use` below PODS.
            rows: The rows to filter.
            pod_use: If set, only plugins with this use of pods run.
            among: If set, only plugins with these names run.

        Returns:
            The rows that passed with the statuses of the others, or the Error of a
            plugin.
        """

    def imagine_nominated_pods(self, pod: Pod) -> tuple[NodeTable, BoolArray] | None:
        """Add the pods that a pod must leave room for to a copy of the table.

        They are the other nominated pods of equal or higher priority.

        Args:
            pod: The pod that needs room.

        Returns:
            The trial table, and which rows have such pods, shape ``(C,)`` like its
            columns. None if one of them requests a resource that has no column in the
            table: then only `run_with_nominated_pods` gives the right result.
        """

    def pod_use(self, state: CycleState) -> PodUse:
        """Return how much the Filter plugins of an attempt read of pods."""

    def is_local(self, state: CycleState) -> bool:
        """Whether verdicts on a node depend on that node and the pods on it alone.

        Then no ``add_pod``, ``remove_pod`` or Reserve plugin has anything to do.

        Args:
            state: The pod's scratch space after filtering.
        """

    def lasting(self, state: CycleState, pod: Pod) -> LastingFilters | None:
        """Return the filters whose verdicts may be cached, for repeated trials.

        Args:
            state: The pod's scratch space after filtering.
            pod: The pod being scheduled.

        Returns:
            The filters. None if no results of the attempt are cached, if a filter reads
            pods and its verdicts may not be cached, or if the pod itself is nominated
            to a node.
        """

    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> Status | None:
        """Run ``add_pod`` of the PreFilter plugins: one more pod is on the node."""

    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> Status | None:
        """Run ``remove_pod`` of the PreFilter plugins: a pod has left the node."""


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
        """The cluster itself, for PreBind, Bind and PostFilter."""

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
                costs no more than a changed label. By default, all results do.
            pods: The pods whose sort keys have changed. ``queue_sort`` is called again
                for those in the active and the backoff queue, which get their new
                places before the next attempt. With pods alone, no cached result
                becomes stale, and no pod is requeued.
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
            MetricError: The definition is wrong, or the plugin has this metric already.
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
            MetricError: The definition is wrong, or the plugin has this metric already.
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
            MetricError: The definition is wrong, or the plugin has this metric already.
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
