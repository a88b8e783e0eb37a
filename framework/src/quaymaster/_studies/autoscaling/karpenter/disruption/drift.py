"""Claims that no longer match their pool, and how their nodes are replaced.

Mirrors ``pkg/controllers/nodeclaim/disruption/drift.go`` and
``pkg/controllers/disruption/drift.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Iterable, Mapping, Sequence

from quaymaster._studies.autoscaling.karpenter.disruption.candidates import Candidate
from quaymaster._studies.autoscaling.karpenter.disruption.commands import Command
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    Report,
    sentence,
)
from quaymaster._studies.autoscaling.karpenter.disruption.survey import (
    Survey,
)
from quaymaster._studies.autoscaling.karpenter.disruption.unchanged import NEW_SECONDS
from quaymaster._studies.autoscaling.karpenter.instance_types import InstanceType
from quaymaster._studies.autoscaling.karpenter.labels import (
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    ON_DEMAND,
    RESERVED,
)
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClaim,
    NodePool,
    condition,
)
from quaymaster._studies.autoscaling.karpenter.requirements import (
    Requirement,
    Requirements,
)
from quaymaster._studies.autoscaling.karpenter.template_hash import HASH, HASH_VERSION

__all__ = ["drift_command", "drift_reason"]


def drift_reason(
    pool: NodePool,
    claim: NodeClaim,
    types: Iterable[InstanceType],
    now: float,
    reservation_label: str,
) -> str:
    """Return why a claim has drifted from its pool, or empty.

    Args:
        pool: The pool.
        claim: A claim of the pool that has been launched.
        types: The types that the provider offers to the pool.
        now: The time.
        reservation_label: The label of capacity reservations.
    """
    if _has_other_hash(pool, claim):
        return "NodePoolDrifted"
    labels = Requirements.from_labels(claim.labels)
    required = Requirements.from_conditions(pool.spec.template.spec.requirements)
    if not labels.compatible(required):
        return "RequirementsDrifted"
    age = now - (claim.metadata.creation_timestamp or now)
    if age > NEW_SECONDS and not _is_offered(types, claim, labels, reservation_label):
        return "InstanceTypeNotFound"
    return ""


def _has_other_hash(pool: NodePool, claim: NodeClaim) -> bool:
    mine, theirs = pool.annotations, claim.annotations
    if any(key not in each for each in (mine, theirs) for key in (HASH, HASH_VERSION)):
        return False
    is_comparable = mine[HASH_VERSION] == theirs[HASH_VERSION]
    return is_comparable and mine[HASH] != theirs[HASH]


def _is_offered(
    types: Iterable[InstanceType],
    claim: NodeClaim,
    labels: Requirements,
    reservation_label: str,
) -> bool:
    """Return whether the type of a claim is still offered in its zone."""
    name = claim.labels.get(INSTANCE_TYPE)
    instance_type = next((each for each in types if each.name == name), None)
    if instance_type is None:
        return False
    # Reserved capacity becomes on-demand when the reservation ends.
    if claim.labels.get(CAPACITY_TYPE) == RESERVED:
        labels = labels.copy()
        labels.replace(Requirement.of(CAPACITY_TYPE, "In", (RESERVED, ON_DEMAND)))
        labels.remove(reservation_label)
    return any(
        labels.compatible(offering.requirements) for offering in instance_type.offerings
    )


def drift_command(
    candidates: Sequence[Candidate],
    budgets: Mapping[str, int],
    survey: Survey,
    report: Report,
) -> Command | None:
    """Return how the first drifted node is replaced, or None.

    Nodes without pods go first, then those that drifted first. Prices do not matter.

    Args:
        candidates: The nodes that have drifted.
        budgets: How many more nodes of each pool may be disrupted.
        survey: The cluster.
        report: Gets events.
    """
    ordered = sorted(candidates, key=lambda each: (bool(each.pods), _since(each)))
    for candidate in ordered:
        if not budgets.get(candidate.pool.name):
            continue
        survey.report_pools(report)
        trial = survey.trial([candidate], consolidates=False)
        if not trial.problems:
            return Command(
                candidates=[candidate],
                replacements=trial.claims,
                moves=trial.moves,
                well_known=survey.options.well_known_labels,
            )
        report.block(candidate.node, sentence(trial.problem))
    return None


def _since(candidate: Candidate) -> float:
    drifted = condition(candidate.claim.status.conditions, "Drifted")
    return (drifted and drifted.last_transition_time) or 0.0
