"""The in-memory cluster: an implementation of the port `quaymaster.cluster`."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, cast

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Event,
    LimitRange,
    Node,
    Pod,
    PriorityClass,
    RuntimeClass,
    StorageClass,
    Time,
)
from quaymaster._api.objects.status import with_status
from quaymaster._base.errors import ObjectError
from quaymaster._base.garbage import collector_paused
from quaymaster._base.notices import Notice
from quaymaster._base.versions.kubernetes import DEFAULT_KUBERNETES, Kubernetes
from quaymaster._clusters.inmemory.admission.problems import AdmissionError, place_of
from quaymaster._clusters.inmemory.attachment_notices import why_not_started
from quaymaster._clusters.inmemory.autoscaler_notices import (
    notices_of_shared_targets,
    notices_of_targets,
)
from quaymaster._clusters.inmemory.controllers.manager import Controllers
from quaymaster._clusters.inmemory.core import ClusterCore
from quaymaster._clusters.inmemory.kubelet import with_condition
from quaymaster._clusters.inmemory.limits import MAX_PODS, find_too_many
from quaymaster._clusters.inmemory.loading import admit_all
from quaymaster._clusters.inmemory.node_health import HealthObserver, NodeHealth
from quaymaster._clusters.inmemory.notices import (
    missing_replica,
    notices_of_cluster,
    notices_of_gated,
    notices_of_input,
    notices_of_refused,
    shortfall_of,
)
from quaymaster._clusters.inmemory.pod_times import INSTANT_POD_TIMES, PodTimes
from quaymaster._clusters.inmemory.run_times import RunTimes
from quaymaster._core.contract.clock import Clock
from quaymaster._core.contract.cluster import (
    ConflictError,
    EventNote,
    ForbiddenError,
    InvalidError,
    ListResult,
    NotFoundError,
    PodStatusPatch,
    Watch,
)

__all__ = ["InMemoryCluster"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class InMemoryCluster:
    """A cluster that lives in this process, behind the port `quaymaster.cluster`.

    It does what an API server does to objects (defaults, checks, versions, watches,
    graceful deletion), what controllers do for workloads (pods for Deployments,
    StatefulSets, DaemonSets, Jobs, ...) and what kubelets do (bound pods run, and end
    if they have the annotation ``simulation.quaymaster.io/run-seconds``). All actions
    follow the clock. The same calls produce the same objects, names included.

    It belongs to one thread: that of its clock. Controllers react when the clock runs
    its timers, not within the call that causes the reaction.

    Volumes are bound and created as in a cluster with a provisioner for every class. A
    cluster without any StorageClass has one, ``standard``. It is the default, waits for
    a claim's first pod, and creates the volume in the zone of that pod's node.

    Some rules are looser than those of a real API server, so that objects from another
    cluster can be loaded. A new object keeps its uid, times and status. A priority may
    come without its class. A namespace that does not exist is created. No class, limit
    range or quota rejects an object that was read from a cluster (it has a resource
    version, a time of creation, a node or a phase beyond ``Pending``); quotas count it.
    ``docs/reference/admission.md`` lists all rules.

    Args:
        clock: The cluster's time.
        seed: Decides the random parts of names, and the uids.
        history: How many past changes of each kind a watch can resume over, at least.
        max_events: How many different Events are kept.
        kubelet: Whether bound pods run (otherwise they stay pending), and whether nodes
            get the labels that kubelets set.
        controllers: Whether workloads get their pods, budgets their status, and so on.
        max_pods: How many pods all workloads together may have.
        workloads: Whether workloads get their pods. If not, the other controllers still
            work, and only the caller creates and deletes pods.
        kubernetes: The Kubernetes version whose API server and controllers are
        simulated.
        times: How long pods need to start and to end; by default they start at once,
            unless their probes or annotations delay them, and take their grace period.

    Attributes:
        clock: The cluster's time.
        kubernetes: The Kubernetes version whose API server and controllers are
        simulated.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        seed: int = 0,
        history: int = 10_000,
        max_events: int = 10_000,
        kubelet: bool = True,
        controllers: bool = True,
        max_pods: int = MAX_PODS,
        workloads: bool = True,
        kubernetes: Kubernetes = DEFAULT_KUBERNETES,
        times: PodTimes = INSTANT_POD_TIMES,
    ) -> None:
        self._max_pods = max_pods
        self._makes_pods = controllers and workloads
        self.clock = clock
        self.kubernetes = kubernetes
        self._core = ClusterCore(
            clock, seed, history, max_events, kubelet, kubernetes, times
        )
        self._pods = self._core.objects(Pod)
        self._nodes = self._core.objects(Node)
        self._health = NodeHealth(self._core)
        self._controllers = (
            Controllers(self._core, workloads=workloads) if controllers else None
        )
        self._core.controllers = self._controllers
        self._notices: list[Notice] = []

    @property
    def resource_version(self) -> int:
        """The version of the last change."""
        return self._core.version

    def load_unchecked(self, objects: Iterable[ApiObject]) -> None:
        """Load objects that an API server would reject, such as those of unit tests.

        They are stored as they are: without defaults, quotas and warnings, and their
        workloads get no pods.

        Args:
            objects: The objects; of several with the same key, the last one stays.
        """
        for obj in objects:
            self._core.add_unchecked(obj)

    def load(self, objects: Iterable[ApiObject], *, as_it_is: bool = False) -> None:
        """Load many objects at once: all of them, or none if some are invalid.

        The order does not matter, except among new objects if a quota has room for only
        some of them: `notices` lists the rejected ones. Afterwards the workloads have
        their pods. Workloads that were loaded with pods or ReplicaSets keep these.

        Args:
            objects: The objects.
            as_it_is: Whether to keep objects as the controllers of their own cluster
                left them. A claim without a volume then gets none here, unless it waits
                for its first consumer. The disruptions that a budget allows start from
                the loaded status.

        Raises:
            AdmissionError: Some objects break rules; it lists all problems.
        """
        loaded = list(objects)
        # Before anything is stored: the controllers handle each object while it is
        # stored.
        if as_it_is and self._controllers is not None:
            for obj in loaded:
                # New objects among the loaded ones are handled as new.
                if obj.metadata.resource_version:
                    self._controllers.keep(obj)
        core = self._core
        # Objects may refer to classes of the same load, wherever these are in it.
        core.admission.set_classes(
            self._with_stored(PriorityClass, loaded), self._storage_classes(loaded)
        )
        core.admission.set_rules(
            self._with_stored(RuntimeClass, loaded),
            self._with_stored(LimitRange, loaded),
        )
        # Loading makes many objects that all stay; the garbage collector would visit
        # them again and again.
        with collector_paused():
            try:
                admitted = admit_all(loaded, core.admission, core.is_taken)
            finally:
                # Nothing is stored if an object is rejected, so admission must forget
                # the new classes.
                core.refresh_classes()
            # Before anything is stored, so that a typing error in ``replicas`` does not
            # fill the memory.
            self._check_demand(admitted)
            refused = []
            for obj in admitted:
                try:
                    core.add(obj)
                # A quota rejects single objects, as for ``kubectl apply`` of a folder;
                # the rest is stored.
                except ForbiddenError as error:
                    refused.append((obj, error.reason))
            self._notices += notices_of_input(admitted, self._nodes)
            self._notices += notices_of_gated(admitted, core.kubernetes)
            self._notices += notices_of_refused(refused)
            self._notices += notices_of_targets(admitted, core)
            self._notices += notices_of_shared_targets(admitted, core)
            if self._controllers is not None:
                # At once, not by a timer: callers expect the pods of workloads after
                # this call.
                self._controllers.settle()

    def _check_demand(self, objects: Iterable[ApiObject]) -> None:
        """Reject workloads that request more pods than the limit."""
        if self._makes_pods:
            nodes = len(self._nodes)
            problems = find_too_many(objects, self._max_pods, nodes=nodes)
            if problems:
                raise AdmissionError(problems)

    def _with_stored(
        self, kind: type[ObjT], objects: Iterable[ApiObject]
    ) -> list[ObjT]:
        """Return the objects of a kind after the load."""
        new = (obj for obj in objects if isinstance(obj, kind))
        return [*self._core.objects(kind).values(), *new]

    def _storage_classes(self, objects: Iterable[ApiObject]) -> list[StorageClass]:
        """Return the classes after the load; loaded ones replace the implied one."""
        new = [obj for obj in objects if isinstance(obj, StorageClass)]
        stored = self._core.objects(StorageClass).values()
        return [old for old in stored if not new or self._core.is_taken(old)] + new

    def notices(self) -> tuple[Notice, ...]:
        """Return warnings for the user: assumptions, rejected objects, missing pods."""
        return (*self._notices, *notices_of_cluster(self._core))

    def why_missing(self, name: str, namespace: str = "") -> str:
        """Explain why a pod of a StatefulSet is missing.

        Args:
            name: The pod's name, such as ``db-4``.
            namespace: The pod's namespace; empty for all namespaces.

        Returns:
            The reason, or empty if no StatefulSet should have such a pod.
        """
        return missing_replica(self._core, name, namespace)

    def why_short(self, workload: ApiObject) -> str:
        """Explain why a workload has too few pods, or return an empty text."""
        return shortfall_of(self._core, workload)

    def why_not_started(self, pod: Pod) -> str:
        """Explain which claim keeps a pod from starting on its node; empty if none."""
        return why_not_started(self._core, pod)

    def events(self) -> tuple[Event, ...]:
        """Return the recorded Events, in the order of their first occurrence.

        A repeated event occurs once, with a series that counts. Notes that are
        functions are rendered now.
        """
        return self._core.events.events()

    def list(self, kind: type[ObjT]) -> ListResult[ObjT]:
        """List all objects of a kind; see `quaymaster.cluster.Cluster.list`."""
        objects = tuple(self._core.objects(kind).values())
        return ListResult(objects, self._core.version)

    def get(self, kind: type[ObjT], key: str) -> ObjT:
        """Return an object by its key; see `quaymaster.cluster.Cluster.get`."""
        obj = self._core.objects(kind).get(key)
        if obj is None:
            raise NotFoundError(f"{kind.kind} {key}: there is none")
        return obj

    def watch(
        self, kind: type[ObjT], resource_version: int, notify: Callable[[], None]
    ) -> Watch[ObjT]:
        """Follow the changes of a kind; see `quaymaster.cluster.Cluster.watch`."""
        return self._core.store(kind).watch(resource_version, notify)

    def admitted(self, obj: ObjT) -> ObjT:
        """Return a new object as `create` would store it, filled in; nothing is stored.

        Raises:
            AdmissionError: The object breaks rules of its kind.
        """
        return self._core.admit(obj)

    def create(self, obj: ObjT) -> ObjT:
        """Store a new object; see `quaymaster.cluster.Cluster.create`."""
        admitted = self._core.admit(obj)
        # Single pods need no check: it is for workloads that multiply.
        if not isinstance(admitted, Pod):
            self._check_demand((admitted,))
        return self._core.add(admitted)

    def update(self, obj: ObjT) -> ObjT:
        """Replace an object; see `quaymaster.cluster.Cluster.update`.

        Without a resource version it replaces any stored version. The times of creation
        and deletion cannot be changed, nor the node of a pod.

        Raises:
            InvalidError: The object breaks a rule of its kind.
        """
        old = self.get(type(obj), obj.key)
        stored = old.metadata
        _check_current(obj, stored.uid, stored.resource_version)
        if isinstance(obj, Pod) and obj.node_name != cast(Pod, old).node_name:
            raise InvalidError(f"{place_of(obj)}: spec.nodeName cannot be changed")
        # A caller cannot change these fields; an API server ignores them in an update,
        # too.
        metadata = replace(
            obj.metadata,
            uid=stored.uid,
            resource_version=stored.resource_version,
            creation_timestamp=stored.creation_timestamp,
            deletion_timestamp=stored.deletion_timestamp,
            deletion_grace_period_seconds=stored.deletion_grace_period_seconds,
        )
        new = replace(obj, metadata=metadata)
        new = self._core.admission.admit_change(new, old)
        # As an API server: an update without a change gets no new resource version, and
        # watches see nothing.
        if new == old:
            return old
        if not isinstance(new, Pod):
            self._check_demand((new,))
        changed = self._core.change(old, new)
        # The update may have removed the finalizer that a deletion waited for.
        if not metadata.finalizers:
            self._core.let_go_if_due(changed)
        return changed

    def delete(
        self,
        kind: type[ApiObject],
        key: str,
        *,
        uid: str | None = None,
        grace_period_seconds: float | None = None,
    ) -> None:
        """Delete an object; see `quaymaster.cluster.Cluster.delete`.

        A pod that runs on a node takes all of its grace period to end.
        """
        obj = self.get(kind, key)
        actual = obj.metadata.uid
        if uid not in (None, actual):
            raise ConflictError(f"{place_of(obj)}: its uid is {actual}, not {uid}")
        self._core.delete(obj, grace_period_seconds)

    def evict(self, key: str, *, grace_period_seconds: float | None = None) -> None:
        """Delete a pod if its disruption budget allows it, as the eviction API does.

        Args:
            key: The pod's key.
            grace_period_seconds: Overrides the pod's own grace period.

        Raises:
            NotFoundError: There is no such pod.
            TooManyRequestsError: A budget forbids it now.
            ApiError: More than one budget selects the pod.
        """
        # A small simulation takes about as long as its imports, and evicts nothing.
        from quaymaster._clusters.inmemory.evictions import evict  # noqa: PLC0415 - above

        evict(self._core, self.get(Pod, key), grace_period_seconds)

    @property
    def silent_nodes(self) -> frozenset[str]:
        """The names of the nodes whose kubelets do not answer."""
        return frozenset(
            name for name in self._core.lives.silent if name in self._nodes
        )

    def stop_kubelets(
        self, names: Iterable[str], observer: HealthObserver | None = None
    ) -> None:
        """Stop the kubelets of nodes, as when the machines are lost.

        The cluster notices after 50 seconds. On such nodes, pods neither start nor end.
        They are deleted when their tolerations of ``node.kubernetes.io/unreachable``
        end, and stay ``Terminating`` until the node answers or is deleted.

        Args:
            names: The nodes.
            observer: Receives what happens to their pods, or None.

        Raises:
            NotFoundError: There is no such node; then nothing has changed.
        """
        nodes = list(names)
        # All names are checked before the first kubelet stops.
        for name in nodes:
            self.get(Node, name)
        self._health.stop(nodes, observer or HealthObserver())

    def start_kubelets(self, names: Iterable[str]) -> None:
        """Start the kubelets of nodes again; running ones are not affected."""
        for name in names:
            if name in self._core.lives.silent:
                self._health.resume(name)

    @property
    def run_times(self) -> RunTimes | None:
        """What ends pods that run for a limited time; None for the kubelet."""
        return self._core.lives.run_times

    def use_run_times(self, run_times: RunTimes) -> None:
        """Let a model end pods that run for a limited time, also those that run."""
        self._core.lives.use_run_times(run_times)

    def bind(
        self,
        pod: Pod,
        node_name: str,
        *,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        """Bind a pod; see `quaymaster.cluster.Cluster.bind`.

        Rejects what upstream's ``setPodNodeAndMetadata`` rejects (Kubernetes v1.36,
        ``pkg/registry/core/pod/storage/storage.go``), and nodes that do not exist.
        """
        key = pod.key
        stored = self._pods.get(key)
        if stored is None:
            raise NotFoundError(f"Pod {key}: there is none")
        problem = _why_not_bindable(stored, pod.metadata.uid)
        if problem:
            raise ConflictError(f"Pod {key}: {problem}")
        if node_name not in self._nodes:
            raise NotFoundError(f"Node {node_name}: there is none")
        self._core.bind(key, stored, node_name, annotations)

    def patch_pod_status(self, pod: Pod, patch: PodStatusPatch) -> None:
        """Change a pod's status; see `quaymaster.cluster.Cluster.patch_pod_status`."""
        metadata = pod.metadata
        # As `ApiObject.key`, without the call: failed attempts patch all the time.
        key, uid = f"{metadata.namespace}/{metadata.name}", metadata.uid
        stored = self._pods.get(key)
        if stored is None or uid not in ("", stored.metadata.uid):
            raise NotFoundError(f"Pod {key} with uid {uid!r}: there is none")
        status = stored.status
        nominated, conditions = patch.nominated_node_name, status.conditions
        if nominated is None:
            nominated = status.nominated_node_name
        if patch.condition is not None:
            now = Time(self.clock.now())
            conditions = with_condition(conditions, patch.condition, now)
        # Schedulers patch the same condition at each attempt; watches need not repeat
        # it.
        if nominated == status.nominated_node_name and conditions == status.conditions:
            return
        status = replace(status, nominated_node_name=nominated, conditions=conditions)
        self._core.patch_pod(key, stored, status)

    def patch_status(self, obj: ObjT, changes: Mapping[str, object]) -> ObjT:
        """Change a status; see `quaymaster.cluster.Cluster.patch_status`."""
        stored = self.get(type(obj), obj.key)
        metadata = stored.metadata
        _check_current(obj, metadata.uid, metadata.resource_version)
        try:
            new = with_status(stored, changes)
        except ObjectError as error:
            raise InvalidError(f"{place_of(obj)}: {error}") from error
        if new == stored:
            return stored
        new = self._core.admission.admit_status(new, stored)
        return self._core.change(stored, new)

    def record(self, note: EventNote) -> None:
        """Write an Event; see `quaymaster.cluster.Cluster.record`."""
        self._core.events.add(note, self.clock.now())


def _check_current(obj: ApiObject, uid: str, version: str) -> None:
    """Reject a change by a caller that has read an older version or another object."""
    metadata = obj.metadata
    if metadata.uid not in ("", uid):
        raise ConflictError(f"{place_of(obj)}: its uid is {uid}, not {metadata.uid}")
    if metadata.resource_version not in ("", version):
        raise ConflictError(
            f"{place_of(obj)}: its version is {version}, not "
            f"{metadata.resource_version}: read it again"
        )


def _why_not_bindable(stored: Pod, uid: str) -> str:
    metadata = stored.metadata
    if uid not in ("", metadata.uid):
        return f"its uid is {metadata.uid}, not {uid}"
    if metadata.deletion_timestamp is not None:
        return "it is being deleted"
    if stored.node_name:
        return f"it is already on node {stored.node_name}"
    if stored.spec.scheduling_gates:
        return "it has scheduling gates"
    return ""
