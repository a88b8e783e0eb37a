"""Selectors of devices: expressions compiled once and asked often.

Mirrors ``CompileCELExpression`` of ``cel/compile.go``
(k8s.io/dynamic-resource-allocation v0.37).
"""

import functools
from collections.abc import Callable, Mapping
from typing import TypeAlias

from quaymaster._api.cel.depth import deep_calls
from quaymaster._api.cel.dialects import STORED, Dialect
from quaymaster._api.cel.errors import CelEvaluationError
from quaymaster._api.cel.values import Value

__all__ = ["Selector", "compile_selector"]

_Program: TypeAlias = Callable[[Mapping[str, Value]], Value]


class Selector:
    """A compiled expression that says whether a device fits.

    Attributes:
        text: The expression.
        max_cost: What an evaluation may cost at most, in units of upstream. The API
            refuses selectors that may cost more than `SELECTOR_COST_LIMIT`.
    """

    __slots__ = ("_is_deep", "_program", "max_cost", "text")

    def __init__(
        self, text: str, program: _Program, max_cost: int, *, is_deep: bool
    ) -> None:
        self.text = text
        self.max_cost = max_cost
        self._program = program
        self._is_deep = is_deep

    def matches(self, device: Mapping[str, Value]) -> bool:
        """Say whether a device fits.

        Args:
            device: What `device_value` made of it.

        Raises:
            CelEvaluationError: The expression has no value for this device, or none
                that is true or false, or costs too much.
        """
        if self._is_deep:
            with deep_calls():
                value = self._program(device)
        else:
            value = self._program(device)
        if value is True or value is False:
            return bool(value)
        raise CelEvaluationError("CEL result could not be converted to bool")


@functools.lru_cache(maxsize=1024)
def compile_selector(text: str, dialect: Dialect = STORED) -> Selector:
    """Compile an expression; the same text is compiled once.

    Args:
        text: The expression.
        dialect: Who compiles it.

    Raises:
        CelCompilationError: It is no expression, does not go together, or is neither
            true nor false.
    """
    # The compiler takes 30 ms to import, and most clusters have no selectors.
    from quaymaster._api.cel.compilation import compiled  # noqa: PLC0415 - above

    return compiled(text, dialect)
