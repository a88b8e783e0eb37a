"""Compiles the text of a selector.

Mirrors ``CompileCELExpression`` of ``cel/compile.go``
(k8s.io/dynamic-resource-allocation v0.37).
"""

from typing import Final

from quaymaster._api.cel.ast import height_of
from quaymaster._api.cel.checker import check
from quaymaster._api.cel.costs import call_cost
from quaymaster._api.cel.depth import deep_calls
from quaymaster._api.cel.dialects import Dialect
from quaymaster._api.cel.environment import device_environment
from quaymaster._api.cel.errors import CelCompilationError
from quaymaster._api.cel.estimates import estimate_cost
from quaymaster._api.cel.limits import SELECTOR_COST_LIMIT
from quaymaster._api.cel.metering import Meter
from quaymaster._api.cel.parser import parse
from quaymaster._api.cel.program import make_program
from quaymaster._api.cel.selector import Selector
from quaymaster._api.cel.types import BOOL
from quaymaster._api.cel.validation import validate

__all__ = ["compiled"]

_METER: Final = Meter(SELECTOR_COST_LIMIT, call_cost)
"""Counts the cost of what may become dear; estimates may be a little too low."""
_DEEP: Final = 50
"""From how many levels on an evaluation needs more calls than usual."""


def compiled(text: str, dialect: Dialect) -> Selector:
    """Compile an expression, as `compile_selector` describes it.

    Args:
        text: The expression.
        dialect: Who compiles it.
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
