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
    values = dict(zip(_FIELDS, texts, strict=True))

    def number(field: str) -> float | None:
        try:
            value = float(values[field])
        except ValueError as error:
            message = f"{field}: expected a number, got {values[field]!r}"
            raise SwfError(file, line, message) from error
        return None if value < 0 else value

    def whole(field: str) -> int | None:
        value = number(field)
        return None if value is None else int(value)

    job, submitted = whole("job number"), number("submit time")
    if job is None or submitted is None:
        field = "job number" if job is None else "submit time"
        message = f"{field}: expected a number from 0, got {values[field]!r}"
        raise SwfError(file, line, message)
    return SwfJob(
        number=job,
        submitted=submitted,
        run_seconds=number("run time"),
        allocated=whole("allocated processors"),
        requested=whole("requested processors"),
        requested_seconds=number("requested time"),
        used_memory=number("used memory"),
        requested_memory=number("requested memory"),
        user=whole("user"),
        group=whole("group"),
        executable=whole("executable"),
        queue=whole("queue"),
        partition=whole("partition"),
        preceding=whole("preceding job"),
    )
