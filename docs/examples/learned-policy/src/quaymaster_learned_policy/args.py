"""The arguments of LearnedPolicy."""

from collections.abc import Iterator
from typing import Final

import attrs
from quaymaster.config import ArgsError

from quaymaster_learned_policy.columns import NAMES

__all__ = ["LEARNED", "LearnedPolicyArgs"]

LEARNED: Final = (-0.47, -1.83, -1.45, 2.89, 3.00, -0.43, -1.37, -0.93)
"""What ``python -m quaymaster_learned_policy.train`` found."""


@attrs.frozen(kw_only=True)
class LearnedPolicyArgs:
    """The arguments of LearnedPolicy.

    Attributes:
        weights: One number for each of `columns.NAMES`; by default what was learned.
    """

    weights: tuple[float, ...] = LEARNED

    def validate(self) -> Iterator[ArgsError]:
        """Whether there are as many weights as columns."""
        if len(self.weights) != len(NAMES):
            text = f"expected {len(NAMES)} numbers, got {len(self.weights)}"
            yield ArgsError("weights", text)
