"""Files are written completely or not at all."""

import os
import stat
import sys
from pathlib import Path

import pytest

from tests.kit.internals.files import OWNER, write_whole

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def mode_of(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_content_replaces_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text("old")
    write_whole(file, b"new")
    assert file.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [file]


@linux
def test_full_disk_leaves_the_old_content_and_no_other_file(tmp_path: Path) -> None:
    import resource  # noqa: PLC0415 - not everywhere
    import signal  # noqa: PLC0415 - as above

    file = tmp_path / "report.html"
    file.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(OSError, match=r"File too large: '.*report.html'"):
            write_whole(file, bytes(10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


@linux
def test_full_file_system_is_an_error_of_the_file() -> None:
    with pytest.raises(OSError, match="No space left on device"):
        write_whole("/dev/full", b"content")


def test_missing_folder_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"missing/report\.html"):
        write_whole(tmp_path / "missing" / "report.html", b"")


@linux
def test_files_with_secrets_are_readable_by_the_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "snapshot.json"
    file.write_text("old")
    file.chmod(0o644)
    write_whole(file, b"new", mode=OWNER)
    assert mode_of(file) == 0o600


@linux
def test_other_files_keep_their_mode(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text("old")
    file.chmod(0o640)
    write_whole(file, b"new")
    assert mode_of(file) == 0o640


@linux
def test_pipe_is_written_directly() -> None:
    reading, writing = os.pipe()
    write_whole(f"/dev/fd/{writing}", b"content")
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == b"content"


@linux
def test_link_keeps_its_target(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
