"""Tables cut no text and break no word, however narrow the terminal is."""

from hypothesis import given
from hypothesis import strategies as st

from tests.kit.internals.cli import Table, folded

WORDS = st.text("abcß-.,/字", min_size=1, max_size=30)
CELLS = st.lists(WORDS, max_size=9).map(" ".join)
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=5)
COLUMNS = ("NAME", "WHY", "")


def words(lines: list[str]) -> list[str]:
    return sorted(word for line in lines for word in line.split())


@given(rows=ROWS, width=st.integers(5, 120))
def test_every_word_is_there_whole_whatever_the_width(
    rows: list[tuple[str, ...]], width: int
) -> None:
    headings, body = Table(COLUMNS, rows, sentences=["WHY"]).lines(width)
    wanted = [word for row in rows for cell in row for word in cell.split()]
    labels = 0 if headings else sum(bool(cell) for row in rows for cell in row[:2])
    found = words(body)
    for word in wanted:
        found.remove(word)
    assert len(found) == labels
    assert set(found) <= {"NAME", "WHY"}


@given(rows=ROWS)
def test_on_a_pipe_each_row_is_one_line(rows: list[tuple[str, ...]]) -> None:
    headings, body = Table(COLUMNS, rows, sentences=["WHY"]).lines(None)
    assert len(headings) == 1
    assert len(body) == len(rows)


@given(rows=ROWS, width=st.integers(70, 120))
def test_no_line_is_wider_than_the_terminal_but_for_a_single_word(
    rows: list[tuple[str, ...]], width: int
) -> None:
    headings, body = Table(COLUMNS, rows, sentences=COLUMNS).lines(width)
    assert all(len(line) <= width for line in (*headings, *body))


def test_only_sentences_are_folded() -> None:
    rows = [("web 1", "it does not fit at all")]
    headings, body = Table(("POD", "WHY"), rows, sentences=["WHY"]).lines(20)
    assert headings == ["POD     WHY"]
    assert body == ["web 1   it does not", "        fit at all"]


def test_rows_become_blocks_if_columns_do_not_fit_side_by_side() -> None:
    rows = [("node-1", "0 -> 100 -> 300", "<- winner"), ("node-2", "0", "")]
    headings, body = Table(("NODE", "TaintToleration", ""), rows).lines(34)
    assert headings == []
    assert body == [
        "NODE              node-1",
        "TaintToleration   0 -> 100 -> 300",
        "                  <- winner",
        "",
        "NODE              node-2",
        "TaintToleration   0",
    ]


def test_word_that_is_longer_than_a_line_stays_whole() -> None:
    assert folded("a node.kubernetes.io/unreachable b", 10) == [
        "a",
        "node.kubernetes.io/unreachable",
        "b",
    ]


def test_control_and_bidirectional_characters_are_escaped() -> None:
    _, (line,) = Table(["NAME"], [["a\x1b[31m\u202eb"]]).lines(None)
    assert line == "a\\x1b[31m\\u202eb"
