"""Small gzip files and bodies that expand to very much are rejected early."""

import gzip
import random
import tracemalloc
import zlib
from pathlib import Path

import pytest

from quaymaster.recording import RecordError
from tests.kit.internals.input import UnreadableError, gunzip, read_file
from tests.kit.internals.recording import RecordFile, is_record

MEBIBYTE = 1 << 20


def bomb(mebibytes: int) -> bytes:
    """Return the begin of a gzip stream of zeros: one piece, again and again."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = compressor.compress(bytes(MEBIBYTE)) + compressor.flush(zlib.Z_FULL_FLUSH)
    return gzip.compress(b"")[:10] + piece * mebibytes


@pytest.mark.long
def test_body_that_expands_too_much_is_rejected() -> None:
    with pytest.raises(zlib.error, match="expands more than 500 times"):
        gunzip(bomb(10_000))


@pytest.mark.long
def test_file_that_expands_too_much_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "pods.yaml.gz"
    path.write_bytes(bomb(10_000))
    with pytest.raises(UnreadableError, match="expands more than 500 times"):
        read_file(str(path))


@pytest.mark.long
def test_record_that_expands_too_much_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "night.jsonl.gz"
    path.write_bytes(bomb(10_000))
    with pytest.raises(RecordError, match="expands more than 500 times"):
        list(RecordFile(path).texts())


def test_little_is_decompressed_to_see_whether_a_file_is_a_record(
    tmp_path: Path,
) -> None:
    path = tmp_path / "pods.yaml.gz"
    path.write_bytes(bomb(10_000))
    tracemalloc.start()
    try:
        assert not is_record(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * MEBIBYTE


def test_record_of_many_blocks_and_members_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "night.jsonl.gz"
    contents = [b"x" * size + b"\n" for size in (1 << 18, 1 << 20, 3, (1 << 19) - 1)]
    path.write_bytes(b"".join(gzip.compress(content) for content in contents))
    record = RecordFile(path)
    assert [len(text) + 1 for text in record.texts()] == list(map(len, contents))
    assert record.is_whole
    path.write_bytes(path.read_bytes()[:-9])
    list(record.texts())
    assert not record.is_whole


@pytest.mark.long
def test_content_of_many_steps_is_whole() -> None:
    content = random.Random(1).randbytes(1000) * 40_000
    assert gunzip(gzip.compress(content, 1)) == content


def test_small_content_may_expand_as_it_likes() -> None:
    assert gunzip(gzip.compress(bytes(MEBIBYTE))) == bytes(MEBIBYTE)
