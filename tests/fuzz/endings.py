"""Runs a command on a mutant, in this process."""

import contextlib
import functools
import io
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from unittest import mock

from tests.fuzz.mutants import Mutant
from tests.kit.internals.cli import main
from tests.kit.internals.manifests import LARGE

__all__ = ["CommandEnding", "end_of"]

_SECONDS: Final = 20


class CommandEnding(NamedTuple):
    """How a command ended.

    Attributes:
        code: Its exit code; None if it was 0 or not given.
        out: What it printed.
        err: What it printed on standard error.
        failure: Why it did not end as a command should; empty if it did.
    """

    code: object = None
    out: str = ""
    err: str = ""
    failure: str = ""


class _TooLongError(BaseException):
    """The command does not end."""


def end_of(mutant: Mutant) -> CommandEnding:
    """Run the command on a mutant, and return how it ended."""
    folder = _folder()
    file = Path(folder.name) / f"mutant.{mutant.ending}"
    file.write_bytes(mutant.text)
    arguments = [str(file) if word == "FILE" else word for word in mutant.arguments]
    return _run(arguments, in_pieces=mutant.in_pieces)


@functools.cache
def _folder() -> "tempfile.TemporaryDirectory[str]":
    """One for all mutants: what two commands print of one file is compared."""
    return tempfile.TemporaryDirectory()


def _run(arguments: list[str], *, in_pieces: bool) -> CommandEnding:
    out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
    patches: list[contextlib.AbstractContextManager[object]] = [
        mock.patch.object(sys, "argv", ["quaymaster", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ]
    if in_pieces:
        patches.append(mock.patch(LARGE, 0))
    try:
        with contextlib.ExitStack() as stack, _time_limit():
            for patch in patches:
                stack.enter_context(patch)
            main()
    except SystemExit as stop:
        return CommandEnding(stop.code, _text(out), _text(err))
    except _TooLongError:
        return CommandEnding(
            failure=f"no end after {_SECONDS} s\n{traceback.format_exc()}"
        )
    except BaseException:
        return CommandEnding(failure=traceback.format_exc())
    return CommandEnding(failure="no exit code")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "replace")


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooLongError

    # CPU time, because a busy machine is not a failure.
    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
