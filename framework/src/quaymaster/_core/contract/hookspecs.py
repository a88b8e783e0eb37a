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

Letters and units used below: ``N`` is the number of requested rows, at least one. CPU
is in millicores, memory and storage are in bytes, times are in seconds. Scores are
integers from 0 to 100 after normalisation.

Every hook may raise. The exception becomes an Error status that names the plugin, the
exception's type and the plugin's line, and it fails only the current attempt. Success
is ``None`` wherever a `Status` may be returned.

A plugin that needs objects which the scheduler does not follow by default (a custom
kind, or another kind of Kubernetes) lists their classes in a class attribute:
``kinds = (PodGroup,)``. It is read before the plugin is built. Manifests may then
contain such objects, ``handle.informers`` follows them, and ``EventsOf(PodGroup)``
registers for their events.

All hooks run on the scheduling thread, except ``pre_bind`` and ``bind``. Those two, and
tasks for `Handle.run_in_background`, run on worker threads and may block. If they wait
only for calls of `Handle.cluster`, set the class attribute ``blocks = False``: they
then need no thread, and a thousand waiting calls cost only memory. A cluster call in
any other hook or in a timer blocks the scheduler and fails after five seconds.

Arguments and results of hooks are shared, not copied. Four rules apply to all of them:

*Values never change.* API objects such as pods and nodes, arrays of rows, and results
of earlier hooks are never modified, neither by the framework nor by a plugin. A change
creates a new object. So you may keep these values, and the same object always has the
same content. Equal content may also arrive as another object.

*Views change.* A `NodeInfo`, the columns of a `NodeTable` and the counts of a snapshot
follow the cluster between two hooks. Read them again, or copy what you keep.

*Returned arrays are shared.* A plugin must not modify an array after returning it; it
continues with a copy. If the plugin freezes the array before returning it
(`quaymaster.columns.freeze`), the framework skips checks: it does not inspect the same
frozen array for the same rows again, and passes frozen raw scores to
``normalize_score`` as the same object.

*Use a constant where all nodes have the same value.* `quaymaster.columns.constant`
takes no memory, and the framework neither inspects nor adds it element by element. An
ordinary array with equal elements is also correct, only slower.

