"""The result of our compiler for a recorded selector, as a record."""

from typing import Any, Final

from kubernetes_cel import (
    CelCompilationError,
    CelEvaluationError,
    Selector,
    compile_selector,
    device_environment,
    device_value,
)

__all__ = ["emitted"]

ENVIRONMENT: Final = device_environment("1.36")
"""The environment of the compiler that made the records."""


def emitted(case: dict[str, Any]) -> dict[str, Any]:
    """Compile the selector of a case and evaluate it for each device.

    Args:
        case: ``expression``, ``driver`` and ``devices``.

    Returns:
        ``compileError``, or ``maxCost`` and ``results`` with true, false or the
        error of each device.
    """
    try:
        selector = compile_selector(case["expression"], ENVIRONMENT)
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
            device_value(driver, device, list_attributes=ENVIRONMENT.list_attributes)
        )
    except CelEvaluationError as error:
        return str(error)
