"""Makers of groups of pods, and of workloads."""

from collections.abc import Iterable, Mapping

from quaymaster._api.objects import (
    AllDisruptionMode,
    BasicSchedulingPolicy,
    CompositeGangSchedulingPolicy,
    CompositePodGroup,
    CompositePodGroupSchedulingPolicy,
    CompositePodGroupSpec,
    CompositePodGroupTemplate,
    Condition,
    DisruptionMode,
    GangSchedulingPolicy,
    JobSchedulingConfiguration,
    PodGroup,
    PodGroupResourceClaim,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    PodGroupStatus,
    PodGroupTemplate,
    SingleDisruptionMode,
    TopologyConstraint,
    Workload,
    WorkloadPodGroupGangSchedulingPolicy,
    WorkloadPodGroupSchedulingPolicy,
    WorkloadReference,
    WorkloadSpec,
)
from quaymaster._authors.testing.makers.metadata import make_metadata
from quaymaster._authors.testing.shorthand import Moment

__all__ = [
    "make_composite_pod_group",
    "make_pod_group",
    "make_workload",
    "scheduling_of_job",
]


def make_pod_group(
    *,
    name: str = "group",
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    min_count: int | None = None,
    priority: int | None = 0,
    topology_key: str | None = None,
    resource_claims: Iterable[PodGroupResourceClaim] = (),
    disrupts_all: bool = False,
    parent: str | None = None,
    workload: str | None = None,
    conditions: Iterable[Condition] = (),
    creation_timestamp: Moment | None = None,
    deletion_timestamp: Moment | None = None,
) -> PodGroup:
    """Make a group of pods, whose members name it as their ``scheduling_group``.

    Args:
        name: Its name.
        namespace: Its namespace.
        labels: Its labels.
        min_count: The number of pods that must fit together; None: as many as fit.
        priority: Its priority.
        topology_key: The label of nodes whose value its pods must share.
        resource_claims: The claims for devices that its pods may share.
        disrupts_all: Whether its pods can only be preempted together.
        parent: The name of the CompositePodGroup that it is a child of.
        workload: The name of the Workload that it belongs to; a child of a
            CompositePodGroup must have one.
        conditions: Its conditions.
        creation_timestamp: When it was created.
        deletion_timestamp: When it was deleted, if it is being deleted.
    """
    return PodGroup(
        metadata=make_metadata(
            PodGroup,
            name=name,
            namespace=namespace,
            labels=labels,
            creation_timestamp=creation_timestamp,
            deletion_timestamp=deletion_timestamp,
        ),
        spec=PodGroupSpec(
            parent_composite_pod_group_name=parent,
            workload_ref=_reference(workload, name),
            scheduling_policy=_policy(min_count),
            scheduling_constraints=_constraints(topology_key),
            resource_claims=tuple(resource_claims),
            disruption_mode=_disruption_mode(disrupts_all=disrupts_all),
            priority=priority,
        ),
        status=PodGroupStatus(conditions=tuple(conditions)),
    )


def make_composite_pod_group(
    *,
    name: str = "composite",
    namespace: str = "default",
    min_group_count: int | None = None,
    priority: int | None = 0,
    topology_key: str | None = None,
    disrupts_all: bool = False,
    parent: str | None = None,
    workload: str = "workload",
) -> CompositePodGroup:
    """Make a group of groups.

    Args:
        name: Its name.
        namespace: Its namespace.
        min_group_count: The number of children that must fit together; None: as many as
            fit.
        priority: Its priority.
        topology_key: The label of nodes whose value its pods must share.
        disrupts_all: Whether its pods can only be preempted together.
        parent: The name of the CompositePodGroup that it is a child of.
        workload: The name of the Workload that it belongs to.
    """
    policy = CompositePodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
    if min_group_count is not None:
        gang = CompositeGangSchedulingPolicy(min_group_count=min_group_count)
        policy = CompositePodGroupSchedulingPolicy(gang=gang)
    return CompositePodGroup(
        metadata=make_metadata(CompositePodGroup, name=name, namespace=namespace),
        spec=CompositePodGroupSpec(
            parent_composite_pod_group_name=parent,
            workload_ref=_reference(workload, name),
            scheduling_policy=policy,
            scheduling_constraints=_constraints(topology_key),
            disruption_mode=_disruption_mode(disrupts_all=disrupts_all),
            priority=priority,
        ),
    )


def make_workload(
    *,
    name: str = "workload",
    namespace: str = "default",
    groups: Mapping[str, int | None] | None = None,
    composites: Iterable[CompositePodGroupTemplate] = (),
) -> Workload:
    """Make a workload: the templates of groups.

    Args:
        name: Its name.
        namespace: Its namespace.
        groups: The names of the templates of its groups, and how many pods must fit
            together; None: as many as fit. By default one template, ``group``.
        composites: Templates of groups of groups, instead of groups.
    """
    templates: tuple[PodGroupTemplate, ...] = ()
    composite_templates = tuple(composites)
    if not composite_templates:
        names = {"group": None} if groups is None else groups
        templates = tuple(
            PodGroupTemplate(name=template, scheduling_policy=_policy(min_count))
            for template, min_count in names.items()
        )
    return Workload(
        metadata=make_metadata(Workload, name=name, namespace=namespace),
        spec=WorkloadSpec(
            pod_group_templates=templates,
            composite_pod_group_templates=composite_templates,
        ),
    )


def _policy(min_count: int | None) -> PodGroupSchedulingPolicy:
    if min_count is None:
        return PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
    return PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=min_count))


def _constraints(topology_key: str | None) -> PodGroupSchedulingConstraints | None:
    if topology_key is None:
        return None
    topology = (TopologyConstraint(key=topology_key),)
    return PodGroupSchedulingConstraints(topology=topology)


def _disruption_mode(*, disrupts_all: bool) -> DisruptionMode:
    if disrupts_all:
        return DisruptionMode(all=AllDisruptionMode())
    return DisruptionMode(single=SingleDisruptionMode())


def scheduling_of_job(
    *, is_gang: bool, min_count: int | None, topology_key: str | None
) -> JobSchedulingConfiguration | None:
    """Return how the pods of a Job are scheduled; None if the Job leaves it open."""
    if not is_gang and topology_key is None:
        return None
    policy = None
    if is_gang:
        gang = WorkloadPodGroupGangSchedulingPolicy(min_count=min_count)
        policy = WorkloadPodGroupSchedulingPolicy(gang=gang)
    return JobSchedulingConfiguration(
        scheduling_policy=policy, scheduling_constraints=_constraints(topology_key)
    )


def _reference(workload: str | None, template: str) -> WorkloadReference | None:
    if workload is None:
        return None
    return WorkloadReference(workload_name=workload, template_name=template)
