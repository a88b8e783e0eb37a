"""Fills in and checks the kinds of objects that a small cluster does not have.

`Admission` imports this module for the first object of such a kind: its imports take
4 ms, a hundredth of a small simulation.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    CronJob,
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
    PersistentVolume,
    PersistentVolumeClaim,
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
from quaymaster._clusters.inmemory.admission.cron_jobs import cron_job_admission
from quaymaster._clusters.inmemory.admission.csi_driver_checks import (
    check_csi_driver,
)
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
from quaymaster._clusters.inmemory.admission.groups import GroupAdmission
from quaymaster._clusters.inmemory.admission.keda_checks import (
    check_scaled_object,
    scaled_job_admission,
)
from quaymaster._clusters.inmemory.admission.limit_objects import (
    examine_limit_range,
    examine_quota,
    examine_runtime_class,
)
from quaymaster._clusters.inmemory.admission.metadata_checks import check_labels
from quaymaster._clusters.inmemory.admission.node_checks import check_csi_node
from quaymaster._clusters.inmemory.admission.pods import PodAdmission
from quaymaster._clusters.inmemory.admission.policy_checks import check_budget
from quaymaster._clusters.inmemory.admission.storage_checks import (
    check_attachment,
    check_storage_capacity,
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
from quaymaster._kits.volumes.names import BETA_STORAGE_CLASS

__all__ = ["KindAdmission"]

ObjT = TypeVar("ObjT", bound=ApiObject)


class KindAdmission:
    """Fills in and checks objects of all kinds but those of `Admission`.

    Args:
        pods: Fills in and checks the pods of templates.
        kubernetes: The Kubernetes version whose API server is simulated.
        now: Returns the time.
        storage_classes: Returns the storage classes.
        priority_classes: Returns the priority classes.

    Attributes:
        by_kind: A function for each kind, which returns the object as it is to be
            stored.
        groups: Fills in and checks groups of pods.
        workloads: Fills in and checks objects that create pods.
    """

    def __init__(
        self,
        pods: PodAdmission,
        kubernetes: Kubernetes,
        now: Callable[[], float],
        storage_classes: Callable[[], Iterable[StorageClass]],
        priority_classes: Callable[[], Iterable[PriorityClass]],
    ) -> None:
        self._pods = pods
        self._kubernetes = kubernetes
        self._taint_times = TaintTimes(now)
        self._storage_classes = storage_classes
        workloads = self.workloads = WorkloadAdmission(pods, kubernetes)
        self.groups = GroupAdmission(kubernetes, priority_classes)
        self.by_kind: dict[type[ApiObject], Callable[[Any, Report], Any]] = {
            Deployment: workloads.deployment,
            ReplicaSet: workloads.replica_set,
            StatefulSet: workloads.stateful_set,
            DaemonSet: workloads.daemon_set,
            ReplicationController: workloads.replication_controller,
            Job: workloads.job,
            CronJob: cron_job_admission(pods.template, kubernetes),
            Service: _checked_by(_check_service),
            PersistentVolume: _volume,
            PersistentVolumeClaim: self._claim,
            PodDisruptionBudget: _checked_by(check_budget),
            HorizontalPodAutoscaler: autoscaler_admission(kubernetes),
            VerticalPodAutoscaler: _checked_by(check_vertical_autoscaler),
            ScaledObject: _checked_by(check_scaled_object),
            ScaledJob: scaled_job_admission(workloads.job),
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
            **self.groups.by_kind,
        }

    def check_changed_class(
        self, new: DeviceClass, old: DeviceClass, report: Report
    ) -> None:
        """Check the expressions of a device class: no other kind can change its own."""
        if new.spec.selectors != old.spec.selectors:
            check_class_expressions(new, self._kubernetes, report)

    def changed_rule(
        self, new: DeviceTaintRule, old: DeviceTaintRule
    ) -> DeviceTaintRule:
        """Return a changed rule as it is to be stored, with the time of its taint."""
        return self._taint_times.of_changed_rule(new, old)

    def _claim(
        self, claim: PersistentVolumeClaim, report: Report
    ) -> PersistentVolumeClaim:
        spec, status = default_claim_spec(claim.spec), claim.status
        spec = default_data_sources(spec, self._kubernetes)
        # A claim with the old annotation has a class already
        # (``GetPersistentVolumeClaimClass``), and must not get the default beside it.
        names_class = BETA_STORAGE_CLASS in claim.annotations
        # An empty name is not None: it asks for a volume without a class, and gets no
        # default.
        if spec.storage_class_name is None and not names_class:
            default = default_storage_class(self._storage_classes())
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
        # A slice that was read from a server has been through this, with gates that may
        # differ from ours.
        if not is_already_admitted(new):
            new = without_gated_fields(new, self._kubernetes)
        check_resource_slice(new, report)
        return self._taint_times.of_slice(new)

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


def _volume(volume: PersistentVolume, report: Report) -> PersistentVolume:
    volume = replace(volume, spec=default_volume_spec(volume.spec))
    check_volume(volume, report)
    return volume


def _csi_driver(
    driver: CSIDriver, report: Report, *, kubernetes: Kubernetes
) -> CSIDriver:
    spec = driver.spec
    # Without the gate, the field stays unset (``SetDefaults_CSIDriver``), and a dump
    # must show the same.
    if kubernetes.enabled("VolumeLimitScaling"):
        is_required = bool(spec.prevent_pod_scheduling_if_missing)
        spec = replace(spec, prevent_pod_scheduling_if_missing=is_required)
    attach = spec.attach_required
    spec = replace(
        spec,
        attach_required=True if attach is None else attach,
        pod_info_on_mount=bool(spec.pod_info_on_mount),
        storage_capacity=bool(spec.storage_capacity),
        fs_group_policy=(
            "ReadWriteOnceWithFSType"
            if spec.fs_group_policy is None
            else spec.fs_group_policy
        ),
        volume_lifecycle_modes=spec.volume_lifecycle_modes or ("Persistent",),
    )
    driver = replace(driver, spec=spec)
    check_csi_driver(driver, report)
    return driver
