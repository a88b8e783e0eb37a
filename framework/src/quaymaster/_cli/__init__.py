"""The ``quaymaster`` command.

It may import all other groups. ``app.py`` lists the commands, each in a module of its
name, which is imported when the command runs.
"""

import contextlib
import gc
import io
import os
import sys
from typing import Final

import click

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.garbage import collector_calmed, collector_paused
from quaymaster._cli.app import app, import_command
from quaymaster._cli.output import OutputClosedError

__all__ = ["main", "run_process"]

BAD_INPUT: Final = 2
INTERRUPTED: Final = 130  # 128 and SIGINT, as shells have it
OUTPUT_CLOSED: Final = 141  # 128 and SIGPIPE


def run_process() -> None:
    """Run the command as the only task of this process."""
    with collector_paused():
        import_command(sys.argv[1:])
        # What is imported stays. Without this, the collector visits all of it, which
        # takes a twelfth of a small simulation: also as soon as it no longer pauses.
        gc.freeze()
    with collector_calmed():
        try:
            main()
        finally:
            # Skip the garbage collection at exit: it takes a third of a second after a
            # simulation of 50,000 pods.
            gc.freeze()


def main() -> None:
    """Run the command; report input errors without a traceback."""
    _replace_closed_streams()
    _accept_all_characters()
    try:
        code = _run()
    except (KeyboardInterrupt, click.Abort):
        code = INTERRUPTED
    sys.exit(_flushed(code))


def _replace_closed_streams() -> None:
    """Open the null device for streams that the shell has closed (``>&-``)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))


def _accept_all_characters() -> None:
    """Print characters that the encoding of a terminal does not have as ``?``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run() -> int:
    try:
        ended = app.main(prog_name="quaymaster", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except QuaymasterError as error:
        sys.stderr.write(f"{error}\n")
        return BAD_INPUT
    except MemoryError:
        sys.stderr.write("the memory is not sufficient for this input\n")
        return BAD_INPUT
    except OutputClosedError:
        return OUTPUT_CLOSED
    except SystemExit as stop:
        ended = stop.code
    return ended if isinstance(ended, int) else 0


def _flushed(code: int) -> int:
    """Flush standard output, and return the exit code."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_output()
        return OUTPUT_CLOSED
    except OSError as error:
        _forget_output()
        sys.stderr.write(f"standard output: {error.strerror}\n")
        return BAD_INPUT
    return code


def _forget_output() -> None:
    """Discard the rest of the output, so that Python prints no error at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