Mirrors k8s.io/kube-scheduler v0.36, ``framework/interface.go``.
"""

from collections.abc import Hashable, Sequence
from typing import Protocol

from quaymaster._api.objects import Pod
from quaymaster._core.contract.cluster_events import ClusterEventWithHint
from quaymaster._core.contract.cycle_state import CycleState
from quaymaster._core.contract.declarations import PodUse, Revised
from quaymaster._core.contract.hook_marks import hookspec
from quaymaster._core.contract.pod_groups import (
    MemberAttempt,
    PlaceGroup,
    PlacementProgress,
    PodGroupAssignments,
    PodGroupInfo,
    PodGroupPlacement,
    PodGroupPostFilterResult,
)
from quaymaster._core.contract.queueing import QueuedPodInfo, SortKey
from quaymaster._core.contract.results import (
    NodeStatuses,
    NodeVerdicts,
    PermitWait,
    PostFilterResult,
    PreBindPreFlightResult,
    PreBindWait,
    PreFilterResult,
    Suggestion,
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
    "PlacementFeasiblePlugin",
    "PodGroupPostFilterPlugin",
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
    """Start and stop work outside the other hooks, such as polling a data source.

    A plugin is constructed, started, and later closed by a reload or by the end of its
    scheduler. Put everything that can fail into the constructor: a failure there
    rejects the configuration. Put what only an active plugin should do into ``start``.
    """

    @hookspec(since="0.1")
    def start(self) -> None:
        """Start the plugin: its profile is now active.

        Called once, on the scheduling thread, before the first attempt of a pod with
        this profile. Plugins are started in the order of their construction: profile by
        profile, plugin by plugin. The informers are filled, unless the cluster could
        not be listed yet. ``events_to_register`` is called earlier, and so are
        ``pre_enqueue`` and ``queue_sort`` for pods that are already pending. After a
        reload, the replaced plugins are closed first.

        Not called if the configuration never becomes active, because another plugin
        cannot be built or the configuration is only being validated.

        An exception is reported like that of any hook. The profile stays active, the
        other plugins are started, and ``close`` is still called at the end.
        """

    @hookspec(since="0.1")
    def close(self) -> None:
        """Release what the plugin holds, such as connections and threads.

        Called once for every constructed plugin, started or not: after a reload has
        replaced it, when a profile of the same configuration cannot be built, and when
        the scheduler stops. It runs on the scheduling thread, in the reverse order of
        ``start``, and should be quick. An exception is reported, and the other plugins
        are still closed.

        Before the call, the plugin's timers are cancelled, its tasks that have not
        begun are dropped, and `Handle.changed` has no further effect. Tasks that have
        begun run to their end, if necessary after this hook. The same holds for pods
        that got their node before a reload: ``unreserve`` and the hooks from ``permit``
        to ``post_bind`` may still be called for them.
        """


class PreEnqueuePlugin(Protocol):
    """Keep a pod out of the active queue until it is ready."""

    @hookspec(since="0.1")
    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Decide whether a pod may enter the active or the backoff queue.

        Called whenever a pod would enter one of them, so it must be quick and must not
        call other services. A rejected pod is *gated*: it waits among the unschedulable
        pods, without an event or a condition. It is checked again when an event occurs
        that this plugin registered.

        In a PodGroup, one gated pod gates all pods, and each new pod may be an event
        for all. With the class attribute ``gates_groups = True``, a plugin declares
        that it has the same answer for all pods of a PodGroup. It is then called for
        one of the pods, also where it lets all of them pass.

        A pod that stays gated for five minutes is checked again by the periodic flush
        (since Kubernetes 1.37), in case an event was missed. In a simulation of weeks
        with thousands of gated pods, this costs more than all decisions. With the class
        attribute ``opens_gates_itself = True``, a plugin declares that it misses none:
        its answer for a pod changes only with that pod, with an event that it
        registered, or when it calls `Handle.activate` or `Handle.changed`. The flush
        then leaves the pods alone that it gates.

        Args:
            pod: The pod about to be queued.
        """


class QueueSortPlugin(Protocol):
    """Order the pods that wait for a scheduling attempt. One per profile."""

    @hookspec(since="0.1")
    def queue_sort(self, queued: QueuedPodInfo) -> SortKey:
        """Return a sort key: the pod with the smallest key is tried first.

        Called each time a pod enters the active queue, so the key must not depend on
        anything that changes while the pod waits. A plugin whose keys change, for
        example with the time, reports each change by `Handle.changed` with ``pods``,
        and returns the same keys between two reports. To port a ``Less`` of upstream,
        build a tuple of the values that it compares, negated where the larger value
        comes first: ``(-priority, timestamp)``. As a last resort, wrap ``Less`` with
        ``functools.cmp_to_key``. Equal keys keep the order of arrival.

        Args:
            queued: The pod with its timestamps and counts.

        Returns:
            Any value that compares with the keys of the other pods of this profile:
            numbers of any class with numbers, strings with strings. Pods without a
            comparable key come last, by priority and timestamp.
        """


class EnqueueExtensions(Protocol):
    """Register the cluster events that may make rejected pods schedulable."""

    @hookspec(since="0.1")
    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """List the events, each with an optional queueing hint.

        Called once, when the profile is built. It is for plugins that reject pods: by
        ``pre_enqueue``, ``pre_filter``, ``filter``, ``reserve``, ``permit``,
        ``pre_bind``, ``bind`` or ``placement_feasible``. The events of others requeue
        nothing, and their profile is rejected: a plugin with ``post_filter`` alone
        calls `Handle.activate`.

        If a plugin rejects pods and does not implement this hook, every event requeues
        its pods, which is safe but slow. With an empty list, only `Handle.changed` (for
        data from outside the cluster) and the periodic flush requeue them.

        Returns:
            Results of ``on_node(Change.ADD, hint)``, ``on_pod(Change.DELETE)`` or
            ``EventsOf(StorageClass)(Change.ADD)``. You may also construct a
            `ClusterEventWithHint` yourself, but its hint takes objects of any type.
            If thousands of pods wait and each change helps few of them, add
            ``.indexed(pod_keys, event_keys)``: the hint is then called only for pods
            that share a key with the change.
        """


