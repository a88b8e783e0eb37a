"""The hooks of the scheduling framework, in the order of their calls.

Each extension point is a ``Protocol`` whose methods are pluggy hookspecs. A plugin
implements any of them as methods marked with `hookimpl`, under the same names, and may
leave out the arguments that it does not need::

    from quaymaster import NodeInfo, Pod, Status, hookimpl

    class OnlyLinux:
        @hookimpl
        def filter(self, pod: Pod, node: NodeInfo) -> Status | None:
            if node.labels.get("kubernetes.io/os") == "linux":
                return None
            return Status.unresolvable("node(s) do not run Linux")

Letters and units used below: ``N`` is the number of rows asked for, at least one, CPU
is in millicores, memory and storage in bytes, scores are integers from 0 to 100 after
normalisation, times are in seconds.

Every hook may raise: the exception becomes an Error status that names the plugin, the
exception's type and the plugin's line, and fails this attempt only. Success is ``None``
wherever a `Status` may be returned.

A plugin that lives by objects which the scheduler does not follow by itself, of a kind
of its own or one of Kubernetes, names their classes: ``kinds = (PodGroup,)``. That is
an attribute of its class, read before the plugin is built. Then manifests have them,
``handle.informers`` follows them, and ``EventsOf(PodGroup)`` registers for them.

All hooks run on the scheduling thread, but for ``pre_bind`` and ``bind``: these, and
tasks for `Handle.run_in_background`, may wait. A plugin whose waiting is for answers of
`Handle.cluster` alone says so in its class, ``blocks = False``. Then none of them takes
a thread, and a thousand that wait cost memory only. Without it they run on threads, and
may wait for whatever they like. What any other hook, or a timer, asks of the cluster
holds up the scheduler, and is given up after five seconds.

What hooks get and give is shared, not copied. Four rules hold for all of it:

*Values never change.* Pods, nodes and all other API objects, arrays of rows, and what
earlier hooks returned are never written to, neither by the framework nor by a plugin. A
change makes a new object. So all of this may be kept, and the same object means the
same content; equal content may come as another object.

*Views do.* A `NodeInfo`, the columns of a `NodeTable` and the counts of a snapshot
follow the cluster between two hooks. Ask them again, or copy what is to be kept.

*Returned arrays belong to all.* A plugin that keeps an array which it has returned goes
on with a copy when something changes. If it freezes the array before it returns it
(`quaymaster.columns.freeze`), the framework relies on that: the same frozen array for
the same rows is not looked through again, and frozen raw scores come back to
``normalize_score`` as the same object.

*One value for all nodes is a constant.* `quaymaster.columns.constant` takes no memory,
and is neither looked through nor added up element by element. An array that happens to
hold one value is right as well, but is no constant.

Mirrors k8s.io/kube-scheduler v0.36, ``framework/interface.go``.
"""

from collections.abc import Hashable, Sequence
from typing import Protocol

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cluster_events import ClusterEventWithHint
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse, Revised
from quaymaster._core.contract.hook_marks import hookspec
from quaymaster._core.contract.queueing import QueuedPodInfo, SortKey
from quaymaster._core.contract.results import (
    NodeStatuses,
    NodeVerdicts,
    PermitWait,
    PostFilterResult,
    PreBindPreFlightResult,
    PreBindWait,
    PreFilterResult,
)
from quaymaster._core.contract.status import Status
from quaymaster._core.state.arrays import Int64Array, RowArray, Rows
from quaymaster._core.state.node_info import NodeInfo
from quaymaster._core.state.node_table import NodeTable

__all__ = [
    "BindPlugin",
    "EnqueueExtensions",
    "FilterPlugin",
    "LifecyclePlugin",
    "PermitPlugin",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterPlugin",
    "PreScorePlugin",
    "QueueSortPlugin",
    "ReservePlugin",
    "ScorePlugin",
    "SignPlugin",
    "TieBreakPlugin",
]


