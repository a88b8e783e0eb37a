"""The result of ``what-if``."""

from msgspec import UNSET, UnsetType

from quaymaster._cli.documents.autoscaler import AutoscalerPart
from quaymaster._cli.documents.parts import (
    DocumentPart,
    MovePart,
    PlacedPart,
    PreemptedPart,
    ResourcePart,
    SpreadPart,
    StuckRolloutPart,
    UnscheduledPart,
    WarningPart,
)
from quaymaster._studies.planning.group_effects import GroupFate

__all__ = [
    "ClusterStatePart",
    "EvictedPart",
    "GroupEffectPart",
    "RefusedEvictionPart",
    "WhatIfDocument",
    "WhatIfStepPart",
    "WhatIfSummary",
]


class ClusterStatePart(DocumentPart, frozen=True):
    """A cluster at one moment.

    Attributes:
        at: The moment, in seconds since the beginning.
        placed: How many pods have a node that answers, and have not ended.
        pending: The pods without such a node.
        nodes: How many nodes answer.
        nodes_used: How many of them have a pod that is not static and not of a
            DaemonSet.
        price_per_hour: The sum of the prices of nodes; null if all are unknown.
        resources: Resource -> its amounts.
    """

    at: float
    placed: int
    pending: list[UnscheduledPart]
    nodes: int
    nodes_used: int
    price_per_hour: float | None
    resources: dict[str, ResourcePart]


class EvictedPart(DocumentPart, frozen=True):
    """A pod that was evicted, or deleted since its node did not answer.

    Attributes:
        pod: Its namespace and name.
        node: The node that it was on.
        at: The time, in seconds since the beginning.
    """

    pod: str
    node: str
    at: float


class RefusedEvictionPart(DocumentPart, frozen=True):
    """A pod whose eviction was refused, at least once.

    Attributes:
        pod: Its namespace and name.
        node: The node that it was on.
        message: Why, in upstream's words.
        cause: The cause of the refusal, in upstream's words; may be empty.
        times: How often it was refused.
        first: The time of the first refusal, in seconds since the beginning.
        last: The time of the last refusal.
        is_gone: Whether the pod left the node in the end.
    """

    pod: str
    node: str
    message: str
    cause: str
    times: int
    first: float
    last: float
    is_gone: bool


class GroupEffectPart(DocumentPart, frozen=True):
    """What a change does to a PodGroup.

    Attributes:
        group: Its namespace and name.
        fate: Whether it stays whole, breaks, or has its quorum now.
        before: How many of its pods had a node before.
        after: How many of its pods have one after.
        pods: How many pods it has after.
        min_count: The pods that must run together; null without a gang policy.
        message: What it waits for, or why it does not fit.
    """

    group: str
    fate: GroupFate
    before: int
    after: int
    pods: int
    min_count: int | None
    message: str


class WhatIfStepPart(DocumentPart, frozen=True):
    """The effect of one change, after the cluster has settled.

    Attributes:
        change: The change.
        at: When it was made, in seconds since the beginning.
        ended: When it was done and the last new pod was ready.
        objects: The created, changed and deleted objects.
        evicted: The pods that were evicted, in order.
        refused: The pods whose eviction was refused.
        stayed: Pod that a drain has left, or that cannot end -> the reason.
        lost: The pods that were lost together with their node.
        timed_out: The pods that were deleted because their node did not answer.
        unmanaged: The deleted pods that no controller creates again.
        preempted: The pods that were preempted.
        moved: The pods that are on another node than before the change.
        placed: The pods that got a node and still have it.
        spread: The number of pods per topology domain before and after.
        pending: The pods that have no node, and were not pending before the change.
        still_pending: The pods that were already pending, but for another reason.
        stuck_rollouts: The rollouts that make no progress.
        notes: What else a user should know.
        after: The cluster after it has settled.
        pod_groups: The PodGroups that the change touches, if there are any.
    """

    change: str
    at: float
    ended: float
    objects: list[str]
    evicted: list[EvictedPart]
    refused: list[RefusedEvictionPart]
    stayed: dict[str, str]
    lost: list[str]
    timed_out: list[EvictedPart]
    unmanaged: list[str]
    preempted: list[PreemptedPart]
    moved: list[MovePart]
    placed: list[PlacedPart]
    spread: list[SpreadPart]
    pending: list[UnscheduledPart]
    still_pending: list[UnscheduledPart]
    stuck_rollouts: list[StuckRolloutPart]
    notes: list[str]
    after: ClusterStatePart
    pod_groups: list[GroupEffectPart] | UnsetType = UNSET


class WhatIfSummary(DocumentPart, frozen=True):
    """The numbers of all changes together.

    Attributes:
        evicted: How many pods were evicted.
        refused: How many pods were refused an eviction.
        left: The pods that drains have left on their nodes.
        preempted: How many pods were preempted.
        moved: How many pods are on another node than before.
    """

    evicted: int
    refused: int
    left: list[str]
    preempted: int
    moved: int


class WhatIfDocument(DocumentPart, frozen=True):
    """What happens to the pods of a changed cluster: ``what-if -o json``.

    Attributes:
        before: The cluster before the first change.
        after: The cluster after the last change.
        steps: The effect of each change.
        moved: The pods that are on another node than before the first change.
        stuck_rollouts: The rollouts that make no progress in the end.
        summary: The numbers of all changes together.
        warnings: What was left out or assumed.
        autoscaler: The nodes that came and went, with --autoscaler.
    """

    before: ClusterStatePart
    after: ClusterStatePart
    steps: list[WhatIfStepPart]
    moved: list[MovePart]
    stuck_rollouts: list[StuckRolloutPart]
    summary: WhatIfSummary
    warnings: list[WarningPart]
    autoscaler: AutoscalerPart | UnsetType = UNSET