class SignPlugin(Protocol):
    """Group pods that this plugin treats as identical."""

    @hookspec(since="0.1")
    def sign_pod(self, pod: Pod) -> Hashable | None:
        """Return the part of the pod that this plugin's results depend on.

        Two pods with equal fragments get equal results from every hook of this plugin
        while the cluster is unchanged. If the class also sets ``scope = Scope.NODE``,
        its result for a node depends only on the fragment and that node, and the
        framework caches it until the node changes. With the default,
        ``Scope.CLUSTER``, only the fragment is kept: no result of the plugin is
        cached, and its hooks run for each pod.

        The framework adds nothing to the fragment, not even the namespace: if results
        depend on the namespace of the pod, the fragment has to contain
        ``pod.namespace``.

        Called once for all pods that have the same spec, namespace, labels,
        annotations, owners and status (as the pods of a Deployment do), not once per
        pod. The condition
        ``PodScheduled``, which failed attempts write, does not count. So the fragment
        must be a function of the rest of the pod alone. Other data (a metric, a quota,
        the time) would be frozen at the first call. A plugin that reads such data calls
        `Handle.changed` whenever they change, which clears the cache; otherwise it
        must not implement ``sign_pod``, or return None.
        ``SchedulerOptions(verify=N)`` calls the hook again and detects such changes.

        Args:
            pod: The pod to sign. Its name, uid, versions and times must not matter.

        Returns:
            A hashable value, or None if nothing may be cached for this pod.
        """

    @hookspec(since="0.1")
    def skips_depend_on(self, pod: Pod) -> Sequence[Revised] | None:
        """List what a Skip of this plugin depends on, apart from the pod.

        Optional, for plugins that read the whole cluster and mostly return Skip. While
        no revision changes, a Skip of ``pre_filter`` or ``pre_score`` is reused for all
        pods with the same spec, namespace, labels, annotations, owners and status, and
        the hook is not called for them. As for `sign_pod`, the condition
        ``PodScheduled`` does not count. Other results are never cached.

        Called occasionally, not for each pod, and not in the order of attempts: right
        after a change, and for the first pod of a spec.

        Args:
            pod: One of the pods.

        Returns:
            Objects whose revision changes before a Skip for such a pod may become
            wrong, such as ``handle.snapshot.counts`` or
            ``handle.informers.changes(kind)``. Empty if the Skip depends only on the
            pod. None if Skips must not be cached.
        """


