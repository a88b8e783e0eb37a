"""The handle: what a plugin gets from the framework besides its arguments.

Mirrors ``Handle`` (k8s.io/kube-scheduler v0.36, ``framework/interface.go``).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from random import Random
from typing import Protocol, TypeVar, overload

import attrs

from quaymaster._api.objects import ApiObject, Pod
from quaymaster._api.objects.kinds import KINDS
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import Cluster, EventNote
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse
from quaymaster._core.contract.object_index import ObjectIndex
from quaymaster._core.contract.results import Candidate, FilteredRows
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import BoolArray, Rows
from quaymaster._core.state.change_log import ChangeLog
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable
from quaymaster._core.state.snapshot import Snapshot

__all__ = [
    "FilterRunner",
    "Handle",
    "Informers",
    "LastingFilters",
    "UnfollowedKindError",
    "WaitingPod",
]

ObjT = TypeVar("ObjT", bound=ApiObject)
T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class UnfollowedKindError(QuaymasterError, KeyError):
    """A kind of objects that the scheduler does not follow.

    Attributes:
        kind: The kind's name.
        followed: The names of those that it does.
    """

    def __init__(
        self, kind: type[ApiObject], followed: Iterable[type[ApiObject]]
    ) -> None:
        self.kind = kind.kind or kind.__name__
        self.followed = tuple(one.kind for one in followed)
        self._attribute = "reads" if kind in KINDS.values() else "kinds"
        super().__init__(self.kind)

    def __str__(self) -> str:
        return (
            f"{self.kind} is not followed (followed: {', '.join(self.followed)}); a "
            "plugin that needs it says so in its class: "
            f"{self._attribute} = ({self.kind},)"
        )


class Informers(Protocol):
    """The engine's own copy of the cluster's objects, kept up to date by watches.

    It has nodes, pods, and the kinds that the plugins at work declare as ``reads`` and
    ``kinds``. For a plugin that says nothing of what it reads or writes there are also
    namespaces, services, what owns pods, volumes, disruption budgets and so on.
    """

    def get(self, kind: type[ObjT], key: str) -> ObjT | None:
        """Return one object by its key, or None.

        Raises:
            UnfollowedKindError: Nobody declared this kind.
        """

    def list(self, kind: type[ObjT], namespace: str | None = None) -> Sequence[ObjT]:
        """Return the objects of a kind, of one namespace if given, as they arrived.

        Raises:
            UnfollowedKindError: Nobody declared this kind.
        """

    def changes(self, kind: type[ApiObject]) -> ChangeLog[str]:
        """Return the log of which objects of a kind came, changed and went.

        Indexes over these objects follow it. It is kept from the first call on; read
        it within hooks.

        Raises:
            UnfollowedKindError: Nobody declared this kind.
        """

    def index(
        self, kind: type[ObjT], by: Callable[[ObjT], K | None]
    ) -> ObjectIndex[K, ObjT]:
        """Return an index of the objects of a kind: ``index(Pod, by=lambda p: ...)``.

        Make it once, in the constructor or in ``start``, and ask it within hooks.

        Args:
            kind: The class of the objects.
            by: Gives the key of an object, such as a label, a namespace, or a tuple of
                several things; None for an object that is not to be found. It must
                depend on nothing but the object.

        Raises:
            UnfollowedKindError: Nobody declared this kind.
        """


class WaitingPod(Protocol):
    """An assumed pod that Permit plugins keep waiting."""

    @property
    def pod(self) -> Pod:
        """The pod."""

    @property
    def pending_plugins(self) -> frozenset[str]:
        """The plugins that have not allowed it yet."""

    def allow(self, plugin: str) -> None:
        """Withdraw the objection of one plugin; the last one lets the pod go on.

        A second call does nothing, nor does one that comes too late.

        Args:
            plugin: The plugin's name in the profile.

        Raises:
            UnknownObjectionError: The pod has never waited for this plugin.
        """

    def reject(self, plugin: str, message: str) -> None:
        """Refuse the pod in the name of a plugin; it goes back to the queue.

        Only events that this plugin registered wake it there, so the name must be one
        that a profile has; it need not be one that the pod waits for.

        Args:
            plugin: The plugin's name in the profile.
            message: Why.

        Raises:
            UnknownObjectionError: No profile has this plugin, nor did the pod wait for
                it.
        """


@attrs.frozen(eq=False, kw_only=True)
class LastingFilters:
    """The filters of an attempt whose answers are the same for each pod of a kind.

    What they say of a node depends on that node, the pods on it and those that are
    nominated to it; so it lasts until one of these changes.

    Attributes:
        kind: The same object for pods of the same kind, as long as the answers last.
        plugins: The plugins of these filters.
        others: The plugins of the other filters that take part, which have to be asked
            for each pod. None of them looks at the pods on a node.
        nominated: The log of rows where the pod has to leave room for other nominated
            pods than before; None if there have been none yet.
    """

    kind: object
    plugins: frozenset[str]
    others: frozenset[str]
    nominated: ChangeLog[int] | None


class FilterRunner(Protocol):
    """Runs the filters of one profile, for a plugin that imagines other clusters.

    Preemption asks it on which node a pod would fit if some pods were gone. It works
    once all plugins of the profile have been built, so within hooks.
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
            nodes: The snapshot's table, or an imagined one (`NodeTable.imagined`). The
                latter needs `pod_use` below PODS.
            rows: The rows to judge.
            pod_use: If given, only the plugins that look so much at pods are run.
            among: If given, only plugins of these names are run.

        Returns:
            The rows that passed and why others did not, or the Error of a plugin.
        """

    def imagine_nominated_pods(self, pod: Pod) -> tuple[NodeTable, BoolArray] | None:
        """Count the pods that a pod must leave room for in on a copy of the table.

        They are the nominated pods of equal or higher priority, but for itself.

        Args:
            pod: The pod that needs room.

        Returns:
            The table, which is imagined, and which rows have such pods, shape ``(C,)``
            like its columns. None if one of them requests what the table has no column
            for: then only `run_with_nominated_pods` can tell.
        """

    def pod_use(self, state: CycleState) -> PodUse:
        """Return how much the Filter plugins of an attempt look at pods."""

    def lasting(self, state: CycleState, pod: Pod) -> LastingFilters | None:
        """Tell whose answers last, for a plugin that imagines the same again and again.

        Args:
            state: The pod's scratch space after filtering.
            pod: The pod being scheduled.

        Returns:
            None if nothing is remembered of the attempt, a filter looks at pods whose
            answers do not last, or the pod itself is nominated to a node.
        """

    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> Status | None:
        """Run ``add_pod`` of the PreFilter plugins: one more pod is on the node."""

    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> Status | None:
        """Run ``remove_pod`` of the PreFilter plugins: a pod has left the node."""


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
        """The Kubernetes whose decisions are made; ask it once, in the constructor."""

    @property
    def clock(self) -> Clock:
        """The engine's clock; read no other one.

        Timers are cancelled when a reload replaces the plugins of this handle, when
        their profile cannot be built, and when the scheduler stops; one that is set
        after that never rings.
        """

    @property
    def random(self) -> Random:
        """The engine's seeded random generator; use no other one."""

    @property
    def cluster(self) -> Cluster:
        """The cluster itself, for PreBind, Bind and PostFilter."""

    @property
    def informers(self) -> Informers:
        """The engine's copy of the cluster's objects."""

    @property
    def snapshot(self) -> Snapshot:
        """All nodes with their pods, assumed ones included."""

    def shared(self, kind: type[T], make: Callable[[], T]) -> T:
        """Return the one object of a class that all profiles of the engine have.

        For what all of them must know, such as what is promised to pods that are being
        bound: a profile has plugins of its own, and new ones after a reload, while this
        lives as long as the engine.

        Args:
            kind: The class of the object, which is the plugin's own.
            make: Makes it, for the first who asks.
        """

    def waiting_pods(self) -> Iterable[WaitingPod]:
        """Return the pods that wait on Permit, the one that waits longest first.

        All of them: those that wait for other plugins alone do not have this one among
        their ``pending_plugins``, and cannot be allowed by it.
        """

    def waiting_pod(self, uid: str) -> WaitingPod | None:
        """Return one waiting pod by its uid, or None."""

    def activate(self, pods: Iterable[Pod]) -> None:
        """Move pods to the active queue at once, whatever their backoff."""

    def changed(self) -> None:
        """Say that this plugin would answer otherwise now, for a reason from outside.

        From the next attempt on it is asked again, ``sign_pod`` included, where an
        answer was remembered for this profile. Then the pods of this profile that it
        has rejected or gated are woken, as by an event that it registered: a pod that
        it keeps waiting (``PENDING``) at once, the others after their backoff. An
        attempt that is under way hears of it in the end. Other pods sleep on.

        Call it after the data have changed, which is to happen on the scheduling thread
        (in ``done`` of `run_in_background`, or in a timer), and only if they have. It
        may be called from any thread, and often: calls before the engine has looked
        count as one. It does nothing once the plugin has been replaced.
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
            node_name: The node; without it, all nominated pods are told.

        Returns:
            The pods in the order of nomination, the same object as before if nothing
            has changed; of all nodes, node name -> its pods, of which there are some.
        """

    @property
    def filters(self) -> FilterRunner:
        """This profile's own filters, to be run on what a plugin imagines."""

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

    def report_preemption(
        self, victims: int, seconds: float, *, has_failed: bool = False
    ) -> None:
        """Count an eviction in the scheduler's metrics, if it has any.

        `quaymaster.preemption.Evictions` does it by itself.

        Args:
            victims: How many pods were to go.
            seconds: How long it took to evict them.
            has_failed: Whether a call to the cluster has failed.
        """

    def run_in_background(
        self, task: Callable[[], T], done: Callable[[T], None]
    ) -> None:
        """Make calls that may have to wait for the cluster, off this thread.

        In a simulation both run at once, before this returns. Once the plugins of this
        handle have been replaced by a reload, or the scheduler has stopped, a task that
        has not begun never does, and neither does a new one.

        Args:
            task: Makes the calls, on a thread of its own unless the plugin's class says
                ``blocks = False``: it must touch nothing else of the handle than
                `cluster`, and must not raise.
            done: Takes the result, on the scheduling thread.
        """
