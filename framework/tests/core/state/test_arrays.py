"""Arrays of one value, whatever their length is and whatever they are multiplied by."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quaymaster import Int64Array
from quaymaster.columns import constant, is_constant
from tests.kit.internals.cycle import PluginScores

EMPTY: dict[str, Int64Array] = {
    "made": np.empty(0, dtype=np.int64),
    "taken": np.arange(3).take(np.arange(0)),
    "chosen": np.arange(3)[np.zeros(3, dtype=np.bool_)],
    "sliced": np.arange(3)[:0],
    "multiplied": np.zeros(0, dtype=np.int64) * 2,
    "constant": constant(5, 0),
    "cut off": constant(5, 3)[:0],
}


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 5))
def test_constant_holds_one_value_many_times(value: int, count: int) -> None:
    made = constant(value, count)
    assert made.tolist() == [value] * count
    assert made.dtype == np.int64
    assert not made.flags.writeable
    assert is_constant(made) == (count > 0)


@pytest.mark.parametrize("array", EMPTY.values(), ids=EMPTY)
def test_empty_array_has_no_value(array: Int64Array) -> None:
    assert not is_constant(array)


@given(st.lists(st.integers(0, 100), max_size=4), st.booleans(), st.integers(1, 1000))
def test_scores_are_weighted_one_by_one(
    scores: list[int], alike: bool, weight: int
) -> None:
    normalized: Int64Array = np.array(scores, dtype=np.int64)
    if alike:
        normalized = constant(scores[0] if scores else 0, len(scores))
    wanted = [weight * score for score in normalized.tolist()]
    weighted = PluginScores("P", weight, normalized, normalized).weighted
    assert weighted.tolist() == wanted
