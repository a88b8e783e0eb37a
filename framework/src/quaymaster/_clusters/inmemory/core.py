"""The core of the in-memory cluster: versions, storage, deletion, pods that end."""

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    LimitRange,
    Namespace,
    Node,
    ObjectMeta,
    Pod,
    PodStatus,
    PriorityClass,
    ResourceQuota,
    RuntimeClass,
    StorageClass,
    Time,
)
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.admission import Admission
from quaymaster._clusters.inmemory.admission.classes import (
    IMPLIED_STORAGE_CLASS,
    SYSTEM_PRIORITY_CLASSES,
)
from quaymaster._clusters.inmemory.admission.standing import is_standing
from quaymaster._clusters.inmemory.controllers.manager import Controllers
from quaymaster._clusters.inmemory.durations import LONGEST_SECONDS
from quaymaster._clusters.inmemory.events import EventLog
from quaymaster._clusters.inmemory.kubelet import Kubelet
from quaymaster._clusters.inmemory.names import NameMaker
from quaymaster._clusters.inmemory.quotas.ledger import QuotaLedger
from quaymaster._clusters.inmemory.shortfalls import Shortfalls
from quaymaster._clusters.inmemory.store import KindStore
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import (
    AlreadyExistsError,
    EventNote,
    WatchEventType,
)

