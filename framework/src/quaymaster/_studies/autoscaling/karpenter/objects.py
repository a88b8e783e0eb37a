"""The objects of Karpenter: NodePool, NodeClaim and NodeOverlay.

Mirrors ``pkg/apis/v1`` and ``pkg/apis/v1alpha1`` (sigs.k8s.io/karpenter v1.15). Fields
that a manifest leaves out have the defaults of the API server. `from_wire` reads them.
"""

from typing import ClassVar, Final

from msgspec import field

from quaymaster._api.objects import Taint
from quaymaster._api.objects.meta import ApiObject, ApiValue
from quaymaster._api.objects.numbers import Int32, Int64
from quaymaster._api.objects.quantity import Quantity
from quaymaster._api.objects.time import Time
from quaymaster._studies.autoscaling.karpenter.durations import nillable_seconds

__all__ = [
    "Budget",
    "ClaimSpec",
    "ClaimStatus",
    "Condition",
    "Disruption",
    "NodeClaim",
    "NodeClassReference",
    "NodeOverlay",
    "NodeOverlaySpec",
    "NodePool",
    "NodePoolSpec",
    "NodeTemplate",
    "NodeTemplateMeta",
    "NodeTemplateSpec",
    "PoolStatus",
    "RequestSpec",
    "RequirementSpec",
    "condition",
    "is_true",
]

_LIFETIME: Final = "720h"


class RequirementSpec(ApiValue, frozen=True, kw_only=True):
    """One condition on a label of nodes.

    Attributes:
        operator: As for nodes of pods, and also ``Gte`` and ``Lte``.
        min_values: How many values the types of a claim must have at least.
    """

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()
    min_values: Int32 | None = None


class NodeClassReference(ApiValue, frozen=True, kw_only=True):
    """The object that says how the cloud makes a node."""

    kind: str = ""
    name: str = ""
    group: str = ""


class Condition(ApiValue, frozen=True, kw_only=True):
    """A condition of a pool or a claim."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Time | None = None


class NodeTemplateSpec(ApiValue, frozen=True, kw_only=True):
    """What the nodes of a pool are like.

    Attributes:
        expire_after: After which time a node is replaced, or ``Never``.
    """

    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    requirements: tuple[RequirementSpec, ...] = ()
    node_class_ref: NodeClassReference = NodeClassReference()
    termination_grace_period: str | None = None
    expire_after: str = _LIFETIME

    @property
    def expire_after_seconds(self) -> float | None:
        """After how many seconds a node is replaced; None for never."""
        return nillable_seconds(self.expire_after)


class NodeTemplateMeta(ApiValue, frozen=True, kw_only=True):
    """Labels and annotations of the nodes of a pool."""

    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class NodeTemplate(ApiValue, frozen=True, kw_only=True):
    """The template of the nodes of a pool."""

    metadata: NodeTemplateMeta = NodeTemplateMeta()
    spec: NodeTemplateSpec = NodeTemplateSpec()


class Budget(ApiValue, frozen=True, kw_only=True):
    """How many nodes may be disrupted at the same time.

    Attributes:
        reasons: The reasons that it limits; all if there are none.
        nodes: A number of nodes, or such as ``10%``.
        schedule: When it begins, as for CronJobs; None for always.
        duration: How long it lasts from then on.
    """

    reasons: tuple[str, ...] = ()
    nodes: str = "10%"
    schedule: str | None = None
    duration: str | None = None

    @property
    def duration_seconds(self) -> float | None:
        """How many seconds it lasts, or None."""
        return None if self.duration is None else nillable_seconds(self.duration)


class Disruption(ApiValue, frozen=True, kw_only=True):
    """When nodes of a pool may be removed.

    Attributes:
        consolidate_after: How long a node must be without changes, or ``Never``.
        consolidation_policy: ``WhenEmpty``, ``WhenEmptyOrUnderutilized`` or
            ``Balanced``.
    """

    consolidate_after: str = "0s"
    consolidation_policy: str = "WhenEmptyOrUnderutilized"
    budgets: tuple[Budget, ...] = (Budget(),)

    @property
    def consolidate_after_seconds(self) -> float | None:
        """The time in seconds; None for never."""
        return nillable_seconds(self.consolidate_after)


class NodePoolSpec(ApiValue, frozen=True, kw_only=True):
    """The spec of a pool.

    Attributes:
        limits: The most of each resource; ``nodes`` counts nodes.
        weight: Pools with larger weights come first; None counts as 0.
        replicas: How many nodes a static pool has; None for others.
    """

    template: NodeTemplate = NodeTemplate()
    disruption: Disruption = Disruption()
    limits: dict[str, Quantity] = {}
    weight: Int32 | None = None
    replicas: Int64 | None = None


class PoolStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a pool."""

    resources: dict[str, Quantity] = {}
    nodes: Int64 | None = None
    conditions: tuple[Condition, ...] = ()


