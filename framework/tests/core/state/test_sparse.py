"""Tables of mostly zeros grow, whatever their size, and take little memory."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.state import LARGE, empty_like, grown

PLACES = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 6)), st.integers(-9, 9), max_size=9
)


@pytest.mark.parametrize("large", [0, 1 << 40], ids=["by pages", "as a whole"])
@given(places=PLACES, more=st.tuples(st.integers(0, 3), st.integers(0, 3)))
def test_numbers_stay_at_their_places(
    large: int, places: dict[tuple[int, int], int], more: tuple[int, int]
) -> None:
    table = np.zeros((5, 7), dtype=np.int64)
    for place, number in places.items():
        table[place] = number
    lines, columns = more
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LARGE, large)
        larger = grown(table, (5 + lines, 7 + columns))
        none = empty_like(larger)
    assert larger.tolist() == np.pad(table, ((0, lines), (0, columns))).tolist()
    assert none.tolist() == np.zeros_like(larger).tolist()
    larger[0, 0] += 1
    assert table[0, 0] == places.get((0, 0), 0)


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_a_large_table_takes_memory_where_its_numbers_are() -> None:
    before = resident_bytes()
    table = grown(np.zeros((1, 1), dtype=np.int64), (2048, 8192))
    table[np.arange(2048), np.arange(2048)] = 1
    larger = grown(table, (4096, 8192))
    assert larger.sum() == 2048
    assert larger.nbytes == 256 << 20
    assert resident_bytes() - before < 64 << 20


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096
