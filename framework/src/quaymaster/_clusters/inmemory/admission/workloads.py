"""Fills in and checks workloads before they are stored.

Mirrors ``pkg/apis/apps/v1/defaults.go``, ``pkg/apis/batch/v1/defaults.go`` and
``SetDefaults_ReplicationController`` (Kubernetes v1.36).
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    DaemonSet,
    Deployment,
    Job,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeClaimVolumeSource,
    PodTemplateSpec,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    Volume,
)
from quaymaster._api.objects import (
    StatefulSetPersistentVolumeClaimRetentionPolicy as _Retention,
)
from quaymaster._api.objects.report import Report
from quaymaster._base.versions.kubernetes import Kubernetes
from quaymaster._clusters.inmemory.admission.already_admitted import is_already_admitted
from quaymaster._clusters.inmemory.admission.job_checks import check_job
from quaymaster._clusters.inmemory.admission.job_defaults import default_job_spec
from quaymaster._clusters.inmemory.admission.pods import PodAdmission
from quaymaster._clusters.inmemory.admission.strategy_defaults import (
    default_daemon_set_strategy,
    default_deployment_strategy,
    default_stateful_set_strategy,
)
from quaymaster._clusters.inmemory.admission.volume_defaults import default_claim_spec
from quaymaster._clusters.inmemory.admission.workload_checks import (
    check_replication_controller,
    check_selecting_workload,
)

__all__ = ["WorkloadAdmission"]

_PROGRESS_DEADLINE: Final = 600
_PENDING: Final = PersistentVolumeClaimStatus(phase="Pending")


class WorkloadAdmission:
    """Fills in and checks the workloads of one cluster.

    Args:
        pods: Fills in and checks their templates.
        kubernetes: The Kubernetes version whose API server is simulated.
    """

    def __init__(self, pods: PodAdmission, kubernetes: Kubernetes) -> None:
        self._pods = pods
        self._kubernetes = kubernetes
        self._has_set_limits = kubernetes.has("stateful-set-max-unavailable")

    def deployment(self, deployment: Deployment, report: Report) -> Deployment:
        """Return a new Deployment, as it is to be stored."""
        spec = deployment.spec
        template = self._pods.template(spec.template, report)
        spec = replace(
            spec,
            template=template,
            replicas=_or_1(spec.replicas),
            strategy=default_deployment_strategy(spec.strategy),
            progress_deadline_seconds=_PROGRESS_DEADLINE
            if spec.progress_deadline_seconds is None
            else spec.progress_deadline_seconds,
        )
        deployment = replace(deployment, spec=spec)
        check_selecting_workload(deployment, report)
        return deployment

    def replica_set(self, replica_set: ReplicaSet, report: Report) -> ReplicaSet:
        """Return a new ReplicaSet, as it is to be stored."""
        spec = replica_set.spec
        template = self._pods.template(spec.template, report)
        spec = replace(spec, template=template, replicas=_or_1(spec.replicas))
        replica_set = replace(replica_set, spec=spec)
        check_selecting_workload(replica_set, report)
        return replica_set

    def daemon_set(self, daemon_set: DaemonSet, report: Report) -> DaemonSet:
        """Return a new DaemonSet, as it is to be stored."""
        spec = daemon_set.spec
        template = self._pods.template(spec.template, report)
        strategy = default_daemon_set_strategy(spec.update_strategy)
        spec = replace(spec, template=template, update_strategy=strategy)
        daemon_set = replace(daemon_set, spec=spec)
        check_selecting_workload(daemon_set, report)
        return daemon_set

    def stateful_set(self, stateful_set: StatefulSet, report: Report) -> StatefulSet:
        """Return a new StatefulSet, as it is to be stored."""
        spec = stateful_set.spec
        claims = tuple(
            replace(claim, spec=default_claim_spec(claim.spec), status=_PENDING)
            for claim in spec.volume_claim_templates
        )
        spec = replace(
            spec,
            template=self._template_with_claims(spec.template, claims, report),
            volume_claim_templates=claims,
            replicas=_or_1(spec.replicas),
            pod_management_policy=spec.pod_management_policy or "OrderedReady",
            persistent_volume_claim_retention_policy=_default_retention(
                spec.persistent_volume_claim_retention_policy
            ),
            update_strategy=default_stateful_set_strategy(
                spec.update_strategy, has_limit=self._has_set_limits
            ),
        )
        stateful_set = replace(stateful_set, spec=spec)
        check_selecting_workload(stateful_set, report)
        return stateful_set

    def replication_controller(
        self, rc: ReplicationController, report: Report
    ) -> ReplicationController:
        """Return a new ReplicationController, as it is to be stored."""
        spec, metadata, template = rc.spec, rc.metadata, rc.spec.template
        if template is not None:
            labels = template.metadata.labels
            # The oldest kind of workload takes its labels and its selector from its
            # template; the kinds in ``apps`` need a selector of their own.
            metadata = replace(metadata, labels=metadata.labels or labels)
            template = self._pods.template(template, report)
            spec = replace(spec, selector=spec.selector or labels, template=template)
        spec = replace(spec, replicas=_or_1(spec.replicas))
        rc = replace(rc, metadata=metadata, spec=spec)
        check_replication_controller(rc, report)
        return rc

    def job(self, job: Job, report: Report) -> Job:
        """Return a new Job, as it is to be stored."""
        is_new = not is_already_admitted(job)
        if is_new and job.spec.scheduling is not None:
            job = self._without_gated_group(job, None)
        metadata = job.metadata
        template = self._pods.template(job.spec.template, report)
        spec = default_job_spec(replace(job.spec, template=template))
        # ``SetDefaults_Job`` copies the labels of the template to a Job without any.
        labels = metadata.labels or spec.template.metadata.labels
        job = replace(job, metadata=replace(metadata, labels=labels), spec=spec)
        check_job(job, report)
        if is_new and job.spec.scheduling is not None:
            self._check_group(job, None, report)
        return job

    def changed_job(self, new: Job, old: Job, report: Report) -> Job:
        """Return a changed Job, as it is to be stored."""
        if new.spec.scheduling is not None:
            new = self._without_gated_group(new, old)
        job = self.job(new, report)
        # Also a group that was removed is checked: its rules say whether it may be.
        if job.spec.scheduling != old.spec.scheduling or job.spec.scheduling:
            self._check_group(job, old, report)
        return job

    # The rules of groups are imported when a Job has one: few have.

    def _without_gated_group(self, new: Job, old: Job | None) -> Job:
        from quaymaster._clusters.inmemory.admission.job_groups import (  # noqa: PLC0415 - above
            without_gated_group,
        )

        before = None if old is None else old.spec
        spec = without_gated_group(new.spec, before, self._kubernetes)
        return replace(new, spec=spec)

    def _check_group(self, new: Job, old: Job | None, report: Report) -> None:
        from quaymaster._clusters.inmemory.admission.job_groups import (  # noqa: PLC0415 - above
            check_job_group,
        )

        before = None if old is None else old.spec
        check_job_group(new.spec, before, self._kubernetes, report)

    def _template_with_claims(
        self,
        template: PodTemplateSpec,
        claims: tuple[PersistentVolumeClaim, ...],
        report: Report,
    ) -> PodTemplateSpec:
        """Fill in and check a template, with the claims as volumes of its pods.

        They replace the template's own volumes of the same names.
        """
        volumes = {claim.name: _volume_of(claim) for claim in claims}
        own = (v for v in template.spec.volumes if v.name not in volumes)
        # The claims come first, so that the template's own volumes can be cut off again
        # below.
        spec = replace(template.spec, volumes=(*volumes.values(), *own))
        template = self._pods.template(replace(template, spec=spec), report)
        # The volumes of claims are not stored in the template: the controller adds them
        # to each pod, with its ordinal in their names.
        own_admitted = template.spec.volumes[len(volumes) :]
        return replace(template, spec=replace(template.spec, volumes=own_admitted))


def _or_1(count: int | None) -> int:
    return 1 if count is None else count


def _volume_of(claim: PersistentVolumeClaim) -> Volume:
    source = PersistentVolumeClaimVolumeSource(claim_name=claim.name)
    return Volume(name=claim.name, persistent_volume_claim=source)


def _default_retention(policy: _Retention | None) -> _Retention:
    policy = policy or _Retention()
    return _Retention(
        when_deleted=policy.when_deleted or "Retain",
        when_scaled=policy.when_scaled or "Retain",
    )
