"""Why each NodePool gets a node for a pod, or does not."""

from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.amounts import (
    NODES,
    amount_text,
    amounts_of,
)
from quaymaster._studies.autoscaling.karpenter.cluster import ClusterState
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    UNKNOWN_PRICE,
    cheapest_launch_price,
)
from quaymaster._studies.autoscaling.karpenter.objects import NodePool
from quaymaster._studies.autoscaling.karpenter.options import KarpenterOptions
from quaymaster._studies.autoscaling.karpenter.requirements import Requirements
from quaymaster._studies.autoscaling.karpenter.solve.claims import ProposedClaim
from quaymaster._studies.autoscaling.karpenter.solve.left_out_types import (
    LeftOutTypes,
)
from quaymaster._studies.autoscaling.karpenter.solve.pod_data import pod_data
from quaymaster._studies.autoscaling.karpenter.solve.preferences import relaxed
from quaymaster._studies.autoscaling.karpenter.solve.refusals import (
    Cause,
    PoolRefusal,
)
from quaymaster._studies.autoscaling.karpenter.solve.scheduler import (
    SolveResult,
    claim_of_pool,
)
from quaymaster._studies.autoscaling.karpenter.solve.templates import (
    NO_TYPES_REASONS,
    supply_of,
    types_of_pools,
)
from quaymaster._studies.simulation.scaling import GroupVerdict, NodeGroupFate

__all__ = ["PoolVerdicts"]

_FATES: Final = {
    Cause.POD: NodeGroupFate.REJECTED,
    Cause.TYPES: NodeGroupFate.REJECTED,
    Cause.LIMITS: NodeGroupFate.LIMITED,
    Cause.RESERVATION: NodeGroupFate.LIMITED,
}


class PoolVerdicts:
    """The verdicts of all pools on one pod.

    Args:
        state: The cluster before a round.
        result: The result of the round.
        pod: The pod.
        options: The options of Karpenter.
    """

    def __init__(
        self,
        state: ClusterState,
        result: SolveResult,
        pod: Pod,
        options: KarpenterOptions,
    ) -> None:
        self._state = state
        self._result = result
        self._pod = pod
        self._options = options
        self._supply = supply_of(state, options)
        self._templates = {each.name: each for each in self._supply.templates}

    @property
    def names(self) -> Sequence[str]:
        """The pools in the order in which they are tried, then those left out."""
        return [*self._templates, *self._supply.left_out]

    def verdict(self, pool: str, chosen: NodePool | None) -> GroupVerdict:
        """Return the verdict of a pool that gets no node for the pod.

        Args:
            pool: The name of the pool.
            chosen: The pool that gets a node for the pod; None if none does.
        """
        reason = self._supply.left_out.get(pool)
        if reason is not None:
            is_empty = reason in NO_TYPES_REASONS
            fate = NodeGroupFate.REJECTED if is_empty else NodeGroupFate.LIMITED
            details = self._left_out_types(pool) if is_empty else ""
            return GroupVerdict(group=pool, fate=fate, why=_joined(reason, details))
        refusal = self._result.refusals.get(self._pod.key, {}).get(pool)
        if refusal is None:
            claim = claim_of_pool(self._state, self._pod, self._options, pool)
            if isinstance(claim, ProposedClaim):
                return self._not_chosen(pool, claim, chosen)
            refusal = claim.of_pool()
        return self._refused(pool, refusal)

    def _refused(self, pool: str, refusal: PoolRefusal) -> GroupVerdict:
        details = ""
        if refusal.cause is Cause.LIMITS:
            details = _joined(self._limits(pool), self._left_out_types(pool))
        elif refusal.cause is Cause.TYPES:
            details = self._left_out_types(pool)
        return GroupVerdict(
            group=pool, fate=_FATES[refusal.cause], why=_joined(refusal.text, details)
        )

    def _not_chosen(
        self, pool: str, claim: ProposedClaim, chosen: NodePool | None
    ) -> GroupVerdict:
        prices = [
            cheapest_launch_price(
                each, claim.requirements, self._options.well_known_labels
            )
            for each in claim.instance_types
        ]
        price = min(prices, default=UNKNOWN_PRICE)
        return GroupVerdict(
            group=pool,
            fate=NodeGroupFate.NOT_CHOSEN,
            why=self._why_not(self._state.pools[pool], chosen),
            nodes=1,
            price=None if price == UNKNOWN_PRICE else price,
        )

    def _why_not(self, pool: NodePool, chosen: NodePool | None) -> str:
        """Return why another pool gets the node; its price does not count."""
        if chosen is None:
            return "a node that is on its way or another pod of the round comes first"
        if (pool.weight, pool.name) > (chosen.weight, chosen.name):
            return f"the pod joins a node of {chosen.name} that other pods need"
        if pool.weight < chosen.weight:
            weights = f"{chosen.weight}; {pool.name}: {pool.weight}"
            return f"{chosen.name} comes first by its weight {weights}"
        return (
            f"{chosen.name} comes first by its name: with equal weights, pools are "
            "tried from z to a"
        )

    def _limits(self, pool: str) -> str:
        """Return the limits of a pool, and what its nodes leave."""
        limits = amounts_of(self._state.pools[pool].spec.limits)
        left = self._result.remaining.get(pool, limits)
        parts = [
            f"{name} {amount_text(name, limit)}, left "
            f"{amount_text(name, left.get(name, 0))}"
            for name, limit in sorted(limits.items())
        ]
        return f"limits: {'; '.join(parts)}"

    def _left_out_types(self, pool: str) -> str:
        own = self._state.pools[pool]
        template = self._templates.get(pool)
        required = Requirements.from_conditions(own.spec.template.spec.requirements)
        types = types_of_pools(self._state, self._options, [own]).get(pool, ())
        remaining = self._result.remaining.get(pool, {})
        is_usable = template is not None
        return LeftOutTypes(
            types=types,
            pool=template.requirements if template is not None else required,
            template=template,
            remaining={k: v for k, v in remaining.items() if k != NODES},
            pod=pod_data(self._relaxed(), ignores_preferences=True)
            if is_usable
            else None,
            well_known=self._options.well_known_labels,
        ).text()

    def _relaxed(self) -> Pod:
        """Return the pod without the preferences that Karpenter gives up."""
        pod = self._pod
        while True:
            prefers = self._supply.prefers_no_pods
            less = relaxed(pod, tolerates_preferences=prefers)
            if less is None:
                return pod
            pod = less


def _joined(*texts: str) -> str:
    return "; ".join(filter(None, texts))
