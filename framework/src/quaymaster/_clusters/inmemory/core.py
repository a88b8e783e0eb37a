"""The core of the in-memory cluster: versions, storage, deletion."""

import math
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    LimitRange,
    Namespace,
    Node,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodStatus,
    PriorityClass,
    ResourceQuota,
    RuntimeClass,
    StorageClass,
    Time,
)
from quaymaster._api.objects.kinds import GROUP_KINDS
from quaymaster._api.objects.vertical_autoscaling import VerticalPodAutoscaler
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.admission import Admission
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.classes import (
    IMPLIED_STORAGE_CLASS,
    SYSTEM_PRIORITY_CLASSES,
)
from quaymaster._clusters.inmemory.controllers.manager import Controllers
from quaymaster._clusters.inmemory.durations import LONGEST_SECONDS
from quaymaster._clusters.inmemory.events import EventLog
from quaymaster._clusters.inmemory.names import NameMaker
from quaymaster._clusters.inmemory.pod_lives import PodLives
from quaymaster._clusters.inmemory.pod_times import INSTANT_POD_TIMES, PodTimes
from quaymaster._clusters.inmemory.quotas.ledger import QuotaLedger
from quaymaster._clusters.inmemory.recommendations import PodRecommendations
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


class ClusterCore:
    """Stores objects and applies the consequences.

    Args:
        clock: The cluster's time.
        seed: Decides the random parts of names, and the uids.
        history: How many past changes of each kind are kept at least.
        max_events: How many different Events are kept.
        kubelet: Whether bound pods run.
        kubernetes: The Kubernetes version whose API server and controllers are
        simulated.
        times: How long pods need to start and to end.

    Attributes:
        clock: The cluster's time.
        kubernetes: The Kubernetes version whose API server and controllers are
        simulated.
        names: Generates names and uids.
        version: The resource version of the last change.
        admission: Checks and completes objects before they are stored.
        events: The recorded Events.
        shortfalls: The pods that workloads lack.
        quotas: The limits and the usage of namespaces.
        controllers: They are called with every change; None for no controllers.
        lives: Starts and ends the pods of nodes.
    """

    def __init__(
        self,
        clock: Clock,
        seed: int,
        history: int,
        max_events: int,
        kubelet: bool,
        kubernetes: Kubernetes,
        times: PodTimes = INSTANT_POD_TIMES,
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
        self._history = history
        self._stores: dict[type[ApiObject], KindStore[Any]] = {}
        # Kept beside the mapping of stores, as `bind` runs for each pod.
        self._pods = self.store(Pod)
        self._namespaces = self.store(Namespace).objects
        self._recommendations = PodRecommendations(self.objects)
        self._moment = Time(clock.now())
        self.lives = PodLives(self, times, runs_pods=kubelet)
        # Implied objects: a loaded object of the same key replaces them.
        self._implied: set[tuple[type[ApiObject], str]] = set()
        # Uids of removed objects that were loaded: never to be generated again.
        self._spent_uids: set[str] = set()
        for priority_class in SYSTEM_PRIORITY_CLASSES:
            self._imply(priority_class)
        self._imply(IMPLIED_STORAGE_CLASS)

    def store(self, kind: type[ObjT]) -> KindStore[ObjT]:
        """Return the store of a kind."""
        store = self._stores.get(kind)
        if store is None:
            store = self._stores[kind] = KindStore(kind, self._history)
        return store

    def objects(self, kind: type[ObjT]) -> Mapping[str, ObjT]:
        """Return the stored objects of a kind by key, in creation order."""
        return self.store(kind).objects

    def is_taken(self, obj: ApiObject) -> bool:
        """Return whether an object of this kind and key exists and is not implied."""
        kind, key = type(obj), obj.key
        return key in self.objects(kind) and (kind, key) not in self._implied

    def has_gone(self, uid: str) -> bool:
        """Return whether an object with this uid existed; call only if it is gone."""
        return uid in self._spent_uids or self.names.has_made(uid)

    def is_implied(self, kind: type[ApiObject], key: str) -> bool:
        """Return whether such an object exists and is implied."""
        return (kind, key) in self._implied

    def admit(self, obj: ObjT) -> ObjT:
        """Return a new object as it would be stored."""
        admitted = self.admission.admit(obj)
        if not isinstance(admitted, Pod):
            return admitted
        changed = self._recommendations.applied(admitted)
        # Identity: without a recommendation it is the same pod. Otherwise a server
        # checks the pod again after its webhooks.
        if changed is admitted:
            return admitted
        return self.admission.admit(changed)  # type: ignore[return-value]  # both are pods

    def add(self, obj: ObjT) -> ObjT:
        """Store a new object that has been admitted.

        Raises:
            AlreadyExistsError: The key is taken.
            ForbiddenError: The object is new, and exceeds a quota.
        """
        kind = type(obj)
        if kind is StorageClass:
            # The implied class exists only while there is no other.
            self._drop_implied(StorageClass, IMPLIED_STORAGE_CLASS.name)
        store = self.store(kind)
        name, key = self._name_and_key(obj, store.objects)
        if (
            not self.quotas.is_empty
            and kind.namespaced
            and not is_already_admitted(obj)
        ):
            # After the name is chosen, which the message has, and before anything is
            # stored.
            self.quotas.check(obj, name)
        if kind.namespaced and obj.metadata.namespace not in self._namespaces:
            # A real server rejects an unknown namespace; manifests often leave it out.
            self._imply(Namespace(metadata=ObjectMeta(name=obj.metadata.namespace)))
        self.version += 1
        new = replace(obj, metadata=self._new_metadata(obj.metadata, name, kind))
        if isinstance(new, Pod) and new.node_name:
            # A pod of a dump may run already, and need no start.
            new = replace(new, status=self.lives.created(new))
        store.put(_ADDED, key, new, self.version)
        # The object is stored first: controllers read the cluster while they are
        # notified.
        self._notify(None, new)
        if isinstance(new, Pod) and new.node_name:
            self.lives.resume(new)
        elif isinstance(new, Node) and new.name in self.lives.silent:
            self.lives.silent.remove(new.name)
            # A new node of this name has a kubelet of its own, which was never silent.
            self.lives.catch_up_on(new.name)
        return new

    def add_unchecked(self, obj: ApiObject) -> None:
        """Store a new object that was not admitted, and start nothing for it."""
        self.version += 1
        metadata = self._new_metadata(obj.metadata, obj.name, type(obj))
        if obj.metadata.resource_version:
            version = obj.metadata.resource_version
            metadata = replace(metadata, resource_version=version)
        new = replace(obj, metadata=metadata)
        self.store(type(obj)).put(_ADDED, new.key, new, self.version)

    def change(self, old: ObjT, new: ObjT) -> ObjT:
        """Replace a stored object by one that needs no admission."""
        new = replace(new, metadata=self._next_metadata(new.metadata))
        self.store(type(new)).put(_MODIFIED, new.key, new, self.version)
        self._notify(old, new)
        return new

    def bind(
        self,
        key: str,
        pod: Pod,
        node_name: str,
        annotations: Mapping[str, str] | None,
    ) -> None:
        """Bind a stored pod to a node.

        A pod without a start-up time begins to run in the same write.
        """
        metadata = self._next_metadata(pod.metadata)
        if annotations:
            metadata = replace(
                metadata, annotations={**metadata.annotations, **annotations}
            )
        status, seconds = self.lives.bind(pod, node_name)
        # One write for the bind and for the start of the pod, where a cluster needs
        # several: together with the keys and times below, a pod of SchedulingBasic
        # takes 33 us outside of decision and creation, instead of 44 us.
        new = replace(pod, metadata=metadata, node_name=node_name, status=status)
        self._pods.put(_MODIFIED, key, new, self.version)
        if seconds:
            self.lives.start_later(new, seconds)
        if self.controllers is not None:
            self.controllers.pod_changed(pod, new)
        if new.metadata.annotations:
            self.lives.follow(new)

    def patch_pod(self, key: str, pod: Pod, status: PodStatus) -> None:
        """Replace the status of a stored pod; the same as `change`, in less time."""
        new = replace(pod, metadata=self._next_metadata(pod.metadata), status=status)
        self._pods.put(_MODIFIED, key, new, self.version)
        self._notify(pod, new)

    def delete(self, obj: ApiObject, grace_period_seconds: float | None = None) -> None:
        """Delete a stored object; a pod on a node gets its grace period first."""
        grace = 0.0
        # An unbound or ended pod has no kubelet to wait for.
        if isinstance(obj, Pod) and obj.node_name and not obj.is_finished:
            grace = _grace_period(obj, grace_period_seconds)
        if grace > 0:
            self._terminate(obj, grace)
        else:
            self.let_go(obj)

    def let_go(self, obj: ApiObject) -> None:
        """Remove an object, or mark it as deleted while it has finalizers."""
        if self.controllers is not None and isinstance(
            obj, PersistentVolume | PersistentVolumeClaim
        ):
            obj = self.controllers.storage.protection.protected(obj)
        self._remove(obj)

    def let_go_if_due(self, obj: ApiObject) -> None:
        """Remove a deleted object that has just lost its last finalizer."""
        deadline = obj.metadata.deletion_timestamp
        if deadline is not None and deadline <= self.clock.now():
            self._remove(obj)

    def _remove(self, obj: ApiObject) -> None:
        if obj.metadata.finalizers:
            if isinstance(obj, Pod) and obj.node_name and not obj.is_finished:
                # Its kubelet has ended it, and only finalizers keep it. It must not
                # take room until they go.
                status = replace(obj.status, phase="Failed")
                obj = self.change(obj, replace(obj, status=status))
            self._terminate(obj, 0.0)
            return
        kind, key = type(obj), obj.key
        metadata = self._next_metadata(obj.metadata)
        last = replace(obj, metadata=metadata)
        self._implied.discard((kind, key))
        # Uids that this cluster has made are remembered by their form, so only others
        # need the set.
        if not self.names.has_made(metadata.uid):
            self._spent_uids.add(metadata.uid)
        self.store(kind).drop(key, last, self.version)
        self._notify(obj, None)

    def record(self, note: EventNote) -> None:
        """Write an Event."""
        self.events.add(note, self.clock.now())

    def refresh_classes(self) -> None:
        """Pass the stored classes and limit ranges to admission."""
        self.admission.set_classes(
            self.objects(PriorityClass).values(), self.objects(StorageClass).values()
        )
        self.admission.set_rules(
            self.objects(RuntimeClass).values(), self.objects(LimitRange).values()
        )

    def _next_metadata(self, metadata: ObjectMeta) -> ObjectMeta:
        """Return the metadata after one more change."""
        self.version = version = self.version + 1
        return replace(metadata, resource_version=str(version))

    def _new_metadata(
        self, metadata: ObjectMeta, name: str, kind: type[ApiObject]
    ) -> ObjectMeta:
        created, uid = metadata.creation_timestamp, metadata.uid
        # A loaded object may have the uid of one that was removed; owners would then be
        # confused.
        if not uid or uid in self._spent_uids:
            uid = self.names.uid()
        else:
            self.names.note(uid)
        return replace(
            metadata,
            name=name,
            uid=uid,
            resource_version=str(self.version),
            # An API server does not count the generations of groups.
            generation=metadata.generation or (0 if kind in GROUP_KINDS else 1),
            creation_timestamp=self._now() if created is None else created,
        )

    def _now(self) -> Time:
        """Return the time; one object for all objects of the same moment."""
        # Simulated workloads create many pods in one moment of the virtual clock.
        now = self.clock.now()
        if now != self._moment:
            self._moment = Time(now)
        return self._moment

    def _name_and_key(
        self, obj: ApiObject, objects: Mapping[str, ApiObject]
    ) -> tuple[str, str]:
        """Return the name of a new object, generated if it has none, and its key.

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

    def _notify(self, old: ApiObject | None, new: ApiObject | None) -> None:
        # Without quotas, the usage of nothing need be counted.
        if not self.quotas.is_empty:
            self._charge(old, new)
        obj = old if new is None else new
        if isinstance(obj, Pod):
            if obj.spec.volumes and obj.node_name and (new is None or obj.is_finished):
                # The volume is free for another node before controllers react to the
                # change of the pod.
                self.lives.detach(obj)
            controllers = self.controllers
            if controllers is not None:
                # Both are pods, or None.
                controllers.pod_changed(old, new)  # type: ignore[arg-type]
            return
        self._follow(old, new)
        if self.controllers is not None:
            self.controllers.object_changed(old, new)

    def _follow(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Update what the cluster itself derives from an object other than a pod."""
        obj = old if new is None else new
        if isinstance(obj, _CLASSES):
            self.refresh_classes()
            self._recommendations.forget()
        elif isinstance(obj, PersistentVolumeClaim):
            self.lives.claim_changed(obj.key)
        elif isinstance(obj, ResourceQuota):
            # Both are quotas, or None.
            self._quota_changed(old, new)  # type: ignore[arg-type]
        elif isinstance(obj, VerticalPodAutoscaler):
            self._recommendations.forget()
        elif isinstance(obj, Node):
            # Both are nodes, or None.
            self.lives.node_changed(old, new)  # type: ignore[arg-type]

    def _charge(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Update the usage of quotas by the change of an object."""
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
        # The usage in its status is written by a controller, and must not start the
        # count again.
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
        # Not deleted as by a user: implied objects have no finalizers and no grace
        # period.
        self.let_go(self.objects(kind)[key])
        return True

    def _terminate(self, obj: ApiObject, grace: float) -> None:
        now = self.clock.now()
        metadata = obj.metadata
        deadline = metadata.deletion_timestamp
        # As in an API server, a second deletion may only shorten the grace period.
        if deadline is not None and deadline <= now + grace:
            return
        metadata = replace(
            metadata,
            deletion_timestamp=Time(now + grace),
            # The API has whole seconds here; the deadline itself keeps the fraction.
            deletion_grace_period_seconds=math.ceil(grace),
        )
        new = self.change(obj, replace(obj, metadata=metadata))
        if isinstance(new, Pod) and grace > 0:
            self.lives.remove_later(new)


def _grace_period(pod: Pod, seconds: float | None) -> float:
    """Return how long a pod may take to end, as ``CheckGracefulDelete`` decides.

    Upstream's file is ``pkg/registry/core/pod/strategy.go`` (Kubernetes v1.36).
    """
    if seconds is None:
        own = pod.spec.termination_grace_period_seconds
        seconds = 30.0 if own is None else float(own)
    return 1.0 if seconds < 0 else min(seconds, LONGEST_SECONDS)
