"""Reads job traces in the Standard Workload Format, version 2.

The format is described by the Parallel Workloads Archive: comments begin with a
semicolon, and each other line has 18 numbers about one job; -1 means no value.
"""

import contextlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
# The fields that count or number something, by their positions.
_WHOLE: Final = frozenset({0, 4, 7, *range(10, 17)})
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
        wait_seconds: How long it waited.
        run_seconds: How long it ran.
        allocated: The processors that it got.
        cpu_seconds: The mean CPU time that it used on a processor.
        used_memory: The memory that it used on each processor, in KiB.
        requested: The processors that it requested.
        requested_seconds: How long it may run, by its request.
        requested_memory: The memory that it requested for each processor, in KiB.
        status: How it ended: 1 completed, 0 failed, 5 cancelled.
        user: The number of its user.
        group: The number of the user's group.
        executable: The number of its program.
        queue: The number of its queue.
        partition: The number of its partition.
        preceding: The number of the job that it follows.
        think_seconds: The time between the end of that job and its submission.
    """

    number: int
    submitted: float
    wait_seconds: float | None = None
    run_seconds: float | None = None
    allocated: int | None = None
    cpu_seconds: float | None = None
    used_memory: float | None = None
    requested: int | None = None
    requested_seconds: float | None = None
    requested_memory: float | None = None
    status: int | None = None
    user: int | None = None
    group: int | None = None
    executable: int | None = None
    queue: int | None = None
    partition: int | None = None
    preceding: int | None = None
    think_seconds: float | None = None


@attrs.frozen(kw_only=True)
class SwfTrace:
    """A trace.

    Attributes:
        headers: The header comments, such as ``MaxProcs``, by name; of several with one
            name, the first.
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


def read_swf(file: str | os.PathLike[str]) -> SwfTrace:
    """Read a job trace in the Standard Workload Format, compressed with gzip or not.

    Each line that is not a comment needs all 18 fields of the format, with -1 for
    missing values: a line with fewer is damaged, or of another format.

    Args:
        file: The trace.

    Raises:
        SwfError: The file cannot be read, or a line is not a job.
    """
    name = os.fspath(file)
    try:
        text = bytes(read_file(name)).decode("utf-8", errors="replace")
    except (OSError, UnreadableError) as error:
        raise SwfError(name, 0, getattr(error, "strerror", None) or str(error)) from (
            error
        )
    headers: dict[str, str] = {}
    jobs = tuple(_jobs(name, text.splitlines(), headers))
    return SwfTrace(jobs=jobs, headers=headers)


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
        raise _mistake(file, line, texts) from error
    if not all(map(math.isfinite, numbers)) or min(numbers[:2]) < 0:
        raise _mistake(file, line, texts)
    whole = {index: int(numbers[index]) for index in _WHOLE}
    if any(numbers[index] != number for index, number in whole.items()):
        raise _mistake(file, line, texts)
    seconds = [None if number < 0 else number for number in numbers]
    counts = {index: None if number < 0 else number for index, number in whole.items()}
    return SwfJob(
        number=whole[0],
        submitted=numbers[1],
        wait_seconds=seconds[2],
        run_seconds=seconds[3],
        allocated=counts[4],
        cpu_seconds=seconds[5],
        used_memory=seconds[6],
        requested=counts[7],
        requested_seconds=seconds[8],
        requested_memory=seconds[9],
        status=counts[10],
        user=counts[11],
        group=counts[12],
        executable=counts[13],
        queue=counts[14],
        partition=counts[15],
        preceding=counts[16],
        think_seconds=seconds[17],
    )


def _mistake(file: str, line: int, texts: Sequence[str]) -> SwfError:
    """Return the error about the first field that has another value than expected."""
    for index, (field, text) in enumerate(zip(_FIELDS, texts, strict=True)):
        kind = "a whole number" if index in _WHOLE else "a number"
        lowest = " from 0" if index < 2 else ""
        if not _is_expected(index, text):
            expected = f"{field}: expected {kind}{lowest}"
            return SwfError(file, line, f"{expected}, got {text!r}")
    raise AssertionError("all fields are as expected")


def _is_expected(index: int, text: str) -> bool:
    try:
        number = float(text)
    except ValueError:
        return False
    if not math.isfinite(number) or (index in _WHOLE and not number.is_integer()):
        return False
    return index >= 2 or number >= 0
