"""The Workload and the PodGroup that the Job controller makes for a Job.

Mirrors ``pkg/controller/job/job_scheduling_manager.go`` and ``WorkloadItemForJob`` in
``pkg/api/job/util.go`` (Kubernetes v1.37), and ``scheduling/schedulingv1/
workloadbuilder`` of k8s.io/component-helpers v0.37.
"""

from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    BasicSchedulingPolicy,
    GangSchedulingPolicy,
    Job,
    JobSchedulingConfiguration,
    ObjectMeta,
    OwnerReference,
    PodGroup,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    PodGroupTemplate,
    PodSchedulingGroup,
    PodSpec,
    PodTemplateSpec,
    SpecKey,
    TypedLocalObjectReference,
    Workload,
    WorkloadReference,
    WorkloadSpec,
)
from quaymaster._clusters.inmemory.controllers.pods import owner_reference
from quaymaster._clusters.inmemory.names import safe_hash

__all__ = [
    "controller_ref",
    "group_of_template",
    "in_group",
    "template_of",
    "with_min_count",
    "workload_of",
]

_BASIC: Final = PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
_NOTHING: Final = JobSchedulingConfiguration()
_LONGEST_NAME: Final = 253


def workload_of(job: Job) -> Workload:
    """Return the Workload of a Job, before admission."""
    return Workload(
        metadata=ObjectMeta(
            name=_workload_name(job),
            namespace=job.namespace,
            owner_references=(owner_reference(job),),
        ),
        spec=WorkloadSpec(
            controller_ref=controller_ref(job.api_version, job.kind, job.name),
            pod_group_templates=(template_of(job),),
        ),
    )


def template_of(job: Job) -> PodGroupTemplate:
    """Return the template of a Job's group: a basic group, unless the Job says more."""
    group = job.spec.scheduling or _NOTHING
    constraints = group.scheduling_constraints
    # An empty list of levels is the same as no constraints, and admission would reject
    # it.
    if constraints is not None and not constraints.topology:
        constraints = None
    return PodGroupTemplate(
        name=f"{job.name}-pgt-0",
        scheduling_policy=_policy(job, group),
        scheduling_constraints=constraints,
        disruption_mode=group.disruption_mode,
        resource_claims=group.resource_claims,
        priority_class_name=job.spec.template.spec.priority_class_name,
    )


def group_of_template(
    job: Job, workload: Workload, template: PodGroupTemplate, *, owned: bool
) -> PodGroup:
    """Return the PodGroup of a Job, before admission.

    Args:
        job: The Job.
        workload: The Workload that describes the group.
        template: The template of the Workload.
        owned: Whether the Workload becomes a further owner of the group.
    """
    owners = [owner_reference(job)]
    if owned:
        reference = OwnerReference(
            api_version=workload.api_version,
            kind=workload.kind,
            name=workload.name,
            uid=workload.uid,
        )
        owners.append(reference)
    return PodGroup(
        metadata=ObjectMeta(
            name=_group_name(workload.name, template.name),
            namespace=workload.namespace,
            owner_references=tuple(owners),
        ),
        spec=PodGroupSpec(
            workload_ref=WorkloadReference(
                workload_name=workload.name, template_name=template.name
            ),
            scheduling_policy=template.scheduling_policy,
            scheduling_constraints=template.scheduling_constraints,
            disruption_mode=template.disruption_mode,
            resource_claims=template.resource_claims,
            priority_class_name=template.priority_class_name,
            priority=template.priority,
        ),
    )


def controller_ref(api_version: str, kind: str, name: str) -> TypedLocalObjectReference:
    """Return the reference by which a Workload names its controller."""
    group = api_version.rpartition("/")[0]
    return TypedLocalObjectReference(api_group=group, kind=kind, name=name)


def in_group(template: PodTemplateSpec, group: PodGroup) -> PodTemplateSpec:
    """Return the template of pods that are members of a group."""
    # Kept by the spec: each pod of a Job must share one spec object, or nothing that is
    # cached for specs would be found again.
    specs = _MEMBER_SPECS.of_spec(template.spec)
    spec = specs.get(group.name)
    if spec is None:
        member = PodSchedulingGroup(pod_group_name=group.name)
        spec = replace(template.spec, scheduling_group=member)
        specs[group.name] = spec
    return replace(template, spec=spec)


def with_min_count(workload: Workload, count: int) -> Workload:
    """Return a Workload whose only template has another minimum of pods."""
    # Only Workloads that this controller made come here, and these have one template.
    (template,) = workload.spec.pod_group_templates
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=count))
    template = replace(template, scheduling_policy=policy)
    spec = replace(workload.spec, pod_group_templates=(template,))
    return replace(workload, spec=spec)


def _policy(job: Job, group: JobSchedulingConfiguration) -> PodGroupSchedulingPolicy:
    policy = group.scheduling_policy
    if policy is None or policy.gang is None:
        return _BASIC
    count = policy.gang.min_count
    if count is None:
        parallelism = job.spec.parallelism
        count = max(1, 1 if parallelism is None else parallelism)
    return PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=count))


def _workload_name(job: Job) -> str:
    # The uid as Go prints it for a hash.
    tail = f"-{safe_hash(f'(types.UID){job.uid}'.encode())}"
    return job.name[: _LONGEST_NAME - len(tail)] + tail


def _group_name(workload: str, template: str) -> str:
    code = safe_hash(f"{workload}{template}".encode())
    room = _LONGEST_NAME - len(code) - 2
    if len(workload) + len(template) > room:
        half = room // 2
        # Each of the two names may use what the other does not need.
        if len(workload) <= half:
            template = template[: room - len(workload)]
        elif len(template) <= half:
            workload = workload[: room - len(template)]
        else:
            workload, template = workload[: room - half], template[:half]
    return f"{workload}-{template}-{code}"


def _no_specs(_spec: PodSpec) -> dict[str, PodSpec]:
    return {}


_MEMBER_SPECS: Final = SpecKey(_no_specs)
"""Name of a group -> the spec of its members, which all pods of a Job share."""
