"""The controllers of workloads: they create pods, or decide how many there are.

`Controllers` imports this module for the first workload: its imports take 5 ms, a
hundredth of a small simulation.
"""

from collections.abc import Callable
from typing import Any, Final

from quaymaster._api.objects import (
    ApiObject,
    DaemonSet,
    Deployment,
    HorizontalPodAutoscaler,
    Job,
    Pod,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from quaymaster._api.objects.keda import ScaledJob, ScaledObject
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.autoscalers import (
    AutoscalerController,
)
from quaymaster._clusters.inmemory.controllers.availability import Availability
from quaymaster._clusters.inmemory.controllers.daemon_sets import DaemonSetController
from quaymaster._clusters.inmemory.controllers.deployments import DeploymentController
from quaymaster._clusters.inmemory.controllers.families import Families
from quaymaster._clusters.inmemory.controllers.jobs import JobController
from quaymaster._clusters.inmemory.controllers.ownership import OwnerId, Ownership
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

__all__ = ["WorkloadControllers"]

_Sync = Callable[[Any], None]
_Handler = Callable[[Any, Any], None]


class WorkloadControllers:
    """The controllers of all workloads of one cluster, and of their autoscalers.

    Args:
        cluster: The cluster.
        families: The pods of each owner.
        ownership: Finds owners by uid.
        mark: Marks an object: its controller is to sync it.

    Attributes:
        syncs: The function for each kind that syncs a marked object.
        scalers: The function for each kind of autoscaler that handles a change of it.
    """

    def __init__(
        self,
        cluster: ClusterAccess,
        families: Families,
        ownership: Ownership,
        mark: Callable[[type[ApiObject], str], None],
    ) -> None:
        self._cluster = cluster
        self._families = families
        self._ownership = ownership
        self._mark = mark
        availability = Availability(cluster.clock, mark)
        self._daemon_sets = DaemonSetController(cluster, families, availability)
        self._set_claims = SetClaims(cluster)
        self._stateful_sets = StatefulSetController(
            cluster, families, availability, self._set_claims
        )
        self._jobs = JobController(cluster, families, mark)
        self._autoscalers = AutoscalerController(cluster, mark)
        self._scaled_objects = ScaledObjectController(cluster, mark)
        self._scaled_jobs = ScaledJobController(cluster, mark)
        self._sets = SetIndex(cluster, ownership)
        replicas = ReplicaController(cluster, families, self._sets)
        deployments = DeploymentController(
            cluster, families, ownership, self._sets, availability
        )
        self.syncs: Final[dict[type[ApiObject], _Sync]] = {
            Deployment: deployments.sync,
            ReplicaSet: replicas.sync,
            ReplicationController: replicas.sync,
            StatefulSet: self._stateful_sets.sync,
            DaemonSet: self._daemon_sets.sync,
            Job: self._jobs.sync,
            HorizontalPodAutoscaler: self._autoscalers.sync,
            ScaledObject: self._scaled_objects.sync,
            ScaledJob: self._scaled_jobs.sync,
        }
        self.scalers: Final[dict[type[ApiObject], _Handler]] = {
            HorizontalPodAutoscaler: self._autoscalers.autoscaler_changed,
            ScaledObject: self._scaled_objects.scaled_object_changed,
            ScaledJob: self._scaled_jobs.scaled_job_changed,
        }
        self._removed: list[ApiObject] = []

    def changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Handle a workload that was created (no old), changed or removed (no new)."""
        workload = old if new is None else new
        if workload is None:
            return
        if isinstance(old, ReplicaSet) or isinstance(new, ReplicaSet):
            # Both are ReplicaSets, or None.
            self._set_changed(old, new)  # type: ignore[arg-type]
        if isinstance(workload, Job):
            self._scaled_jobs.job_changed(workload)
        if new is None:
            self._forget(workload)
            return
        if old is None:
            self._ownership.owner_added(new)
        self._mark(type(new), new.key)
        # After the mark of the workload: `Marks` lets the autoscaler go first
        # nevertheless.
        self._autoscalers.workload_changed(new)
        self._scaled_objects.workload_changed(new)

    def node_changed(self, name: str) -> None:
        """Handle a node that was created or removed, or has other labels or taints."""
        self._daemon_sets.node_changed(name)
        # A new node may be for each DaemonSet, and only their syncs can find out.
        for key in self._cluster.objects(DaemonSet):
            self._mark(DaemonSet, key)

    def member_changed(
        self,
        owner: OwnerId,
        uid: str,
        old: Pod | None,
        new: Pod | None,
        *,
        concerns_owner: bool,
    ) -> None:
        """Handle a changed pod of an owner.

        Args:
            owner: The owner.
            uid: The owner's uid.
            old: The pod before; None if it was created.
            new: The pod now; None if it was removed.
            concerns_owner: Whether the change affects how many pods the owner has.
        """
        if owner.kind is Job:
            concerns_owner |= self._jobs.pod_changed(uid, old, new)
        elif owner.kind is DaemonSet and concerns_owner:
            self._daemon_sets.pod_changed(uid, old, new)
        if not concerns_owner:
            return
        self._mark(*owner)
        # A Deployment does not own the pods itself, so its ReplicaSet's change is
        # passed on.
        if owner.kind is ReplicaSet and self._families.of(uid).wants_starts:
            replica_set = self._cluster.objects(ReplicaSet)[owner.key]
            deployment = self._owner_of(replica_set)
            if deployment is not None:
                self._mark(*deployment)

    def group_changed(self, old: ApiObject | None, new: ApiObject | None) -> None:
        """Handle a Workload or PodGroup that was created, changed or removed."""
        if self._jobs.groups is not None:
            self._jobs.groups.index.object_changed(old, new)

    def pod_removed(self, pod: Pod) -> None:
        """Delete the claims that a removed pod of a StatefulSet was the owner of."""
        self._set_claims.pod_removed(pod)

    def claim_removed(self, namespace: str) -> None:
        """Sync the StatefulSets that may lack a claim now, or may replace one."""
        for key, owner in self._cluster.objects(StatefulSet).items():
            if owner.spec.volume_claim_templates and owner.namespace == namespace:
                self._mark(StatefulSet, key)

    def collect(self, *, deletes: bool) -> bool:
        """Delete the dependents of removed workloads; return whether there were any.

        Args:
            deletes: Whether workloads have their pods from here; otherwise nothing is
                deleted.
        """
        removed, self._removed = self._removed, []
        # Where the real controllers of a cluster delete pods, deleting them here would
        # be done twice.
        if not deletes:
            return False
        for owner in removed:
            if isinstance(owner, StatefulSet) and owner.spec.volume_claim_templates:
                self._set_claims.set_removed(owner)
            pods = self._cluster.objects(Pod)
            for key in list(self._families.of(owner.uid)):
                self._cluster.delete(pods[key])
            for replica_set in self._sets.of(owner.uid):
                self._cluster.delete(replica_set)
            if isinstance(owner, Job) and self._jobs.groups is not None:
                self._jobs.groups.collect(owner)
        return bool(removed)

    def _forget(self, workload: ApiObject) -> None:
        self._ownership.owner_removed(workload)
        self._cluster.shortfalls.clear(type(workload), workload.key)
        # All three, whatever the kind: forgetting an unknown uid costs nothing.
        self._jobs.forget(workload.uid)
        self._daemon_sets.forget(workload.uid)
        self._stateful_sets.forget(workload.uid)
        self._removed.append(workload)

    def _set_changed(self, old: ReplicaSet | None, new: ReplicaSet | None) -> None:
        self._sets.update(old, new)
        replica_set = old if new is None else new
        if replica_set is None:
            return
        owner = self._owner_of(replica_set)
        if owner is not None:
            self._mark(*owner)
        # A set without an owner may belong to any Deployment, also to one that was
        # loaded without its uid.
        elif new is not None and old is None:
            for deployment in self._cluster.objects(Deployment).values():
                self._mark(Deployment, deployment.key)

    def _owner_of(self, obj: ApiObject) -> OwnerId | None:
        reference = obj.metadata.controller
        return None if reference is None else self._ownership.get(reference.uid)
