"""Estimated and actual costs of selectors, and the cost limit."""

import pytest

from kubernetes_cel import (
    CelCostError,
    CelEvaluationError,
    compile_selector,
    device_environment,
    device_value,
)

DEVICE = device_value(
    "gpu.example.com",
    {
        "attributes": {"model": {"string": "A100"}, "index": {"int": 2}},
        "capacity": {"memory": {"value": "40Gi"}},
    },
)


def cost_of(text: str) -> int:
    return compile_selector(text).measure({"device": DEVICE}).cost


@pytest.mark.parametrize(
    ("text", "most", "cost"),
    [
        ("true", 0, 0),
        ("device.allowMultipleAllocations", 2, 2),
        ('device.driver == "gpu.example.com"', 4, 4),
        ('device.driver.endsWith("example.com")', 4, 4),
        ("[1, 2, 3].exists(x, x == 2)", 29, 16),
        ('quantity("1Gi").isGreaterThan(quantity("1Mi"))', 3, 3),
        ("optional.none()[7].hasValue()", 3, 3),
        ('device.driver in ["a", "b"]', 14, 2),
        ('{1: 2}[size("a")] == 2', 33, 4),
        ('{1: 2}[?size("a")].hasValue()', 33, 4),
        ('device.attributes["gpu.example.com"].model.matches("^[AH]100$")', 25, 7),
    ],
)
def test_cost_is_counted_as_upstream_counts_it(text: str, most: int, cost: int) -> None:
    assert compile_selector(text).max_cost == most
    assert cost_of(text) == cost


@pytest.mark.parametrize(("version", "cost"), [("1.36", 5), ("1.37", 4)])
def test_prefix_costs_what_is_read(version: str, cost: int) -> None:
    text = f"""'{"a" * 30}'.startsWith(device.driver)"""
    selector = compile_selector(text, device_environment(version))
    assert selector.measure({"device": DEVICE}).cost == cost


def loops(depth: int, inner: str) -> str:
    for level in range(depth):
        inner = f"{[*range(10)]}.all(v{level}, {inner})"
    return inner


@pytest.mark.long
def test_evaluation_that_exceeds_the_limit_ends() -> None:
    assert compile_selector(loops(3, "1 + 1 == 2")).matches(DEVICE)
    with pytest.raises(CelCostError, match="actual cost limit exceeded"):
        compile_selector(loops(6, "1 + 1 == 2")).matches(DEVICE)


def test_selector_with_a_high_estimate_is_evaluated_within_the_limit() -> None:
    selector = compile_selector(f"false && {loops(6, '1 + 1 == 2')}")
    assert selector.max_cost > 1_000_000
    assert not selector.matches(DEVICE)


@pytest.mark.parametrize(
    "expensive",
    [
        pytest.param(loops(6, "1 + 1 == 2"), marks=pytest.mark.long),
        "lists.range(9223372036854775807).size() == 1",
    ],
)
def test_cost_error_is_not_absorbed(expensive: str) -> None:
    with pytest.raises(CelCostError):
        compile_selector(f"{expensive} || true").matches(DEVICE)


def test_length_of_texts_is_limited() -> None:
    text = '"aaaaaaaaaaaaaaaa"'
    for level in range(4):
        text = f'cel.bind(v{level}, {text}, v{level}.replace("", v{level}))'
    with pytest.raises(CelCostError):
        compile_selector(f"{text}.size() == 1").matches(DEVICE)


def test_functions_that_panic_on_errors_end_the_evaluation() -> None:
    missing = 'device.attributes["gpu.example.com"].missing'
    assert compile_selector(f"[{missing}].size() == 1 || true").matches(DEVICE)
    selector = compile_selector(f"[{missing}].distinct().size() == 1 || true")
    with pytest.raises(CelEvaluationError, match="internal error"):
        selector.matches(DEVICE)
