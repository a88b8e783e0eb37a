"""The operations of benchmark files.

Mirrors the operations of upstream's runner (Kubernetes v1.37, ``test/integration/
scheduler_perf``: ``operations.go``, ``update.go`` and ``dra.go``), and
``createResourceDriver`` of v1.36. A field ``countParam: $initNodes`` takes the place of
``count``.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Final, TypeAlias

import attrs

from quaymaster._core.config.errors import ArgsError
from quaymaster._core.config.fields import integer, matching, non_empty, one_of

__all__ = [
    "OPERATIONS",
    "Barrier",
    "Churn",
    "CreateAny",
    "CreateNamespaces",
    "CreateNodes",
    "CreatePodGroups",
    "CreatePodSets",
    "CreatePods",
    "CsiLimit",
    "DeletePods",
    "LabelNodes",
    "LabelNodesUniquely",
    "NodeAllocatable",
    "Operation",
    "Sleep",
    "StartCollecting",
    "StartCollectingProfile",
    "StopCollecting",
    "StopCollectingProfile",
    "UpdateAny",
]

_parameter: Final = matching(
    r"\$\w+", "the name of a parameter behind a $, such as $initNodes"
)
_count: Final = integer(0)


@attrs.frozen(kw_only=True)
class CsiLimit:
    """How many volumes of a driver a node takes."""

    count: int | None = attrs.field(default=None, validator=_count)


@attrs.frozen(kw_only=True)
class NodeAllocatable:
    """Gives nodes more to allocate, and limits of volumes.

    Attributes:
        node_allocatable: Resource -> quantity.
        csi_node_allocatable: Driver -> its limit.
        migrated_plugins: In-tree volume plugins that drivers stand in for.
    """

    node_allocatable: Mapping[str, str] = {}
    csi_node_allocatable: Mapping[str, CsiLimit] = {}
    migrated_plugins: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class LabelNodes:
    """Gives nodes a label, with one value after the other."""

    label_key: str = attrs.field(validator=non_empty())
    label_values: tuple[str, ...] = attrs.field(validator=non_empty())


@attrs.frozen(kw_only=True)
class LabelNodesUniquely:
    """Gives nodes a label, with a value of its own for each."""

    label_key: str = attrs.field(validator=non_empty())


@attrs.frozen(kw_only=True)
class CreateNodes:
    """Creates nodes."""

    opcode: str
    count: int = attrs.field(default=0, validator=_count)
    count_param: str | None = attrs.field(default=None, validator=_parameter)
    template_params: Mapping[str, object] = {}
    node_template_path: str | None = None
    node_allocatable_strategy: NodeAllocatable | None = None
    label_node_prepare_strategy: LabelNodes | None = None
    unique_node_label_strategy: LabelNodesUniquely | None = None


@attrs.frozen(kw_only=True)
class CreateNamespaces:
    """Creates the namespaces ``<prefix>-0``, ``<prefix>-1``, ..."""

    opcode: str
    prefix: str = attrs.field(validator=non_empty())
    count: int = attrs.field(default=0, validator=_count)
    count_param: str | None = attrs.field(default=None, validator=_parameter)
    namespace_template_path: str | None = None


@attrs.frozen(kw_only=True)
class CreatePods:
    """Creates pods, and waits until all of them have a node."""

    opcode: str
    count: int = attrs.field(default=0, validator=_count)
    count_param: str | None = attrs.field(default=None, validator=_parameter)
    count_multiplier_param: str | None = attrs.field(default=None, validator=_parameter)
    template_params: Mapping[str, object] = {}
    steady_state: bool = False
    steady_state_param: str | None = attrs.field(default=None, validator=_parameter)
    duration: timedelta = timedelta()
    duration_param: str | None = attrs.field(default=None, validator=_parameter)
    collect_metrics: bool = False
    namespace: str | None = None
    pod_template_path: str | None = None
    skip_wait_to_completion: bool = False
    persistent_volume_template_path: str | None = None
    persistent_volume_claim_template_path: str | None = None
    signature_batch_size: int = attrs.field(default=0, validator=_count)
    signature_batch_size_param: str | None = attrs.field(
        default=None, validator=_parameter
    )

    def validate(self) -> Iterator[ArgsError]:
        """Check that the fields go together."""
        for field, is_set in (
            ("collectMetrics", self.collect_metrics),
            ("steadyState", self.steady_state),
        ):
            if is_set and self.skip_wait_to_completion:
                message = f"expected not both this and {field}"
                yield ArgsError("skipWaitToCompletion", message)
        if self.steady_state and not (self.duration or self.duration_param):
            yield ArgsError("duration", "expected a time to keep the pods coming for")
        volume = self.persistent_volume_template_path
        if (volume is None) is not (self.persistent_volume_claim_template_path is None):
            message = "expected together with persistentVolumeClaimTemplatePath"
            yield ArgsError("persistentVolumeTemplatePath", message)


@attrs.frozen(kw_only=True)
class CreatePodSets:
    """Creates the same pods in each of the namespaces ``<namespacePrefix>-0``, ..."""

    opcode: str
    count: int = attrs.field(default=0, validator=_count)
    count_param: str | None = attrs.field(default=None, validator=_parameter)
    namespace_prefix: str = attrs.field(validator=non_empty())
    create_pods_op: CreatePods


@attrs.frozen(kw_only=True)
class CreatePodGroups:
    """Creates pod groups, and waits until the scheduler has them."""

    opcode: str
    namespace: str = attrs.field(validator=non_empty())
    template_path: str = attrs.field(validator=non_empty())
    count: int = attrs.field(default=0, validator=_count)
    count_param: str | None = attrs.field(default=None, validator=_parameter)
    template_params: Mapping[str, object] = {}

    def validate(self) -> Iterator[ArgsError]:
        """Check that there is a group."""
        if not self.count and self.count_param is None:
            yield ArgsError("count", "expected at least 1, or countParam")


@attrs.frozen(kw_only=True)
class CreateAny:
    """Creates objects of any kind."""

    opcode: str
    namespace: str = ""
    template_path: str = attrs.field(validator=non_empty())
    count: int = attrs.field(default=1, validator=_count)
    count_param: str | None = attrs.field(default=None, validator=_parameter)
    template_params: Mapping[str, object] = {}


@attrs.frozen(kw_only=True)
class UpdateAny:
    """Replaces objects of any kind, and waits until the last of them is replaced."""

    opcode: str
    namespace: str = ""
    template_path: str = attrs.field(validator=non_empty())
    count: int = attrs.field(default=1, validator=_count)
    count_param: str | None = attrs.field(default=None, validator=_parameter)
    update_per_second: int = attrs.field(default=0, validator=_count)
    subresources: tuple[str, ...] = ()

    def validate(self) -> Iterator[ArgsError]:
        """Check that the parts to replace can be replaced."""
        if self.subresources not in ((), ("resize",)):
            yield ArgsError("subresources", "expected none, or resize alone")


@attrs.frozen(kw_only=True)
class DeletePods:
    """Deletes the pods of a namespace."""

    opcode: str
    namespace: str = attrs.field(validator=non_empty())
    label_selector: Mapping[str, str] = {}
    skip_wait_to_completion: bool = False
    delete_pods_per_second: int = attrs.field(default=0, validator=_count)


@attrs.frozen(kw_only=True)
class Churn:
    """Begins to create objects at an interval, and to delete them in turn."""

    opcode: str
    mode: str = attrs.field(validator=one_of("create", "recreate"))
    number: int = attrs.field(default=0, validator=_count)
    interval_milliseconds: int = attrs.field(default=0, validator=_count)
    namespace: str | None = None
    template_paths: tuple[str, ...] = attrs.field(validator=non_empty())

    def validate(self) -> Iterator[ArgsError]:
        """Check that recreating has a number of objects."""
        if self.mode == "recreate" and not self.number:
            yield ArgsError("number", "expected at least 1 with the mode 'recreate'")


@attrs.frozen(kw_only=True)
class Barrier:
    """Waits for pods whose creation was not waited for."""

    opcode: str
    namespaces: tuple[str, ...] = ()
    label_selector: Mapping[str, str] = {}
    stage_requirement: str = attrs.field(
        default="Scheduled", validator=one_of("Scheduled", "Attempted")
    )


@attrs.frozen(kw_only=True)
class Sleep:
    """Lets time pass."""

    opcode: str
    duration: timedelta = timedelta()
    duration_param: str | None = attrs.field(default=None, validator=_parameter)


@attrs.frozen(kw_only=True)
class StartCollecting:
    """Start a measurement."""

    opcode: str
    name: str = ""
    namespaces: tuple[str, ...] = attrs.field(validator=non_empty())
    label_selector: Mapping[str, str] = {}


@attrs.frozen(kw_only=True)
class StopCollecting:
    """End the measurement."""

    opcode: str


@attrs.frozen(kw_only=True)
class StartCollectingProfile:
    """Begin to write a profile of upstream's program; it has no effect here."""

    opcode: str
    type: str = attrs.field(validator=matching("(?i)cpu", "CPU"))
    file_path: str = attrs.field(validator=non_empty())


