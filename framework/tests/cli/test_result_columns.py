"""One description of rows: what tables, pages, JSON and CSV have of it."""

import csv
import enum

import attrs
import pytest

from tests.kit.internals.cli import LINE_WIDTH, Column, Columns, Shown, print_csv


class Reply(enum.StrEnum):
    """A value that is an enum."""

    YES = "yes"


@attrs.frozen
class Row:
    """A row of a result."""

    pod: str
    failed_at: float | None = None
    names: tuple[str, ...] = ()
    answer: Reply = Reply.YES


COLUMNS = Columns[Row](
    Column("pod"),
    Column("failedAt", text=lambda at: "never" if at is None else f"{at:g}s"),
    Column("names", shown=Shown.WIDE),
    Column(heading="Length", value=lambda row: len(row.pod)),
    "answer",
)
ROWS = [Row("web-1"), Row("web-10", failed_at=2.0, names=("a", "b"))]


def test_documents_have_the_columns_with_a_key() -> None:
    assert COLUMNS.keys == ["pod", "failedAt", "names", "answer"]
    assert COLUMNS.documents(ROWS)[1] == {
        "pod": "web-10",
        "failedAt": 2.0,
        "names": ["a", "b"],
        "answer": "yes",
    }
    assert type(COLUMNS.documents(ROWS)[0]["answer"]) is str


def test_tables_have_headings_made_of_keys(capsys: pytest.CaptureFixture[str]) -> None:
    COLUMNS.print(ROWS)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "POD      FAILED AT   LENGTH",
        "web-1    never       5",
        "web-10   2s          6",
    ]


def test_wide_tables_have_more_columns(capsys: pytest.CaptureFixture[str]) -> None:
    COLUMNS.print(ROWS, is_wide=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[2:4] == ["a,", "b"]


def test_wide_tables_are_not_fitted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LINE_WIDTH, lambda _stream: 9)
    COLUMNS.print(ROWS, is_wide=True)
    assert "web-10   2s" in capsys.readouterr().out


def test_pages_have_the_same_cells() -> None:
    headings, cells = COLUMNS.table(ROWS)
    assert headings == ["Pod", "Failed at", "Length"]
    assert cells[0] == ["web-1", "never", "5"]


def test_csv_quotes_as_rfc_4180_does(capsys: pytest.CaptureFixture[str]) -> None:
    COLUMNS.print_csv([Row('a "b", c', names=("x", "y"))])
    text = capsys.readouterr().out
    assert text == 'pod,failedAt,names,answer\n"a ""b"", c",,x;y,yes\n'


def test_objects_become_columns_where_their_key_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    documents: list[dict[str, object]] = [
        {"node": "a", "labels": {"b.c/zone": "x"}, "last": True},
        {"node": "b", "labels": {"rack": "r"}, "last": None},
        {"node": "c", "labels": {}, "last": False},
    ]
    print_csv(documents, ["node", "labels", "last"])
    assert capsys.readouterr().out.splitlines() == [
        "node,labels.b.c/zone,labels.rack,last",
        "a,x,,true",
        "b,,r,",
        "c,,,false",
    ]


def test_lists_of_objects_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_csv([{"causes": [{"plugin": "A"}]}], ["causes"])
    [row] = csv.DictReader(capsys.readouterr().out.splitlines())
    assert row == {"causes": '[{"plugin":"A"}]'}


def test_each_row_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_csv([{"message": "a\nb\x1b[31m"}], ["message"])
    assert capsys.readouterr().out == "message\na\\nb\\x1b[31m\n"
