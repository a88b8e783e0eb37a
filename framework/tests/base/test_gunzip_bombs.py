"""Small gzip files and bodies that expand to very much are rejected early."""

import gzip
import random
import zlib
from pathlib import Path

import pytest

from tests.kit.internals.input import UnreadableError, gunzip, read_file

MEBIBYTE = 1 << 20


def bomb(mebibytes: int) -> bytes:
    """Return the begin of a gzip stream of zeros: one piece, again and again."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    piece = compressor.compress(bytes(MEBIBYTE)) + compressor.flush(zlib.Z_FULL_FLUSH)
    return gzip.compress(b"")[:10] + piece * mebibytes


def test_body_that_expands_too_much_is_rejected() -> None:
    with pytest.raises(zlib.error, match="expands more than 500 times"):
        gunzip(bomb(10_000))


def test_file_that_expands_too_much_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "pods.yaml.gz"
    path.write_bytes(bomb(10_000))
    with pytest.raises(UnreadableError, match="expands more than 500 times"):
        read_file(str(path))


def test_content_of_many_steps_is_whole() -> None:
    content = random.Random(1).randbytes(1000) * 40_000
    assert gunzip(gzip.compress(content, 1)) == content


def test_small_content_may_expand_as_it_likes() -> None:
    assert gunzip(gzip.compress(bytes(MEBIBYTE))) == bytes(MEBIBYTE)
