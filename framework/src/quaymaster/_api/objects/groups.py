"""Groups of pods that are scheduled together, and the workloads that describe them.

Mirrors k8s.io/api v0.37, ``scheduling/v1beta1/types.go``, and ``CompositePodGroup`` of
``scheduling/v1alpha3/types.go``. PodGroups and Workloads have the same fields in both
versions.
"""

from typing import ClassVar, TypeAlias

from quaymaster._api.objects.device_claims import Condition
from quaymaster._api.objects.meta import ApiObject, ApiValue
from quaymaster._api.objects.numbers import Int32
from quaymaster._api.objects.volumes import TypedLocalObjectReference

__all__ = [
    "AllDisruptionMode",
    "BasicSchedulingPolicy",
    "CompositeGangSchedulingPolicy",
    "CompositePodGroup",
    "CompositePodGroupSchedulingPolicy",
    "CompositePodGroupSpec",
    "CompositePodGroupStatus",
    "CompositePodGroupTemplate",
    "DisruptionMode",
    "GangSchedulingPolicy",
    "GroupObject",
    "PodGroup",
    "PodGroupResourceClaim",
    "PodGroupResourceClaimStatus",
    "PodGroupSchedulingConstraints",
    "PodGroupSchedulingPolicy",
    "PodGroupSpec",
    "PodGroupStatus",
    "PodGroupTemplate",
    "SingleDisruptionMode",
    "TopologyConstraint",
    "Workload",
    "WorkloadReference",
    "WorkloadSpec",
]


class BasicSchedulingPolicy(ApiValue, frozen=True, kw_only=True):
    """Schedule members one by one: as many as fit."""


class GangSchedulingPolicy(ApiValue, frozen=True, kw_only=True):
    """Schedule members together.

    Attributes:
        min_count: The number of pods that must fit at the same time, at least 1.
    """

    min_count: Int32 = 0


class CompositeGangSchedulingPolicy(ApiValue, frozen=True, kw_only=True):
    """Schedule child groups together.

    Attributes:
        min_group_count: The number of children that must fit at the same time.
    """

    min_group_count: Int32 = 0


class PodGroupSchedulingPolicy(ApiValue, frozen=True, kw_only=True):
    """How a group is scheduled: exactly one attribute is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class CompositePodGroupSchedulingPolicy(ApiValue, frozen=True, kw_only=True):
    """How the children of a group are scheduled: exactly one attribute is set."""

    basic: BasicSchedulingPolicy | None = None
    gang: CompositeGangSchedulingPolicy | None = None


class TopologyConstraint(ApiValue, frozen=True, kw_only=True):
    """Keeps a group inside one topology domain.

    Attributes:
        key: The label of nodes whose values are the domains.
    """

    key: str = ""


class PodGroupSchedulingConstraints(ApiValue, frozen=True, kw_only=True):
    """Constraints of a group as a whole.

    Attributes:
        topology: At most one.
    """

    topology: tuple[TopologyConstraint, ...] = ()


class SingleDisruptionMode(ApiValue, frozen=True, kw_only=True):
    """Members can be preempted one by one."""


class AllDisruptionMode(ApiValue, frozen=True, kw_only=True):
    """Members can only be preempted together."""


class DisruptionMode(ApiValue, frozen=True, kw_only=True):
    """How a group is preempted: exactly one attribute is set."""

    single: SingleDisruptionMode | None = None
    all: AllDisruptionMode | None = None


class PodGroupResourceClaim(ApiValue, frozen=True, kw_only=True):
    """A claim for devices that the members share, by its name or by a template."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupResourceClaimStatus(ApiValue, frozen=True, kw_only=True):
    """The claim that was made from a template."""

    name: str = ""
    resource_claim_name: str | None = None


class WorkloadReference(ApiValue, frozen=True, kw_only=True):
    """The template that a group was made from."""

    workload_name: str = ""
    template_name: str = ""


class PodGroupSpec(ApiValue, frozen=True, kw_only=True):
    """The spec of a group.

    Attributes:
        parent_composite_pod_group_name: The group that it is a child of; None for a
            root.
        disruption_mode: None counts as ``single``.
        priority: None counts as 0.
        preemption_policy: ``PreemptLowerPriority`` or ``Never``; None unless the
            feature gate PodGroupPreemptionPolicy is on.
    """

    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str | None = None


class PodGroupStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a group.

    Attributes:
        conditions: ``PodGroupInitiallyScheduled`` and ``DisruptionTarget``.
    """

    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodGroupResourceClaimStatus, ...] = ()


class PodGroup(ApiObject, frozen=True, kw_only=True):
    """Pods that are scheduled together; they name it in ``spec.schedulingGroup``."""

    api_version: ClassVar[str] = "scheduling.k8s.io/v1beta1"
    kind: ClassVar[str] = "PodGroup"

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()

    @property
    def priority(self) -> int:
        """The group's priority; 0 if it has none."""
        return self.spec.priority or 0

    @property
    def min_count(self) -> int:
        """The number of pods that must fit at the same time; 1 without a gang policy.

        Mirrors ``MinCount`` in ``framework/plugins/gangscheduling``.
        """
        gang = self.spec.scheduling_policy.gang
        return 1 if gang is None else gang.min_count

    @property
    def entity_key(self) -> str:
        """Its key among groups of both kinds: ``podgroup/namespace/name``."""
        return f"podgroup/{self.key}"

    @property
    def parent_key(self) -> str:
        """The ``entity_key`` of the group that it is a child of; empty for a root."""
        return _parent_key(self, self.spec.parent_composite_pod_group_name)


class CompositePodGroupSpec(ApiValue, frozen=True, kw_only=True):
    """The spec of a group of groups.

    Attributes:
        parent_composite_pod_group_name: The group that it is a child of; None for a
            root.
        priority: None counts as 0.
        preemption_policy: ``PreemptLowerPriority`` or ``Never``; None unless the
            feature gate PodGroupPreemptionPolicy is on.
    """

    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: CompositePodGroupSchedulingPolicy = (
        CompositePodGroupSchedulingPolicy()
    )
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str | None = None


class CompositePodGroupStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a group of groups; the scheduler of 1.37 writes no condition."""

    conditions: tuple[Condition, ...] = ()


class CompositePodGroup(ApiObject, frozen=True, kw_only=True):
    """Groups that are scheduled together; they name it as their parent."""

    api_version: ClassVar[str] = "scheduling.k8s.io/v1alpha3"
    kind: ClassVar[str] = "CompositePodGroup"

    spec: CompositePodGroupSpec = CompositePodGroupSpec()
    status: CompositePodGroupStatus = CompositePodGroupStatus()

    @property
    def priority(self) -> int:
        """The group's priority; 0 if it has none."""
        return self.spec.priority or 0

    @property
    def min_count(self) -> int:
        """The number of children that must fit at the same time; 1 without a gang.

        Mirrors ``getMinCount`` in ``framework/plugins/gangscheduling``.
        """
        gang = self.spec.scheduling_policy.gang
        return 1 if gang is None else gang.min_group_count

    @property
    def entity_key(self) -> str:
        """Its key among groups of both kinds: ``compositepodgroup/namespace/name``."""
        return f"{_COMPOSITE}{self.key}"

    @property
    def parent_key(self) -> str:
        """The ``entity_key`` of the group that it is a child of; empty for a root."""
        return _parent_key(self, self.spec.parent_composite_pod_group_name)


GroupObject: TypeAlias = PodGroup | CompositePodGroup
"""A group of pods, or a group of groups."""

_COMPOSITE = "compositepodgroup/"


def _parent_key(group: ApiObject, parent: str | None) -> str:
    return "" if parent is None else f"{_COMPOSITE}{group.metadata.namespace}/{parent}"


class PodGroupTemplate(ApiValue, frozen=True, kw_only=True):
    """The template of groups; a name, and the fields of `PodGroupSpec`."""

    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str | None = None


class CompositePodGroupTemplate(ApiValue, frozen=True, kw_only=True):
    """The template of groups of groups, with the templates of their children."""

    name: str = ""
    scheduling_policy: CompositePodGroupSchedulingPolicy = (
        CompositePodGroupSchedulingPolicy()
    )
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: str | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()
    composite_pod_group_templates: tuple["CompositePodGroupTemplate", ...] = ()


class WorkloadSpec(ApiValue, frozen=True, kw_only=True):
    """The templates of the groups of a workload: of one kind or the other.

    Attributes:
        controller_ref: The object whose controller makes the groups, such as a Job.
    """

    controller_ref: TypedLocalObjectReference | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()
    composite_pod_group_templates: tuple[CompositePodGroupTemplate, ...] = ()


class Workload(ApiObject, frozen=True, kw_only=True):
    """The templates of groups; controllers read it, and the scheduler does not."""

    api_version: ClassVar[str] = "scheduling.k8s.io/v1beta1"
    kind: ClassVar[str] = "Workload"

    spec: WorkloadSpec = WorkloadSpec()
