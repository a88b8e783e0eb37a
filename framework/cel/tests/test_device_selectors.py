"""Selectors of devices: matches, evaluation errors and compilation errors."""

import re
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kubernetes_cel import (
    CelCompilationError,
    CelEvaluationError,
    compile_selector,
    device_environment,
    device_value,
)

T4 = device_value(
    "gpu.example.com",
    {
        "attributes": {
            "model": {"string": "T4"},
            "index": {"int": 1},
            "healthy": {"bool": True},
            "driverVersion": {"version": "1.10.0"},
            "other.org/family": {"string": "turing"},
        },
        "capacity": {"memory": {"value": "16Gi"}},
    },
)


@pytest.mark.parametrize(
    "text",
    [
        'device.driver == "gpu.example.com"',
        'device.attributes["gpu.example.com"].model == "T4"',
        'device.attributes["other.org"].family.startsWith("tu")',
        "!device.allowMultipleAllocations",
        'device.attributes["gpu.example.com"].healthy',
        'device.attributes["gpu.example.com"].driverVersion.major() == 1',
        'device.capacity["gpu.example.com"].memory == quantity("16384Mi")',
        'device.attributes["unknown.org"].size() == 0',
        '!("unknown.org" in device.attributes)',
        'cel.bind(gpu, device.attributes["gpu.example.com"], gpu.index > 0)',
        'device.attributes["gpu.example.com"].?rare.orValue(7) == 7',
    ],
)
def test_device_matches(text: str) -> None:
    assert compile_selector(text).matches(T4)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('device.attributes["gpu.example.com"].rare == 1', "no such key: rare"),
        ('device.attributes["gpu.example.com"].model', "could not be converted"),
        ('device.attributes["gpu.example.com"].index / 0 == 1', "divi"),
        ('device.attributes["gpu.example.com"].model > 3', "no such overload"),
    ],
)
def test_error_names_the_problem_of_the_device(text: str, problem: str) -> None:
    selector = compile_selector(text)
    with pytest.raises(CelEvaluationError, match=problem):
        selector.matches(T4)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Syntax error"),
        ("true &&", "Syntax error"),
        ("device.name == 'x'", "undefined field 'name'"),
        ("devices.size() > 1", "undeclared reference to 'devices'"),
        ("1 == 1.0", "no matching overload for '_==_'"),
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        ("1 + 1", "must evaluate to bool or the unknown type, not int"),
        ("'\\q' == ''", "1:1"),
    ],
)
def test_invalid_selector_is_rejected_with_the_problem(text: str, problem: str) -> None:
    with pytest.raises(CelCompilationError, match="compilation failed: ") as rejection:
        compile_selector(text)
    assert problem in str(rejection.value)


@pytest.mark.parametrize(
    ("text", "is_integer"),
    [
        ("8", True),
        ("8e3", True),
        ("999999999999999999", True),
        ("1000000000000000000", False),
        ("8000m", False),
        ("1.5Gi", False),
    ],
)
def test_quantity_is_an_integer_if_it_is_short_and_has_no_fraction(
    text: str, is_integer: bool
) -> None:
    selector = compile_selector(f'quantity("{text}").isInteger()')
    assert selector.matches(T4) is is_integer


@given(st.integers(-(10**17), 10**17), st.integers(-(10**17), 10**17))
def test_sums_of_quantities_are_exact(left: int, right: int) -> None:
    total = f'quantity("{left}").add(quantity("{right}"))'
    assert compile_selector(f"{total}.asInteger() == {left + right}").matches(T4)
    assert compile_selector(f"{total}.sub({right}).asInteger() == {left}").matches(T4)


def test_sum_of_quantities_can_be_compared_only_on_the_left_side() -> None:
    total = 'quantity("1").add(1)'
    assert compile_selector(f'{total} == quantity("2")').matches(T4)
    backwards = compile_selector(f'quantity("2") == {total}')
    with pytest.raises(CelEvaluationError, match="no such overload"):
        backwards.matches(T4)


@pytest.mark.parametrize(
    "text",
    [
        "[1][?5].or(optional.of(7)).value() == 7",
        '!optional.none()["a"].hasValue()',
        '!{"a": [1]}[?"b"][1 / 0].hasValue()',
        'cel.bind(x, optional.of({"a": 1}), x.a.value() == 1)',
        "[optional.of(1)].all(x, x.hasValue())",
    ],
)
def test_optional_values_are_unwrapped(text: str) -> None:
    assert compile_selector(text).matches(T4)


