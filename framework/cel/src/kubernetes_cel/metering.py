"""Counts the actual cost of evaluations, and ends those that exceed the limit.

Mirrors ``interpreter/runtimecost.go`` (cel-go v0.26.0). A node adds its cost when it
has a value or an error. Nodes that ``&&``, ``||`` and conditions skip cost nothing.
"""

from collections.abc import Callable
from typing import Final

import attrs

from kubernetes_cel.declarations import CallCost
from kubernetes_cel.errors import CelCostError
from kubernetes_cel.frames import COST, Evaluate, Frame
from kubernetes_cel.values import Value

__all__ = ["LIST_COST", "MAP_COST", "Meter"]

LIST_COST: Final = 10
"""The cost of a list literal."""
MAP_COST: Final = 30
"""The cost of a map literal."""


@attrs.frozen(eq=False)
class Meter:
    """Counts the cost of evaluations.

    Attributes:
        limit: The cost limit.
        call_cost: Returns the cost of a call.
    """

    limit: int
    call_cost: CallCost

    def pay(self, frame: Frame, cost: int) -> None:
        """Add a cost to that of an evaluation.

        Raises:
            CelCostError: The cost exceeds the limit.
        """
        frame[COST] += cost
        # After the addition: a cost that is exactly the limit is allowed.
        if frame[COST] > self.limit:
            raise CelCostError

    def payment(self, cost: int) -> Callable[[Frame], None]:
        """Return a function that adds a cost to that of an evaluation."""
        return lambda frame: self.pay(frame, cost)

    def paid(self, evaluate: Evaluate, cost: int) -> Evaluate:
        """Return a node that adds a cost, whether it has a value or an error."""

        def paying(frame: Frame) -> Value:
            try:
                return evaluate(frame)
            # An error costs as much as a value, as upstream's observer sees both.
            finally:
                self.pay(frame, cost)

        return paying
