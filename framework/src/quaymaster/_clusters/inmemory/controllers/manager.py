"""Runs the controllers: marks changed workloads, and syncs them.

A change only marks workloads. The controllers sync marked workloads when the clock runs
its timers, at the same moment of virtual time, in the order of the marks.
"""

from collections.abc import Callable
from typing import Any, Final

from quaymaster._api.objects import (
    ApiObject,
    CSIStorageCapacity,
    DaemonSet,
    Deployment,
    DeviceTaintRule,
    HorizontalPodAutoscaler,
    Job,
    LimitRange,
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
    StatefulSet,
    StorageClass,
)
from quaymaster._api.objects.keda import ScaledJob, ScaledObject
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.autoscalers import (
    AutoscalerController,
)
from quaymaster._clusters.inmemory.controllers.availability import Availability
from quaymaster._clusters.inmemory.controllers.budgets import BudgetController
from quaymaster._clusters.inmemory.controllers.claims import ClaimController
from quaymaster._clusters.inmemory.controllers.daemon_sets import DaemonSetController
from quaymaster._clusters.inmemory.controllers.deployments import DeploymentController
from quaymaster._clusters.inmemory.controllers.device_claims import (
    DeviceClaimController,
)
from quaymaster._clusters.inmemory.controllers.device_evictions import (
    DeviceEvictionController,
)
from quaymaster._clusters.inmemory.controllers.device_slices import (
    add_slices,
    remove_slices,
)
from quaymaster._clusters.inmemory.controllers.ephemeral import (
    add_claims,
    has_ephemeral_volumes,
    remove_claims,
)
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.jobs import JobController
from quaymaster._clusters.inmemory.controllers.nodes import NodeControllers
from quaymaster._clusters.inmemory.controllers.ownership import OwnerId, Ownership
from quaymaster._clusters.inmemory.controllers.quotas import sync_quota
from quaymaster._clusters.inmemory.controllers.repeated_evictions import (
    RepeatedEvictions,
)
from quaymaster._clusters.inmemory.controllers.replicas import ReplicaController
from quaymaster._clusters.inmemory.controllers.scaled_jobs import ScaledJobController
from quaymaster._clusters.inmemory.controllers.scaled_objects import (
    ScaledObjectController,
)
from quaymaster._clusters.inmemory.controllers.set_index import SetIndex
from quaymaster._clusters.inmemory.controllers.stateful_set_claims import SetClaims
from quaymaster._clusters.inmemory.controllers.stateful_sets import (
    StatefulSetController,
)
from quaymaster._clusters.inmemory.controllers.volume_protection import (
    VolumeProtection,
)
from quaymaster._clusters.inmemory.simulated_devices import DEVICES_ANNOTATION
from quaymaster._core.contract.clock import Timer

__all__ = ["Controllers"]

_OTHERS: Final = frozenset(
    {
        PodDisruptionBudget,
        PersistentVolumeClaim,
        PersistentVolume,
        Node,
        Pod,
        ResourceClaim,
        ResourceQuota,
    }
)
"""Kinds that have a controller but create no pods."""

_SCALERS: Final = (HorizontalPodAutoscaler, ScaledObject)
"""Kinds whose controllers decide how many pods workloads have."""

_RULES: Final = (PriorityClass, RuntimeClass, LimitRange)
"""Kinds that admission reads for new pods."""