__all__ = ["ClusterCore"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_ADDED: Final = WatchEventType.ADDED
_MODIFIED: Final = WatchEventType.MODIFIED
_CLASSES: Final = (PriorityClass, StorageClass, RuntimeClass, LimitRange)
_SECONDS_TO_GO: Final = 1.0
"""How long at least a pod stays that was terminating when it was brought in. The input
has it, however old the input is, so the first decisions have to see it."""


class ClusterCore:
    """Stores objects and makes what follows from it happen.

    Args:
        clock: The cluster's time.
        seed: Decides the random parts of names, and the uids.
        history: How many past changes of each kind are kept at least.
        max_events: How many different Events are kept.
        kubelet: Whether bound pods run.
        kubernetes: The Kubernetes whose API server and controllers are played.

    Attributes:
        clock: The cluster's time.
        kubernetes: The Kubernetes whose API server and controllers are played.
        names: Where names and uids come from.
        version: The resource version of the last change.
        admission: What is done to objects before they are stored.
        events: What was recorded.
        shortfalls: The pods that workloads lack.
        quotas: What namespaces may use, and do.
        controllers: They are told of every change; None if there are none.
        silent: The names of nodes whose kubelets do not answer: pods neither begin nor
            end there.
    """

    def __init__(
        self,
        clock: Clock,
        seed: int,
        history: int,
        max_events: int,
        kubelet: bool,
        kubernetes: Kubernetes,
    ) -> None:
        self.clock = clock
        self.kubernetes = kubernetes
        self.names = NameMaker(seed)
        self.version = 0
        self.admission = Admission(kubernetes, clock.now, label_nodes=kubelet)
        self.events = EventLog(max_events)
        self.shortfalls = Shortfalls()
        self.quotas = QuotaLedger(clock, kubernetes)
        self.controllers: Controllers | None = None
        self.silent: set[str] = set()
        self._history = history
        self._stores: dict[type[ApiObject], KindStore[Any]] = {}
        self._pods = self.store(Pod)
        self._namespaces = self.store(Namespace).objects
        self._moment = Time(clock.now())
        self._kubelet = Kubelet(clock, self._end_pod, kubelet)
        # Objects that nobody gave; whoever brings his own replaces them.
        self._implied: set[tuple[type[ApiObject], str]] = set()
        # Given uids of objects that are gone: never to be used again.
        self._spent_uids: set[str] = set()
        for priority_class in SYSTEM_PRIORITY_CLASSES:
            self._imply(priority_class)
        self._imply(IMPLIED_STORAGE_CLASS)

    def store(self, kind: type[ObjT]) -> KindStore[ObjT]:
        """Where the objects of a kind are."""
        store = self._stores.get(kind)
        if store is None:
            store = self._stores[kind] = KindStore(kind, self._history)
        return store

    def objects(self, kind: type[ObjT]) -> Mapping[str, ObjT]:
        """The stored objects of a kind by key, in the order of their creation."""
        return self.store(kind).objects

    def is_taken(self, obj: ApiObject) -> bool:
        """Whether there is an object of this kind and key that somebody gave."""
        kind, key = type(obj), obj.key
        return key in self.objects(kind) and (kind, key) not in self._implied

    def has_gone(self, uid: str) -> bool:
        """Whether an object with this uid was here; ask only if it is not any more."""
        return uid in self._spent_uids or self.names.has_made(uid)

    def is_implied(self, kind: type[ApiObject], key: str) -> bool:
        """Whether there is such an object, and nobody gave it."""
        return (kind, key) in self._implied

    def admit(self, obj: ObjT) -> ObjT:
        """A new object as it would be stored."""
        return self.admission.admit(obj)

    def add(self, obj: ObjT) -> ObjT:
        """Store a new object that has been admitted.

        Raises:
            AlreadyExistsError: The key is taken.
            ForbiddenError: It is new, and more than a quota allows.
        """
        kind = type(obj)
        if kind is StorageClass:
            # The class that nobody gave is there only as long as there is no other.
            self._drop_implied(StorageClass, IMPLIED_STORAGE_CLASS.name)
        store = self.store(kind)
        name, key = self._name_and_key(obj, store.objects)
        if not self.quotas.is_empty and kind.namespaced and not is_standing(obj):
            self.quotas.check(obj, name)
        if kind.namespaced and obj.metadata.namespace not in self._namespaces:
            self._imply(Namespace(metadata=ObjectMeta(name=obj.metadata.namespace)))
        if isinstance(obj, Pod) and obj.node_name:
            obj = replace(obj, status=self._bound(obj.status, obj.node_name))
        self.version += 1
        new = replace(obj, metadata=self._new_metadata(obj.metadata, name))
        store.put(_ADDED, key, new, self.version)
        self._tell(None, new)
        if isinstance(new, Pod) and new.node_name:
            self._resume(new)
        elif isinstance(new, Node) and new.name in self.silent:
            self.silent.remove(new.name)
            self.catch_up_on(new.name)
        return new

    def change(self, old: ObjT, new: ObjT) -> ObjT:
        """Replace a stored object by one that needs no admission."""
        new = replace(new, metadata=self._next_metadata(new.metadata))
        self.store(type(new)).put(_MODIFIED, new.key, new, self.version)
        self._tell(old, new)
        return new

    def bind(
        self,
        key: str,
        pod: Pod,
        node_name: str,
        annotations: Mapping[str, str] | None,
    ) -> None:
        """Put a stored pod on a node, where it starts to run in the same write."""
        metadata = self._next_metadata(pod.metadata)
        if annotations:
            metadata = replace(
                metadata, annotations={**metadata.annotations, **annotations}
            )
        new = replace(
            pod,
            metadata=metadata,
            node_name=node_name,
            status=self._bound(pod.status, node_name),
        )
        self._pods.put(_MODIFIED, key, new, self.version)
        if self.controllers is not None:
            self.controllers.pod_changed(pod, new)
        if new.metadata.annotations:
            self._kubelet.follow(new)

    def delete(self, obj: ApiObject, grace_period_seconds: float | None = None) -> None:
        """Delete a stored object; a pod on a node gets its grace period first."""
        grace = 0.0
        if isinstance(obj, Pod) and obj.node_name and not obj.is_finished:
            grace = _grace_period(obj, grace_period_seconds)
        if grace > 0:
            self._terminate(obj, grace)
        else:
            self.let_go(obj)

    def let_go(self, obj: ApiObject) -> None:
        """Remove an object, or mark it as deleted for as long as it has finalizers."""
        if obj.metadata.finalizers:
            if isinstance(obj, Pod) and obj.node_name and not obj.is_finished:
                status = replace(obj.status, phase="Failed")
                obj = self.change(obj, replace(obj, status=status))
            self._terminate(obj, 0.0)
            return
        kind, key = type(obj), obj.key
        metadata = self._next_metadata(obj.metadata)
        last = replace(obj, metadata=metadata)
        self._implied.discard((kind, key))
        if not self.names.has_made(metadata.uid):
            self._spent_uids.add(metadata.uid)
        self.store(kind).drop(key, last, self.version)
        self._tell(obj, None)

    def let_go_if_due(self, obj: ApiObject) -> None:
        """Remove a deleted object that has just lost its last finalizer."""
        deadline = obj.metadata.deletion_timestamp
        if deadline is not None and deadline <= self.clock.now():
            self.let_go(obj)

    def catch_up_on(self, node_name: str) -> None:
        """Begin and end the pods of a node whose kubelet had not answered."""
        pods = self.objects(Pod).values()
        for pod in [one for one in pods if one.node_name == node_name]:
            if pod.is_terminating:
                self.let_go_if_due(pod)
                continue
            begun = replace(pod, status=self._kubelet.bound(pod.status))
            self._kubelet.follow(pod if begun == pod else self.change(pod, begun))

    def record(self, note: EventNote) -> None:
        """Write an Event."""
        self.events.add(note, self.clock.now())

    def refresh_classes(self) -> None:
        """Let admission know the stored classes and limit ranges."""
        self.admission.know_classes(
            self.objects(PriorityClass).values(), self.objects(StorageClass).values()
        )
        self.admission.know_rules(
            self.objects(RuntimeClass).values(), self.objects(LimitRange).values()
        )

    def _next_metadata(self, metadata: ObjectMeta) -> ObjectMeta:
        """The metadata after one more change."""
        self.version = version = self.version + 1
        return replace(metadata, resource_version=str(version))

    def _new_metadata(self, metadata: ObjectMeta, name: str) -> ObjectMeta:
        created, uid = metadata.creation_timestamp, metadata.uid
        if not uid or uid in self._spent_uids:
            uid = self.names.uid()
        else:
            self.names.note(uid)
        return replace(
            metadata,
            name=name,
            uid=uid,
            resource_version=str(self.version),
            generation=metadata.generation or 1,
            creation_timestamp=self._now() if created is None else created,
        )

    def _bound(self, status: PodStatus, node_name: str) -> PodStatus:
        """The status of a pod from the moment it is bound to a node."""
        if node_name in self.silent:
            return self._kubelet.waiting(status)
        return self._kubelet.bound(status)

    def _now(self) -> Time:
        """The time; one object for all that are created at the same moment."""
        now = self.clock.now()
        if now != self._moment:
            self._moment = Time(now)
        return self._moment

    def _name_and_key(
        self, obj: ApiObject, objects: Mapping[str, ApiObject]
    ) -> tuple[str, str]:
        """The name of a new object, which is made if it has none, and its key.

        Raises:
            AlreadyExistsError: The key is taken.
        """
        kind, metadata = type(obj), obj.metadata
        prefix = f"{metadata.namespace}/" if kind.namespaced else ""
        name = metadata.name
        if name:
            key = prefix + name
            if key in objects and not self._drop_implied(kind, key):
                raise AlreadyExistsError(f"{kind.kind} {key}: expected a free name")
            return name, key
        while True:
            name = self.names.name(metadata.generate_name)
            key = prefix + name
            if key not in objects:
                return name, key

    def _tell(self, old: ApiObject | None, new: ApiObject | None) -> None:
        if not self.quotas.is_empty:
            self._charge(old, new)
        if isinstance(old if new is None else new, Pod):
            controllers = self.controllers
            if controllers is not None:
                # Both are pods, or None.
                controllers.pod_changed(old, new)  # type: ignore[arg-type]
            return
        if isinstance(new if old is None else old, _CLASSES):
            self.refresh_classes()
        if isinstance(old, ResourceQuota) or isinstance(new, ResourceQuota):
            # Both are quotas, or None.
            self._quota_changed(old, new)  # type: ignore[arg-type]
        if self.controllers is not None:
            self.controllers.object_changed(old, new)

    def _charge(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Keep account of what the change of an object means to quotas."""
        has_changed, is_less = self.quotas.update(old, new)
        obj = old if new is None else new
        if has_changed and self.controllers is not None and obj is not None:
            self.controllers.usage_changed(obj.namespace, is_less=is_less)

    def _quota_changed(
        self, old: ResourceQuota | None, new: ResourceQuota | None
    ) -> None:
        if new is None:
            if old is not None:
                self.quotas.drop(old)
        elif old is None or old.spec != new.spec:
            self.quotas.put(
                new,
                (
                    obj
                    for kind, store in self._stores.items()
                    if kind.namespaced
                    for obj in store.objects.values()
                    if obj.metadata.namespace == new.namespace
                ),
            )

    def _imply(self, obj: ApiObject) -> None:
        stored = self.add(self.admit(obj))
        self._implied.add((type(stored), stored.key))

    def _drop_implied(self, kind: type[ApiObject], key: str) -> bool:
        if (kind, key) not in self._implied:
            return False
        self.let_go(self.objects(kind)[key])
        return True

    def _resume(self, pod: Pod) -> None:
        """Let go on what a pod was about to do when it was read elsewhere."""
        if pod.is_terminating:
            self._remove_later(pod, at_least=_SECONDS_TO_GO)
        self._kubelet.follow(pod)

    def _terminate(self, obj: ApiObject, grace: float) -> None:
        now = self.clock.now()
        metadata = obj.metadata
        deadline = metadata.deletion_timestamp
        if deadline is not None and deadline <= now + grace:
            return
        metadata = replace(
            metadata,
            deletion_timestamp=Time(now + grace),
            deletion_grace_period_seconds=math.ceil(grace),
        )
        new = self.change(obj, replace(obj, metadata=metadata))
        if isinstance(new, Pod) and grace > 0:
            self._remove_later(new)

    def _remove_later(self, pod: Pod, at_least: float = 0.0) -> None:
        metadata = pod.metadata
        now = self.clock.now()
        # The time may come from another cluster, the length of the grace is its own.
        grace = metadata.deletion_grace_period_seconds or 0
        latest = now + min(grace, LONGEST_SECONDS)
        due = max(now + at_least, min(metadata.deletion_timestamp or now, latest))
        self.clock.call_at(due, partial(self._end_grace, pod.key, metadata.uid))

    def _end_grace(self, key: str, uid: str) -> None:
        pod = self.objects(Pod).get(key)
        if pod is None or pod.metadata.uid != uid or pod.node_name in self.silent:
            return
        self.let_go(pod)

    def _end_pod(self, key: str, uid: str) -> None:
        pod = self.objects(Pod).get(key)
        if pod is None or pod.metadata.uid != uid or pod.is_finished:
            return
        if pod.node_name in self.silent:
            return
        ended = replace(pod, status=self._kubelet.ended(pod.status))
        ended = self.change(pod, ended)
        if ended.is_terminating:
            self.let_go(ended)


def _grace_period(pod: Pod, wanted: float | None) -> float:
    """How long a pod may take to end, as ``CheckGracefulDelete`` decides.

    Upstream's file is ``pkg/registry/core/pod/strategy.go`` (Kubernetes v1.36).
    """
    if wanted is None:
        own = pod.spec.termination_grace_period_seconds
        wanted = 30.0 if own is None else float(own)
    return 1.0 if wanted < 0 else min(wanted, LONGEST_SECONDS)
