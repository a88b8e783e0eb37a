"""Selectors of devices: expressions that are true for the devices that match.

Mirrors ``CompileCELExpression`` and ``DeviceMatches`` of ``cel/compile.go``
(k8s.io/dynamic-resource-allocation v0.37).
"""

import functools
from collections.abc import Mapping
from typing import Final

from kubernetes_cel.conversions import conversion_problem
from kubernetes_cel.depth import deep_calls
from kubernetes_cel.device_environment import DeviceEnvironment, device_environment
from kubernetes_cel.dispatch import type_name
from kubernetes_cel.errors import CelCompilationError, CelEvaluationError
from kubernetes_cel.expressions import CompiledExpression, checked_tree
from kubernetes_cel.limits import SELECTOR_COST_LIMIT
from kubernetes_cel.types import BOOL
from kubernetes_cel.values import Value

__all__ = ["Selector", "compile_selector"]

_NEWEST: Final = device_environment()


class Selector(CompiledExpression):
    """A compiled selector of devices; `compile_selector` makes it.

    The API rejects selectors with a `max_cost` above `SELECTOR_COST_LIMIT`.
    """

    __slots__ = ()

    def matches(self, device: Mapping[str, Value]) -> bool:
        """Return whether a device matches.

        Args:
            device: The value of the device: see `device_value`.

        Raises:
            CelEvaluationError: The expression has no value for this device, or a value
                that is not a bool, or exceeds the cost limit.
        """
        # Without the check of variables in `evaluate`: a scheduler asks this for each
        # device.
        value = self._run(device)
        if value is True or value is False:
            return bool(value)
        raise CelEvaluationError(
            f"CEL result of type {type_name(value)} could not be converted to bool: "
            f"{conversion_problem(value)}"
        )


@functools.lru_cache(maxsize=1024)
def compile_selector(text: str, environment: DeviceEnvironment = _NEWEST) -> Selector:
    """Compile a selector of devices; the last 1,024 are cached.

    Args:
        text: The expression.
        environment: What it may use; by default, that of a scheduler of the newest
            supported version.

    Raises:
        CelCompilationError: It is not an expression, its types do not match, or its
            type is not bool.
    """
    with deep_calls():
        checked = checked_tree(text, environment)
        # A selector such as ``device.attributes['a'].b`` has the type of attributes,
        # which only a device can show to be a bool.
        if checked.result not in (BOOL, environment.attribute_type):
            raise CelCompilationError(
                f"must evaluate to bool or the unknown type, not {checked.result}"
            )
        return Selector(checked, environment, SELECTOR_COST_LIMIT)
