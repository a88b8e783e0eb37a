"""Fills in and checks objects, as an API server does before it stores them.

Admission does not depend on which nodes or pods exist. Its only state is the classes
and rules for pods and claims.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar, cast

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DaemonSet,
    Deployment,
    DeviceClass,
    DeviceTaintRule,
    HorizontalPodAutoscaler,
    Job,
    LimitRange,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceQuota,
    ResourceSlice,
    RuntimeClass,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
)
from quaymaster._api.objects.keda import ScaledJob, ScaledObject
from quaymaster._api.objects.report import Report
from quaymaster._api.objects.vertical_autoscaling import VerticalPodAutoscaler
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.autoscaler_checks import (
    autoscaler_admission,
)
from quaymaster._clusters.inmemory.admission.classes import default_storage_class
from quaymaster._clusters.inmemory.admission.data_sources import default_data_sources
from quaymaster._clusters.inmemory.admission.device_checks import check_resource_slice
from quaymaster._clusters.inmemory.admission.device_claim_checks import (
    CLAIM_OF_POD,
    check_claim_expressions,
    check_class_expressions,
    check_device_claim,
    check_device_class,
)
from quaymaster._clusters.inmemory.admission.device_defaults import (
    default_claim_of_devices,
)
from quaymaster._clusters.inmemory.admission.device_fields import without_gated_fields
from quaymaster._clusters.inmemory.admission.device_taint_rules import (
    TaintTimes,
    check_taint_rule,
)
from quaymaster._clusters.inmemory.admission.keda_checks import (
    check_scaled_object,
    scaled_job_admission,
)
from quaymaster._clusters.inmemory.admission.limit_objects import (
    default_limit_range,
    examine_limit_range,
    examine_quota,
    examine_runtime_class,
)
from quaymaster._clusters.inmemory.admission.metadata_checks import (
    MetadataChecks,
    check_labels,
)
from quaymaster._clusters.inmemory.admission.node_checks import (
    check_csi_node,
    check_node,
)
from quaymaster._clusters.inmemory.admission.pods import PodAdmission
from quaymaster._clusters.inmemory.admission.policy_checks import (
    check_budget,
    check_priority_class,
)
from quaymaster._clusters.inmemory.admission.problems import AdmissionError, place_of
from quaymaster._clusters.inmemory.admission.repeats import Repeats
from quaymaster._clusters.inmemory.admission.rounding import round_amounts
from quaymaster._clusters.inmemory.admission.storage_checks import (
    check_attachment,
    check_csi_driver,
    check_storage_capacity,
    check_storage_class,
    check_volume,
)
from quaymaster._clusters.inmemory.admission.vertical_autoscaler_checks import (
    check_vertical_autoscaler,
)
from quaymaster._clusters.inmemory.admission.volume_checks import check_claim_spec
from quaymaster._clusters.inmemory.admission.volume_defaults import (
    default_claim_spec,
    default_volume_spec,
)
from quaymaster._clusters.inmemory.admission.workloads import WorkloadAdmission
from quaymaster._clusters.inmemory.kubelet import with_kubelet_labels
from quaymaster._kits.volumes.names import BETA_STORAGE_CLASS

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
        self._taint_times = TaintTimes(now)
        self._kubernetes = kubernetes
        self._metadata = MetadataChecks()
        self._pods = PodAdmission(kubernetes)
        self._repeats = Repeats()
        self._priority_classes: tuple[PriorityClass, ...] = ()
        self._storage_classes: tuple[StorageClass, ...] = ()
        workloads = WorkloadAdmission(self._pods, kubernetes)
        self._by_kind: dict[type[ApiObject], Callable[[Any, Report], Any]] = {
            Pod: self._pods.pod,
            Node: self._node,
            Namespace: _namespace,
            Deployment: workloads.deployment,
            ReplicaSet: workloads.replica_set,
            StatefulSet: workloads.stateful_set,
            DaemonSet: workloads.daemon_set,
            ReplicationController: workloads.replication_controller,
            Job: workloads.job,
            Service: _checked_by(_check_service),
            PersistentVolume: _volume,
            PersistentVolumeClaim: self._claim,
            PodDisruptionBudget: _checked_by(check_budget),
            HorizontalPodAutoscaler: autoscaler_admission(kubernetes),
            VerticalPodAutoscaler: _checked_by(check_vertical_autoscaler),
            ScaledObject: _checked_by(check_scaled_object),
            ScaledJob: scaled_job_admission(workloads.job),
            PriorityClass: self._priority_class,
            StorageClass: _storage_class,
            CSIDriver: partial(_csi_driver, kubernetes=kubernetes),
            CSINode: _checked_by(check_csi_node),
            CSIStorageCapacity: _checked_by(check_storage_capacity),
            VolumeAttachment: _checked_by(check_attachment),
            DeviceClass: _checked_by(self._check_device_class),
            DeviceTaintRule: self._taint_rule,
            ResourceSlice: self._resource_slice,
            ResourceClaim: self._device_claim,
            ResourceClaimTemplate: self._device_claim_template,
            RuntimeClass: partial(examine_runtime_class, kubernetes=kubernetes),
            LimitRange: examine_limit_range,
            ResourceQuota: examine_quota,
        }

    def set_classes(
        self,
        priority_classes: Iterable[PriorityClass],
        storage_classes: Iterable[StorageClass],
    ) -> None:
        """Replace the classes."""
        self._priority_classes = tuple(priority_classes)
        self._storage_classes = tuple(storage_classes)
        self._pods.set_classes(self._priority_classes)
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
        admitted = self.examine(new, report)
        # Only their expressions can be changed, among all specs.
        if (
            isinstance(new, DeviceClass)
            and isinstance(old, DeviceClass)
            and new.spec.selectors != old.spec.selectors
        ):
            check_class_expressions(new, self._kubernetes, report)
        if report:
            raise AdmissionError(report.problems(place_of(new)))
        if isinstance(admitted, DeviceTaintRule) and isinstance(old, DeviceTaintRule):
            return cast(ObjT, self._taint_times.of_changed_rule(admitted, old))
        return admitted

    def examine(self, obj: ObjT, report: Report) -> ObjT:
        """Fill in a new object for storage, and report what is wrong with it."""
        metadata = obj.metadata
        if obj.namespaced is not bool(metadata.namespace):
            namespace = "default" if obj.namespaced else ""
            metadata = replace(metadata, namespace=namespace)
            obj = replace(obj, metadata=metadata)
        self._metadata.check(obj, report)
        examine: Callable[[ObjT, Report], ObjT] | None
        examine = self._by_kind.get(type(obj))
        return obj if examine is None else examine(obj, report)

    def _node(self, node: Node, report: Report) -> Node:
        capacity = round_amounts(node.status.capacity)
        allocatable = round_amounts(node.status.allocatable) or capacity
        status = node.status
        # Identity: an object that needs no rounding is returned as it is.
        if capacity is not status.capacity or allocatable is not status.allocatable:
            status = replace(status, capacity=capacity, allocatable=allocatable)
            node = replace(node, status=status)
        check_node(node, report)
        return with_kubelet_labels(node) if self._label_nodes else node

    def _claim(
        self, claim: PersistentVolumeClaim, report: Report
    ) -> PersistentVolumeClaim:
        spec, status = default_claim_spec(claim.spec), claim.status
        spec = default_data_sources(spec, self._kubernetes)
        names_class = BETA_STORAGE_CLASS in claim.annotations
        if spec.storage_class_name is None and not names_class:
            default = default_storage_class(self._storage_classes)
            if default is not None:
                spec = replace(spec, storage_class_name=default.name)
        check_claim_spec(spec, "spec", report)
        self._pods.claim(claim, report)
        if not status.phase:
            status = replace(status, phase="Pending")
        return replace(claim, spec=spec, status=status)

    def _taint_rule(self, rule: DeviceTaintRule, report: Report) -> DeviceTaintRule:
        check_taint_rule(rule, report)
        return self._taint_times.of_rule(rule)

    def _resource_slice(self, new: ResourceSlice, report: Report) -> ResourceSlice:
        if not is_already_admitted(new):
            new = without_gated_fields(new, self._kubernetes)
        check_resource_slice(new, report)
        return self._taint_times.of_slice(new)

    def _priority_class(self, new: PriorityClass, report: Report) -> PriorityClass:
        check_priority_class(new, report)
        others = () if is_already_admitted(new) else self._priority_classes
        for other in others:
            if new.global_default and other.global_default and other.name != new.name:
                message = f"expected one class with it, but {other.name} has it, too"
                report.add("globalDefault", message)
        policy = new.preemption_policy or "PreemptLowerPriority"
        return replace(new, preemption_policy=policy)

    def _check_device_class(self, device_class: DeviceClass, report: Report) -> None:
        check_device_class(device_class, report)
        if not is_already_admitted(device_class):
            check_class_expressions(device_class, self._kubernetes, report)

    def _device_claim(self, claim: ResourceClaim, report: Report) -> ResourceClaim:
        spec = default_claim_of_devices(claim.spec)
        check_device_claim(spec, "spec", report)
        # A controller copies the template, whose expressions were checked when it was
        # stored.
        if not is_already_admitted(claim) and CLAIM_OF_POD not in claim.annotations:
            check_claim_expressions(spec, "spec", self._kubernetes, report)
        return replace(claim, spec=spec)

    def _device_claim_template(
        self, template: ResourceClaimTemplate, report: Report
    ) -> ResourceClaimTemplate:
        spec = default_claim_of_devices(template.spec.spec)
        check_device_claim(spec, "spec.spec", report)
        if not is_already_admitted(template):
            check_claim_expressions(spec, "spec.spec", self._kubernetes, report)
        return replace(template, spec=replace(template.spec, spec=spec))


def _checked_by(
    check: Callable[[ObjT, Report], None],
) -> Callable[[ObjT, Report], ObjT]:
    """Make the admission of a kind that is only checked: no field is filled in."""

    def examine(obj: ObjT, report: Report) -> ObjT:
        check(obj, report)
        return obj

    return examine


def _check_service(service: Service, report: Report) -> None:
    check_labels(service.spec.selector, "spec.selector", report)


def _namespace(namespace: Namespace, _: Report) -> Namespace:
    metadata = namespace.metadata
    labels = {**metadata.labels, "kubernetes.io/metadata.name": metadata.name}
    return replace(namespace, metadata=replace(metadata, labels=labels))


def _volume(volume: PersistentVolume, report: Report) -> PersistentVolume:
    volume = replace(volume, spec=default_volume_spec(volume.spec))
    check_volume(volume, report)
    return volume


def _storage_class(storage_class: StorageClass, report: Report) -> StorageClass:
    reclaim, mode = storage_class.reclaim_policy, storage_class.volume_binding_mode
    storage_class = replace(
        storage_class,
        reclaim_policy="Delete" if reclaim is None else reclaim,
        volume_binding_mode="Immediate" if mode is None else mode,
    )
    check_storage_class(storage_class, report)
    return storage_class


def _csi_driver(
    driver: CSIDriver, report: Report, *, kubernetes: Kubernetes
) -> CSIDriver:
    spec = driver.spec
    if kubernetes.enabled("VolumeLimitScaling"):
        is_required = bool(spec.prevent_pod_scheduling_if_missing)
        spec = replace(spec, prevent_pod_scheduling_if_missing=is_required)
    attach = spec.attach_required
    spec = replace(
        spec,
        attach_required=True if attach is None else attach,
        pod_info_on_mount=bool(spec.pod_info_on_mount),
        storage_capacity=bool(spec.storage_capacity),
        volume_lifecycle_modes=spec.volume_lifecycle_modes or ("Persistent",),
    )
    driver = replace(driver, spec=spec)
    check_csi_driver(driver, report)
    return driver
