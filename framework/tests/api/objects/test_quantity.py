"""Quantities are exact, and are written as Kubernetes writes them."""

import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster.errors import QuantityError, QuaymasterError
from quaymaster.objects import Quantity

SUFFIXES = {
    "": Fraction(1),
    **{
        text: Fraction(10) ** power
        for text, power in zip("num", (-9, -6, -3), strict=True)
    },
    **{text: Fraction(10) ** (3 * n) for n, text in enumerate("kMGTPE", 1)},
    **{f"{text}i": Fraction(1024) ** n for n, text in enumerate("KMGTPE", 1)},
}
MAX_INT64 = 2**63 - 1

digits = st.text("0123456789", min_size=1, max_size=12)
numbers = st.one_of(
    digits,
    st.builds("{}.{}".format, digits, digits),
    st.builds("{}.".format, digits),
    st.builds(".{}".format, digits),
)
signs = st.sampled_from(["", "+", "-"])
exponents = st.builds(
    lambda letter, power: (f"{letter}{power}", Fraction(10) ** power),
    st.sampled_from("eE"),
    st.integers(-15, 15),
)
suffixes = st.one_of(st.sampled_from(sorted(SUFFIXES.items())), exponents)
quantities = st.builds(
    lambda number, suffix: Quantity(f"{number}{suffix[0]}"), numbers, suffixes
)


def round_away_from_zero(exact: Fraction) -> int:
    return math.ceil(exact) if exact >= 0 else math.floor(exact)


@given(signs, numbers, suffixes)
def test_parsed_quantity_is_the_exact_amount_rounded_to_nanos(
    sign: str, number: str, suffix: tuple[str, Fraction]
) -> None:
    text, factor = suffix
    exact = Fraction(number) * factor * (-1 if sign == "-" else 1)
    if text.endswith("i"):  # binary amounts are capped at the largest 64-bit integer
        exact = max(min(exact, Fraction(MAX_INT64)), Fraction(-MAX_INT64))

    quantity = Quantity(f"{sign}{number}{text}")

    assert quantity.nanos == round_away_from_zero(exact * 10**9)


@given(quantities)
def test_value_and_milli_value_round_away_from_zero_and_stay_in_int64(
    quantity: Quantity,
) -> None:
    exact = Fraction(quantity.nanos, 10**9)
    assert quantity.value == min(round_away_from_zero(exact), MAX_INT64)
    assert quantity.milli_value == min(round_away_from_zero(exact * 1000), MAX_INT64)


@given(quantities)
def test_canonical_text_is_read_back_as_the_same_amount(quantity: Quantity) -> None:
    again = Quantity(str(quantity))
    assert again == quantity or quantity.nanos > MAX_INT64 * 10**9
    assert str(again) == str(quantity)


@given(quantities, quantities)
def test_quantities_compare_add_and_subtract_like_numbers(
    a: Quantity, b: Quantity
) -> None:
    assert (a + b).nanos == a.nanos + b.nanos
    assert (a - b).nanos == a.nanos - b.nanos
    assert (-a).nanos == -a.nanos
    assert (a < b) == (a.nanos < b.nanos)
    assert (a <= b) == (a.nanos <= b.nanos)
    assert (a > b) == (a.nanos > b.nanos)
    assert (a >= b) == (a.nanos >= b.nanos)
    assert (a == b) == (a.nanos == b.nanos)
    assert a != b or hash(a) == hash(b)


