"""A scheduling queue in virtual time, with the calls that a scheduler makes."""

from collections.abc import Callable, Collection, Mapping, Sequence

import attrs
from msgspec.structs import replace

from quaymaster import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    NominatingInfo,
    NominatingMode,
    Pod,
    QueuedPodInfo,
    QueueingHint,
    Snapshot,
    Status,
)
from quaymaster.config import Kubernetes
from quaymaster.hookspecs import QueueingHintFn
from quaymaster.scheduler import Failure, FailureKind, QueueName, VirtualClock
from quaymaster.testing import make_node, make_pod
from tests.kit.internals.engine import EventHandlers, FailureHandler, Progress
from tests.kit.internals.queue import (
    BackoffPolicy,
    Nominator,
    QueuedPod,
    QueueProfile,
    QueueRules,
    SchedulingQueue,
)
from tests.kit.internals.state import Cache

__all__ = [
    "ACTIVE",
    "BACKOFF",
    "CLEAR",
    "ERROR_BACKOFF",
    "NODE",
    "NODE_ADDED",
    "NODE_ADDED_SKIP",
    "START",
    "UNSCHEDULABLE",
    "CountingGate",
    "PodNames",
    "QueueRig",
    "always",
    "by_priority",
    "on",
    "pod_names",
]

START = 1_767_225_600.0  # a whole second
ACTIVE = QueueName.ACTIVE
BACKOFF = QueueName.BACKOFF
ERROR_BACKOFF = QueueName.ERROR_BACKOFF
UNSCHEDULABLE = QueueName.UNSCHEDULABLE
CLEAR = NominatingInfo("", NominatingMode.OVERRIDE)
NODE = make_node(name="n1")


def on(
    resource: EventResource, action: ActionType, hint: QueueingHintFn | None = None
) -> ClusterEventWithHint:
    """Return a registration for an event of a resource."""
    return ClusterEventWithHint(ClusterEvent(resource, action), hint)


def always(answer: QueueingHint) -> QueueingHintFn:
    """Return a hint that gives the same answer for every event."""
    return lambda _pod, _old, _new: answer


NODE_ADDED = on(EventResource.NODE, ActionType.ADD)
NODE_ADDED_SKIP = on(EventResource.NODE, ActionType.ADD, always(QueueingHint.SKIP))
PodNames = Sequence[str]


@attrs.define(eq=False)
class CountingGate:
    """A PreEnqueue plugin that rejects pods by name, and records its calls."""

    blocked: set[str] = attrs.field(factory=set)
    calls: list[str] = attrs.field(factory=list)

    def __call__(self, pod: Pod) -> Status | None:
        """Reject the pod if its name is blocked."""
        self.calls.append(pod.name)
        return Status.unschedulable() if pod.name in self.blocked else None


