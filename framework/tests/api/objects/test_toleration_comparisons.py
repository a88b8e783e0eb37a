"""Tolerations with Gt and Lt: the rules of ``compareNumericValues``.

Mirrors k8s.io/api v0.37, ``core/v1/toleration.go``; some cases are those of its
``TestTolerationToleratesTaint``.
"""

import pytest

from quaymaster.objects import (
    Taint,
    Toleration,
    find_untolerated_taint,
    is_tolerated,
    tolerates,
)

LARGEST = str(2**63 - 1)
SMALLEST = str(-(2**63))


def compared(operator: str, wanted: str, value: str) -> bool:
    """Report whether a toleration covers a taint of that value while the gate is on."""
    taint = Taint(key="sla", value=value, effect="NoSchedule")
    toleration = Toleration(key="sla", operator=operator, value=wanted)
    return tolerates(toleration, taint, compares_numbers=True)


@pytest.mark.parametrize(
    ("operator", "wanted", "value", "is_covered"),
    [
        ("Gt", "750", "950", True),
        ("Gt", "950", "950", False),
        ("Gt", "950", "800", False),
        ("Lt", "800", "700", True),
        ("Lt", "800", "800", False),
        ("Lt", "800", "950", False),
        ("Gt", "-5", "-4", True),
        ("Gt", "9", "10", True),
        ("Lt", "0", "-1", True),
        ("Lt", LARGEST, SMALLEST, True),
    ],
)
def test_value_of_the_taint_is_compared_with_that_of_the_toleration(
    operator: str, wanted: str, value: str, is_covered: bool
) -> None:
    assert compared(operator, wanted, value) is is_covered


@pytest.mark.parametrize(
    "text",
    ["", "-", "-0", "00", "0700", "+5", "1.5", "5 ", "high", "٣", str(2**63)],
)
def test_value_that_is_not_a_canonical_64_bit_integer_covers_nothing(text: str) -> None:
    for operator in ("Gt", "Lt"):
        assert not compared(operator, text, "5")
        assert not compared(operator, "5", text)


def test_key_and_effect_count_beside_the_number() -> None:
    taint = Taint(key="sla", value="950", effect="NoExecute")
    for key, effect, is_covered in (
        ("sla", "NoExecute", True),
        ("sla", "", True),
        ("sla", "NoSchedule", False),
        ("disk", "NoExecute", False),
    ):
        toleration = Toleration(key=key, operator="Gt", value="1", effect=effect)
        assert tolerates(toleration, taint, compares_numbers=True) is is_covered


def test_comparisons_cover_nothing_while_the_gate_is_off() -> None:
    taint = Taint(key="sla", value="950", effect="NoSchedule")
    toleration = Toleration(key="sla", operator="Gt", value="750")
    assert not tolerates(toleration, taint)
    assert not is_tolerated(taint, [toleration])
    assert find_untolerated_taint([taint], [toleration]) is taint
    assert is_tolerated(taint, [toleration], compares_numbers=True)
    assert not find_untolerated_taint([taint], [toleration], compares_numbers=True)
