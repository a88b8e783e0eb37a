"""A scheduling queue with groups in virtual time, and the calls of a scheduler."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ApiObject,
    ClusterEventWithHint,
    EventResource,
    Pod,
    QueueingHint,
    Snapshot,
    Status,
)
from quaymaster.objects import CompositePodGroup, PodGroup
from quaymaster.scheduler import (
    Failure,
    FailureKind,
    QueueName,
    Trace,
    TraceTopic,
    VirtualClock,
)
from quaymaster.testing import (
    make_composite_pod_group,
    make_node,
    make_pod,
    make_pod_group,
)
from tests.kit.internals.contract import TraceCallback
from tests.kit.internals.engine import FailureHandler, GroupEventHandlers, Progress
from tests.kit.internals.groups import kubernetes_with_groups
from tests.kit.internals.queue import (
    BackoffPolicy,
    CompositeQueue,
    GroupQueue,
    Nominator,
    QueuedGroup,
    QueuedPod,
    QueueProfile,
    QueueRules,
)
from tests.kit.internals.state import CompositeStates, GroupCache, GroupStates
from tests.kit.queue_rig import START, by_priority, on

__all__ = ["QUORUM", "REJECTED", "GroupRig", "Quorum", "members"]

QUORUM = "Quorum"
REJECTED = Status.unschedulable("pod group is unschedulable")


class Quorum:
    """A PreEnqueue plugin that gates a gang with too few pods, as GangScheduling does.

    Args:
        groups: The pods of groups.
    """

    def __init__(self, groups: GroupStates) -> None:
        self._groups = groups
        self.calls: list[str] = []

    def __call__(self, pod: Pod) -> Status | None:
        """Gate the pod while its gang is too small."""
        self.calls.append(pod.name)
        state = self._groups.of(pod)
        if state is None or state.group is None:
            return None
        if len(state.pods) >= state.group.min_count:
            return None
        return Status.unresolvable("waiting for minCount pods")

    def events(self) -> Sequence[ClusterEventWithHint]:
        """Return the registrations of the plugin."""
        add, update = ActionType.ADD, ActionType.UPDATE
        return (
            on(EventResource.UNSCHEDULED_POD, add, _is_member),
            on(EventResource.ASSIGNED_POD, add, _is_member),
            on(EventResource.POD_GROUP, add, _is_group),
            on(EventResource.POD_GROUP, update, _needs_fewer),
        )


def _is_member(pod: Pod, _old: ApiObject | None, new: ApiObject | None) -> QueueingHint:
    assert isinstance(new, Pod)
    is_same = new.group_key == pod.group_key
    return QueueingHint.QUEUE if is_same else QueueingHint.SKIP


def _is_group(pod: Pod, _old: ApiObject | None, new: ApiObject | None) -> QueueingHint:
    assert isinstance(new, PodGroup)
    return QueueingHint.QUEUE if new.key == pod.group_key else QueueingHint.SKIP


def _needs_fewer(
    pod: Pod, old: ApiObject | None, new: ApiObject | None
) -> QueueingHint:
    assert isinstance(old, PodGroup)
    assert isinstance(new, PodGroup)
    is_lower = new.key == pod.group_key and new.min_count < old.min_count
    return QueueingHint.QUEUE if is_lower else QueueingHint.SKIP


class GroupRig:
    """A queue with groups, with the cluster's objects and the calls of a scheduler.

    Args:
        gates: More PreEnqueue plugins by name; they come before the quorum.
        events: More registrations by plugin.
        initial: The first backoff, in seconds.
        longest: The longest backoff of a single pod, in seconds.
        lines: Receives the lines of a trace.
        trees: Whether there are groups of groups.
        declared: Whether the quorum declares that it has one answer for all pods of a
            group.
    """

    def __init__(
        self,
        *,
        gates: Mapping[str, Callable[[Pod], Status | None]] | None = None,
        events: Mapping[str, Sequence[ClusterEventWithHint]] | None = None,
        initial: float = 1.0,
        longest: float = 10.0,
        lines: list[str] | None = None,
        trees: bool = False,
        declared: bool = True,
    ) -> None:
        self.clock = VirtualClock(START)
        self.stored: dict[str, ApiObject] = {}
        self._versions = 0
        self.groups = CompositeStates() if trees else GroupStates()
        self.quorum = Quorum(self.groups)
        profile = QueueProfile(
            sort_key=by_priority,
            pre_enqueue=(*(gates or {}).items(), (QUORUM, self.quorum)),
            group_gates=frozenset({QUORUM} if declared else ()),
            events={QUORUM: self.quorum.events(), **(events or {})},
        )
        kubernetes = kubernetes_with_groups()
        self.progress = Progress(self.clock)
        make_queue = CompositeQueue if trees else GroupQueue
        self.queue: GroupQueue = make_queue(
            clock=self.clock,
            profiles={"default-scheduler": profile},
            nominator=Nominator(self._pod),
            backoff=BackoffPolicy(initial_seconds=initial, max_seconds=longest),
            rules=QueueRules.of(kubernetes),
            trace=None if lines is None else self._trace(lines),
        )
        self.queue.start()
        self.cache = GroupCache(Snapshot(), self.groups)
        self.cache.add_node(make_node(name="n1"))
        self.handlers = GroupEventHandlers(
            cache=self.cache,
            queue=self.queue,
            groups=self.groups,
            scheduler_names={"default-scheduler"},
            reject_waiting=lambda _uid: False,
            progress=self.progress,
            kubernetes=kubernetes,
        )
        self.failures = FailureHandler(
            clock=self.clock,
            queue=self.queue,
            cache=self.cache,
            lookup=self._pod,
            patch_status=lambda _pod, _patch: None,
            record=lambda _note: None,
        )

    def _trace(self, lines: list[str]) -> TraceCallback | None:
        trace = Trace(lines.append, topics=[TraceTopic.QUEUE])
        return trace.on(TraceTopic.QUEUE, lambda: self.clock.now() - START)

    # The cluster --------------------------------------------------------------------

    def add_group(
        self,
        name: str = "gang",
        *,
        min_count: int | None = None,
        priority: int = 0,
        parent: str | None = None,
    ) -> PodGroup:
        """Add the object of a group, or a newer version of it."""
        group = make_pod_group(
            name=name, min_count=min_count, priority=priority, parent=parent
        )
        self.store(group)
        return group

    def add_composite(
        self, name: str = "root", *, priority: int = 0, parent: str | None = None
    ) -> CompositePodGroup:
        """Add the object of a group of groups."""
        group = make_composite_pod_group(name=name, priority=priority, parent=parent)
        self.store(group)
        return group

    def add(
        self,
        *names: str,
        group: str | None = "gang",
        priority: int = 0,
        nominated: str = "",
    ) -> None:
        """Add new pods to the cluster."""
        for name in names:
            self.store(
                make_pod(
                    name=name,
                    priority=priority,
                    nominated_node=nominated,
                    scheduling_group=group,
                )
            )

    def store(self, stored: ApiObject) -> None:
        """Store a new object, or a newer version of an object, in the cluster."""
        self._versions += 1
        metadata = replace(stored.metadata, resource_version=str(self._versions))
        new = replace(stored, metadata=metadata)
        key = f"{new.kind}/{new.key}"
        old = self.stored.get(key)
        self.stored[key] = new
        self.handlers.changed(type(new), old, new)

    def relabel(self, name: str) -> None:
        """Change a label of a pod."""
        pod = self._pod(f"default/{name}")
        assert pod is not None
        labels = {"version": str(self._versions)}
        self.store(replace(pod, metadata=replace(pod.metadata, labels=labels)))

    def delete(self, *names: str) -> None:
        """Delete pods from the cluster."""
        for name in names:
            self._delete(f"Pod/default/{name}")

    def delete_group(self, name: str = "gang") -> None:
        """Delete the object of a group from the cluster."""
        self._delete(f"PodGroup/default/{name}")

    def delete_composite(self, name: str = "root") -> None:
        """Delete the object of a group of groups from the cluster."""
        self._delete(f"CompositePodGroup/default/{name}")

    def _delete(self, key: str) -> None:
        old = self.stored.pop(key)
        self.handlers.changed(type(old), old, None)

    def _pod(self, key: str) -> Pod | None:
        stored = self.stored.get(f"Pod/{key}")
        return stored if isinstance(stored, Pod) else None

    # The scheduler ------------------------------------------------------------------

    def pop_group(self) -> QueuedGroup:
        """Return the next entry, which must be a group."""
        group = self.queue.pop()
        assert isinstance(group, QueuedGroup)
        return group

    def pop_pod(self) -> QueuedPod:
        """Return the next entry, which must be a pod."""
        queued = self.queue.pop()
        assert isinstance(queued, QueuedPod)
        return queued

    def popped(self) -> str:
        """Return the name of the next entry, and end its attempt with an error."""
        entry = self.queue.pop()
        if isinstance(entry, QueuedGroup):
            self.end(entry, Status.from_error("oh"))
            return entry.group.name
        if entry is None:
            return ""
        self.fail(entry)
        return entry.pod.name

    def fail(self, queued: QueuedPod, *plugins: str) -> None:
        """Fail the attempt with a pod: by plugins, or by an error."""
        kind = FailureKind.REJECTED if plugins else FailureKind.ERROR
        rejectors = frozenset(plugins)
        failure = Failure(kind=kind, message="no", unschedulable_plugins=rejectors)
        self.failures.attempt_failed(queued, failure)

    def end(
        self,
        group: QueuedGroup,
        status: Status | None = None,
        *,
        scheduled: Iterable[str] = (),
        plugin: str = "Fit",
    ) -> None:
        """End the attempt with a group.

        Args:
            group: The popped record.
            status: How it ended; None for a success.
            scheduled: The names of the pods that got a node; the others fail.
            plugin: The plugin that rejects them.
        """
        placed = set(scheduled)
        for queued in group.pods:
            pod = queued.pod
            if pod.name in placed:
                self.cache.assume(replace(pod, node_name="n1"))
                self.queue.done(pod.uid)
            else:
                self.fail(queued, plugin)
        self.queue.add_attempted_group(group, (), status)

    def bind(self, *names: str) -> None:
        """Bind pods to the node."""
        for name in names:
            pod = self._pod(f"default/{name}")
            assert pod is not None
            self.store(replace(pod, node_name="n1"))

    def reject(self, group: QueuedGroup) -> None:
        """End the attempt with a group that does not fit."""
        self.end(group, REJECTED)

    def wait(self, seconds: float) -> None:
        """Let time pass."""
        self.clock.advance(seconds)

    def where(self, name: str) -> QueueName | None:
        """Return the queue that a pod is in."""
        queued = self.queue.get(f"default/{name}")
        return None if queued is None else queued.queue

    def group(self, name: str = "gang") -> QueuedGroup:
        """Return the record of a queued group."""
        group = self.queue.group(f"default/{name}")
        assert group is not None
        return group


def members(group: QueuedGroup) -> Sequence[str]:
    """Return the names of the pods of a record, in their order."""
    return [queued.pod.name for queued in group.pods]