@pytest.mark.parametrize(
    ("text", "value", "milli_value"),
    [
        ("0", 0, 0),
        ("100m", 1, 100),
        ("1", 1, 1000),
        ("0.5", 1, 500),
        ("1.5", 2, 1500),
        ("1e3", 1000, 1_000_000),
        ("1E3", 1000, 1_000_000),
        ("1u", 1, 1),
        ("1n", 1, 1),
        ("0.1n", 1, 1),
        ("-1.5", -2, -1500),
        ("+2", 2, 2000),
        ("1Ki", 1024, 1_024_000),
        ("1.5Gi", 1_610_612_736, 1_610_612_736_000),
        ("2.", 2, 2000),
        (".5", 1, 500),
        ("12E", MAX_INT64, MAX_INT64),
        ("9Ei", MAX_INT64, MAX_INT64),
        ("-12E", -(2**63), -(2**63)),
        (" 1Gi ", 2**30, 1000 * 2**30),
    ],
)
def test_texts_have_the_values_that_kubernetes_gives_them(
    text: str, value: int, milli_value: int
) -> None:
    quantity = Quantity(text)
    assert (quantity.value, quantity.milli_value) == (value, milli_value)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1.5", "1500m"),
        ("1000m", "1"),
        ("0.1", "100m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("1023", "1023"),
        ("1000Ki", "1000Ki"),
        ("1000000", "1M"),
        ("1e3", "1e3"),
        ("1000e3", "1e6"),
        ("0.5Ki", "512"),
        ("1.1Ki", "1126400m"),
        ("-2048Ki", "-2Mi"),
        ("0m", "0"),
        ("100E", "100E"),
        ("1000E", "1000E"),
    ],
)
def test_texts_are_written_in_canonical_form(text: str, canonical: str) -> None:
    assert str(Quantity(text)) == canonical


@pytest.mark.parametrize(
    ("number", "text"),
    [(2, "2"), (0.5, "500m"), (1e-7, "100n"), (1e20, "100E"), (-3, "-3")],
)
def test_numbers_from_yaml_become_quantities(number: float, text: str) -> None:
    assert str(Quantity(number)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12xyz",
        "1 Gi",
        "1.1.M",
        "0.1mi",
        "aoeu",
        "1i",
        "1e",
        "m",
        "-",
        "1_000",
        "1e100",
    ],
)
def test_bad_texts_are_errors_that_show_the_text(text: str) -> None:
    with pytest.raises(QuantityError, match=r"expected a quantity .*, got") as caught:
        Quantity(text)
    assert caught.value.text == text
    assert isinstance(caught.value, QuaymasterError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("number", [math.inf, math.nan, True])
def test_numbers_that_are_not_amounts_are_errors(number: float) -> None:
    with pytest.raises(QuantityError):
        Quantity(number)


def test_quantities_are_immutable() -> None:
    quantity = Quantity("1")
    with pytest.raises(AttributeError):
        quantity.nanos = 2
    with pytest.raises(AttributeError):
        del quantity.nanos


def test_a_text_is_parsed_once() -> None:
    assert Quantity("123Mi") is Quantity("123Mi")


def test_a_quantity_of_a_quantity_is_itself() -> None:
    quantity = Quantity("1")
    assert Quantity(quantity) is quantity


def test_sums_are_written_like_the_first_operand_that_is_not_zero() -> None:
    assert str(Quantity(0) + Quantity("2Gi")) == "2Gi"
    assert str(Quantity("1Gi") + Quantity(2**30)) == "2Gi"
    assert str(Quantity(0) - Quantity("2Gi")) == "-2Gi"


def test_amounts_can_be_made_of_milli_units() -> None:
    assert str(Quantity.from_milli(100)) == "100m"


def test_only_zero_is_false() -> None:
    assert not Quantity("0m")
    assert Quantity("1n")


def test_a_quantity_is_not_a_number() -> None:
    assert Quantity(1) != 1
    with pytest.raises(TypeError):
        Quantity(1) < 1  # type: ignore[operator]  # what is tested  # noqa: B015
    with pytest.raises(TypeError):
        Quantity(1) + 1  # type: ignore[operator]  # what is tested


def test_quantities_can_be_pickled() -> None:
    quantity = Quantity("1.5Gi")
    again = pickle.loads(pickle.dumps(quantity))
    assert again == quantity
    assert str(again) == "1536Mi"


def test_a_quantity_shows_its_text() -> None:
    assert repr(Quantity("1000m")) == "Quantity('1')"
