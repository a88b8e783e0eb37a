"""Makes the Workloads and PodGroups of Jobs, and follows the size of their gangs.

Mirrors ``pkg/controller/job/job_scheduling_manager.go`` (Kubernetes v1.37), which the
feature gate WorkloadWithJob switches on. A Job has a group unless its template names
one or another object controls the Job; such an object can delegate the group by an
annotation. Only Jobs that have never started get new objects.
"""

from collections.abc import Iterable
from typing import Final, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    GangSchedulingPolicy,
    Job,
    OwnerReference,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupTemplate,
    Workload,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.job_group_index import JobGroupIndex
from quaymaster._clusters.inmemory.controllers.job_group_objects import (
    controller_ref,
    group_of_template,
    template_of,
    with_min_count,
    workload_of,
)
from quaymaster._core.contract.cluster import (
    AlreadyExistsError,
    EventNote,
    ForbiddenError,
    InvalidError,
)

__all__ = ["JobGroups"]

ObjT = TypeVar("ObjT", bound=ApiObject)

_TEMPLATE_NAME: Final = "scheduling.k8s.io/group-template-name"


class JobGroups:
    """The Workloads and PodGroups of the Jobs of a cluster.

    Args:
        cluster: The cluster.

    Attributes:
        index: Finds the objects of a Job.
    """

    def __init__(self, cluster: ClusterAccess) -> None:
        self._cluster = cluster
        self.index = JobGroupIndex(cluster)

    def sync(self, job: Job, *, has_pods: bool) -> PodGroup | None:
        """Return the group for the pods of a Job, made and updated as necessary.

        Args:
            job: The Job.
            has_pods: Whether the Job has pods, also ones that have ended.

        Raises:
            ApiError: The Workload or the PodGroup cannot be created, or has another
                form than this controller makes.
        """
        if job.spec.template.spec.scheduling_group is not None:
            return None
        # Only before the first pod: pods cannot join a group later, so a Job that has
        # started would be half in a group.
        is_new = _is_new(job, has_pods=has_pods)
        if job.metadata.controller is None:
            return self._own_group(job, is_new=is_new)
        name = job.metadata.annotations.get(_TEMPLATE_NAME)
        if name is None:
            return None
        return self._delegated_group(job, name, is_new=is_new)

    def collect(self, job: Job) -> None:
        """Delete the objects of a Job that was removed."""
        reference = controller_ref(job.api_version, job.kind, job.name)
        workloads = self.index.workloads_of(job.namespace, reference)
        for workload in self._controlled(workloads, job):
            groups = self._controlled(self.index.groups_of(workload), job)
            self._cluster.delete(workload)
            for group in groups:
                self._cluster.delete(group)

    def _own_group(self, job: Job, *, is_new: bool) -> PodGroup | None:
        """Return the group of a Job whose Workload is its own too."""
        workload = self._workload(job, is_new=is_new)
        if workload is None:
            return None
        groups = self._controlled(self.index.groups_of(workload), job)
        # Ambiguous objects are left alone, and the pods run without a group.
        if len(groups) > 1:
            return None
        if not groups and is_new:
            template = workload.spec.pod_group_templates[0]
            groups = [self._new_group(job, workload, template, owned=True)]
        group = groups[0] if groups else None
        gang = template_of(job).scheduling_policy.gang
        if gang is not None:
            self._resize_workload(workload, gang)
            group = self._resized(group, gang)
        return group

    def _workload(self, job: Job, *, is_new: bool) -> Workload | None:
        reference = controller_ref(job.api_version, job.kind, job.name)
        workloads = self.index.workloads_of(job.namespace, reference)
        workloads = self._controlled(workloads, job)
        if not workloads and is_new:
            return self._new_workload(job)
        if len(workloads) != 1:
            return None
        count = len(workloads[0].spec.pod_group_templates)
        if count != 1:
            raise InvalidError(
                f"Workload {workloads[0].key}: expected 1 podGroupTemplate, got {count}"
            )
        return workloads[0]

    def _delegated_group(
        self, job: Job, template_name: str, *, is_new: bool
    ) -> PodGroup | None:
        """Return the group of a Job that is part of another object's Workload."""
        parent = job.metadata.controller
        assert parent is not None
        reference = controller_ref(parent.api_version, parent.kind, parent.name)
        workloads = self.index.workloads_of(job.namespace, reference)
        # The parent may still have to create its Workload; the Job's pods do not wait
        # for that.
        if not workloads:
            return None
        workload = workloads[0]
        template = _template_named(workload, template_name)
        if template is None:
            return None
        groups = self._controlled(self.index.groups_of(workload), job)[:1]
        if not groups and is_new:
            groups = [self._new_group(job, workload, template, owned=False)]
        group, gang = groups[0] if groups else None, template.scheduling_policy.gang
        return group if gang is None else self._resized(group, gang)

    def _new_workload(self, job: Job) -> Workload:
        workload = workload_of(job)
        try:
            workload = self._cluster.add(self._cluster.admit(workload))
        except (AlreadyExistsError, ForbiddenError, InvalidError) as error:
            text = f"Failed to create Workload for Job {job.name}: {error}"
            self._record(job, "Warning", "FailedWorkloadCreate", text)
            raise
        text = f"Created Workload {workload.name} for Job {job.name}"
        self._record(job, "Normal", "WorkloadCreated", text)
        return workload

    def _new_group(
        self, job: Job, workload: Workload, template: PodGroupTemplate, *, owned: bool
    ) -> PodGroup:
        group = group_of_template(job, workload, template, owned=owned)
        group = self._cluster.add(self._cluster.admit(group))
        text = f"Created PodGroup {group.name} for Job {job.name}"
        self._record(job, "Normal", "PodGroupCreated", text)
        return group

    def _resize_workload(self, workload: Workload, gang: GangSchedulingPolicy) -> None:
        current = workload.spec.pod_group_templates[0].scheduling_policy.gang
        if current is not None and current.min_count != gang.min_count:
            # The Workload first: it is the template of the group, and must not lag
            # behind.
            self._cluster.change(workload, with_min_count(workload, gang.min_count))

    def _resized(
        self, group: PodGroup | None, gang: GangSchedulingPolicy
    ) -> PodGroup | None:
        current = None if group is None else group.spec.scheduling_policy.gang
        if group is None or current is None or current.min_count == gang.min_count:
            return group
        policy = PodGroupSchedulingPolicy(gang=gang)
        spec = replace(group.spec, scheduling_policy=policy)
        return self._cluster.change(group, replace(group, spec=spec))

    def _controlled(self, objects: Iterable[ObjT], job: Job) -> list[ObjT]:
        """Return the objects whose controller is the Job."""
        return [
            obj
            for obj in objects
            if (reference := obj.metadata.controller) and self._is_job(reference, job)
        ]

    def _is_job(self, reference: OwnerReference, job: Job) -> bool:
        """Return whether a controller is a Job.

        The name decides if one of both was loaded without a uid, as in manifests made
        from a dump.
        """
        if reference.uid == job.uid:
            return True
        names = self._cluster.names
        is_named = reference.kind == job.kind and reference.name == job.name
        is_loaded = bool(reference.uid) and not names.has_made(reference.uid)
        return is_named and (
            not reference.uid or (is_loaded and names.has_made(job.uid))
        )

    def _record(self, job: Job, event_type: str, reason: str, note: str) -> None:
        self._cluster.record(
            EventNote(
                regarding=job,
                type=event_type,
                reason=reason,
                action="Sync",
                note=note,
                reporter="job-controller",
            )
        )


def _is_new(job: Job, *, has_pods: bool) -> bool:
    """Return whether a Job has never started (``isNewJob``)."""
    status = job.status
    if has_pods or status.start_time is not None or status.succeeded or status.failed:
        return False
    # Also the condition of a Job that was resumed has this type.
    return all(condition.type != "Suspended" for condition in status.conditions)


def _template_named(workload: Workload, name: str) -> PodGroupTemplate | None:
    templates = workload.spec.pod_group_templates
    if not name:
        return templates[0] if templates else None
    return next((t for t in templates if t.name == name), None)
