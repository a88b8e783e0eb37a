"""What our compiler makes of a recorded selector, as a record."""

from typing import Any, Final

from quaymaster.config import Kubernetes
from tests.kit.internals.cel import (
    CelCompilationError,
    CelEvaluationError,
    Selector,
    compile_selector,
    device_value,
    of_stored_selectors,
)

__all__ = ["emitted"]

RECORDED_BY: Final = of_stored_selectors(Kubernetes("1.36"))
"""The dialect of the compiler that the records are of."""


def emitted(case: dict[str, Any]) -> dict[str, Any]:
    """Compile the selector of a case and ask it for each device.

    Args:
        case: ``expression``, ``driver`` and ``devices``.

    Returns:
        ``compileError``, or ``maxCost`` and ``results`` with true, false or the
        error of each device.
    """
    try:
        selector = compile_selector(case["expression"], RECORDED_BY)
    except CelCompilationError as error:
        return {"compileError": str(error)}
    return {
        "maxCost": selector.max_cost,
        "results": [
            _result(selector, case["driver"], each) for each in case["devices"]
        ],
    }


def _result(selector: Selector, driver: str, device: dict[str, Any]) -> bool | str:
    try:
        return selector.matches(
            device_value(
                driver,
                device.get("attributes", {}),
                {
                    name: each["value"]
                    for name, each in device.get("capacity", {}).items()
                },
                allow_multiple_allocations=device.get(
                    "allowMultipleAllocations", False
                ),
                has_lists=RECORDED_BY.has_lists,
            )
        )
    except CelEvaluationError as error:
        return str(error)
