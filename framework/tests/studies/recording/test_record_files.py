"""Flushed lines of an interrupted record can be read and continued."""

import gzip
from pathlib import Path

import pytest

from quaymaster.recording import RecordError, RecordWriter
from tests.kit.internals.recording import (
    Begin,
    Deleted,
    End,
    Line,
    RecordFile,
    is_record,
)

BEGIN = Begin(format="quaymaster-record/1", time="2026-01-01T00:00:00Z")
NAMES = ("record.jsonl", "record.jsonl.gz")


def gone(number: int) -> Line:
    return Deleted(at=float(number), kind="Pod", key=f"default/p{number}")


def read(path: Path) -> list[Line]:
    return list(RecordFile(path).lines())


@pytest.fixture(params=NAMES)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    name: str = request.param
    return tmp_path / name


def test_written_lines_are_read_back(path: Path) -> None:
    with RecordWriter(path) as writer:
        for line in (BEGIN, gone(1), End(at=2.0)):
            writer.write(line)
    assert read(path) == [BEGIN, gone(1), End(at=2.0)]


def test_file_name_decides_on_compression(tmp_path: Path) -> None:
    for name in NAMES:
        with RecordWriter(tmp_path / name) as writer:
            writer.write(BEGIN)
    plain, zipped = (tmp_path / name for name in NAMES)
    assert gzip.decompress(zipped.read_bytes()) == plain.read_bytes()


def test_flushed_lines_can_be_read_during_the_recording(path: Path) -> None:
    with RecordWriter(path) as writer:
        writer.write(BEGIN)
        writer.flush()
        writer.write(gone(1))
        writer.flush()
        file = RecordFile(path)
        assert list(file.lines()) == [BEGIN, gone(1)]


def test_record_continues_after_existing_lines(path: Path) -> None:
    for number in (1, 2, 3):
        with RecordWriter(path) as writer:
            writer.write(BEGIN)
            writer.write(gone(number))
    assert read(path) == [BEGIN, gone(1), BEGIN, gone(2), BEGIN, gone(3)]


@pytest.mark.parametrize("cut", range(1, 40, 3))
def test_file_that_was_cut_off_keeps_its_whole_lines_and_goes_on(
    path: Path, cut: int
) -> None:
    written: list[Line] = [BEGIN, *map(gone, range(50))]
    with RecordWriter(path) as writer:
        for line in written:
            writer.write(line)
            writer.flush()
    path.write_bytes(path.read_bytes()[:-cut])
    file = RecordFile(path)
    left = list(file.lines())
    assert left == written[: len(left)]
    assert len(left) > 40
    with RecordWriter(path) as writer:
        writer.write(End(at=1.0))
    again = RecordFile(path)
    assert list(again.lines()) == [*left, End(at=1.0)]
    assert again.is_whole


def test_cut_off_line_gets_a_notice(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    with RecordWriter(path) as writer:
        writer.write(BEGIN)
        writer.write(gone(1))
    path.write_bytes(path.read_bytes()[:-5])
    file = RecordFile(path)
    assert list(file.lines()) == [BEGIN]
    assert not file.is_whole


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "expected a record, got an empty file"),
        (b"kind: Pod\n", "expected a record, as 'quaymaster record' writes it"),
        (b'{"type":"END"}\n', "expected a record, as 'quaymaster record' writes it"),
        (
            b'{"type":"BEGIN","format":"other/9"}\n',
            "line 1: expected the format 'quaymaster-record/1', got 'other/9'",
        ),
    ],
    ids=["empty", "a manifest", "another line first", "another version"],
)
def test_file_that_is_not_a_record_is_rejected(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(RecordError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: {message}"


def test_line_that_is_wrong_is_named(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    with RecordWriter(path) as writer:
        writer.write(BEGIN)
    path.write_bytes(path.read_bytes() + b'{"type":"DELETED","kind":7}\n')
    with pytest.raises(RecordError, match=r"line 2: expected a line of a record: .*"):
        read(path)


def test_missing_record_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no such file or directory"):
        read(tmp_path / "none")


def test_records_are_distinguished_from_other_files(path: Path, tmp_path: Path) -> None:
    with RecordWriter(path) as writer:
        writer.write(BEGIN)
    other = tmp_path / "pods.json"
    other.write_text('{"kind": "List"}')
    assert is_record(path)
    assert not is_record(other)
    assert not is_record(tmp_path)
