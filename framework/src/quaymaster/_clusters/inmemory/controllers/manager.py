"""Runs the controllers: marks changed workloads, and syncs them.

A change only marks workloads. The controllers sync marked workloads when the clock runs
its timers, at the same moment of virtual time, in the order of the marks.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

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
    PodGroup,
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
    Workload,
)
from quaymaster._api.objects.keda import ScaledJob, ScaledObject
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.budgets import BudgetController
from quaymaster._clusters.inmemory.controllers.device_slices import (
    add_slices,
    remove_slices,
)
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.marks import Marks
from quaymaster._clusters.inmemory.controllers.nodes import NodeControllers
from quaymaster._clusters.inmemory.controllers.ownership import Ownership
from quaymaster._clusters.inmemory.controllers.quotas import sync_quota
from quaymaster._clusters.inmemory.controllers.repeated_evictions import (
    RepeatedEvictions,
)
from quaymaster._clusters.inmemory.controllers.storage import StorageControllers
from quaymaster._clusters.inmemory.simulated_devices import DEVICES_ANNOTATION
from quaymaster._core.contract.clock import Timer

if TYPE_CHECKING:
    from quaymaster._clusters.inmemory.controllers.devices import DeviceControllers
    from quaymaster._clusters.inmemory.controllers.group_protection import (
        GroupProtection,
    )
    from quaymaster._clusters.inmemory.controllers.workloads import (
        WorkloadControllers,
    )

__all__ = ["Controllers"]

_OTHERS: Final = frozenset(
    {
        PodDisruptionBudget,
        PersistentVolumeClaim,
        PersistentVolume,
        Node,
        Pod,
        PodGroup,
        ResourceClaim,
        ResourceQuota,
    }
)
"""Kinds that have a controller but create no pods."""

_SCALERS: Final = frozenset({HorizontalPodAutoscaler, ScaledObject, ScaledJob})
"""Kinds whose controllers decide how many pods or Jobs there are."""

_WORKLOADS: Final = frozenset(
    {
        Deployment,
        ReplicaSet,
        ReplicationController,
        StatefulSet,
        DaemonSet,
        Job,
    }
)

_DEVICES: Final = frozenset(
    {ResourceClaim, ResourceSlice, DeviceTaintRule, ResourceClaimTemplate}
)

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
        storage: The controllers of claims and volumes.
    """

    def __init__(self, cluster: ClusterAccess, *, workloads: bool = True) -> None:
        self._cluster = cluster
        self._syncs_workloads = workloads
        self._families = Families()
        self._ownership = Ownership(cluster)
        self._marks = Marks(self._wake)
        self._budgets = BudgetController(cluster, self._ownership, self._mark_budget)
        self.storage = StorageControllers(
            cluster,
            self._marks,
            self._wake,
            lambda namespace: self._with_workloads().claim_removed(namespace),
        )
        # None while no group was deleted.
        self._groups: GroupProtection | None = None
        self.repeats = RepeatedEvictions(cluster.objects(Pod))
        self.nodes = NodeControllers(cluster, self.repeats)
        self._workloads: WorkloadControllers | None = None
        self._devices: DeviceControllers | None = None
        self._syncs: dict[type[ApiObject], Callable[[Any], None]] = {
            PodDisruptionBudget: self._budgets.sync,
            PersistentVolumeClaim: self.storage.claims.sync,
            PersistentVolume: self.storage.claims.sync_volume,
            Node: self._sync_node,
            Pod: self._sync_pod,
            PodGroup: lambda group: self._with_devices().sync_group(group),
            ResourceClaim: self._sync_device_claim,
            ResourceQuota: lambda quota: sync_quota(cluster, quota),
        }
        self._handlers: dict[type[ApiObject], Callable[[Any, Any], None]] = {
            Node: self._node_changed,
            PodDisruptionBudget: self._budget_changed,
            PersistentVolumeClaim: self.storage.claim_changed,
            PersistentVolume: self.storage.volume_changed,
            PodGroup: self._group_changed,
            Workload: self._described_group_changed,
            StorageClass: self.storage.class_changed,
            CSIStorageCapacity: self.storage.claims.capacity_changed,
            ResourceQuota: self._quota_changed,
        }
        self._timer: Timer | None = None
        self._is_settling = False

    def _with_workloads(self) -> "WorkloadControllers":
        """Return the controllers of workloads, which are built for the first one."""
        if self._workloads is None:
            from quaymaster._clusters.inmemory.controllers.workloads import (  # noqa: PLC0415 - see that module
                WorkloadControllers,
            )

            self._workloads = WorkloadControllers(
                self._cluster, self._families, self._ownership, self._marks.add
            )
        return self._workloads

    def _with_devices(self) -> "DeviceControllers":
        """Return the controllers of devices, which are built for the first one."""
        if self._devices is None:
            from quaymaster._clusters.inmemory.controllers.devices import (  # noqa: PLC0415 - see that module
                DeviceControllers,
            )

            self._devices = DeviceControllers(
                self._cluster, self.repeats, self._marks.add
            )
        return self._devices

    def keep(self, obj: ApiObject) -> None:
        """Keep an object that is about to be loaded as its own cluster had it.

        No volume is provisioned for a claim without one. The allowed disruptions of a
        budget and the reservations of device claims change only with their pods.
        """
        if isinstance(obj, PersistentVolumeClaim):
            self.storage.claims.keep(obj)
        elif isinstance(obj, PodDisruptionBudget):
            self._budgets.keep(obj)
        elif isinstance(obj, ResourceClaim):
            self._with_devices().keep(obj)

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a pod that was created (no old), changed, or removed (no new)."""
        # These guards come first: each change of each pod passes here, and most
        # clusters have neither budgets nor groups.
        if self._budgets.tallies:
            self._budgets.pod_changed(old, new)
        self.nodes.pod_changed(old, new)
        pod = old if new is None else new
        if pod is not None and pod.spec.volumes:
            self.storage.pod_changed(old, new)
        if self._groups is not None and self._groups.users:
            self._groups.pod_changed(old, new)
        if pod is not None and (self._devices or pod.spec.resource_claims):
            self._with_devices().pod_changed(old, new)
        # Most changes leave the owner alone. Leaving and joining again would make the
        # owner be synced each time.
        if old is not None and new is not None and _is_same_owner(old, new):
            before, after = old.metadata, new.metadata
            reference = after.controller if after.owner_references else None
            if reference is not None:
                self._member_changed(reference.uid, old, new)
                return
            # Identity: most updates share the labels; otherwise they are compared.
            if after.labels is before.labels or after.labels == before.labels:
                # An orphan's labels decide who may adopt it, so only a change of labels
                # goes on.
                return
        if old is not None:
            self._left(old)
        if new is not None:
            self._came(new)

    def object_changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Handle an object of another kind that was created, changed or removed."""
        obj = old if new is None else new
        if obj is None:
            return
        handle = self._handlers.get(type(obj))
        if handle is not None:
            handle(old, new)
        # A pod that was rejected may be accepted under the new rules.
        elif isinstance(obj, _RULES):
            self._retry(obj.namespace)
        elif type(obj) in _WORKLOADS:
            self._workload_changed(old, new)
        elif type(obj) in _SCALERS:
            self._with_workloads().scalers[type(obj)](old, new)
        elif type(obj) in _DEVICES:
            self._with_devices().handlers[type(obj)](old, new)

    def usage_changed(self, namespace: str, *, is_less: bool) -> None:
        """Handle a changed usage of what the quotas of a namespace limit."""
        for key in self._cluster.quotas.quotas_of(namespace):
            self._marks.add(ResourceQuota, key)
        if is_less:
            self._retry(namespace)

    def _quota_changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        quota = old if new is None else new
        # `sync_quota` writes the status, which must not lead to another sync.
        is_status = (
            isinstance(old, ResourceQuota)
            and isinstance(new, ResourceQuota)
            and old.spec == new.spec
        )
        if quota is not None and not is_status:
            self._marks.add(ResourceQuota, quota.key)
            self._retry(quota.namespace)

    def _retry(self, namespace: str) -> None:
        """Retry workloads whose pods were rejected; an empty namespace means all."""
        for shortfall in self._cluster.shortfalls:
            owner = shortfall.owner
            # Only rejected pods are retried: those that wait for a backoff have a
            # timer.
            if shortfall.refusal and namespace in ("", owner.namespace):
                self._marks.add(type(owner), owner.key)

    def settle(self) -> None:
        """Run the controllers until they have nothing left to do."""
        if self._is_settling:
            return
        # Settling early replaces the timer, or the controllers would run a second time
        # for nothing.
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._is_settling = True
        try:
            while (
                # One step at a time, in this order. Pods are adopted before their owner
                # is synced, which would otherwise create others in their place; and
                # each step may cause earlier ones.
                self._ownership.adopt()
                or self._collect()
                or self.storage.offer()
                or self.storage.protection.release()
                or (self._groups is not None and self._groups.release())
                or self._sync_next()
            ):
                pass
        finally:
            self._is_settling = False

    def _sync_next(self) -> bool:
        identity = self._marks.pop()
        if identity is None:
            return False
        obj = self._cluster.objects(identity.kind).get(identity.key)
        # Each sync begins without the shortfalls of the last one, and records what it
        # still lacks.
        self._cluster.shortfalls.clear(identity.kind, identity.key)
        if obj is not None and (self._syncs_workloads or identity.kind in _OTHERS):
            self._sync_of(identity.kind)(obj)
        return True

    def _sync_of(self, kind: type[ApiObject]) -> Callable[[Any], None]:
        return self._syncs.get(kind) or self._with_workloads().syncs[kind]

    def _sync_node(self, node: Node) -> None:
        add_slices(self._cluster, node)
        self.nodes.taints.sync(node)

    def _sync_pod(self, pod: Pod) -> None:
        self.storage.sync_pod(pod)
        if self._devices is not None:
            self._devices.sync_pod(pod)

    def _sync_device_claim(self, claim: ResourceClaim) -> None:
        self._with_devices().sync_claim(claim)

    def _collect(self) -> bool:
        """Delete the dependents of removed workloads."""
        workloads = self._workloads
        return workloads is not None and workloads.collect(
            deletes=self._syncs_workloads
        )

    def _mark_budget(self, key: str) -> None:
        self._marks.add(PodDisruptionBudget, key)

    def _wake(self) -> None:
        if self._timer is None and not self._is_settling:
            clock = self._cluster.clock
            # At once, but in a timer: a caller that makes several changes gets one sync
            # for all of them.
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
            # Claims of a set may be deleted only when their last pod is gone.
            if reference.kind == "StatefulSet" and pod.spec.volumes:
                self._with_workloads().pod_removed(pod)

    def _member_changed(self, uid: str, old: Pod | None, new: Pod | None) -> None:
        if not uid:
            return
        concerns_owner = self._families.update(uid, old, new)
        owner = self._ownership.get(uid)
        if owner is not None:
            self._with_workloads().member_changed(
                owner, uid, old, new, concerns_owner=concerns_owner
            )

    def _workload_changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        self._with_workloads().changed(old, new)
        if new is None:
            # The dependents of a removed workload are collected when the controllers
            # run next.
            self._wake()
        else:
            self._budgets.scale_changed(new.namespace)

    def _budget_changed(
        self, old: PodDisruptionBudget | None, new: PodDisruptionBudget | None
    ) -> None:
        if new is not None:
            self._budgets.budget_changed(new)
        elif old is not None:
            self._budgets.budget_removed(old)

    def _group_changed(self, old: PodGroup | None, new: PodGroup | None) -> None:
        is_deleted = new is not None and new.metadata.deletion_timestamp is not None
        if self._groups is None and is_deleted:
            from quaymaster._clusters.inmemory.controllers.group_protection import (  # noqa: PLC0415 - few clusters delete groups
                GroupProtection,
            )

            self._groups = GroupProtection(self._cluster, self._wake)
        if self._groups is not None:
            self._groups.group_changed(old, new)
        group = old if new is None else new
        if group is not None and (self._devices or group.spec.resource_claims):
            self._with_devices().group_changed(old, new)
        self._described_group_changed(old, new)

    def _described_group_changed(
        self, old: PodGroup | Workload | None, new: PodGroup | Workload | None
    ) -> None:
        """Pass a Workload, or a PodGroup that one describes, to the Jobs."""
        if self._workloads is not None:
            self._workloads.group_changed(old, new)
        if new is None and old is not None:
            # A Job may have waited for its name.
            self._retry(old.namespace)

    def _node_changed(self, old: Node | None, new: Node | None) -> None:
        node = old if new is None else new
        if node is None:
            return
        if new is not None and self.nodes.taints.needs_sync(old, new):
            self._marks.add(Node, new.name)
        self.nodes.node_changed(old, new)
        if old is not None and new is not None:
            # Heartbeats and conditions change nodes all the time, and none of what
            # follows reads them.
            same_labels = old.metadata.labels == new.metadata.labels
            if same_labels and old.spec.taints == new.spec.taints:
                return
        self.storage.claims.nodes_changed()
        if new is None:
            remove_slices(self._cluster, node)
        elif DEVICES_ANNOTATION in node.metadata.annotations:
            self._marks.add(Node, node.name)
        # Without a DaemonSet, the module of workloads need not be imported.
        if self._cluster.objects(DaemonSet):
            self._with_workloads().node_changed(node.name)


def _is_same_owner(old: Pod, new: Pod) -> bool:
    before, after = old.metadata.owner_references, new.metadata.owner_references
    # Identity: most updates share the references; otherwise they are compared.
    return before is after or before == after