class Controllers:
    """All controllers of one cluster.

    Args:
        cluster: The cluster.
        workloads: Whether workloads get their pods.

    Attributes:
        nodes: The controllers of nodes.
        repeats: Counts the evictions by taints.
        protection: Keeps claims and volumes that are in use.
    """

    def __init__(self, cluster: ClusterAccess, *, workloads: bool = True) -> None:
        self._cluster = cluster
        self._syncs_workloads = workloads
        self._families = Families()
        self._ownership = Ownership(cluster)
        self._budgets = BudgetController(cluster, self._ownership, self._mark_budget)
        availability = Availability(cluster.clock, self._mark_object)
        self._daemon_sets = DaemonSetController(cluster, self._families, availability)
        self._set_claims = SetClaims(cluster)
        self._stateful_sets = StatefulSetController(
            cluster, self._families, availability, self._set_claims
        )
        self._jobs = JobController(cluster, self._families, self._mark_object)
        self._autoscalers = AutoscalerController(cluster, self._mark_object)
        self._scaled_objects = ScaledObjectController(cluster, self._mark_object)
        self._scaled_jobs = ScaledJobController(cluster, self._mark_object)
        self._claims = ClaimController(cluster)
        self.protection = VolumeProtection(cluster, self._wake)
        self.repeats = RepeatedEvictions(cluster.objects(Pod))
        self.nodes = NodeControllers(cluster, self.repeats)
        self._device_claims = DeviceClaimController(cluster, self._mark_object)
        self._device_evictions = DeviceEvictionController(cluster, self.repeats)
        self._sets = SetIndex(cluster, self._ownership)
        replicas = ReplicaController(cluster, self._families, self._sets)
        deployments = DeploymentController(
            cluster, self._families, self._ownership, self._sets, availability
        )
        self._syncs: dict[type[ApiObject], Callable[[Any], None]] = {
            Deployment: deployments.sync,
            ReplicaSet: replicas.sync,
            ReplicationController: replicas.sync,
            StatefulSet: self._stateful_sets.sync,
            DaemonSet: self._daemon_sets.sync,
            Job: self._jobs.sync,
            HorizontalPodAutoscaler: self._autoscalers.sync,
            ScaledObject: self._scaled_objects.sync,
            ScaledJob: self._scaled_jobs.sync,
            PodDisruptionBudget: self._budgets.sync,
            PersistentVolumeClaim: self._claims.sync,
            PersistentVolume: self._claims.sync_volume,
            Node: self._sync_node,
            Pod: self._sync_pod,
            ResourceClaim: self._device_claims.sync_claim,
            ResourceQuota: lambda quota: sync_quota(cluster, quota),
        }
        self._handlers: dict[type[ApiObject], Callable[[Any, Any], None]] = {
            Node: self._node_changed,
            HorizontalPodAutoscaler: self._autoscalers.autoscaler_changed,
            ScaledObject: self._scaled_objects.scaled_object_changed,
            ScaledJob: self._scaled_jobs.scaled_job_changed,
            PodDisruptionBudget: self._budget_changed,
            PersistentVolumeClaim: self._claim_changed,
            PersistentVolume: self._volume_changed,
            CSIStorageCapacity: self._claims.capacity_changed,
            ResourceClaim: self._device_claim_changed,
            ResourceSlice: self._device_evictions.slice_changed,
            DeviceTaintRule: self._device_evictions.rule_changed,
            ResourceClaimTemplate: self._device_claims.template_changed,
            ResourceQuota: self._quota_changed,
        }
        self._marked: dict[OwnerId, None] = {}
        self._marked_sets: dict[OwnerId, None] = {}
        self._marked_scalers: dict[OwnerId, None] = {}
        self._gone: list[ApiObject] = []
        self._has_new_volumes = False
        self._timer: Timer | None = None
        self._is_settling = False

    def keep(self, obj: ApiObject) -> None:
        """Keep an object that is about to be loaded as its own cluster had it.

        A claim without a volume stays without: its provisioner makes none. The allowed
        disruptions of a budget change only with its pods, and so do the reservations of
        device claims.
        """
        if isinstance(obj, PersistentVolumeClaim):
            self._claims.keep(obj)
        elif isinstance(obj, PodDisruptionBudget):
            self._budgets.keep(obj)
        elif isinstance(obj, ResourceClaim):
            self._device_claims.keep(obj)

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod that was created (no old), changed, or removed (no new)."""
        if self._budgets.tallies:
            self._budgets.pod_changed(old, new)
        self.nodes.pod_changed(old, new)
        pod = old if new is None else new
        if pod is not None and pod.spec.volumes:
            self._pod_with_volumes_changed(old, new)
        if pod is not None and self._device_claims.concerns(pod):
            self._device_claims.pod_changed(old, new)
        if pod is not None and self._device_evictions.concerns(pod):
            self._device_evictions.pod_changed(old, new)
        if old is not None and new is not None and _is_same_owner(old, new):
            before, after = old.metadata, new.metadata
            reference = after.controller if after.owner_references else None
            if reference is not None:
                self._member_changed(reference.uid, old, new)
                return
            # Identity: most updates share the labels; otherwise they are compared.
            if after.labels is before.labels or after.labels == before.labels:
                return
        if old is not None:
            self._left(old)
        if new is not None:
            self._came(new)

    def _pod_with_volumes_changed(self, old: Pod | None, new: Pod | None) -> None:
        self.protection.pod_changed(old, new)
        if old is None or new is None:
            self._ephemeral_changed(old, new)

    def object_changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Handle an object of another kind that was created, changed or removed."""
        obj = old if new is None else new
        if obj is None:
            return
        handle = self._handlers.get(type(obj))
        if handle is not None:
            handle(old, new)
        elif isinstance(obj, StorageClass):
            self._volumes_came()
        elif isinstance(obj, _RULES):
            self._retry(obj.namespace)
        elif type(obj) in self._syncs:
            self._workload_changed(old, new)

    def usage_changed(self, namespace: str, *, is_less: bool) -> None:
        """Handle a changed usage of what the quotas of a namespace limit."""
        for key in self._cluster.quotas.quotas_of(namespace):
            self._mark(OwnerId(ResourceQuota, key))
        if is_less:
            self._retry(namespace)

    def _quota_changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        quota = old if new is None else new
        is_status = (
            isinstance(old, ResourceQuota)
            and isinstance(new, ResourceQuota)
            and old.spec == new.spec
        )
        if quota is not None and not is_status:
            self._mark(OwnerId(ResourceQuota, quota.key))
            self._retry(quota.namespace)

    def _retry(self, namespace: str) -> None:
        """Retry workloads whose pods were rejected; an empty namespace means all."""
        for shortfall in self._cluster.shortfalls:
            owner = shortfall.owner
            if shortfall.refusal and namespace in ("", owner.namespace):
                self._mark(OwnerId(type(owner), owner.key))

    def settle(self) -> None:
        """Run the controllers until they have nothing left to do."""
        if self._is_settling:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._is_settling = True
        try:
            while (
                self._ownership.adopt()
                or self._collect()
                or self._offer_volumes()
                or self.protection.release()
                or self._sync_next()
            ):
                pass
        finally:
            self._is_settling = False

    def _sync_next(self) -> bool:
        # Autoscalers go first, so that a new workload begins with its size, and then
        # the ReplicaSet of a Deployment, so that pods are created in the order of their
        # workloads.
        marked = self._marked_scalers or self._marked_sets or self._marked
        if not marked:
            return False
        identity = next(iter(marked))
        del marked[identity]
        obj = self._cluster.objects(identity.kind).get(identity.key)
        self._cluster.shortfalls.clear(identity.kind, identity.key)
        if obj is not None and (self._syncs_workloads or identity.kind in _OTHERS):
            self._syncs[identity.kind](obj)
        return True

    def _sync_node(self, node: Node) -> None:
        add_slices(self._cluster, node)
        self.nodes.taints.sync(node)

    def _sync_pod(self, pod: Pod) -> None:
        add_claims(self._cluster, pod)
        self._device_claims.sync_pod(pod)

    def _collect(self) -> bool:
        """Delete the dependents of removed workloads."""
        gone, self._gone = self._gone, []
        if not self._syncs_workloads:
            return False
        for owner in gone:
            if isinstance(owner, StatefulSet) and owner.spec.volume_claim_templates:
                self._set_claims.set_removed(owner)
            pods = self._cluster.objects(Pod)
            for key in list(self._families.of(owner.uid)):
                self._cluster.delete(pods[key])
            for replica_set in self._sets.of(owner.uid):
                self._cluster.delete(replica_set)
        return bool(gone)

    def _mark(self, identity: OwnerId) -> None:
        if identity.kind is ReplicaSet:
            self._marked_sets[identity] = None
        elif identity.kind in _SCALERS:
            self._marked_scalers[identity] = None
        else:
            self._marked[identity] = None
        self._wake()

    def _mark_object(self, kind: type[ApiObject], key: str) -> None:
        self._mark(OwnerId(kind, key))

    def _mark_budget(self, key: str) -> None:
        self._mark(OwnerId(PodDisruptionBudget, key))

    def _wake(self) -> None:
        if self._timer is None and not self._is_settling:
            clock = self._cluster.clock
            self._timer = clock.call_at(clock.now(), self.settle)

    def _came(self, pod: Pod) -> None:
        metadata = pod.metadata
        reference = metadata.controller if metadata.owner_references else None
        if reference is None:
            self._ownership.orphan_added(pod)
        else:
            if self._ownership.get(reference.uid) is None:
                self._ownership.stranger_added(pod, reference)
            self._member_changed(reference.uid, None, pod)
        if self._ownership.adoptions:
            self._wake()

    def _left(self, pod: Pod) -> None:
        reference = pod.metadata.controller
        if reference is None:
            self._ownership.orphan_removed(pod)
        else:
            self._ownership.stranger_removed(pod, reference)
            self._member_changed(reference.uid, pod, None)
            if reference.kind == "StatefulSet" and pod.spec.volumes:
                self._set_claims.pod_removed(pod)

    def _member_changed(self, uid: str, old: Pod | None, new: Pod | None) -> None:
        if not uid:
            return
        concerns_owner = self._families.update(uid, old, new)
        owner = self._ownership.get(uid)
        if owner is None:
            return
        if owner.kind is Job:
            concerns_owner |= self._jobs.pod_changed(uid, old, new)
        elif owner.kind is DaemonSet and concerns_owner:
            self._daemon_sets.pod_changed(uid, old, new)
        if concerns_owner:
            self._mark(owner)
            if owner.kind is ReplicaSet and self._families.of(uid).wants_starts:
                deployment = self._owner_of(
                    self._cluster.objects(ReplicaSet)[owner.key]
                )
                if deployment is not None:
                    self._mark(deployment)

    def _owner_of(self, obj: ApiObject) -> OwnerId | None:
        reference = obj.metadata.controller
        return None if reference is None else self._ownership.get(reference.uid)

    def _workload_changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        workload = old if new is None else new
        if workload is None:
            return
        if isinstance(old, ReplicaSet) or isinstance(new, ReplicaSet):
            # Both are ReplicaSets, or None.
            self._set_changed(old, new)  # type: ignore[arg-type]
        if isinstance(workload, Job):
            self._scaled_jobs.job_changed(workload)
        if new is None:
            self._ownership.owner_removed(workload)
            self._cluster.shortfalls.clear(type(workload), workload.key)
            self._jobs.forget(workload.uid)
            self._daemon_sets.forget(workload.uid)
            self._stateful_sets.forget(workload.uid)
            self._gone.append(workload)
            self._wake()
            return
        if old is None:
            self._ownership.owner_added(new)
        self._mark(OwnerId(type(new), new.key))
        self._autoscalers.workload_changed(new)
        self._scaled_objects.workload_changed(new)
        self._budgets.scale_changed(new.namespace)

    def _set_changed(self, old: ReplicaSet | None, new: ReplicaSet | None) -> None:
        self._sets.update(old, new)
        replica_set = old if new is None else new
        if replica_set is None:
            return
        owner = self._owner_of(replica_set)
        if owner is not None:
            self._mark(owner)
        elif new is not None and old is None:
            for deployment in self._cluster.objects(Deployment).values():
                self._mark(OwnerId(Deployment, deployment.key))

    def _budget_changed(
        self, old: PodDisruptionBudget | None, new: PodDisruptionBudget | None
    ) -> None:
        if new is not None:
            self._budgets.budget_changed(new)
        elif old is not None:
            self._budgets.budget_removed(old)

    def _ephemeral_changed(self, old: Pod | None, new: Pod | None) -> None:
        pod = old if new is None else new
        if pod is None or not pod.spec.volumes or not has_ephemeral_volumes(pod):
            return
        if new is None:
            remove_claims(self._cluster, pod)
        else:
            self._mark(OwnerId(Pod, pod.key))

    def _claim_changed(
        self, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim | None
    ) -> None:
        if new is not None:
            self.protection.changed(new)
            self._claims.claim_changed(new)
            self._mark(OwnerId(PersistentVolumeClaim, new.key))
        elif old is not None:
            self.protection.removed(old)
            self._claims.claim_removed(old)
            self._resync_sets(old.namespace)

    def _resync_sets(self, namespace: str) -> None:
        """Sync the StatefulSets that may lack a claim now, or may replace one."""
        for key, owner in self._cluster.objects(StatefulSet).items():
            if owner.spec.volume_claim_templates and owner.namespace == namespace:
                self._mark(OwnerId(StatefulSet, key))

    def _device_claim_changed(
        self, old: ResourceClaim | None, new: ResourceClaim | None
    ) -> None:
        self._device_claims.claim_changed(old, new)
        self._device_evictions.claim_changed(old, new)

    def _volume_changed(
        self, old: PersistentVolume | None, new: PersistentVolume | None
    ) -> None:
        self._claims.volume_changed(old, new)
        if new is None:
            if old is not None:
                self.protection.removed(old)
            return
        self.protection.changed(new)
        self._mark(OwnerId(PersistentVolume, new.key))
        claim = self._claims.claim_of(new)
        if claim is not None:
            self._mark(OwnerId(PersistentVolumeClaim, claim))
        else:
            self._volumes_came()

    def _volumes_came(self) -> None:
        """Sync the claims: there are new volumes that are free, or new classes."""
        self._has_new_volumes = True
        self._wake()

    def _offer_volumes(self) -> bool:
        had, self._has_new_volumes = self._has_new_volumes, False
        if had:
            for key in self._claims.open_claims:
                self._mark(OwnerId(PersistentVolumeClaim, key))
        return had

    def _node_changed(self, old: Node | None, new: Node | None) -> None:
        node = old if new is None else new
        if node is None:
            return
        if new is not None and self.nodes.taints.needs_sync(old, new):
            self._mark(OwnerId(Node, new.name))
        self.nodes.node_changed(old, new)
        if old is not None and new is not None:
            same_labels = old.metadata.labels == new.metadata.labels
            if same_labels and old.spec.taints == new.spec.taints:
                return
        self._claims.nodes_changed()
        if new is None:
            remove_slices(self._cluster, node)
        elif DEVICES_ANNOTATION in node.metadata.annotations:
            self._mark(OwnerId(Node, node.name))
        self._daemon_sets.node_changed(node.name)
        for key in self._cluster.objects(DaemonSet):
            self._mark(OwnerId(DaemonSet, key))


def _is_same_owner(old: Pod, new: Pod) -> bool:
    before, after = old.metadata.owner_references, new.metadata.owner_references
    # Identity: most updates share the references; otherwise they are compared.
    return before is after or before == after
