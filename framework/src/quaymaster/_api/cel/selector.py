"""Selectors of devices: expressions compiled once and asked often.

Mirrors ``CompileCELExpression`` of ``cel/compile.go``
(k8s.io/dynamic-resource-allocation v0.37).
"""

import functools
from collections.abc import Mapping
from typing import Final

from quaymaster._api.cel.ast import height_of
from quaymaster._api.cel.checker import check
from quaymaster._api.cel.costs import call_cost
from quaymaster._api.cel.depth import deep_calls
from quaymaster._api.cel.dialects import STORED, Dialect
from quaymaster._api.cel.environment import device_environment
from quaymaster._api.cel.errors import CelCompilationError, CelEvaluationError
from quaymaster._api.cel.estimates import estimate_cost
from quaymaster._api.cel.limits import SELECTOR_COST_LIMIT
from quaymaster._api.cel.metering import Meter
from quaymaster._api.cel.parser import parse
from quaymaster._api.cel.program import Program, make_program
from quaymaster._api.cel.types import BOOL
from quaymaster._api.cel.validation import validate
from quaymaster._api.cel.values import Value

__all__ = ["Selector", "compile_selector"]

_METER: Final = Meter(SELECTOR_COST_LIMIT, call_cost)
"""Counts the cost of what may become dear; estimates may be a little too low."""
_DEEP: Final = 50
"""From how many levels on an evaluation needs more calls than usual."""


class Selector:
    """A compiled expression that says whether a device fits.

    Attributes:
        text: The expression.
        max_cost: What an evaluation may cost at most, in units of upstream. The API
            refuses selectors that may cost more than `SELECTOR_COST_LIMIT`.
    """

    __slots__ = ("_is_deep", "_program", "max_cost", "text")

    def __init__(
        self, text: str, program: Program, max_cost: int, *, is_deep: bool
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
    with deep_calls():
        root = parse(text)
        checked = check(text, root, device_environment(dialect))
        validate(checked)
        if checked.result not in (BOOL, dialect.attribute):
            raise CelCompilationError(
                f"must evaluate to bool or the unknown type, not {checked.result}"
            )
        max_cost = estimate_cost(checked)
        return Selector(
            text,
            make_program(checked, _METER if max_cost * 2 > _METER.limit else None),
            max_cost,
            is_deep=height_of(root) > _DEEP,
        )
