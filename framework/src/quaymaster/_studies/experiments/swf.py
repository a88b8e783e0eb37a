"""Reads job traces in the Standard Workload Format, version 2.

The format is described by the Parallel Workloads Archive: comments begin with a
semicolon, and each other line has 18 numbers about one job; -1 means no value.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.input.reading import UnreadableError, read_file

__all__ = ["SwfError", "SwfJob", "SwfTrace", "read_swf"]

_FIELDS: Final = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
_COMMENT: Final = ";"


class SwfError(QuaymasterError, ValueError):
    """A trace cannot be read.

    Attributes:
        file: The file.
        line: The number of the line; 0 for the file itself.
    """

    def __init__(self, file: str, line: int, message: str) -> None:
        place = f"{file}: line {line}" if line else file
        super().__init__(f"{place}: {message}")
        self.file = file
        self.line = line


@attrs.frozen(kw_only=True)
class SwfJob:
    """A job of a trace; None where the trace has no value.

    Attributes:
        number: Its number.
        submitted: When it was submitted, in seconds.
        run_seconds: How long it ran.
        allocated: The processors that it got.
        requested: The processors that it requested.
        requested_seconds: How long it may run, by its request.
        used_memory: The memory that it used on each processor, in KiB.
        requested_memory: The memory that it requested for each processor, in KiB.
        user: The number of its user.
        group: The number of the user's group.
        executable: The number of its program.
        queue: The number of its queue.
        partition: The number of its partition.
        preceding: The number of the job that it follows.
    """

    number: int
    submitted: float
    run_seconds: float | None
    allocated: int | None
    requested: int | None
    requested_seconds: float | None
    used_memory: float | None
    requested_memory: float | None
    user: int | None
    group: int | None
    executable: int | None
    queue: int | None
    partition: int | None
    preceding: int | None


@attrs.frozen(kw_only=True)
class SwfTrace:
    """A trace.

    Attributes:
        headers: The header comments, such as ``MaxProcs``, by name.
        jobs: The jobs, in the order of the file.
    """

    headers: Mapping[str, str]
    jobs: Sequence[SwfJob]

    @property
    def processors(self) -> int | None:
        """The processors of the machine: ``MaxProcs``, else ``MaxNodes``."""
        for name in ("MaxProcs", "MaxNodes"):
            with contextlib.suppress(KeyError, ValueError):
                return int(self.headers[name])
        return None


def read_swf(file: Path) -> SwfTrace:
    """Read a trace, compressed with gzip or not.

    Raises:
        SwfError: The file cannot be read, or a line is not a job.
    """
    name = str(file)
    try:
        text = bytes(read_file(name)).decode("utf-8", errors="replace")
    except (OSError, UnreadableError) as error:
        raise SwfError(name, 0, getattr(error, "strerror", None) or str(error)) from (
            error
        )
    headers: dict[str, str] = {}
    return SwfTrace(jobs=list(_jobs(name, text.splitlines(), headers)), headers=headers)


def _jobs(file: str, lines: Iterable[str], headers: dict[str, str]) -> Iterator[SwfJob]:
    for number, line in enumerate(lines, start=1):
        stripped = line.strip()
        if stripped.startswith(_COMMENT):
            name, colon, value = stripped.lstrip("; ").partition(":")
            if colon:
                headers.setdefault(name.strip(), value.strip())
        elif stripped:
            yield _job(file, number, stripped.split())


def _job(file: str, line: int, texts: Sequence[str]) -> SwfJob:
    if len(texts) != len(_FIELDS):
        expected = f"expected {len(_FIELDS)} fields of a job"
        raise SwfError(file, line, f"{expected}, got {len(texts)}")
    try:
        numbers = [float(text) for text in texts]
    except ValueError as error:
        raise _not_a_number(file, line, texts) from error
    if numbers[0] < 0 or numbers[1] < 0:
        index = 0 if numbers[0] < 0 else 1
        expected = f"{_FIELDS[index]}: expected a number from 0"
        raise SwfError(file, line, f"{expected}, got {texts[index]!r}")
    values = [None if number < 0 else number for number in numbers]
    return SwfJob(
        number=int(numbers[0]),
        submitted=numbers[1],
        run_seconds=values[3],
        allocated=_whole(values[4]),
        used_memory=values[6],
        requested=_whole(values[7]),
        requested_seconds=values[8],
        requested_memory=values[9],
        user=_whole(values[11]),
        group=_whole(values[12]),
        executable=_whole(values[13]),
        queue=_whole(values[14]),
        partition=_whole(values[15]),
        preceding=_whole(values[16]),
    )


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _not_a_number(file: str, line: int, texts: Sequence[str]) -> SwfError:
    """Return the error about the first text that is not a number."""
    for field, text in zip(_FIELDS, texts, strict=True):
        try:
            float(text)
        except ValueError:
            return SwfError(file, line, f"{field}: expected a number, got {text!r}")
    raise AssertionError("all texts are numbers")
