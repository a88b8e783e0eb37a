"""Plays the compilation and evaluation of device selectors."""

from collections.abc import Mapping, Sequence
from typing import Any

from kubernetes_cel import (
    CelCompilationError,
    CelError,
    DeviceEnvironment,
    Selector,
    compile_selector,
    device_environment,
    device_value,
)
from tests.kit.internals.testing import CallNotPlayedError, Json, RecordedCase

__all__ = ["play"]

_COMPILE = "compiler.CompileCELExpression"
_MATCH = "CompilationResult.DeviceMatches"
_SYNTAX = "Syntax error"
_UNKNOWN_COST = 2**64 - 1
_GO_NAMES = {"any": "google.protobuf.Any"}
"""Name of a type in error messages -> its other name."""


def play(case: RecordedCase) -> Sequence[Json | str]:
    """Compile selectors, and evaluate each for devices."""
    player = _Player()
    return [player.play(call) for call in case.calls]


class _Player:
    def __init__(self) -> None:
        self._selector: Selector | None = None

    def play(self, call: Json) -> Json | str:
        try:
            if call["call"] == _COMPILE:
                return self._compile(call)
            if call["call"] == _MATCH:
                return self._match(call["in"][1])
        except CallNotPlayedError as error:
            return str(error)
        return f"{call['call']} exists in Go alone"

    def _compile(self, call: Json) -> Json:
        text, options = call["in"]
        self._selector = None
        compiled: Json = {"expression": text}
        try:
            self._selector = compile_selector(text, _environment(call, text, options))
        except CelCompilationError as error:
            compiled["error"] = _error_tree(error)
        else:
            result = self._selector.result_type
            is_estimated = not options.get("DisableCostEstimation")
            cost = self._selector.max_cost
            compiled["maxCost"] = cost if is_estimated else _UNKNOWN_COST
            compiled["output"] = _GO_NAMES.get(name := str(result), name)
        return {"results": [{"compiled": compiled}]}

    def _match(self, device: Mapping[str, Any]) -> Json:
        if self._selector is None:
            raise CallNotPlayedError("the expression is not compiled")
        value = device_value(device["Driver"], _device_tree(device))
        try:
            matches = self._selector.matches(value)
        except CelError as error:
            return {"results": [False, {}, {"error": str(error)}]}
        cost = self._selector.measure({"device": value}).cost
        return {"results": [matches, {"cost": cost}, None]}


def _environment(
    call: Json, text: str, options: Mapping[str, Any]
) -> DeviceEnvironment:
    if options["DerivedAttribute"]:
        raise CallNotPlayedError("derived attributes: the gate is not simulated")
    features = call["before"]["features"]
    is_stored = options.get("EnvType") == "StoredExpressions"
    has_multiple = is_stored or features["EnableConsumableCapacity"]
    if not has_multiple and "allowMultipleAllocations" in text:
        raise CallNotPlayedError("the gate DRAConsumableCapacity is always on here")
    has_lists = is_stored or features["EnableListTypeAttributes"]
    return device_environment("1.37", list_attributes=has_lists)


def _device_tree(device: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "attributes": device.get("Attributes"),
        "capacity": device.get("Capacity"),
        "allowMultipleAllocations": device.get("AllowMultipleAllocations"),
    }


def _error_tree(error: CelCompilationError) -> Json:
    tree: Json = {"type": "RuleInvalid"}
    if _SYNTAX not in error.detail:  # syntax errors name tokens of Go's parser
        tree["detail"] = error.detail
    return tree
