"""Reads what users name as a file: files, devices, pipes, standard input."""

import codecs
import gzip
import io
import mmap
import os
import select
import stat
import zlib
from pathlib import Path
from typing import BinaryIO, Final

from quaymaster._base.gunzip import MOST_BYTES, expands_too_much

__all__ = ["UnreadableError", "read_file", "read_stream"]

_GZIP: Final = b"\x1f\x8b"
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST_STREAM: Final = MOST_BYTES
_STEP: Final = 1 << 24  # bytes that are decompressed at once
# Longer than a shell takes to start the writer of a pipe.
_PATIENCE_MS: Final = 10_000
_MAPPED_FROM: Final = 1 << 25  # bytes: larger files are not copied into memory


class UnreadableError(ValueError):
    """A file does not have text of the expected form."""


def read_file(name: str) -> bytes | mmap.mmap:
    """Read a file as UTF-8.

    Raises:
        OSError: The file cannot be read.
        UnreadableError: The file is not text, or never ends.
    """
    with _open(name) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            return read_stream(file)
        if status.st_size < _MAPPED_FROM:
            return _as_utf_8(file.read())
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        mark = content[: len(codecs.BOM_UTF8)]
        has_mark = mark.startswith((*_UTF_16, codecs.BOM_UTF8, _GZIP))
        return _as_utf_8(content[:]) if has_mark else content


def read_stream(file: BinaryIO) -> bytes:
    """Read standard input, a pipe or a device as UTF-8.

    Raises:
        OSError: The stream cannot be read.
        UnreadableError: The stream is not text, or never ends.
    """
    mode = os.fstat(file.fileno()).st_mode if _has_descriptor(file) else 0
    if stat.S_ISCHR(mode) and not file.isatty():
        content = file.read(1)
        if content:
            raise UnreadableError("a device, which holds no manifests")
        return content
    content = file.read(_LONGEST_STREAM + 1)
    if len(content) > _LONGEST_STREAM:
        limit = f"{_LONGEST_STREAM >> 30} GiB"
        raise UnreadableError(f"more than {limit} from a pipe; give it as a file")
    return _as_utf_8(content)


def _as_utf_8(content: bytes) -> bytes:
    """Return the text in UTF-8 and without a byte order mark.

    Windows PowerShell writes UTF-16 when the output of a command goes to a file.
    Content that gzip has compressed is decompressed first.

    Raises:
        UnreadableError: The text begins like UTF-16 or gzip, but is neither.
    """
    if content.startswith(_GZIP):
        content = _decompressed(content)
    if content.startswith(_UTF_16):
        try:
            return content.decode("utf-16").encode()
        except UnicodeError as error:
            message = f"expected UTF-16, as it begins: {error}"
            raise UnreadableError(message) from error
    return content.removeprefix(codecs.BOM_UTF8)


def _decompressed(content: bytes) -> bytes:
    compressed = io.BytesIO(content)
    text = bytearray()
    try:
        with gzip.GzipFile(fileobj=compressed) as file:
            while part := file.read(_STEP):
                text += part
                if expands_too_much(compressed.tell(), len(text)):
                    message = "a gzip file that expands more than 500 times"
                    raise UnreadableError(message)
                if len(text) > _LONGEST_STREAM:
                    limit = f"{_LONGEST_STREAM >> 30} GiB"
                    raise UnreadableError(f"more than {limit}, uncompressed")
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableError(f"expected gzip, as it begins: {error}") from error
    return bytes(text)


def _open(name: str) -> BinaryIO:
    """Open a file; a pipe must have a process that writes to it."""
    if not stat.S_ISFIFO(Path(name).stat().st_mode):
        return Path(name).open("rb")
    descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    if not poll.poll(_PATIENCE_MS):
        os.close(descriptor)
        raise UnreadableError("no process writes to this pipe")
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "rb")


def _has_descriptor(file: BinaryIO) -> bool:
    try:
        file.fileno()
    except OSError:  # as of objects that only look like files
        return False
    return True