class NodePool(ApiObject, frozen=True, kw_only=True):
    """Nodes that Karpenter makes from one template."""

    api_version: ClassVar[str] = "karpenter.sh/v1"
    kind: ClassVar[str] = "NodePool"
    plural: ClassVar[str] = "nodepools"
    namespaced: ClassVar[bool] = False

    spec: NodePoolSpec = NodePoolSpec()
    status: PoolStatus = PoolStatus()

    @property
    def weight(self) -> int:
        """Its weight; 0 if it has none."""
        return self.spec.weight or 0

    @property
    def is_static(self) -> bool:
        """Whether it has a fixed number of nodes."""
        return self.spec.replicas is not None

    @property
    def is_ready(self) -> bool:
        """Whether nodes can be made; manifests have no status, and count as ready."""
        ready = condition(self.status.conditions, "Ready")
        return ready is None or ready.status == "True"


class RequestSpec(ApiValue, frozen=True, kw_only=True):
    """What the pods of a claim request."""

    requests: dict[str, Quantity] = {}


class ClaimSpec(NodeTemplateSpec, frozen=True, kw_only=True):
    """The spec of a claim: a copy of the template, and what its pods request."""

    resources: RequestSpec = RequestSpec()


class ClaimStatus(ApiValue, frozen=True, kw_only=True):
    """The status of a claim.

    Attributes:
        node_name: The node, once it is registered.
        provider_id: The machine; empty until it is launched.
        last_pod_event_time: When a pod of the node was bound or ended last.
    """

    node_name: str = ""
    provider_id: str = field(default="", name="providerID")
    image_id: str = field(default="", name="imageID")
    capacity: dict[str, Quantity] = {}
    allocatable: dict[str, Quantity] = {}
    conditions: tuple[Condition, ...] = ()
    last_pod_event_time: Time | None = None


class NodeClaim(ApiObject, frozen=True, kw_only=True):
    """One machine that Karpenter orders from the cloud."""

    api_version: ClassVar[str] = "karpenter.sh/v1"
    kind: ClassVar[str] = "NodeClaim"
    plural: ClassVar[str] = "nodeclaims"
    namespaced: ClassVar[bool] = False

    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()


class NodeOverlaySpec(ApiValue, frozen=True, kw_only=True):
    """What an overlay changes in the types that it selects.

    Attributes:
        price_adjustment: What is added to prices: ``+0.1``, ``-5%``.
        price: The price instead.
        capacity: Further extended resources.
        weight: Overlays with larger weights win; None counts as 0.
    """

    requirements: tuple[RequirementSpec, ...] = ()
    price_adjustment: str | None = None
    price: str | None = None
    capacity: dict[str, Quantity] = {}
    weight: Int32 | None = None


class NodeOverlay(ApiObject, frozen=True, kw_only=True):
    """Changes prices and resources of types in simulations."""

    api_version: ClassVar[str] = "karpenter.sh/v1alpha1"
    kind: ClassVar[str] = "NodeOverlay"
    plural: ClassVar[str] = "nodeoverlays"
    namespaced: ClassVar[bool] = False

    spec: NodeOverlaySpec = NodeOverlaySpec()

    @property
    def weight(self) -> int:
        """Its weight; 0 if it has none."""
        return self.spec.weight or 0


def condition(conditions: tuple[Condition, ...], kind: str) -> Condition | None:
    """Return the condition of a type, or None."""
    for each in conditions:
        if each.type == kind:
            return each
    return None


def is_true(conditions: tuple[Condition, ...], kind: str) -> bool:
    """Return whether a condition holds."""
    present = condition(conditions, kind)
    return present is not None and present.status == "True"
