"""Pods.

Mirrors k8s.io/api v0.36, ``core/v1/types.go``, with one difference: the node's name is
a field of the `Pod`, not of its `PodSpec`, so that all pods of one template can share
one spec. Parts that scheduling never reads (commands, environment, mounts, ...) have no
field.
"""

from typing import ClassVar, Final

from msgspec import field

from quaymaster._api.objects.affinity import (
    Affinity,
    Toleration,
    TopologySpreadConstraint,
)
from quaymaster._api.objects.meta import ApiObject, ApiValue, ObjectMeta
from quaymaster._api.objects.numbers import Int32, Int64
from quaymaster._api.objects.probes import Lifecycle, Probe
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.time import Time
from quaymaster._api.objects.volumes import Volume

__all__ = [
    "FINISHED_PHASES",
    "Container",
    "ContainerExitCodes",
    "ContainerExtendedResourceRequest",
    "ContainerPort",
    "ContainerResizePolicy",
    "ContainerRestartRule",
    "ContainerState",
    "ContainerStateTerminated",
    "ContainerStatus",
    "Pod",
    "PodCondition",
    "PodExtendedResourceClaimStatus",
    "PodResourceClaim",
    "PodResourceClaimStatus",
    "PodSchedulingGate",
    "PodSchedulingGroup",
    "PodSpec",
    "PodStatus",
    "PodTemplateSpec",
    "ResourceClaimRef",
    "ResourceRequirements",
]

FINISHED_PHASES: Final = ("Succeeded", "Failed")
"""The phases of pods that have ended."""


class ResourceClaimRef(ApiValue, frozen=True, kw_only=True):
    """Names a claim of the pod that a container uses (upstream: ``ResourceClaim``)."""

    name: str = ""
    request: str = ""


class ResourceRequirements(ApiValue, frozen=True, kw_only=True):
    """The requests and limits of a container, or of a whole pod."""

    limits: dict[str, Quantity] = {}
    requests: dict[str, Quantity] = {}
    claims: tuple[ResourceClaimRef, ...] = ()


class ContainerPort(ApiValue, frozen=True, kw_only=True):
    """A port of a container.

    Attributes:
        host_port: The port that it uses on the node; 0 means none.
        protocol: ``TCP``, ``UDP`` or ``SCTP``; empty means TCP.
        host_ip: The node's address of this port; empty means all.
    """

    name: str = ""
    host_port: Int32 = 0
    container_port: Int32 = 0
    protocol: str = ""
    host_ip: str = field(default="", name="hostIP")


class ContainerResizePolicy(ApiValue, frozen=True, kw_only=True):
    """Whether resizing one resource restarts the container."""

    resource_name: str = ""
    restart_policy: str = ""


class ContainerExitCodes(ApiValue, frozen=True, kw_only=True):
    """The exit codes that a restart rule is for.

    Attributes:
        operator: ``In`` or ``NotIn``.
    """

    operator: str = ""
    values: tuple[Int32, ...] = ()


class ContainerRestartRule(ApiValue, frozen=True, kw_only=True):
    """A restart rule for containers that exit with certain codes."""

    action: str = ""
    exit_codes: ContainerExitCodes | None = None