class QueueRig:
    """A queue with the cluster's objects, and the calls that a scheduler makes.

    Args:
        events: Plugin -> its registrations; by default A and B register for new nodes.
        gates: PreEnqueue plugins by name, in order.
        initial: The first backoff, in seconds.
        longest: The longest backoff, in seconds.
        limit: The seconds after which the flush requeues a pod.
        flush_gated: Whether the flush calls the gates.
        kubernetes: The Kubernetes version whose queue it is.
        start: The time at the start.
        self_opening: The gates that their plugins open themselves.
        queue: The class of the queue.
    """

    def __init__(
        self,
        *,
        events: Mapping[str, Sequence[ClusterEventWithHint] | None] | None = None,
        gates: Mapping[str, Callable[[Pod], Status | None]] | None = None,
        initial: float = 1.0,
        longest: float = 10.0,
        limit: float = 300.0,
        flush_gated: bool = False,
        kubernetes: str = "1.36",
        start: float = START,
        self_opening: Collection[str] = (),
        queue: type[SchedulingQueue] = SchedulingQueue,
    ) -> None:
        self.clock = VirtualClock(start)
        self.stored: dict[str, Pod] = {}
        self.versions = 0
        version = Kubernetes(kubernetes)
        profile = QueueProfile(
            sort_key=by_priority,
            pre_enqueue=tuple((gates or {}).items()),
            events={"A": [NODE_ADDED], "B": [NODE_ADDED]} if events is None else events,
            self_opening=frozenset(self_opening),
        )
        self.queue = queue(
            clock=self.clock,
            profiles={"default-scheduler": profile},
            nominator=Nominator(self.stored.get),
            backoff=BackoffPolicy(initial_seconds=initial, max_seconds=longest),
            max_in_unschedulable_seconds=limit,
            flush_gated_pods=flush_gated,
            rules=QueueRules.of(version),
        )
        self.queue.start()
        self.cache = Cache(Snapshot())
        self.handlers = EventHandlers(
            cache=self.cache,
            queue=self.queue,
            scheduler_names={"default-scheduler"},
            reject_waiting=lambda _uid: False,
            progress=Progress(self.clock),
            kubernetes=version,
        )
        self.failures = FailureHandler(
            clock=self.clock,
            queue=self.queue,
            cache=self.cache,
            lookup=self.stored.get,
            patch_status=lambda _pod, _patch: None,
            record=lambda _note: None,
        )

    def add(
        self,
        name: str,
        *,
        priority: int = 0,
        nominated: str = "",
        uid: str | None = None,
    ) -> Pod:
        """Add a new pod to the cluster."""
        pod = make_pod(name=name, priority=priority, nominated_node=nominated, uid=uid)
        return self.store(pod)

    def store(self, pod: Pod) -> Pod:
        """Store a new pod, or a new version of a pod, in the cluster."""
        self.versions += 1
        metadata = replace(pod.metadata, resource_version=str(self.versions))
        pod = replace(pod, metadata=metadata)
        old = self.stored.get(pod.key)
        self.stored[pod.key] = pod
        self.handlers.changed(Pod, old, pod)
        return pod

    def relabel(self, name: str) -> Pod:
        """Change a label of a pod, which is the smallest change with its own event."""
        pod = self.stored[f"default/{name}"]
        labels = {"version": str(self.versions)}
        return self.store(replace(pod, metadata=replace(pod.metadata, labels=labels)))

    def pop(self) -> QueuedPod:
        """Return the next pod."""
        queued = self.queue.pop()
        assert queued is not None
        return queued

    def reject(
        self,
        queued: QueuedPod,
        *plugins: str,
        pending: Sequence[str] = (),
        nominating: NominatingInfo | None = None,
    ) -> None:
        """Fail an attempt, because plugins rejected the pod."""
        failure = Failure(
            kind=FailureKind.REJECTED,
            message="no",
            unschedulable_plugins=frozenset({*plugins, *pending}),
            pending_plugins=frozenset(pending),
            nominating=nominating,
        )
        self.failures.attempt_failed(queued, failure)

    def error(self, queued: QueuedPod, kind: FailureKind = FailureKind.ERROR) -> None:
        """Fail an attempt by an error."""
        self.failures.attempt_failed(queued, Failure(kind=kind, message="oh"))

    def add_rejected(self, name: str, *plugins: str, priority: int = 0) -> QueuedPod:
        """Return a pod that was tried once, and rejected by plugins."""
        self.add(name, priority=priority)
        queued = self.pop()
        assert queued.pod.name == name
        self.reject(queued, *(plugins or ("A",)))
        return queued

    def where(self, name: str) -> QueueName | None:
        """Return the queue that a pod is in."""
        queued = self.queue.get(f"default/{name}")
        return None if queued is None else queued.queue

    def nominated(self, node: str) -> PodNames:
        """Return the names of the pods that are nominated to a node."""
        return [pod.name for pod in self.queue.nominator.pods_on(node)]

    def incoming(self) -> Mapping[str, int]:
        """Return queue and event -> how many pods were added since the last call."""
        counts = {"|".join(key): n for key, n in self.queue.incoming.items()}
        self.queue.incoming.clear()
        return counts


def by_priority(queued: QueuedPodInfo) -> tuple[int, float]:
    """Sort as PrioritySort does."""
    return -queued.pod.priority, queued.timestamp


def pod_names(pods: Sequence[QueuedPod]) -> PodNames:
    """Return the names of some queued pods, in their order."""
    return [queued.pod.name for queued in pods]
