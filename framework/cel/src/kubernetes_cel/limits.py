"""Limits of costs and sizes.

Mirrors ``PerCallLimit`` of ``pkg/apis/cel/config.go`` (k8s.io/apiserver v0.37), and
``CELSelectorExpressionMaxCost`` and ``CELSelectorExpressionMaxLength`` of
``resource/v1/types.go`` (k8s.io/api v0.37).
"""

from typing import Final

__all__ = ["COST_LIMIT", "LONGEST_SELECTOR", "LONGEST_TEXT", "SELECTOR_COST_LIMIT"]

COST_LIMIT: Final = 1_000_000
"""The cost at which an evaluation of any expression ends."""
SELECTOR_COST_LIMIT: Final = 1_000_000
"""The cost limit of a selector of devices, both estimated and actual."""
LONGEST_SELECTOR: Final = 10 * 1024
"""The longest selector of devices that the API accepts, in bytes."""
LONGEST_TEXT: Final = 10_000_000
"""The longest text that an evaluation may make; only memory limits upstream's."""
