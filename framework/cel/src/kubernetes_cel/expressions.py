"""Expressions: compiled once, evaluated often, with their costs.

Mirrors ``Env.Compile`` and ``Program.Eval`` (cel-go v0.26.0) as
``pkg/cel/environment/base.go`` (k8s.io/apiserver v0.37) configures them.
"""

from collections.abc import Mapping
from typing import Final

import attrs

from kubernetes_cel.ast import height_of
from kubernetes_cel.checker import Checked, Environment, check
from kubernetes_cel.depth import deep_calls
from kubernetes_cel.errors import CelEvaluationError, CelVariableError
from kubernetes_cel.estimates import estimate_cost
from kubernetes_cel.frames import Run
from kubernetes_cel.limits import COST_LIMIT
from kubernetes_cel.metering import Meter
from kubernetes_cel.parser import parse
from kubernetes_cel.program import make_program
from kubernetes_cel.validation import validate
from kubernetes_cel.values import Value

__all__ = [
    "CompiledExpression",
    "Measurement",
    "checked_tree",
    "compile",
    "evaluate",
]

_DEEP: Final = 50
"""An evaluation of an expression with more levels needs more calls than usual."""


@attrs.frozen(kw_only=True)
class Measurement:
    """The result of an evaluation, with its cost.

    Attributes:
        value: The value; None if there is an error.
        error: The error, or None.
        cost: The actual cost, in upstream's units.
    """

    value: Value
    error: CelEvaluationError | None
    cost: int


class CompiledExpression:
    """An expression that was parsed, checked and compiled; `compile` makes it.

    Attributes:
        text: The expression.
        environment: The environment that it was compiled in.
        result_type: The type of its values.
        max_cost: The estimated maximum cost of an evaluation, in upstream's units.
        cost_limit: The cost at which an evaluation ends.
    """

    __slots__ = (
        "_checked",
        "_run",
        "cost_limit",
        "environment",
        "max_cost",
        "result_type",
        "text",
    )

    def __init__(
        self, checked: Checked, environment: Environment, cost_limit: int
    ) -> None:
        self.text = checked.text
        self.environment = environment
        self.result_type = checked.result
        self.max_cost = estimate_cost(checked, environment.size_at)
        self.cost_limit = cost_limit
        self._checked = checked
        # Metering costs time, so cheap expressions have none. Estimates may be a
        # little too low: hence the factor.
        meter = None
        if self.max_cost * 2 > cost_limit:
            meter = Meter(cost_limit, environment.call_cost)
        run: Run = make_program(checked, environment, meter)
        # Changing the recursion limit needs a lock, so shallow expressions do without.
        self._run = _with_deep_calls(run) if height_of(checked.root) > _DEEP else run

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"

    def evaluate(self, variables: Mapping[str, Value]) -> Value:
        """Evaluate the expression.

        Args:
            variables: Name -> value, for each variable of the environment.

        Raises:
            CelVariableError: The variables are not those of the environment.
            CelEvaluationError: The expression has no value for these variables, or
                exceeds the cost limit.
        """
        return self._run(*self._values(variables))

    def measure(self, variables: Mapping[str, Value]) -> Measurement:
        """Evaluate the expression, and count the cost.

        Args:
            variables: Name -> value, for each variable of the environment.

        Raises:
            CelVariableError: The variables are not those of the environment.
        """
        values = self._values(variables)
        with deep_calls():
            meter = Meter(self.cost_limit, self.environment.call_cost)
            program = make_program(self._checked, self.environment, meter)
            result, cost = program.metered(*values)
        if isinstance(result, CelEvaluationError):
            return Measurement(value=None, error=result, cost=cost)
        return Measurement(value=result, error=None, cost=cost)

    def _values(self, variables: Mapping[str, Value]) -> list[Value]:
        inputs = self.environment.inputs
        # Exact names: a missing variable would otherwise be an error in the middle of
        # the evaluation, or none.
        if variables.keys() != {*inputs}:
            missing = [name for name in inputs if name not in variables]
            raise CelVariableError(missing, sorted({*variables} - {*inputs}))
        return [variables[name] for name in inputs]


def _with_deep_calls(run: Run) -> Run:
    def deep(*values: Value) -> Value:
        with deep_calls():
            return run(*values)

    return deep


def checked_tree(text: str, environment: Environment) -> Checked:
    """Parse, check and validate an expression.

    Raises:
        CelCompilationError: It is not an expression, or its types do not match.
    """
    checked = check(text, parse(text), environment)
    validate(checked)
    return checked


def compile(  # noqa: A001  (upstream's name, as in re.compile)
    text: str, environment: Environment, *, cost_limit: int = COST_LIMIT
) -> CompiledExpression:
    """Compile an expression.

    Args:
        text: The expression.
        environment: The variables, types and functions that it may use.
        cost_limit: The cost at which an evaluation ends.

    Raises:
        CelCompilationError: It is not an expression, or its types do not match.
    """
    with deep_calls():
        return CompiledExpression(
            checked_tree(text, environment), environment, cost_limit
        )


def evaluate(
    text: str, environment: Environment, variables: Mapping[str, Value]
) -> Value:
    """Compile an expression and evaluate it once.

    Args:
        text: The expression.
        environment: The variables, types and functions that it may use.
        variables: Name -> value, for each variable of the environment.

    Raises:
        CelCompilationError: It is not an expression, or its types do not match.
        CelVariableError: The variables are not those of the environment.
        CelEvaluationError: The expression has no value for these variables, or
            exceeds the cost limit.
    """
    return compile(text, environment).evaluate(variables)
