"""Fills in and checks objects, as an API server does before it stores them.

Admission does not depend on which nodes or pods exist. Its only state is the classes
and rules for pods and claims.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    CronJob,
    DeviceClass,
    DeviceTaintRule,
    Job,
    LimitRange,
    Namespace,
    Node,
    Pod,
    PriorityClass,
    RuntimeClass,
    StorageClass,
)
from quaymaster._api.objects.kinds import GROUP_KINDS
from quaymaster._api.objects.report import Report
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.cron_jobs import changed_cron_job
from quaymaster._clusters.inmemory.admission.limit_ranges import default_limit_range
from quaymaster._clusters.inmemory.admission.metadata_checks import MetadataChecks
from quaymaster._clusters.inmemory.admission.node_checks import check_node
from quaymaster._clusters.inmemory.admission.pods import PodAdmission
from quaymaster._clusters.inmemory.admission.policy_checks import check_priority_class
from quaymaster._clusters.inmemory.admission.problems import AdmissionError, place_of
from quaymaster._clusters.inmemory.admission.repeats import Repeats
from quaymaster._clusters.inmemory.admission.rounding import round_amounts
from quaymaster._clusters.inmemory.admission.storage_checks import check_storage_class
from quaymaster._clusters.inmemory.kubelet import with_kubelet_labels

if TYPE_CHECKING:
    from quaymaster._clusters.inmemory.admission.kinds import KindAdmission

__all__ = ["Admission"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class Admission:
    """Fills in and checks the objects of one cluster.

    Args:
        kubernetes: The Kubernetes version whose API server is simulated.
        now: Returns the time.
        label_nodes: Whether nodes get the labels that their kubelets give them.
    """

    def __init__(
        self, kubernetes: Kubernetes, now: Callable[[], float], *, label_nodes: bool
    ) -> None:
        self._label_nodes = label_nodes
        self._now = now
        self._kubernetes = kubernetes
        self._metadata = MetadataChecks()
        self._pods = PodAdmission(kubernetes)
        # The same few pods are created again and again by a controller or a study:
        # their templates differ by name only. See `Repeats`.
        self._repeats = Repeats()
        self._priority_classes: tuple[PriorityClass, ...] = ()
        self._storage_classes: tuple[StorageClass, ...] = ()
        self._by_kind: dict[type[ApiObject], Callable[[Any, Report], Any]] = {
            Pod: self._pods.pod,
            Node: self._node,
            Namespace: _namespace,
            PriorityClass: self._priority_class,
            StorageClass: _storage_class,
        }

    @cached_property
    def _others(self) -> "KindAdmission":
        """What admits all other kinds, which a small cluster does not have."""
        from quaymaster._clusters.inmemory.admission.kinds import (  # noqa: PLC0415 - see that module
            KindAdmission,
        )

        return KindAdmission(
            self._pods,
            self._kubernetes,
            self._now,
            lambda: self._storage_classes,
            lambda: self._priority_classes,
        )

    def set_classes(
        self,
        priority_classes: Iterable[PriorityClass],
        storage_classes: Iterable[StorageClass],
    ) -> None:
        """Replace the classes."""
        self._priority_classes = tuple(priority_classes)
        self._storage_classes = tuple(storage_classes)
        self._pods.set_classes(self._priority_classes)
        # What a pod becomes depends on the classes, so remembered results are stale
        # now.
        self._repeats.forget()

    def set_rules(
        self,
        runtime_classes: Iterable[RuntimeClass],
        limit_ranges: Iterable[LimitRange],
    ) -> None:
        """Replace the rules for new pods and claims."""
        ranges = map(default_limit_range, limit_ranges)
        self._pods.set_rules(runtime_classes, ranges)
        self._repeats.forget()

    def admit(self, obj: ObjT) -> ObjT:
        """Return a new object as it is to be stored.

        Raises:
            AdmissionError: The object breaks rules of its kind.
        """
        # Only pods come in thousands that are alike; other kinds are admitted one by
        # one.
        if not isinstance(obj, Pod):
            return self._admit(obj)
        stored = self._repeats.stored(obj)
        if stored is None:
            stored = self._admit(obj)
            self._repeats.note(obj, stored)
        return stored  # type: ignore[return-value]  # both are pods

    def _admit(self, obj: ObjT) -> ObjT:
        report = Report()
        admitted = self.examine(obj, report)
        if report:
            raise AdmissionError(report.problems(place_of(obj)))
        return admitted

    def admit_change(self, new: ObjT, old: ObjT) -> ObjT:
        """Return a changed object as it is to be stored.

        Raises:
            AdmissionError: The object breaks rules of its kind.
        """
        if not isinstance(new, Pod) or not isinstance(old, Pod):
            return self._admit_changed(new, old)
        same_labels = new.metadata.labels == old.metadata.labels
        same_annotations = new.metadata.annotations == old.metadata.annotations
        # Most changes of pods touch only the status, conditions or finalizers. Keeping
        # the old spec also lets caches that compare specs by identity recognise it.
        if new.spec == old.spec and same_annotations and same_labels:
            return cast(ObjT, replace(new, spec=old.spec))
        report = Report()
        self._metadata.check(new, report)
        admitted = self._pods.changed(new, old, report)
        if report:
            raise AdmissionError(report.problems(place_of(new)))
        return cast(ObjT, admitted)

    def _admit_changed(self, new: ObjT, old: ObjT) -> ObjT:
        """Return a changed object that is not a pod, as it is to be stored."""
        report = Report()
        if type(new) in GROUP_KINDS:
            self._metadata.check(new, report)
            changed = self._others.groups.changed(new, old, report)
            _raise_if_wrong(changed, report)
            return cast(ObjT, changed)
        if isinstance(new, Job) and isinstance(old, Job):
            self._metadata.check(new, report)
            job = self._others.workloads.changed_job(new, old, report)
            _raise_if_wrong(job, report)
            return cast(ObjT, job)
        # Dropping disabled fields comes first, as ``PrepareForUpdate`` runs before
        # validation upstream: a dropped field is never reported as wrong.
        if isinstance(new, CronJob) and isinstance(old, CronJob):
            new = cast(ObjT, changed_cron_job(new, old, self._kubernetes))
        admitted = self.examine(new, report)
        if isinstance(new, DeviceClass) and isinstance(old, DeviceClass):
            self._others.check_changed_class(new, old, report)
        if report:
            raise AdmissionError(report.problems(place_of(new)))
        if isinstance(admitted, DeviceTaintRule) and isinstance(old, DeviceTaintRule):
            return cast(ObjT, self._others.changed_rule(admitted, old))
        return admitted

    def admit_status(self, new: ObjT, old: ObjT) -> ObjT:
        """Return an object with a changed status, as it is to be stored.

        Raises:
            AdmissionError: The status of a group breaks rules.
        """
        # The status of other kinds is written by the simulated controllers and kubelets
        # alone, so it is stored without checks.
        if type(new) not in GROUP_KINDS:
            return new
        report = Report()
        changed = self._others.groups.check_status(new, old, report)
        _raise_if_wrong(changed, report)
        return cast(ObjT, changed)

    def examine(self, obj: ObjT, report: Report) -> ObjT:
        """Fill in a new object for storage, and report what is wrong with it."""
        metadata = obj.metadata
        # The path of a request names the namespace upstream
        # (``EnsureObjectNamespaceMatchesRequestNamespace``). A manifest has no path, so
        # kubectl's default counts.
        if obj.namespaced is not bool(metadata.namespace):
            namespace = "default" if obj.namespaced else ""
            metadata = replace(metadata, namespace=namespace)
            obj = replace(obj, metadata=metadata)
        self._metadata.check(obj, report)
        examine: Callable[[ObjT, Report], ObjT] | None
        examine = self._by_kind.get(type(obj))
        if examine is None:
            examine = self._others.by_kind.get(type(obj))
        return obj if examine is None else examine(obj, report)

    def _node(self, node: Node, report: Report) -> Node:
        capacity = round_amounts(node.status.capacity)
        # ``SetDefaults_NodeStatus``: a node without allocatable amounts offers all of
        # its capacity.
        allocatable = round_amounts(node.status.allocatable) or capacity
        status = node.status
        # Identity: an object that needs no rounding is returned as it is.
        if capacity is not status.capacity or allocatable is not status.allocatable:
            status = replace(status, capacity=capacity, allocatable=allocatable)
            node = replace(node, status=status)
        check_node(node, report)
        # After the check: a kubelet registers its node with these labels, so they are
        # not part of what the user wrote.
        return with_kubelet_labels(node) if self._label_nodes else node

    def _priority_class(self, new: PriorityClass, report: Report) -> PriorityClass:
        check_priority_class(new, report)
        # A cluster that was read may hold two defaults, from a race of two API servers.
        # The priority plugin checks requests only, and so does this.
        others = () if is_already_admitted(new) else self._priority_classes
        for other in others:
            if new.global_default and other.global_default and other.name != new.name:
                message = f"expected one class with it, but {other.name} has it, too"
                report.add("globalDefault", message)
        policy = new.preemption_policy or "PreemptLowerPriority"
        return replace(new, preemption_policy=policy)


def _raise_if_wrong(obj: ApiObject, report: Report) -> None:
    if report:
        raise AdmissionError(report.problems(place_of(obj)))


def _namespace(namespace: Namespace, _: Report) -> Namespace:
    metadata = namespace.metadata
    labels = {**metadata.labels, "kubernetes.io/metadata.name": metadata.name}
    return replace(namespace, metadata=replace(metadata, labels=labels))


def _storage_class(storage_class: StorageClass, report: Report) -> StorageClass:
    reclaim, mode = storage_class.reclaim_policy, storage_class.volume_binding_mode
    # The defaults come before the check: upstream validates the internal type, in which
    # both fields are already set (``SetDefaults_StorageClass``).
    storage_class = replace(
        storage_class,
        reclaim_policy="Delete" if reclaim is None else reclaim,
        volume_binding_mode="Immediate" if mode is None else mode,
    )
    check_storage_class(storage_class, report)
    return storage_class
