"""For which methods of disruption a node counts.

Mirrors ``ShouldDisrupt`` of ``pkg/controllers/disruption/emptiness.go``,
``consolidation.go``, ``drift.go`` and ``staticdrift.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Mapping
from typing import Final

import attrs

from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    ZONE,
)
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClaim,
    NodePool,
    is_true,
)

__all__ = ["Eligibility", "eligibility_of"]

_WHEN_EMPTY: Final = "WhenEmpty"


@attrs.frozen(kw_only=True)
class Eligibility:
    """For which methods a node counts.

    A text is the event about a node that does not count.

    Attributes:
        emptiness: Whether it is empty, and its pool lets it go.
        static_drift: Whether it has drifted from a pool with a fixed number of nodes.
        drift: Whether it has drifted from another pool.
        consolidation: Whether it has pods, and may be consolidated.
    """

    emptiness: bool | str
    static_drift: bool
    drift: bool
    consolidation: bool | str

    @property
    def is_usual(self) -> bool:
        """Whether it counts for consolidation only, as most nodes do."""
        others = self.emptiness or self.static_drift or self.drift
        return self.consolidation is True and not others


def eligibility_of(
    claim: NodeClaim,
    pool: NodePool,
    labels: Mapping[str, str],
    instance_type: InstanceType | None,
    *,
    is_empty: bool,
) -> Eligibility:
    """Return for which methods a node counts.

    Args:
        claim: Its claim.
        pool: Its pool.
        labels: Its labels.
        instance_type: Its type; None if the pool's provider does not know it.
        is_empty: Whether no pod makes it costly to remove.
    """
    conditions = claim.status.conditions
    is_drifted = is_true(conditions, "Drifted")
    if pool.is_static:
        return Eligibility(
            emptiness=False, static_drift=is_drifted, drift=False, consolidation=False
        )
    disabled = ""
    if pool.spec.disruption.consolidate_after_seconds is None:
        disabled = f'NodePool "{pool.name}" has consolidation disabled'
    is_due = is_true(conditions, "Consolidatable")
    unknown = _unknown(labels, instance_type)
    consolidation: bool | str = unknown or disabled
    if not consolidation and not is_empty:
        consolidation = _policy_problem(pool) or is_due
    return Eligibility(
        emptiness=disabled or (is_empty and is_due),
        static_drift=False,
        drift=is_drifted,
        consolidation=consolidation or False,
    )


def _unknown(labels: Mapping[str, str], instance_type: InstanceType | None) -> str:
    """Return what is not known about a node, or empty."""
    if instance_type is None:
        return f'Instance Type "{labels.get(INSTANCE_TYPE, "")}" not found'
    for label in (CAPACITY_TYPE, ZONE):
        if label not in labels:
            return f'Node does not have label "{label}"'
    return ""


def _policy_problem(pool: NodePool) -> str:
    if pool.spec.disruption.consolidation_policy != _WHEN_EMPTY:
        return ""
    return (
        f'NodePool "{pool.name}" has consolidation policy WhenEmpty, but node is not '
        "empty"
    )
