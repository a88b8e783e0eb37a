"""Lines of streams whose blocks end anywhere."""

import time
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.input import BlockLines

MEBIBYTE = 1 << 20


@given(st.lists(st.binary(max_size=5) | st.sampled_from([b"\n", b"a\nb", b""])))
def test_lines_do_not_depend_on_the_blocks(blocks: list[bytes]) -> None:
    lines = BlockLines()
    taken = [line for block in blocks for line in lines.take(block)]
    *whole, rest = b"".join(blocks).split(b"\n")
    assert taken == whole
    assert lines.rest == len(rest)


def cpu_seconds(blocks: int) -> float:
    """The time for a line of 4 MiB and then blocks of one byte."""
    lines = BlockLines()
    lines.take(b"x" * 4 * MEBIBYTE)
    start = time.process_time()
    for _ in range(blocks):
        lines.take(b"x")
    return time.process_time() - start


def test_slow_bytes_of_a_long_line_cost_no_copies_of_it() -> None:
    assert cpu_seconds(5_000) < 0.1  # 5,000 copies take 2 s


def test_line_needs_little_more_memory_than_its_bytes() -> None:
    lines, block = BlockLines(), b"x" * (MEBIBYTE >> 2)
    tracemalloc.start()
    try:
        while lines.rest < 8 * MEBIBYTE:
            lines.take(block)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * lines.rest + (1 << 20)
