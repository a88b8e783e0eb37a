"""Expressions of any type: their values, types, costs and variables."""

import pytest

from kubernetes_cel import (
    CelCompilationError,
    CelCostError,
    CelEvaluationError,
    CelVariableError,
    CelVersionError,
    Duration,
    Uint,
    compile,  # noqa: A004  (the name of the package)
    device_environment,
    device_value,
    evaluate,
)

ENVIRONMENT = device_environment()
VARIABLES = {"device": device_value("gpu.example.com", {})}


@pytest.mark.parametrize(
    ("text", "type_name", "value"),
    [
        ("device.driver", "string", "gpu.example.com"),
        ("1 + 2", "int", 3),
        ("7u", "uint", Uint(7)),
        ("1.5 * 2.0", "double", 3.0),
        ("[1, 2].map(x, x > 1)", "list(bool)", [False, True]),
        ("{'a': 1}", "map(string, int)", {"a": 1}),
        ("duration('1s')", "google.protobuf.Duration", Duration(10**9)),
        ("null", "null_type", None),
    ],
)
def test_expression_has_a_type_and_a_value(
    text: str, type_name: str, value: object
) -> None:
    expression = compile(text, ENVIRONMENT)
    assert str(expression.result_type) == type_name
    assert expression.evaluate(VARIABLES) == value
    assert evaluate(text, ENVIRONMENT, VARIABLES) == value


def test_measurement_has_the_error_and_the_cost_until_then() -> None:
    measured = compile("[1, 2][5]", ENVIRONMENT).measure(VARIABLES)
    assert measured.value is None
    assert isinstance(measured.error, CelEvaluationError)
    assert measured.cost > 0


def test_cost_limit_ends_the_evaluation() -> None:
    expression = compile("[1, 2, 3].all(x, x > 0)", ENVIRONMENT, cost_limit=5)
    with pytest.raises(CelCostError):
        expression.evaluate(VARIABLES)
    assert isinstance(expression.measure(VARIABLES).error, CelCostError)


@pytest.mark.parametrize("levels", [1, 200])
def test_expression_may_have_many_levels(levels: int) -> None:
    text = "[" * levels + "1" + "]" * levels
    expression = compile(f"{text}.size()", ENVIRONMENT)
    assert expression.evaluate(VARIABLES) == 1
    assert expression.measure(VARIABLES).value == 1


def test_variables_are_those_of_the_environment() -> None:
    expression = compile("true", ENVIRONMENT)
    with pytest.raises(CelVariableError, match="no value for 'device'; undeclared 'a'"):
        expression.evaluate({"a": 1})


def test_version_that_is_not_supported_is_named() -> None:
    with pytest.raises(CelVersionError, match=r"one of 1\.36, 1\.37, got '1\.20'"):
        device_environment("1.20")


def test_environment_of_a_version_is_made_once() -> None:
    assert device_environment("1.37") is device_environment()


def test_compilation_error_has_the_place() -> None:
    with pytest.raises(CelCompilationError) as rejection:
        compile("1 +\n nothing", ENVIRONMENT)
    assert (rejection.value.line, rejection.value.column) == (2, 2)
    assert rejection.value.problem.startswith("undeclared reference to 'nothing'")


@pytest.mark.parametrize("text", ["'%y'.format([1])", "'%s %s'.format([1])"])
def test_invalid_format_string_is_rejected(text: str) -> None:
    with pytest.raises(CelCompilationError):
        compile(text, ENVIRONMENT)


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        (
            "1 ==\n\tfoo || '\u4e2d' == 's'",
            (
                "2:2: undeclared reference to 'foo' (in container '')\n"
                " |  foo || '\u4e2d' == 's'\n | .^"
            ),
        ),
        (
            "'\u4e2d' == foo",
            (
                "1:8: undeclared reference to 'foo' (in container '')\n"
                " | '\u4e2d' == foo\n | .\uff0e.....^"
            ),
        ),
    ],
)
def test_detail_of_an_error_shows_its_place_as_cel_go_does(
    text: str, detail: str
) -> None:
    with pytest.raises(CelCompilationError) as caught:
        compile(text, device_environment())
    assert caught.value.detail == f"compilation failed: ERROR: <input>:{detail}"
