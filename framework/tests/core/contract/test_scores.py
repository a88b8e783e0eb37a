"""Normalisation of scores, as in upstream's TestDefaultNormalizeScore."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import default_normalize


@pytest.mark.parametrize(
    ("reverse", "scores", "expected"),
    [
        # The cases of TestDefaultNormalizeScore.
        pytest.param(False, [1, 2, 3, 4], [25, 50, 75, 100], id="up to the highest"),
        pytest.param(True, [1, 2, 3, 4], [75, 50, 25, 0], id="reversed"),
        pytest.param(
            False, [1000, 10, 20, 30], [100, 1, 2, 3], id="one far above the others"
        ),
        pytest.param(
            True, [1000, 10, 20, 30], [0, 99, 98, 97], id="one far above, reversed"
        ),
        pytest.param(False, [1, 1, 1, 1], [100, 100, 100, 100], id="all equal"),
        pytest.param(False, [1000, 1, 1, 1], [100, 0, 0, 0], id="rounded down"),
        pytest.param(False, [0, 0], [0, 0], id="all zero"),
        pytest.param(True, [0, 0], [100, 100], id="all zero, reversed"),
        pytest.param(False, [], [], id="no nodes"),
        pytest.param(True, [], [], id="no nodes, reversed"),
    ],
)
def test_scores_are_scaled(
    reverse: bool, scores: list[int], expected: list[int]
) -> None:
    array = np.array(scores, dtype=np.int64)
    array.flags.writeable = False
    normalized = default_normalize(array, reverse=reverse)
    assert normalized.tolist() == expected
    assert normalized.dtype == np.int64


@given(st.lists(st.integers(0, 10**15), min_size=1), st.booleans())
def test_scaling_is_integer_arithmetic(scores: list[int], reverse: bool) -> None:
    array = np.array(scores, dtype=np.int64)
    highest = max(scores)
    expected = [100 * score // highest if highest else 0 for score in scores]
    if reverse:
        expected = [100 - score for score in expected]
    assert default_normalize(array, reverse=reverse).tolist() == expected
