"""Resource versions are compared, where that is possible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.kubernetes import compare_versions, is_at_least

NUMBERS = st.integers(min_value=1)


@given(first=NUMBERS, other=NUMBERS)
def test_numbers_of_any_length_are_ordered(first: int, other: int) -> None:
    expected = (first > other) - (first < other)
    assert compare_versions(str(first), str(other)) == expected
    assert is_at_least(str(first), str(other)) == (first >= other)


@pytest.mark.parametrize("odd", ["", "0", "07", "-1", "1.5", "a1", "٣", " 1", "1_0"])
def test_other_versions_are_only_equal_or_unequal(odd: str) -> None:
    assert compare_versions(odd, odd) == 0
    assert compare_versions(odd, "10") is None
    assert compare_versions("10", odd) is None
    assert not is_at_least(odd, "10")
    assert is_at_least(odd, odd)