@attrs.frozen(kw_only=True)
class StopCollectingProfile:
    """End the profile."""

    opcode: str
    type: str = attrs.field(validator=matching("(?i)cpu", "CPU"))


@attrs.frozen(kw_only=True)
class CreateResourceDriver:
    """Lists devices of one driver on the nodes whose names match a pattern."""

    opcode: str
    driver_name: str = attrs.field(validator=non_empty())
    max_claims_per_node: int = attrs.field(default=0, validator=_count)
    max_claims_per_node_param: str | None = attrs.field(
        default=None, validator=_parameter
    )
    nodes: str = attrs.field(validator=non_empty())


@attrs.frozen(kw_only=True)
class CreateResourceClaims:
    """Creates claims of devices."""

    opcode: str
    namespace: str = attrs.field(validator=non_empty())
    template_path: str = attrs.field(validator=non_empty())
    count: int = attrs.field(default=0, validator=_count)
    count_param: str | None = attrs.field(default=None, validator=_parameter)


@attrs.frozen(kw_only=True)
class AllocResourceClaims:
    """Gives claims their devices without a pod; without a namespace, all claims."""

    opcode: str
    namespace: str = ""


Operation: TypeAlias = (
    CreateNodes
    | CreateNamespaces
    | CreatePods
    | CreatePodSets
    | CreatePodGroups
    | CreateAny
    | UpdateAny
    | DeletePods
    | Churn
    | Barrier
    | Sleep
    | StartCollecting
    | StopCollecting
    | StartCollectingProfile
    | StopCollectingProfile
    | CreateResourceDriver
    | CreateResourceClaims
    | AllocResourceClaims
)

OPERATIONS: Final[Mapping[str, type]] = {
    "createNodes": CreateNodes,
    "createNamespaces": CreateNamespaces,
    "createPods": CreatePods,
    "createPodSets": CreatePodSets,
    "createPodGroups": CreatePodGroups,
    "createAny": CreateAny,
    "updateAny": UpdateAny,
    "deletePods": DeletePods,
    "churn": Churn,
    "barrier": Barrier,
    "sleep": Sleep,
    "startCollectingMetrics": StartCollecting,
    "stopCollectingMetrics": StopCollecting,
    "startCollectingProfile": StartCollectingProfile,
    "stopCollectingProfile": StopCollectingProfile,
    "createResourceDriver": CreateResourceDriver,
    "createResourceClaims": CreateResourceClaims,
    "allocResourceClaims": AllocResourceClaims,
}
"""The operations, by their opcode."""
