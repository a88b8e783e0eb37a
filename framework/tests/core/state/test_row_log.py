"""The log of rows returns as an array what other logs return as a list."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.memo import FEW_ROWS
from tests.kit.internals.state import RowLog

STEPS = st.lists(st.integers(0, 40) | st.none(), max_size=60)
"""Rows that change; None is a read of the log."""


@given(STEPS, st.sampled_from([4, 1 << 16]))
def test_rows_since_a_revision_are_the_keys_since_then(
    steps: Sequence[int | None], limit: int
) -> None:
    log = RowLog(limit=limit)
    revisions = [0]
    for row in steps:
        if row is not None:
            log.note(row)
            continue
        for revision in revisions:
            rows, keys = log.rows_since(revision), log.since(revision)
            if keys is None:
                assert rows is None
            else:
                assert rows is not None
                assert rows.tolist() == sorted(keys)
            few = log.few_since(revision)
            if few is not None:
                assert keys is not None
                assert list(few) == list(keys)
                assert len(few) <= FEW_ROWS
            else:
                assert keys is None or len(keys) > FEW_ROWS
        revisions.append(log.revision)


def test_a_reader_without_a_position_gets_all_rows() -> None:
    log = RowLog()
    log.note(3)
    assert log.rows_since(-1) is None


def test_equal_reads_return_the_same_array() -> None:
    log = RowLog()
    for row in (5, 2, 5):
        log.note(row)
    rows = log.rows_since(0)
    assert rows is log.rows_since(0)
    log.note(7)
    again = log.rows_since(0)
    assert again is not None
    assert again.tolist() == [2, 5, 7]


def test_few_rows_are_few_however_often_they_change() -> None:
    log = RowLog()
    for row in range(FEW_ROWS):
        for _ in range(4):
            log.note(row)
    assert log.few_since(0) is not None
    log.note(0)
    assert log.few_since(0) is None
    assert log.few_since(1) is not None
    assert log.few_since(-1) is None
