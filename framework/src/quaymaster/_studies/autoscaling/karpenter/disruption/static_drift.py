"""How drifted nodes of pools with a fixed number of nodes are replaced.

Mirrors ``pkg/controllers/disruption/staticdrift.go`` (sigs.k8s.io/karpenter v1.15).
"""

from collections.abc import Mapping, Sequence
from typing import Final

from quaymaster._studies.autoscaling.karpenter.amounts import NODES
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import Candidate
from quaymaster._studies.autoscaling.karpenter.disruption.commands import Command
from quaymaster._studies.autoscaling.karpenter.disruption.events import (
    Report,
)
from quaymaster._studies.autoscaling.karpenter.disruption.survey import (
    Survey,
)
from quaymaster._studies.autoscaling.karpenter.labels import NODE_POOL
from quaymaster._studies.autoscaling.karpenter.objects import (
    NodeClaim,
    NodePool,
)
from quaymaster._studies.autoscaling.karpenter.solve.static_claims import static_claim

__all__ = ["static_drift_commands"]

_AT_LIMIT: Final = "static NodePool is at its node limit and cannot stage a replacement"


def static_drift_commands(
    candidates: Sequence[Candidate],
    budgets: Mapping[str, int],
    survey: Survey,
    report: Report,
) -> Sequence[Command]:
    """Return a command for each node that may be replaced now.

    Args:
        candidates: The nodes of static pools that have drifted.
        budgets: How many more nodes of each pool may be disrupted.
        survey: The cluster.
        report: Gets events.
    """
    by_pool: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_pool.setdefault(candidate.pool.name, []).append(candidate)
    commands: list[Command] = []
    for name, nodes in by_pool.items():
        count = min(budgets.get(name, 0), len(nodes))
        if count:
            commands += _commands(nodes, count, survey, report)
    return commands


def _commands(
    nodes: Sequence[Candidate], count: int, survey: Survey, report: Report
) -> Sequence[Command]:
    pool = nodes[0].pool
    claims = [
        claim
        for claim in survey.state.all_of(NodeClaim)
        if claim.labels.get(NODE_POOL) == pool.name
    ]
    staying = [each for each in claims if each.metadata.deletion_timestamp is None]
    # Replacements are counted, too: one batch must be done before the next begins.
    if len(staying) > (pool.spec.replicas or 0):
        return []
    room = _room(pool, len(claims), count)
    if room <= 0:
        for node in nodes[:count]:
            report.block(node.node, _AT_LIMIT)
        return []
    claim = static_claim(survey.state, pool, survey.options)
    if claim is None:
        return []
    return [
        Command(
            candidates=[node],
            replacements=(claim,),
            well_known=survey.options.well_known_labels,
        )
        for node in nodes[:room]
    ]


def _room(pool: NodePool, present: int, count: int) -> int:
    limit = pool.spec.limits.get(NODES)
    return count if limit is None else min(count, limit.value - present)
