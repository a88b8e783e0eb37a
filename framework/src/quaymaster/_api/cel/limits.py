"""How much expressions may cost.

Mirrors ``CELSelectorExpressionMaxCost`` and its like of ``resource/v1/types.go``
(k8s.io/api v0.36).
"""

from typing import Final

__all__ = ["LONGEST_SELECTOR", "LONGEST_TEXT", "SELECTOR_COST_LIMIT"]

SELECTOR_COST_LIMIT: Final = 1_000_000
"""What an evaluation of a selector may cost, and what it may be estimated at."""
LONGEST_SELECTOR: Final = 10 * 1024
"""How many bytes a selector may have that the API takes."""
LONGEST_TEXT: Final = 10_000_000
"""How long a text may get; upstream has no limit but its memory."""