class LifecyclePlugin(Protocol):
    """Begin and end work beside the hooks, such as reading data from outside.

    A plugin is built, put to work, and replaced by a reload or stopped with its
    scheduler. What can fail belongs in its constructor: that keeps the configuration
    out. What only a plugin at work should do belongs in ``start``.
    """

    @hookspec(since="0.1")
    def start(self) -> None:
        """Begin: the plugin's profile is in force.

        Called once, on the scheduling thread, before the first attempt of a pod with
        this profile, in the order in which the plugins were built: profile by profile,
        plugin by plugin. The copies of the cluster's objects are there, unless the
        cluster could not be listed yet. ``events_to_register`` comes before it, and so
        do ``pre_enqueue`` and ``queue_sort`` for the pods that are pending then. A
        reload calls it once the replaced plugins have been closed.

        Not called for a plugin whose configuration does not come into force, since
        another plugin cannot be built or the configuration is only checked.

        An exception is reported as that of any hook. The profile stays in force, and
        the plugin goes on as it is: the other plugins are started, and ``close`` is
        called in the end.
        """

    @hookspec(since="0.1")
    def close(self) -> None:
        """End: let go of what the plugin holds, such as connections and threads.

        Called once for every plugin that was built, started or not: when a reload has
        put other plugins in its place, when its profile or another of the same
        configuration cannot be built, and when the scheduler stops. It runs on the
        scheduling thread, in the reverse order of ``start``, and should be quick. An
        exception is reported, and the other plugins are closed all the same.

        The plugin's timers have been cancelled by then, its tasks that have not begun
        never will, and `Handle.changed` does nothing any more. What has begun comes to
        its end, after this hook if need be. So do pods that had their node before a
        reload: ``unreserve`` and the hooks from ``permit`` to ``post_bind`` may still
        be called for them.
        """