class PreFilterPlugin(Protocol):
    """Inspect the pod and the cluster once, before any node is filtered."""

    @hookspec(since="0.1")
    def pre_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable
    ) -> PreFilterResult | Status | None:
        """Prepare this plugin's filter, restrict the nodes, or reject the pod.

        Called once per attempt, in profile order. UnschedulableAndUnresolvable, or
        an empty intersection of the plugins' node sets, ends the attempt at once. After
        Unschedulable, the remaining plugins still run. This one restricts a pod to the
        nodes that an annotation lists::

            @hookimpl
            def pre_filter(self, pod: Pod) -> PreFilterResult | None:
                names = pod.annotations.get("example.com/nodes")
                return PreFilterResult(frozenset(names.split(","))) if names else None

        Args:
            state: This pod's scratch space; write here what ``filter`` will read.
            pod: The pod being scheduled.
            nodes: All nodes, before filtering.

        Returns:
            A `PreFilterResult` to restrict the nodes. After ``Status.skip()``, this
            plugin's ``filter``, ``add_pod`` and ``remove_pod`` are not called in this
            attempt. So skip only pods that ``filter`` would accept on every node. With
            the class attribute ``skips_binding = True``, ``reserve``, ``unreserve``,
            ``permit`` and ``pre_bind`` are not called either.
        """

    @hookspec(since="0.1")
    def explain_pre_filter(self, state: CycleState, pod: Pod) -> Sequence[str]:
        """Explain to people why ``pre_filter`` rejected a pod.

        Optional. Called only for explanations, never in an attempt, after
        ``pre_filter`` of the same plugin. It may be slow, and it must not change
        anything.

        Args:
            state: This pod's scratch space.
            pod: The pod being explained.

        Returns:
            Sentences that are shown beside the reasons; may be empty.
        """

    @hookspec(since="0.1")
    def add_pod(
        self, state: CycleState, pod: Pod, pod_to_add: Pod, node: NodeInfo
    ) -> Status | None:
        """Update the state of ``pre_filter`` as if one more pod ran on a node.

        Called for nominated pods and during preemption, usually with a cloned state.

        Args:
            state: The state to update, in place.
            pod: The pod being scheduled.
            pod_to_add: The pod that is assumed to run on the node.
            node: The node, with ``pod_to_add`` already on it.
        """

    @hookspec(since="0.1")
    def remove_pod(
        self, state: CycleState, pod: Pod, pod_to_remove: Pod, node: NodeInfo
    ) -> Status | None:
        """Update the state of ``pre_filter`` as if a pod had left a node.

        Args:
            state: The state to update, in place.
            pod: The pod being scheduled.
            pod_to_remove: The pod that is assumed to be gone.
            node: The node, with ``pod_to_remove`` already gone.
        """


