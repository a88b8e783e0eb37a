"""What an API server does to an object before it stores it: fill in and check.

Nothing here depends on which nodes or pods exist; the classes that pods and claims
name are the only state.
"""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from quaymaster._memory.admission.classes import default_storage_class
from quaymaster._memory.admission.limit_objects import (
    default_limit_range,
    examine_limit_range,
    examine_quota,
    examine_runtime_class,
)
from quaymaster._memory.admission.object_checks import (
    SelectingWorkload,
    check_budget,
    check_job,
    check_metadata,
    check_node,
    check_priority_class,
    check_replication_controller,
    check_selecting_workload,
)
from quaymaster._memory.admission.pods import PodAdmission
from quaymaster._memory.admission.problems import AdmissionError, Report, place_of
from quaymaster._memory.admission.standing import is_standing
from quaymaster._memory.kubelet import with_kubelet_labels
from quaymaster.objects import (
    ApiObject,
    DaemonSet,
    Deployment,
    Job,
    LimitRange,
    Namespace,
    Node,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    RuntimeClass,
    StatefulSet,
    StorageClass,
)

__all__ = ["Admission"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class Admission:
    """Fills in and checks the objects of one cluster.

    Args:
        label_nodes: Whether nodes get the labels that their kubelets give them.
    """

    def __init__(self, label_nodes: bool) -> None:
        self._label_nodes = label_nodes
        self._pods = PodAdmission()
        self._priority_classes: tuple[PriorityClass, ...] = ()
        self._storage_classes: tuple[StorageClass, ...] = ()
        self._by_kind: dict[type[ApiObject], Callable[[Any, Report], Any]] = {
            Pod: self._pods.pod,
            Node: self._node,
            Namespace: _namespace,
            Deployment: self._workload,
            ReplicaSet: self._workload,
            StatefulSet: self._workload,
            DaemonSet: self._workload,
            ReplicationController: self._replication_controller,
            Job: self._job,
            PersistentVolumeClaim: self._claim,
            PodDisruptionBudget: _budget,
            PriorityClass: self._priority_class,
            StorageClass: _storage_class,
            RuntimeClass: examine_runtime_class,
            LimitRange: examine_limit_range,
            ResourceQuota: examine_quota,
        }

    def know_classes(
        self,
        priority_classes: Iterable[PriorityClass],
        storage_classes: Iterable[StorageClass],
    ) -> None:
        """From now on, these are the classes that there are."""
        self._priority_classes = tuple(priority_classes)
        self._storage_classes = tuple(storage_classes)
        self._pods.know_classes(self._priority_classes)

    def know_rules(
        self,
        runtime_classes: Iterable[RuntimeClass],
        limit_ranges: Iterable[LimitRange],
    ) -> None:
        """From now on, these are the rules for new pods and claims."""
        ranges = map(default_limit_range, limit_ranges)
        self._pods.know_rules(runtime_classes, ranges)

    def admit(self, obj: ObjT) -> ObjT:
        """A new object, as it is to be stored.

        Raises:
            AdmissionError: It breaks rules of its kind.
        """
        report = Report()
        admitted = self.examine(obj, report)
        if report:
            raise AdmissionError(report.problems(place_of(obj)))
        return admitted

    def admit_change(self, new: ObjT, old: ObjT) -> ObjT:
        """A changed object, as it is to be stored.

        Raises:
            AdmissionError: It breaks rules of its kind.
        """
        if not isinstance(new, Pod) or not isinstance(old, Pod):
            return self.admit(new)
        same_annotations = new.metadata.annotations == old.metadata.annotations
        if new.spec == old.spec and same_annotations:
            return cast(ObjT, replace(new, spec=old.spec))
        report = Report()
        admitted = self._pods.changed(new, old, report)
        if report:
            raise AdmissionError(report.problems(place_of(new)))
        return cast(ObjT, admitted)

    def examine(self, obj: ObjT, report: Report) -> ObjT:
        """A new object, as it is to be stored; what is wrong goes to the report."""
        metadata = obj.metadata
        if obj.namespaced is not bool(metadata.namespace):
            namespace = "default" if obj.namespaced else ""
            metadata = replace(metadata, namespace=namespace)
            obj = replace(obj, metadata=metadata)
        check_metadata(metadata, report)
        examine: Callable[[ObjT, Report], ObjT] | None
        examine = self._by_kind.get(type(obj))
        return obj if examine is None else examine(obj, report)

    def _node(self, node: Node, report: Report) -> Node:
        check_node(node, report)
        status = node.status
        if status.capacity and not status.allocatable:
            status = replace(status, allocatable=status.capacity)
            node = replace(node, status=status)
        return with_kubelet_labels(node) if self._label_nodes else node

    def _workload(
        self, workload: SelectingWorkload, report: Report
    ) -> SelectingWorkload:
        check_selecting_workload(workload, report)
        self._pods.template(workload.spec.template, report)
        if isinstance(workload, DaemonSet) or workload.spec.replicas is not None:
            return workload
        return replace(workload, spec=replace(workload.spec, replicas=1))

    def _replication_controller(
        self, rc: ReplicationController, report: Report
    ) -> ReplicationController:
        spec, metadata, template = rc.spec, rc.metadata, rc.spec.template
        if template is not None:
            labels = template.metadata.labels
            spec = replace(spec, selector=spec.selector or labels)
            metadata = replace(metadata, labels=metadata.labels or labels)
            self._pods.template(template, report)
        spec = replace(spec, replicas=1 if spec.replicas is None else spec.replicas)
        rc = replace(rc, metadata=metadata, spec=spec)
        check_replication_controller(rc, report)
        return rc

    def _job(self, job: Job, report: Report) -> Job:
        check_job(job, report)
        self._pods.template(job.spec.template, report)
        spec, metadata = job.spec, job.metadata
        completions = spec.completions
        if completions is None and spec.parallelism is None:
            completions = 1
        spec = replace(
            spec,
            completions=completions,
            parallelism=1 if spec.parallelism is None else spec.parallelism,
            backoff_limit=6 if spec.backoff_limit is None else spec.backoff_limit,
            completion_mode=spec.completion_mode or "NonIndexed",
            suspend=bool(spec.suspend),
        )
        labels = metadata.labels or spec.template.metadata.labels
        return replace(job, metadata=replace(metadata, labels=labels), spec=spec)

    def _claim(
        self, claim: PersistentVolumeClaim, report: Report
    ) -> PersistentVolumeClaim:
        spec, status = claim.spec, claim.status
        if spec.storage_class_name is None:
            default = default_storage_class(self._storage_classes)
            if default is not None:
                spec = replace(spec, storage_class_name=default.name)
        if not status.phase:
            status = replace(status, phase="Pending")
        self._pods.claim(claim, report)
        return replace(claim, spec=spec, status=status)

    def _priority_class(self, new: PriorityClass, report: Report) -> PriorityClass:
        check_priority_class(new, report)
        others = () if is_standing(new) else self._priority_classes
        for other in others:
            if new.global_default and other.global_default and other.name != new.name:
                message = f"expected one class with it, but {other.name} has it, too"
                report.add("globalDefault", message)
        policy = new.preemption_policy or "PreemptLowerPriority"
        return replace(new, preemption_policy=policy)


def _namespace(namespace: Namespace, _: Report) -> Namespace:
    metadata = namespace.metadata
    labels = {**metadata.labels, "kubernetes.io/metadata.name": metadata.name}
    return replace(namespace, metadata=replace(metadata, labels=labels))


def _budget(budget: PodDisruptionBudget, report: Report) -> PodDisruptionBudget:
    check_budget(budget, report)
    return budget


def _storage_class(storage_class: StorageClass, _: Report) -> StorageClass:
    return replace(
        storage_class,
        reclaim_policy=storage_class.reclaim_policy or "Delete",
        volume_binding_mode=storage_class.volume_binding_mode or "Immediate",
    )
