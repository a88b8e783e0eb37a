"""Spot nodes: cheaper ones that the provider may take back at any time."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import attrs

from quaymaster._api.objects import Node
from quaymaster._studies.planning.amounts import offered

__all__ = ["SPOT", "SpotRule", "is_spot", "spot_of"]

SPOT: Final = "cpu of spot nodes"
"""The name of the CPU that spot nodes offer, beside the names of resources."""

_LABELS: Final = {
    "karpenter.sh/capacity-type": "spot",
    "node.kubernetes.io/capacity-type": "spot",
    "node.kubernetes.io/lifecycle": "spot",
    "eks.amazonaws.com/capacityType": "spot",
    "cloud.google.com/gke-spot": "true",
    "cloud.google.com/gke-preemptible": "true",
    "cloud.google.com/gke-provisioning": "spot",
    "kubernetes.azure.com/scalesetpriority": "spot",
}
"""Label -> the value, in small letters, by which a provider marks spot nodes."""


def is_spot(node: Node) -> bool:
    """Return whether a label marks a node as one that the provider may take back."""
    return any(
        node.labels.get(key, "").lower() == value for key, value in _LABELS.items()
    )


def spot_of(node: Node) -> dict[str, int]:
    """Return the CPU that a spot node offers, under the name `SPOT`."""
    return {SPOT: offered(node).get("cpu", 0)} if is_spot(node) else {}


@attrs.frozen(kw_only=True)
class SpotRule:
    """At least a part of the CPU that a plan adds is that of spot nodes.

    A `quaymaster._studies.planning.domains.DomainRule`.

    Attributes:
        share: The part.
        cpu: What a node of each group offers, in millicores.
        spot: The same for groups of spot nodes; 0 for other groups.
        of: What is needed, for people.
        lasts: It need not hold after a loss.
        grows: More nodes may harm.
    """

    share: Fraction
    cpu: tuple[int, ...]
    spot: tuple[int, ...]
    lasts: bool = False
    grows: bool = False

    @property
    def of(self) -> str:
        """What is needed, for people."""
        return f"spot nodes, which have at least {float(self.share):.0%} of the CPU"

    def part(self, counts: Sequence[int]) -> Fraction | None:
        """Return the part of a plan's CPU that is of spot nodes; None without CPU."""
        spot, cpu = _sum(counts, self.spot), _sum(counts, self.cpu)
        return Fraction(spot, cpu) if cpu else None

    def missing(self, counts: Sequence[int]) -> int:
        """Return how much more CPU of spot nodes a plan needs, in millicores."""
        spot, cpu = _sum(counts, self.spot), _sum(counts, self.cpu)
        lack = self.share * cpu - spot
        if lack <= 0:
            return 0
        # What is added counts on both sides. Without other nodes nothing is missing.
        rest = 1 - self.share
        return int(-(-lack // rest)) if rest else 1

    def is_met(
        self,
        counts: Sequence[int],
        lost_zone: str = "",  # noqa: ARG002 - as `DomainRule` has it
    ) -> bool:
        """Whether a plan has enough spot nodes; see `DomainRule.is_met`."""
        return not self.missing(counts)

    def is_met_in_rounds(
        self,
        counts: Sequence[int],
        lows: Sequence[int],  # noqa: ARG002 - as `DomainRule` has it
    ) -> bool:
        """Return the same as `is_met`: only the sum of the rounds counts."""
        return not self.missing(counts)


def _sum(counts: Sequence[int], amounts: Sequence[int]) -> int:
    return sum(n * amount for n, amount in zip(counts, amounts, strict=True))