class Container(ApiValue, frozen=True, kw_only=True):
    """A container of a pod.

    Attributes:
        image_pull_policy: ``Always``, ``IfNotPresent`` or ``Never``; empty depends on
            the tag.
        restart_policy: ``Always`` makes an init container a sidecar.
    """

    name: str = ""
    image: str = ""
    image_pull_policy: str = ""
    ports: tuple[ContainerPort, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None

    @property
    def is_sidecar(self) -> bool:
        """Whether this init container keeps running beside the others."""
        return self.restart_policy == "Always"


class PodSchedulingGate(ApiValue, frozen=True, kw_only=True):
    """Keeps a pod from being scheduled until it is removed."""

    name: str = ""


class PodResourceClaim(ApiValue, frozen=True, kw_only=True):
    """A claim for devices, by its name or by a template."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(ApiValue, frozen=True, kw_only=True):
    """The group that a pod is scheduled with."""

    pod_group_name: str | None = None


class PodSpec(ApiValue, frozen=True, kw_only=True, dict=True, weakref=True, gc=True):
    """The spec of a pod. Shared by all pods of one template, see `SpecPool`.

    Facts that depend only on a spec are computed once per template and cached on it,
    see `quaymaster.objects.SpecKey`.

    Attributes:
        volumes: All volumes that were read, except that of the service account's token.
            The in-memory cluster keeps local ones, and those that scheduling reads.
        priority: None counts as 0.
        preemption_policy: ``PreemptLowerPriority`` (also if None) or ``Never``.
        resources: Requests and limits of the pod as a whole.
        node_name: In the template of a workload, the node that its pods are created
            with. Empty in the spec of a pod, which has its own ``node_name``.
    """

    volumes: tuple[Volume, ...] = ()
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()
    restart_policy: str = ""
    termination_grace_period_seconds: Int64 | None = None
    active_deadline_seconds: Int64 | None = None
    node_selector: dict[str, str] = {}
    host_network: bool = False
    host_users: bool | None = None
    affinity: Affinity | None = None
    scheduler_name: str = ""
    tolerations: tuple[Toleration, ...] = ()
    priority_class_name: str = ""
    priority: Int32 | None = None
    runtime_class_name: str | None = None
    preemption_policy: str | None = None
    overhead: dict[str, Quantity] = {}
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    resources: ResourceRequirements | None = None
    scheduling_group: PodSchedulingGroup | None = None
    node_name: str = ""


class PodCondition(ApiValue, frozen=True, kw_only=True):
    """A condition of a pod, such as ``PodScheduled``.

    Attributes:
        status: ``True``, ``False`` or ``Unknown``.
    """

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: Int64 = 0
    last_transition_time: Time | None = None


class ContainerStateTerminated(ApiValue, frozen=True, kw_only=True):
    """The end of a container."""

    exit_code: Int32 = 0
    finished_at: Time | None = None


class ContainerState(ApiValue, frozen=True, kw_only=True):
    """The state of a container: `terminated` is None until it has ended."""

    terminated: ContainerStateTerminated | None = None


class ContainerStatus(ApiValue, frozen=True, kw_only=True):
    """The state of a container, and the resources that the node has given to it."""

    name: str = ""
    state: ContainerState = ContainerState()
    restart_count: Int32 = 0
    allocated_resources: dict[str, Quantity] = {}
    resources: ResourceRequirements | None = None


class PodResourceClaimStatus(ApiValue, frozen=True, kw_only=True):
    """The claim that was made from a template."""

    name: str = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(ApiValue, frozen=True, kw_only=True):
    """The request of a claim that serves an extended resource of a container."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class PodExtendedResourceClaimStatus(ApiValue, frozen=True, kw_only=True):
    """The claim that serves the extended resources of a pod."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


class PodStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a pod.

    Attributes:
        phase: ``Pending``, ``Running``, ``Succeeded``, ``Failed`` or ``Unknown``.
    """

    phase: str = ""
    conditions: tuple[PodCondition, ...] = ()
    message: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    start_time: Time | None = None
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    resize: str = ""
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    allocated_resources: dict[str, Quantity] = {}
    resources: ResourceRequirements | None = None


class Pod(ApiObject, frozen=True, kw_only=True):
    """A group of containers that run together on one node.

    Attributes:
        node_name: The node it is bound to; empty while it is not. On the wire this is
            ``spec.nodeName``.
    """

    api_version: ClassVar[str] = "v1"
    kind: ClassVar[str] = "Pod"

    spec: PodSpec = PodSpec()
    node_name: str = ""
    status: PodStatus = PodStatus()

    @property
    def priority(self) -> int:
        """The pod's priority; 0 if it has none."""
        return self.spec.priority or 0

    @property
    def group_key(self) -> str:
        """``namespace/name`` of the pod's PodGroup; empty for a pod without a group."""
        group = self.spec.scheduling_group
        if group is None or group.pod_group_name is None:
            return ""
        return f"{self.metadata.namespace}/{group.pod_group_name}"

    @property
    def is_terminating(self) -> bool:
        """Whether the pod has been deleted and is within its grace period."""
        return self.metadata.deletion_timestamp is not None

    @property
    def is_finished(self) -> bool:
        """Whether the pod has ended, with or without success."""
        return self.status.phase in FINISHED_PHASES


class PodTemplateSpec(ApiValue, frozen=True, kw_only=True):
    """The template that the pods of a workload are made from."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
