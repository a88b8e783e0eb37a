"""CEL as the API server of Kubernetes evaluates it, typed and with costs.

`compile` makes a `CompiledExpression` of a text and an `Environment`: parsed, checked,
with its type and the estimated maximum cost. `compile_selector` makes a `Selector` of
devices (dynamic resource allocation); its environments are `device_environment`, one
for each supported version of Kubernetes, and its values are `device_value`.

Values are ``None``, ``bool``, ``int``, ``float``, ``str``, ``bytes``, ``list`` and
``dict``, and the classes that this module exports for the other types of CEL.
"""

from kubernetes_cel.base_environment import VERSIONS
from kubernetes_cel.checker import Environment
from kubernetes_cel.device_environment import DeviceEnvironment, device_environment
from kubernetes_cel.device_values import device_value
from kubernetes_cel.errors import (
    CelCompilationError,
    CelCostError,
    CelError,
    CelEvaluationError,
    CelVariableError,
    CelVersionError,
)
from kubernetes_cel.expressions import (
    CompiledExpression,
    Measurement,
    compile,  # noqa: A004  (upstream's name, as in re.compile)
    evaluate,
)
from kubernetes_cel.libraries.amounts import Amount
from kubernetes_cel.libraries.quantities import Semver
from kubernetes_cel.limits import COST_LIMIT, LONGEST_SELECTOR, SELECTOR_COST_LIMIT
from kubernetes_cel.selectors import Selector, compile_selector
from kubernetes_cel.types import Kind, Type, type_named
from kubernetes_cel.values import (
    Duration,
    Optional,
    Timestamp,
    TypeValue,
    Uint,
    Value,
)

__all__ = [
    "COST_LIMIT",
    "LONGEST_SELECTOR",
    "SELECTOR_COST_LIMIT",
    "VERSIONS",
    "Amount",
    "CelCompilationError",
    "CelCostError",
    "CelError",
    "CelEvaluationError",
    "CelVariableError",
    "CelVersionError",
    "CompiledExpression",
    "DeviceEnvironment",
    "Duration",
    "Environment",
    "Kind",
    "Measurement",
    "Optional",
    "Selector",
    "Semver",
    "Timestamp",
    "Type",
    "TypeValue",
    "Uint",
    "Value",
    "compile",
    "compile_selector",
    "device_environment",
    "device_value",
    "evaluate",
    "type_named",
]
