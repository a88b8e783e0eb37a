"""Record files: lines of JSON, compressed if the name ends with ``.gz``.

All flushed lines can be read even after a crash: each flush ends a block of the
compressed text, and readers use all complete lines. A continued recording appends
another gzip member.
"""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec

from quaymaster._base.block_lines import BlockLines
from quaymaster._base.errors import QuaymasterError, one_line
from quaymaster._base.gunzip import expands_too_much
from quaymaster._studies.recording.lines import (
    FORMAT,
    Begin,
    Line,
    decode_line,
    encode_line,
)

__all__ = ["RecordError", "RecordFile", "RecordWriter", "is_record"]

_GZIP: Final = b"\x1f\x8b"
# zlib reads and writes a gzip header only with 16 added.
_GZIP_BITS: Final = zlib.MAX_WBITS | 16
_BLOCK: Final = 1 << 18
_ENDING: Final = ".gz"
_FIRST: Final = b'{"type":"BEGIN"'


class RecordError(QuaymasterError):
    """A record that cannot be written or read.

    Args:
        where: The file, and the line if one is wrong.
        message: The error.
    """

    def __init__(self, where: str, message: str) -> None:
        super().__init__(one_line(where, message))


class RecordFile:
    """Reads a record.

    Args:
        path: The file.

    Attributes:
        is_whole: Whether the last read had no loss: the last line and the last member
            of the compressed text were complete.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self.is_whole = True

    def beginning(self) -> bytes:
        """Return the beginning of the file, a few hundred kilobytes at most."""
        return next(self._blocks(), b"")

    def texts(self) -> Iterator[bytes]:
        """Yield all complete lines, without line ends.

        Raises:
            RecordError: The file cannot be read.
        """
        self.is_whole = True
        lines = BlockLines()
        try:
            for block in self._blocks():
                yield from lines.take(block)
        except OSError as error:
            raise _refused(self._path, error) from error
        if lines.rest:
            self.is_whole = False

    def lines(self) -> Iterator[Line]:
        """Yield all complete lines, decoded.

        Raises:
            RecordError: The file is unreadable, or not a record.
        """
        number = 0
        for number, text in enumerate(self.texts(), 1):
            yield self._line(text, number)
        if not number:
            raise RecordError(str(self._path), "expected a record, got an empty file")

    def _line(self, text: bytes, number: int) -> Line:
        where = f"{self._path}: line {number}"
        try:
            line = decode_line(text)
        except msgspec.DecodeError as error:
            if number == 1:
                raise self._not_a_record() from error
            raise RecordError(where, f"expected a line of a record: {error}") from error
        if number == 1 and not isinstance(line, Begin):
            raise self._not_a_record()
        if isinstance(line, Begin) and line.format != FORMAT:
            message = f"expected the format {FORMAT!r}, got {line.format!r}"
            raise RecordError(where, message)
        return line

    def _not_a_record(self) -> RecordError:
        message = "expected a record, as 'quaymaster record' writes it"
        return RecordError(str(self._path), message)

    def _blocks(self) -> Iterator[bytes]:
        with self._path.open("rb") as file:
            first = file.read(_BLOCK)
            if not first.startswith(_GZIP):
                while first:
                    yield first
                    first = file.read(_BLOCK)
                return
            yield from self._unzipped(first, iter(lambda: file.read(_BLOCK), b""))

    def _unzipped(self, block: bytes, more: Iterator[bytes]) -> Iterator[bytes]:
        unzip, is_inside, has_more = zlib.decompressobj(_GZIP_BITS), False, False
        compressed = size = 0
        while block or has_more:
            compressed += len(block)
            try:
                # Limited, since deflate packs up to a thousand bytes into one.
                content = unzip.decompress(block, _BLOCK)
            except zlib.error:
                self.is_whole = False  # the end was being written
                return
            if content:
                yield content
            size += len(content)
            is_inside, block = not unzip.eof, unzip.unused_data or unzip.unconsumed_tail
            compressed -= len(block)
            # In each round, so that a small file cannot fill the memory first.
            self._check_size(compressed, size)
            has_more = is_inside and len(content) == _BLOCK
            # The next member, of a continued recording.
            if unzip.eof:
                unzip = zlib.decompressobj(_GZIP_BITS)
            if not has_more:
                block = block or next(more, b"")
        if is_inside:
            self.is_whole = False

    def _check_size(self, compressed: int, content: int) -> None:
        if expands_too_much(compressed, content):
            message = "a gzip file that expands more than 500 times"
            raise RecordError(str(self._path), message)


class RecordWriter:
    """Writes a record, or appends to one.

    Args:
        path: The file, which is created or continued. An incomplete last line is
            removed.

    Raises:
        RecordError: The file cannot be written, or is not a record.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        try:
            _mend(self._path)
            self._file = self._path.open("ab")
        except OSError as error:
            raise _refused(self._path, error) from error
        self._zip = (
            zlib.compressobj(wbits=_GZIP_BITS)
            if self._path.name.endswith(_ENDING)
            else None
        )
        self._has_unflushed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def write(self, line: Line) -> None:
        """Write a line; `flush` makes it visible."""
        text = encode_line(line)
        self._put(text if self._zip is None else self._zip.compress(text))
        self._has_unflushed = True

    def flush(self) -> None:
        """Flush all lines, so that readers of the file see them."""
        if not self._has_unflushed:
            return
        if self._zip is not None:
            # Ends the block but not the member, so that readers see the lines.
            self._put(self._zip.flush(zlib.Z_SYNC_FLUSH))
        try:
            self._file.flush()
        except OSError as error:
            raise _refused(self._path, error) from error
        self._has_unflushed = False

    def close(self) -> None:
        """End the file; later calls do nothing."""
        if self._file.closed:
            return
        if self._zip is not None:
            self._put(self._zip.flush())
        try:
            self._file.close()
        except OSError as error:
            raise _refused(self._path, error) from error

    def _put(self, data: bytes) -> None:
        try:
            self._file.write(data)
        except OSError as error:
            raise _refused(self._path, error) from error


def is_record(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a record, by its first line."""
    file = Path(path)
    if not file.is_file():
        return False
    try:
        return RecordFile(file).beginning().startswith(_FIRST)
    except OSError:
        return False


def _mend(path: Path) -> None:
    """Remove an incomplete last line from a file, so that it can be continued."""
    if not path.exists() or not path.stat().st_size:
        return
    record = RecordFile(path)
    for _ in record.lines():
        pass
    if record.is_whole:
        return
    # In the same folder: a file is replaced at once only within one file system.
    mended = path.with_name(f".{path.name}.mended")
    mended.unlink(missing_ok=True)
    zipped = zlib.compressobj(wbits=_GZIP_BITS) if path.name.endswith(_ENDING) else None
    with mended.open("wb") as file:
        for text in record.texts():
            line = text + b"\n"
            file.write(line if zipped is None else zipped.compress(line))
        if zipped is not None:
            file.write(zipped.flush())
    # All or nothing: the record stays whole if this process is killed meanwhile.
    mended.replace(path)


def _refused(path: Path, error: OSError) -> RecordError:
    return RecordError(str(path), (error.strerror or str(error)).lower())