def test_variable_loses_an_optional_value_without_native_form_in_1_36() -> None:
    text = 'cel.bind(x, optional.of(ip("::1")), x.value().family() == 6)'
    assert compile_selector(text).matches(T4)
    selector = compile_selector(text, device_environment("1.36"))
    with pytest.raises(CelEvaluationError, match="unsupported conversion"):
        selector.matches(T4)


def test_device_without_a_value_for_an_attribute_fails() -> None:
    with pytest.raises(CelEvaluationError, match="attribute x: unsupported"):
        device_value("d", {"attributes": {"x": {}}})


def test_device_with_an_invalid_version_fails() -> None:
    with pytest.raises(CelEvaluationError, match="attribute x: parse semantic"):
        device_value("d", {"attributes": {"x": {"version": "one"}}})


WORDS = st.sampled_from(
    re.split(
        r"\s+",
        """device . attributes [ ] ( ) { } "gpu.example.com" model index == != < && ||
        ! ? : , 1 2u 1.5 -3 'a' b'a' null true in + - * / % size map x has cel.bind
        quantity semver all exists .? [? @ # $ ` \\ .format([ .matches( "(" "%d"
        type int string [1] {'a':1} .filter( .map( .exists( .orValue( optional.of""",
    )
)


def check_or_reject(text: str) -> None:
    try:
        selector = compile_selector(text)
    except CelCompilationError:
        return
    with suppress(CelEvaluationError):
        assert selector.matches(T4) in (True, False)


@given(st.text(max_size=40))
@example("'" * 7)
@example("\ud800")
@example("(" * 300)
@example("1.e5")
def test_any_text_is_compiled_or_rejected(text: str) -> None:
    check_or_reject(text)


@given(st.lists(WORDS, max_size=14).map(" ".join))
def test_any_words_are_compiled_or_rejected(text: str) -> None:
    check_or_reject(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 249 + "true" + ")" * 249,
        "!(" * 200 + "true" + ")" * 200,
        f"1{' + 1' * 249} == 250",
        "[" * 249 + "1" + "]" * 249 + " == []",
        "[1].all(x, " * 80 + "true" + ")" * 80,
    ],
    ids=["parentheses", "negations", "sum", "lists", "loops"],
)
def test_deep_expression_is_accepted(text: str) -> None:
    assert compile_selector(text).matches(T4) in (True, False)


def test_expression_that_is_too_deep_is_rejected() -> None:
    with pytest.raises(CelCompilationError, match="recursion limit exceeded: 250"):
        compile_selector("(" * 250 + "true" + ")" * 250)
    with pytest.raises(CelCompilationError, match="recursion depth exceeded"):
        compile_selector(f"1{' + 1' * 251} == 1")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("dyn(1)", "int|unsupported type conversion from 'int' to bool"),
        ("dyn(1u)", "uint|unsupported type conversion from 'uint' to bool"),
        ("dyn('a')", "string|unsupported native conversion from string to 'bool'"),
        ("dyn(1.5)", "double|type conversion error from Double to 'bool'"),
        ("dyn([true])", "list|type conversion error from list to 'bool'"),
        ("dyn({'a': 1})", "map|type conversion error from map to 'bool'"),
        ("dyn(null)", "null_type|type conversion error from 'null_type' to 'bool'"),
        ("dyn(int)", "type|type conversion not supported for 'type'"),
        (
            "dyn(semver('1.0.0'))",
            "kubernetes.Semver|type conversion error from 'Semver' to 'bool'",
        ),
        (
            "dyn(quantity('1'))",
            "kubernetes.Quantity|type conversion error from 'Quantity' to 'bool'",
        ),
    ],
)
def test_value_that_is_not_a_bool_is_named_as_cel_go_does(
    text: str, problem: str
) -> None:
    name, _, reason = problem.partition("|")
    with pytest.raises(CelEvaluationError) as caught:
        compile_selector(text).matches(device_value("gpu.example.com", {}))
    expected = f"CEL result of type {name} could not be converted to bool: {reason}"
    assert str(caught.value) == expected