class FilterPlugin(Protocol):
    """Reject the nodes that cannot run a pod."""

    @hookspec(since="0.1")
    def filter(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        """Decide whether one node can run the pod.

        Called for every node, in profile order, until a plugin rejects the node. Not
        called if ``pre_filter`` returned Skip. Read only ``node``, never the same node
        in the snapshot: during preemption ``node`` is a copy without some of its pods.
        The class attribute ``pod_use`` declares how much of the node's pods the hook
        reads: with ``PodUse.NONE`` or ``PodUse.SUMS``, preemption tries many nodes at
        once.

        If the verdict also depends on the time, a timer must call `Handle.changed` or
        `Handle.activate` when a rejection ends. Without an event, only the periodic
        flush tries the pod again, after five minutes. The same applies to
        ``pre_filter`` and ``filter_nodes``.

        Args:
            state: This pod's scratch space; read what ``pre_filter`` wrote.
            pod: The pod being scheduled.
            node: The node, with the pods that run or are assumed on it.

        Returns:
            None if the pod fits. Unschedulable if removing pods from the node could
            help, otherwise UnschedulableAndUnresolvable. Error ends the whole attempt.
        """

    @hookspec(since="0.1")
    def filter_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> NodeVerdicts | Status | None:
        """Batch twin of ``filter``: the same verdicts and reasons for many nodes.

        Optional. A plugin that implements this must also implement ``filter``, and the
        two must agree.

        Reasons are rendered on request, possibly long after the attempt. So do not
        return a view of a column, and never modify codes after returning them.

        Args:
            state: This pod's scratch space.
            pod: The pod being scheduled.
            nodes: The columns of all nodes; never write to them.
            rows: The rows to filter, as an index into any column; never write to them.

        Returns:
            None if all rows pass, a `Status` if it applies to all of them, otherwise
            `NodeVerdicts` with codes of shape ``(N,)`` in the order of ``rows``. An
            Error for any node fails the attempt: return it as the `Status`. Frozen
            codes that are returned again for the same rows are not inspected again.
        """

    @hookspec(since="0.1")
    def explain_filter(
        self, state: CycleState, pod: Pod, node: NodeInfo
    ) -> Sequence[str]:
        """Explain to people why ``filter`` rejected a node.

        Optional. Called only for explanations, never in an attempt, after
        ``pre_filter`` and ``filter`` of the same plugin. It may be slow, and it must
        not change anything. If the plugin rejects the node only with the pods that are
        nominated to it, ``node`` and ``state`` are copies with these pods.

        Args:
            state: This pod's scratch space.
            pod: The pod being explained.
            node: The node that was rejected.

        Returns:
            Sentences that are shown beside the reasons of ``filter``; may be empty.
            The first one should be equal for similar nodes, because summaries group
            nodes by it. The others may name details of this node; summaries omit them.
        """

    @hookspec(since="0.1")
    def suggest_changes(self, state: CycleState, pod: Pod) -> Sequence[Suggestion]:
        """Suggest to people which changes may give a pending pod a node.

        Optional. Called only for suggestions, never in an attempt, after ``pre_filter``
        of the profile, even if a plugin rejected the pod there. Not called if
        ``pre_filter`` of the same plugin returned Skip. It may be slow, and it must not
        change anything. Each suggestion is simulated with the whole input, and shown
        only if the pod gets a node and no other pod loses one; so it may be a guess.
        Suggest only what an administrator would do in production: never change what a
        node is, and never remove a protection.

        Args:
            state: This pod's scratch space.
            pod: The pod that has no node.

        Returns:
            The suggestions, the least harmful first; may be empty.
        """

    @hookspec(since="0.1")
    def filter_pod_use(self, state: CycleState) -> PodUse:
        """Declare how much of the nodes' pods ``filter`` reads in this attempt.

        Optional, for plugins whose class attribute ``pod_use`` covers rare cases.
        Called after ``pre_filter``, before preemption or nominated pods are simulated,
        and only if the class attribute is not ``PodUse.NONE``.

        Args:
            state: This pod's scratch space.

        Returns:
            The value of the class attribute, or less. The results of ``filter`` and
            ``filter_nodes`` for this pod must not depend on more, on any node.
        """


class PostFilterPlugin(Protocol):
    """Help a pod that fits on no node, for example by preemption."""

    @hookspec(since="0.1")
    def post_filter(
        self, state: CycleState, pod: Pod, statuses: NodeStatuses
    ) -> PostFilterResult | Status | None:
        """Try to make the pod schedulable.

        Called in profile order after PreFilter or Filter rejected the pod on all nodes.
        The first plugin that returns success or Error ends the round.

        Args:
            state: This pod's scratch space.
            pod: The pod that does not fit.
            statuses: The status with which each node was rejected.

        Returns:
            Success (None or a `PostFilterResult` without status) if the pod may fit
            next time; Unschedulable if nothing helped.
        """

    @hookspec(since="0.1")
    def explain_post_filter(
        self, state: CycleState, pod: Pod, node: NodeInfo, statuses: NodeStatuses
    ) -> Sequence[str]:
        """Explain to people what ``post_filter`` can do for a pod on one node.

        Optional. Called only for explanations, never in an attempt, for a pod that fits
        on no node, and for each node. It may be slow, and it must not change anything.

        Args:
            state: This pod's scratch space after filtering.
            pod: The pod being explained.
            node: A node that was rejected.
            statuses: The status with which each node was rejected.

        Returns:
            Sentences that are shown after those of ``explain_filter``; may be empty.
            The first one should be equal for similar nodes, as there.
        """


class PlacementGeneratePlugin(Protocol):
    """Divide the nodes into placements, one of which a group of pods gets.

    Only the first plugin of a profile is called. Without any, all nodes are the only
    placement. Called only if the feature gate TopologyAwareWorkloadScheduling is on.
    """

    @hookspec(since="0.1")
    def placement_generate(
        self,
        state: CycleState,
        group: PodGroupInfo,
        nodes: NodeTable,
        parent: PodGroupPlacement,
    ) -> Sequence[PodGroupPlacement] | Status:
        """Return the placements to try.

        The group is placed on each of them in turn, and each time reverted.

        Args:
            state: The scratch space of the group in this cycle.
            group: The group, with the pods that this cycle tries.
            nodes: The columns of all nodes.
            parent: The nodes to divide.

        Returns:
            The placements, in the order in which they are tried. A node may be in
            several of them, or in none. Without placements, the group is Unschedulable.
            A Status ends the cycle.
        """


class PlacementFeasiblePlugin(Protocol):
    """Decide whether a group of pods may be scheduled with the pods that fit.

    Upstream keeps this point internal; GangScheduling is its only plugin there. A
    profile calls every plugin that it enables anywhere. Called only if the feature gate
    GenericWorkload is on.
    """

    @hookspec(since="0.1")
    def placement_feasible(
        self, state: CycleState, group: PodGroupInfo, progress: PlacementProgress
    ) -> Status | None:
        """Decide whether enough pods of the group have a node, or may still get one.

        Called before the first pod of the group is tried, and after each pod.

        Args:
            state: The scratch space of the group on one placement; without the feature
                gate TopologyAwareWorkloadScheduling, that of the group in this cycle.
                Each pod has another one.
            group: The group, with the pods that this cycle tries.
            progress: How many pods have a node, and how many have not been tried.

        Returns:
            None if the group may be scheduled with the pods that have a node. The
            remaining pods are tried as well. A Status with the code Wait if more pods
            need a node; at the end of the cycle it counts as Unschedulable.
            Unschedulable if the remaining pods cannot suffice: then they are not tried.
        """


class PlacementScorePlugin(Protocol):
    """Rank the placements on which a group of pods fits.

    Called only if the feature gate TopologyAwareWorkloadScheduling is on.
    """

    @hookspec(since="0.1")
    def placement_score(
        self,
        state: CycleState,
        group: PodGroupInfo,
        nodes: NodeTable,
        assignments: PodGroupAssignments,
    ) -> int | Status:
        """Return how well a placement suits the group.

        Called for every placement on which the group fits, unless it is the only one.
        No pod of the group is assumed during the call.

        Args:
            state: The scratch space of the group on this placement.
            group: The group, with the pods that this cycle tries.
            nodes: The columns of all nodes.
            assignments: The placement, and the pods that would get a node there.

        Returns:
            Any integer if the plugin implements ``normalize_placement_score``,
            otherwise 0 to 100. A Status fails the cycle.
        """

    @hookspec(since="0.1")
    def placement_scores(
        self,
        state: CycleState,
        group: PodGroupInfo,
        nodes: NodeTable,
        candidates: Sequence[PodGroupAssignments],
    ) -> Int64Array | Status:
        """Batch twin of ``placement_score``: the same scores for many placements.

        Called instead of the scalar hook.

        Args:
            state: The scratch space of the group in this cycle, and not that of a
                placement.
            group: The group, with the pods that this cycle tries.
            nodes: The columns of all nodes.
            candidates: The placements, at least two, with the pods that would get a
                node in each.

        Returns:
            The score of each placement, shape ``(len(candidates),)``, dtype int64. A
            Status fails the cycle.
        """

    @hookspec(since="0.1")
    def normalize_placement_score(
        self,
        state: CycleState,
        group: PodGroupInfo,
        placements: Sequence[PodGroupPlacement],
        scores: Int64Array,
    ) -> Int64Array | Status | None:
        """Scale this plugin's scores of all placements to 0 to 100.

        Called after every placement was scored and before weights are applied.

        Args:
            state: The scratch space of the group in this cycle.
            group: The group, with the pods that this cycle tries.
            placements: The scored placements, at least two.
            scores: The raw score of each, dtype int64, read-only.

        Returns:
            The normalised scores, same shape and dtype, or None to keep them unchanged.
        """


class PodGroupPostFilterPlugin(Protocol):
    """Help a group of pods that does not fit, for example by preemption.

    Called only if the feature gate GenericWorkload is on. ``post_filter`` is not called
    for the pods of a group.
    """

    @hookspec(since="0.1")
    def pod_group_post_filter(
        self,
        state: CycleState,
        group: PodGroupInfo,
        attempts: Sequence[MemberAttempt],
        place: PlaceGroup,
    ) -> PodGroupPostFilterResult | Status | None:
        """Try to make the group schedulable.

        Called once per cycle, in profile order, after the group was Unschedulable. The
        first plugin that returns success, UnschedulableAndUnresolvable or Error ends
        the round. No pod of the group is assumed during the call.

        Args:
            state: The scratch space of the group in this cycle.
            group: The group, with the pods that this cycle tried.
            attempts: The attempts of the pods that were tried, in order; the others
                were not reached.
            place: Runs the algorithm for the group once more, on the snapshot as it is
                then, and reverts it.

        Returns:
            Success (None or a `PodGroupPostFilterResult` without status) if the group
            may fit next time; Unschedulable if nothing helped.
        """


class PreScorePlugin(Protocol):
    """Inspect the feasible nodes once, before any of them is scored."""

    @hookspec(since="0.1")
    def pre_score(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Status | None:
        """Prepare this plugin's score.

        Called once per attempt when more than one node is feasible.

        If an extender returned complete nodes, these are scored as it returned them:
        ``nodes`` contains only those, without pods and images, and is not the table of
        the snapshot. In this case ``score`` is called for each node instead of its
        batch twin.

        Args:
            state: This pod's scratch space; write here what ``score`` will read.
            pod: The pod being scheduled.
            nodes: The columns of all nodes.
            rows: The feasible rows, as an index into any column of ``nodes``.

        Returns:
            None, or a Status. After ``Status.skip()``, this plugin does not score in
            this attempt.
        """


class ScorePlugin(Protocol):
    """Rank the nodes that passed every filter."""

    @hookspec(since="0.1")
    def score(self, state: CycleState, pod: Pod, node: NodeInfo) -> int | Status:
        """Return how well one node suits the pod.

        Called for every feasible node after ``pre_score``. Not called if ``pre_score``
        returned Skip, or if only one node is feasible.

        Args:
            state: This pod's scratch space; read what ``pre_score`` wrote.
            pod: The pod being scheduled.
            node: The node, with the pods that run or are assumed on it.

        Returns:
            Any integer if the plugin implements ``normalize_score``, otherwise 0 to
            100. A Status fails the attempt.
        """

    @hookspec(since="0.1")
    def score_nodes(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows
    ) -> Int64Array | Status:
        """Batch twin of ``score``: the same numbers for many nodes at once.

        Optional. A plugin that implements this must also implement ``score``, and the
        two must agree. For a few rows of a large table, ``score`` is called instead.

        Args:
            state: This pod's scratch space; read what ``pre_score`` wrote.
            pod: The pod being scheduled.
            nodes: The columns of all nodes; never write to them.
            rows: The feasible rows, as an index into any column; never write to them.

        Returns:
            Shape ``(N,)``, dtype int64, in the order of ``rows``. The plugin may keep
            the array and return it again, but must no longer modify it. A constant is
            cheapest.
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
        """Scale this plugin's scores of all feasible nodes to 0 to 100.

        Called once per attempt, after every node was scored and before weights are
        applied.

        Args:
            state: This pod's scratch space.
            pod: The pod being scheduled.
            scores: Shape ``(N,)``, dtype int64, read-only: the raw scores. If
                ``score_nodes`` returned a frozen array in this attempt, this is the
                same object. Otherwise it is valid only during this call; copy what you
                keep.
            nodes: The columns of all nodes.
            rows: The scored rows, in the order of ``scores``.

        Returns:
            The normalised scores, same shape and dtype, or None to keep them unchanged.
            May be an array that the plugin keeps, or a constant.
        """


class TieBreakPlugin(Protocol):
    """Choose among the nodes with the highest total. One per profile, by its name.

    A profile names the plugin: ``tieBreaker: MyPlugin``. Without it, ties are broken
    at random, as in kube-scheduler, and this hook is never called. The plugin need not
    be enabled at any extension point; if it is, the same instance is used.
    """

    @hookspec(since="0.1")
    def break_tie(
        self, state: CycleState, pod: Pod, nodes: NodeTable, tied: RowArray
    ) -> int | Status:
        """Choose the node for the pod.

        Called after scoring if several nodes share the highest total; without any Score
        plugin, all feasible nodes share it. Not called if one node has the highest
        total alone, if only one node is feasible, or if the pod fits on its nominated
        node. Scores are available only if ``score`` or ``normalize_score`` wrote them
        to the state.

        The result is not cached. Take random numbers from `Handle.random`, so that a
        run can be repeated.

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
    """Track, in the plugin's own state, what pods with a node use."""

    @hookspec(since="0.1")
    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Reserve what the pod needs on its node.

        Called once the pod is assumed on the node. If any plugin fails, ``unreserve``
        of all Reserve plugins is called, in reverse order. Write choices that must
        survive a restart to the pod with `CycleState.annotate`.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod, with ``node_name`` set.
            node_name: The chosen node.
        """

    @hookspec(since="0.1")
    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Release what ``reserve`` reserved.

        Called if anything fails after the pod was assumed, even if this plugin's own
        ``reserve`` was never called. It must be idempotent and must not fail.

        Args:
            state: This pod's scratch space.
            pod: The pod that lost its node.
            node_name: The node that had been chosen.
        """

    @hookspec(since="0.1")
    def verify_reserve(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> Sequence[str]:
        """Recompute without caches what ``reserve`` has reserved, and compare.

        Optional. Called only with ``SchedulerOptions(verify=N)``, for every Nth pod,
        after ``reserve`` of all plugins. It must not use cached values and must not
        change anything.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.

        Returns:
            One sentence per difference. Any difference ends the run with a
            `VerificationError`. Empty if there is none.
        """


class PermitPlugin(Protocol):
    """Allow, delay or reject the binding of an assumed pod."""

    @hookspec(since="0.1")
    def permit(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PermitWait | Status | None:
        """Decide whether binding may start.

        Called after ``reserve``. If a plugin returns `PermitWait`, the pod waits until
        every such plugin has allowed it. A rejection or the first timeout ends the
        attempt. A `Status` with code Wait has no timeout and is treated as an Error.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.
        """


class PreBindPlugin(Protocol):
    """Prepare the cluster before a pod is bound, for example provision volumes."""

    @hookspec(since="0.1")
    def pre_bind(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PreBindWait | Status | None:
        """Prepare the node or the cluster for the pod.

        Runs in the binding cycle and may block while a call is in progress; see the top
        of this module. For longer waits return `PreBindWait`, which holds no thread and
        works with virtual time. Any failure returns the pod to the queue. Then it runs
        again in the pod's next attempt, perhaps for another node, and after a restart
        in a new instance: so what it writes may exist already.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.

        Returns:
            None, a Status, or a `PreBindWait`, whose check runs until it returns True
            or a Status; this hook is not called again for it. Plugins after this one,
            and binding, wait for it.
        """

    @hookspec(since="0.1")
    def pre_bind_pre_flight(
        self, state: CycleState, pod: Pod, node_name: str
    ) -> PreBindPreFlightResult | Status | None:
        """Decide whether ``pre_bind`` has anything to do for this pod.

        Optional: without it, ``pre_bind`` is always called. Called before ``pre_bind``
        and before the pod waits on Permit. Must be quick and must not change anything.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.

        Returns:
            After ``Status.skip()``, ``pre_bind`` is not called for this pod.
        """


class BindPlugin(Protocol):
    """Write the decision to the cluster."""

    @hookspec(since="0.1")
    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Bind the pod to its node.

        Called in profile order until a plugin returns something other than Skip. It may
        block while the call is in progress; see the top of this module. Annotations
        that plugins have chosen must be written with the binding:
        ``cluster.bind(pod, node_name, annotations=state.annotations)``.

        Args:
            state: This pod's scratch space.
            pod: The assumed pod.
            node_name: The chosen node.

        Returns:
            None once the pod is bound, or ``Status.skip()`` to leave it to the next
            plugin.
        """


class PostBindPlugin(Protocol):
    """Clean up or send notifications after a pod was bound."""

    @hookspec(since="0.1")
    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """React to the binding of the pod. The result is ignored.

        Args:
            state: This pod's scratch space.
            pod: The bound pod.
            node_name: Its node.
        """
