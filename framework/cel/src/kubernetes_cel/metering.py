"""What an evaluation costs, and where it ends because it has become too dear.

Mirrors ``interpreter/runtimecost.go`` (cel-go v0.26.0): nodes cost something when they
have a value or an error, and nothing of what ``&&``, ``||`` and conditions leave out.
"""

from collections.abc import Callable, Sequence
from typing import Final

import attrs

from kubernetes_cel.declarations import Overload
from kubernetes_cel.errors import CelCostError
from kubernetes_cel.frames import COST, Evaluate, Frame
from kubernetes_cel.values import Value

__all__ = ["LIST_COST", "MAP_COST", "Meter"]

LIST_COST: Final = 10
"""What the making of a list costs."""
MAP_COST: Final = 30
"""What the making of a map costs."""


@attrs.frozen(eq=False)
class Meter:
    """Counts what an evaluation costs.

    Attributes:
        limit: What it may cost.
        call_cost: What a call costs, by its overload or its function, its arguments
            and its result, which may be an error.
    """

    limit: int
    call_cost: Callable[[Overload | str, Sequence[Value], Value], int]

    def pay(self, frame: Frame, cost: int) -> None:
        """Let an evaluation cost something.

        Raises:
            CelCostError: It is too dear.
        """
        frame[COST] += cost
        if frame[COST] > self.limit:
            raise CelCostError

    def payment(self, cost: int) -> Callable[[Frame], None]:
        """Return what lets an evaluation cost something."""
        return lambda frame: self.pay(frame, cost)

    def paid(self, evaluate: Evaluate, cost: int) -> Evaluate:
        """Return a node that costs something, whether it has a value or an error."""

        def paying(frame: Frame) -> Value:
            try:
                return evaluate(frame)
            finally:
                self.pay(frame, cost)

        return paying
