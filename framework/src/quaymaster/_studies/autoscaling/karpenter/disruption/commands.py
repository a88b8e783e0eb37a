"""What Karpenter decides: nodes that go, and what replaces them.

Mirrors ``Command`` (sigs.k8s.io/karpenter v1.15,
``pkg/controllers/disruption/types.go``).
"""

from collections.abc import Mapping, Sequence

import attrs

from quaymaster._api.objects import Pod
from quaymaster._studies.autoscaling.karpenter.disruption.candidates import Candidate
from quaymaster._studies.autoscaling.karpenter.instance_types import (
    UNKNOWN_PRICE,
    cheapest_launch_price,
)
from quaymaster._studies.autoscaling.karpenter.solve.claims import ProposedClaim

__all__ = ["Command", "pool_names", "source_price"]


@attrs.frozen(kw_only=True, eq=False)
class Command:
    """Nodes that go together.

    Attributes:
        candidates: The nodes.
        replacements: The claims that come first.
        moves: Existing node -> the pods that it gets.
        well_known: Labels that each new node may have.
    """

    candidates: Sequence[Candidate]
    replacements: Sequence[ProposedClaim] = ()
    moves: Mapping[str, Sequence[Pod]] = attrs.field(factory=dict)
    well_known: frozenset[str] = frozenset()

    @property
    def decision(self) -> str:
        """``delete`` or ``replace``."""
        return "replace" if self.replacements else "delete"

    @property
    def names(self) -> Sequence[str]:
        """The names of the nodes."""
        return [candidate.name for candidate in self.candidates]

    @property
    def savings(self) -> float:
        """What is saved per hour if the cheapest offerings are launched."""
        return source_price(self.candidates) - sum(
            self._launch_price(claim) for claim in self.replacements
        )

    def _launch_price(self, claim: ProposedClaim) -> float:
        """Return the price of a claim's first type; 0 if it is unknown."""
        if not claim.instance_types:
            return 0.0
        price = cheapest_launch_price(
            claim.instance_types[0], claim.requirements, self.well_known
        )
        return 0.0 if price == UNKNOWN_PRICE else price

    def text_for(self, candidate: Candidate) -> str:
        """Return the command as events of one of its nodes show it."""
        if len(self.candidates) > 1:
            count = len(self.candidates)
            part = f"(part of {count}-node consolidation)"
            return f"{self.decision}: [{candidate.name}] {part}"
        sources = ", ".join(self.names)
        if not self.replacements:
            return f"{self.decision}: [{sources}]"
        count = len(self.replacements)
        noun = "replacement" if count == 1 else "replacements"
        return f"{self.decision}: [{sources}] -> [{count} {noun}]"


def source_price(candidates: Sequence[Candidate]) -> float:
    """Return what nodes cost per hour together."""
    return sum((candidate.price for candidate in candidates), 0.0)


def pool_names(candidates: Sequence[Candidate]) -> Sequence[str]:
    """Return the pools of nodes, each once."""
    return list(dict.fromkeys(candidate.pool.name for candidate in candidates))