class PreEnqueuePlugin(Protocol):
    """Keep a pod out of the active queue until it is ready."""

    @hookspec(since="0.1")
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Say whether a pod may enter the active or the backoff queue.

        Called whenever a pod would enter one of them, so it must be quick: no calls to
        anything outside. A rejected pod is *gated*: it waits among the unschedulable
        pods, without an event or a condition, until an event that this plugin
        registered lets it through.

        Args:
            pod: The pod about to be queued.
        """


class QueueSortPlugin(Protocol):
    """Order the pods that wait for a scheduling attempt. One per profile."""

    @hookspec(since="0.1")
    def queue_sort(self, queued: QueuedPodInfo) -> SortKey:
        """Give a sort key: the pod with the smallest key is tried first.

        Called once each time that a pod enters the active queue, so the key must not
        depend on what changes while it waits. To port a ``Less`` of upstream, build a
        tuple of what it compares, negated where more comes first:
        ``(-priority, timestamp)``; as a last resort wrap it with
        ``functools.cmp_to_key``. Ties keep the order of arrival.

        Args:
            queued: The pod with its timestamps and counts.

        Returns:
            Anything that compares with the keys of the other pods of this profile:
            numbers of any class with numbers, texts with texts. Pods whose key fails or
            does not compare come last, by priority and timestamp.
        """


class EnqueueExtensions(Protocol):
    """Tell which changes of the cluster may help a pod that this plugin rejected."""

    @hookspec(since="0.1")
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """List the events, each with an optional queueing hint.

        Called once, when the profile is built. A plugin that rejects pods and does not
        implement this wakes its pods on every event, which is safe and slow. An empty
        list wakes them only by `Handle.changed`, for data that come from outside, and
        by the periodic flush.

        Returns:
            What ``on_node(Change.ADD, hint)``, ``on_pod(Change.DELETE)`` and
            ``EventsOf(StorageClass)(Change.ADD)`` make; a `ClusterEventWithHint` made
            by hand is as good, but its hint takes objects of any type.
            Where thousands of pods wait and each change helps few of them,
            ``.indexed(pod_keys, event_keys)`` spares the hint those that have no key
            of the change.
        """


class SignPlugin(Protocol):
    """Tell which pods this plugin cannot tell apart."""

    @hookspec(since="0.1")
    def sign_pod(self, pod: Pod) -> Hashable | None:
        """Give the part of the pod that this plugin's answers depend on.

        Two pods with equal fragments get equal answers from every hook of this plugin
        on an unchanged cluster. If the class also sets ``scope = Scope.NODE``, its
        answer for a node depends on the fragment and that node alone, and the
        framework remembers it until the node changes.

        Called once for all pods of one spec, as the pods of a Deployment are, whose
        labels, annotations, owners and status are equal; not once per pod. So the
        fragment must be a function of the pod alone. Data from outside of the pod (a
        metric, a quota, the time) would be those of the first pod for ever: a plugin
        that looks at such data calls `Handle.changed` whenever they change, which has
        all of this asked again, or else leaves ``sign_pod`` out, or gives None.
        ``SchedulerOptions(verify=N)`` asks again, and finds what has changed.

        Args:
            pod: The pod to sign. Its name, uid, versions and times must not matter.

        Returns:
            A hashable value, or None when nothing may be remembered for this pod.
        """

    @hookspec(since="0.2")
    def skips_depend_on(self, pod: Pod) -> Sequence[Revised] | None:
        """Say what a Skip of this plugin depends on, beside the pod.

        Optional, for plugins that look at the whole cluster and mostly have nothing to
        do. As long as no revision changes, what ``pre_filter`` or ``pre_score`` says by
        Skip holds for all pods of one spec whose namespace, labels, annotations, owners
        and status are equal, and the hook is not called for them. Other answers are
        never kept.

        Called now and then, not for each pod, and not in the order of attempts: right
        after a change, and for the first pod of a spec.

        Args:
            pod: One of the pods.

        Returns:
            What has a revision that changes before a Skip for such a pod may become
            wrong, such as ``handle.snapshot.counts``, or
            ``handle.informers.changes(kind)``; nothing if it depends on the pod alone.
            None to be asked for each pod.
        """


class PreFilterPlugin(Protocol):
    """Look at the pod and the cluster once, before any node is filtered."""

    @hookspec(since="0.1")
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable
    ) -> PreFilterResult | Status | None:
        """Prepare this plugin's filter, restrict the nodes, or reject the pod.

        Called once per attempt, in profile order. A status of
        UnschedulableAndUnresolvable or an empty common set of nodes ends the attempt
        at once; Unschedulable lets the remaining plugins run first.

        Args:
            state: This pod's scratch space; write here what ``filter`` will read.
            pod: The pod being scheduled.
            nodes: All nodes, before filtering.

        Returns:
            A `PreFilterResult` to restrict the nodes. ``Status.skip()`` leaves this
            plugin's ``filter``, ``add_pod`` and ``remove_pod`` out of the attempt; and
            ``reserve``, ``unreserve``, ``permit`` and ``pre_bind``, too, if the class
            sets ``skips_binding = True``.
        """

    @hookspec(since="0.1")
    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> Status | None:
        """Update what ``pre_filter`` wrote as if one more pod ran on a node.

        Called for nominated pods and in preemption, usually on a cloned state.

        Args:
            state: The state to update, in place.
            pod: The pod being scheduled.
            pod_to_add: The pod to imagine on the node.
            node: The node, with ``pod_to_add`` already on it.
        """

    @hookspec(since="0.1")
    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> Status | None:
        """Update what ``pre_filter`` wrote as if a pod had left a node.

        Args:
            state: The state to update, in place.
            pod: The pod being scheduled.
            pod_to_remove: The pod to imagine away.
            node: The node, with ``pod_to_remove`` already gone.
        """


class FilterPlugin(Protocol):
    """Reject the nodes that cannot run a pod."""

    @hookspec(since="0.1")
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Say whether one node can run the pod.

        Called for every node in profile order until a plugin rejects it; not called
        when ``pre_filter`` returned Skip. Look at ``node`` only, never the same node in
        the snapshot: in preemption it is a copy with some pods removed. A class
        attribute ``pod_use`` says how much of the node's pods is looked at: with
        ``PodUse.NONE`` or ``PodUse.SUMS``, preemption tries many nodes at once.

        Args:
            state: This pod's scratch space; read what ``pre_filter`` wrote.
            pod: The pod being scheduled.
            node: The node, with the pods that run or are assumed on it.

        Returns:
            None if the pod fits. Unschedulable if removing pods could help,
            UnschedulableAndUnresolvable if not. Error ends the whole attempt.
        """

    @hookspec(since="0.1")
    def filter_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | Status | None:
        """Batch twin of ``filter``: the same verdicts and reasons for many nodes.

        Optional. A plugin that implements this implements ``filter`` too, and the two
        must agree.

        Reasons are asked for when somebody reads them, which may be long after the
        attempt: return no view of a column, and never write to codes that were
        returned.

        Args:
            state: This pod's scratch space.
            pod: The pod being scheduled.
            nodes: The columns of all nodes; never write to them.
            rows: The rows to judge, as an index into any column; never write to them.

        Returns:
            None if all pass, a `Status` if one answer holds for all of them, else
            `NodeVerdicts` with codes of shape ``(N,)`` in the order of ``rows``. An
            Error on any node fails the attempt: return it as the `Status`. Frozen codes
            that are returned again for the same rows are not looked through again.
        """

    @hookspec(since="0.2")
    def explain_filter(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Sequence[str]:
        """Say more about a node that ``filter`` has rejected, for people.

        Optional. Called for explanations alone, never in an attempt, after
        ``pre_filter`` and ``filter`` of the same plugin; so it may take its time, and
        it changes nothing.

        Args:
            state: This pod's scratch space.
            pod: The pod being explained.
            node: The node that was rejected.

        Returns:
            Sentences that stand beside the reasons of ``filter``; none if there is no
            more to say. The first one should be the same for nodes that are alike:
            where many nodes are told of, they are grouped by it, and the others, which
            may name what one node has, are left out.
        """

    @hookspec(since="0.2")
    def filter_pod_use(self, state: CycleState) -> PodUse:
        """Say how much ``filter`` looks at the pods on nodes in this attempt.

        Optional, for plugins whose class attribute ``pod_use`` has to allow for rare
        cases. Called after ``pre_filter``, before preemption or nominated pods are
        imagined, and only if the class does not say ``PodUse.NONE``.

        Args:
            state: This pod's scratch space.

        Returns:
            As much as the class says, or less: the answers of ``filter`` and
            ``filter_nodes`` for this pod then do not depend on more, on any node.
        """


class PostFilterPlugin(Protocol):
    """Do something for a pod that fits nowhere, such as preempting others."""

    @hookspec(since="0.1")
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        """Try to make room.

        Called in profile order after PreFilter or Filter rejected the pod everywhere;
        the first plugin that succeeds or fails with Error ends the round.

        Args:
            state: This pod's scratch space.
            pod: The pod that does not fit.
            statuses: Why each node was rejected.

        Returns:
            Success (None or a `PostFilterResult` without status) if the pod may fit
            next time; Unschedulable if nothing could be done.
        """


class PreScorePlugin(Protocol):
    """Look at the feasible nodes once, before any of them is scored."""

    @hookspec(since="0.1")
    def pre_score(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Status | None:
        """Prepare this plugin's score.

        Called once per attempt when more than one node is feasible.

        After an extender that sends nodes back in full, nodes are scored as it sent
        them: ``nodes`` holds those only, without pods and images, and is not the table
        of the snapshot. Then ``score`` is called for each node, and not its batch twin.

        Args:
            state: This pod's scratch space; write here what ``score`` will read.
            pod: The pod being scheduled.
            nodes: The columns of all nodes.
            rows: The feasible rows, as an index into any column of ``nodes``.

        Returns:
            ``Status.skip()`` leaves this plugin's score out of the attempt.
        """


class ScorePlugin(Protocol):
    """Rank the nodes that passed every filter."""

    @hookspec(since="0.1")
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Say how well one node suits the pod.

        Called for every feasible node after ``pre_score``; not called when that
        returned Skip, nor when only one node is feasible.

        Args:
            state: This pod's scratch space; read what ``pre_score`` wrote.
            pod: The pod being scheduled.
            node: The node, with the pods that run or are assumed on it.

        Returns:
            Any integer if the plugin normalises, else 0 to 100. A Status fails the
            attempt.
        """

    @hookspec(since="0.1")
    def score_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array | Status:
        """Batch twin of ``score``: the same numbers for many nodes at once.

        Optional. A plugin that implements this implements ``score`` too, and the two
        must agree. It is not called for a handful of rows among many: ``score`` is.

        Args:
            state: This pod's scratch space; read what ``pre_score`` wrote.
            pod: The pod being scheduled.
            nodes: The columns of all nodes; never write to them.
            rows: The feasible rows, as an index into any column; never write to them.

        Returns:
            Shape ``(N,)``, dtype int64, in the order of ``rows``. The array may be kept
            and returned again, and must not be written to any more. A constant costs
            least.
        """

    @hookspec(since="0.1")
    def normalize_score(
        self,
        state: CycleState,
        pod: Pod,
        scores: Int64Array,
        nodes: NodeTable,
        rows: Rows,
    ) -> Int64Array | Status | None:
        """Bring this plugin's scores of all feasible nodes into 0 to 100.

        Called once per attempt, after every node was scored, before weights.

        Args:
            state: This pod's scratch space.
            pod: The pod being scheduled.
            scores: Shape ``(N,)``, dtype int64, read-only: the raw scores. If
                ``score_nodes`` gave them in this attempt, and gave a frozen array, this
                is that very object: what the plugin noted about it holds. Otherwise it
                is good for this call only; copy what is to be kept.
            nodes: The columns of all nodes.
            rows: The scored rows, in the order of ``scores``.

        Returns:
            The normalised scores, same shape and dtype; None leaves them as they are.
            An array that the plugin keeps, or a constant, is right here, too.
        """


class TieBreakPlugin(Protocol):
    """Choose among the nodes with the highest total. One per profile, by its name.

    A profile says who chooses: ``tieBreaker: MyPlugin``. Without that, ties are broken
    at random, as in kube-scheduler, and this hook is never called. The plugin need not
    be enabled anywhere; if it is, the same instance does both.
    """

    @hookspec(since="0.2")
    def break_tie(
        self, state: CycleState, pod: Pod, nodes: NodeTable, tied: RowArray
    ) -> int | Status:
        """Name the node that the pod gets.

        Called when several nodes have the highest total, after all scores; without any
        Score plugin, all feasible nodes have the same. Not called when one node is
        alone in front, when only one is feasible, or when the pod fits on the node that
        it is nominated to. Scores are there only as far as ``score`` or
        ``normalize_score`` wrote them into the state.

        The answer is not remembered. Whatever is random in it comes from
        `Handle.random`, so that a run can be repeated.

        Args:
            state: This pod's scratch space; read what earlier hooks wrote.
            pod: The pod being scheduled.
            nodes: The columns of all nodes; never write to them.
            tied: Shape ``(N,)``, dtype intp, ascending, at least two: the rows of the
                tied nodes, as an index into any column; never write to it.

        Returns:
            One of ``tied``, such as ``tied[nodes.pod_count[tied].argmin()]``. A Status
            fails the attempt.
        """


class ReservePlugin(Protocol):
    """Keep a plugin's own books in step with the pods that have been given a node."""

    @hookspec(since="0.1")
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Take what the pod needs on its node.

        Called once the pod is assumed on the node. If any plugin fails, ``unreserve``
        of all Reserve plugins runs, in reverse order. What is chosen here and must
        outlive the scheduler goes onto the pod by `CycleState.annotate`.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod, with ``node_name`` set.
            node_name: The chosen node.
        """

    @hookspec(since="0.1")
    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Give back what ``reserve`` took.

        Called when anything fails after the pod was assumed, also if this plugin's
        own ``reserve`` was never called: it must be idempotent and must not fail.

        Args:
            state: This pod's scratch space.
            pod: The pod that lost its node.
            node_name: The node that had been chosen.
        """

    @hookspec(since="0.2")
    def verify_reserve(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> Sequence[str]:
        """Find out again, the slow way, what ``reserve`` has taken, and compare.

        Optional. Called with ``SchedulerOptions(verify=N)`` alone, after ``reserve`` of
        all plugins, for every Nth pod; nothing that was remembered is to be relied on,
        and nothing is changed.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.

        Returns:
            What differs, each in a sentence: any ends the run with a
            `VerificationError`. None if all is right.
        """


class PermitPlugin(Protocol):
    """Allow, delay or refuse the binding of an assumed pod."""

    @hookspec(since="0.1")
    def permit(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PermitWait | Status | None:
        """Decide whether binding may start.

        Called after ``reserve``. The pod waits while any plugin that said
        `PermitWait` has not allowed it; any rejection or the first timeout ends it. A
        `Status` with code Wait says no timeout, and is an Error.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.
        """


class PreBindPlugin(Protocol):
    """Do what must be done before a pod is bound, such as provisioning volumes."""

    @hookspec(since="0.1")
    def pre_bind(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PreBindWait | Status | None:
        """Prepare the node or the cluster for the pod.

        Runs in the binding cycle, and may block for as long as a call takes, see the
        top of this module. What takes longer is waited for with `PreBindWait`, which
        holds no thread and lets virtual time pass. Any failure sends the pod back to
        the queue.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.

        Returns:
            A `PreBindWait` to be asked again; the plugins behind this one, and
            binding, come after it.
        """

    @hookspec(since="0.1")
    def pre_bind_pre_flight(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PreBindPreFlightResult | Status | None:
        """Say whether ``pre_bind`` has anything to do for this pod.

        Called before ``pre_bind``, and before the pod waits on Permit. Optional:
        without it, ``pre_bind`` always runs. Must be quick and must change nothing.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.

        Returns:
            ``Status.skip()`` leaves ``pre_bind`` out for this pod.
        """


class BindPlugin(Protocol):
    """Write the decision to the cluster."""

    @hookspec(since="0.1")
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Bind the pod to its node.

        Called in profile order until one plugin does not return Skip. It may block for
        as long as a call takes, see the top of this module. It has the annotations that
        plugins have chosen, ``state.annotations``, written with the binding:
        ``cluster.bind(pod, node_name, annotations=state.annotations)``.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.

        Returns:
            None once the pod is bound; ``Status.skip()`` leaves it to the next plugin.
        """


class PostBindPlugin(Protocol):
    """Clean up, or tell somebody, after a pod was bound."""

    @hookspec(since="0.1")
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Take note that the pod was bound. Nothing depends on the outcome.

        Args:
            state: This pod's scratch space.
            pod: The bound pod.
            node_name: Its node.
        """
