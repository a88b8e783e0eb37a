"""Runs a mutant, and judges the result."""

import contextlib
import io
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from unittest import mock

from tests.fuzz.mutants import Mutant
from tests.kit.internals.cli import main
from tests.kit.internals.manifests import LARGE

__all__ = ["judge"]

_SECONDS: Final = 20
_LONGEST_LINE: Final = 4000


class _TooLongError(BaseException):
    """The command takes too long."""


def judge(mutant: Mutant) -> str | None:
    """Run the command on a mutant; return what is wrong with the result, or None."""
    out, err = io.TextIOWrapper(io.BytesIO()), io.TextIOWrapper(io.BytesIO())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"mutant.{mutant.ending}"
        file.write_bytes(mutant.text)
        arguments = [
            str(file) if argument == "FILE" else argument
            for argument in mutant.arguments
        ]
        patches: list[contextlib.AbstractContextManager[object]] = [
            mock.patch.object(sys, "argv", ["quaymaster", *arguments]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ]
        if mutant.in_pieces:
            patches.append(mock.patch(LARGE, 0))
        try:
            with contextlib.ExitStack() as stack, _time_limit():
                for patch in patches:
                    stack.enter_context(patch)
                main()
        except SystemExit as ended:
            return _verdict(ended.code, _text(out), _text(err))
        except _TooLongError:
            return f"no end after {_SECONDS} s\n{traceback.format_exc()}"
        except BaseException:
            return traceback.format_exc()
    return "no exit code"


def _verdict(code: object, out: str, err: str) -> str | None:
    if code not in (0, 1, 2, None):
        return f"exit code {code}\n{err}"
    if "Traceback" in err or "Traceback" in out:
        return f"a traceback is printed\n{err}"
    if code == 2 and not err.strip():
        return "exit code 2 without a word"
    longest = max(map(len, err.splitlines()), default=0)
    return f"a line of {longest} characters" if longest > _LONGEST_LINE else None


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "replace")


@contextlib.contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TooLongError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
