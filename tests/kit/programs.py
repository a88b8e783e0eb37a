"""Runs the programs that pages show, without importing all modules for each of them.

A server that has imported the modules forks a process for each program. The process has
its own working directory, arguments, environment and outputs.
"""

import atexit
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import attrs

from tests.kit.cpu import charge, spent
from tests.kit.fresh import FEW, FEW_EXAMPLES

__all__ = ["Done", "run_program"]

_forked = multiprocessing.get_context("forkserver")
_forked.set_forkserver_preload(
    [__name__, "click", "quaymaster.simulation", "quaymaster.testing"]
)
# With CI, hypothesis draws the same examples each time.
_ENVIRONMENT: Final = {"COLUMNS": "200", "CI": "1"}


@attrs.frozen
class Done:
    """The result of a program.

    Attributes:
        code: Its exit code.
        output: What it printed.
        errors: What it printed on standard error.
    """

    code: int | None
    output: str
    errors: str


def run_program(words: Sequence[str], folder: Path, site: Path) -> Done:
    """Run a program to its end.

    Args:
        words: The name of an installed script or ``python``, and the arguments.
        folder: The working directory.
        site: A folder with further packages.
    """
    if words[0] == "pytest":
        return _run_apart(words, folder, site)
    with TemporaryDirectory() as place:
        outputs = Path(place)
        process = _forked.Process(target=_be, args=(words, folder, site, outputs))
        process.start()
        process.join()
        charge(float((outputs / "cpu").read_text()))
        output, errors = ((outputs / name).read_text() for name in ("out", "err"))
        return Done(process.exitcode, output, errors)


def _run_apart(words: Sequence[str], folder: Path, site: Path) -> Done:
    """Run pytest in a new process, because it rewrites what is imported later."""
    program, *arguments = words
    with TemporaryDirectory() as place:
        Path(place, f"{FEW}.py").write_text(FEW_EXAMPLES)
        seen = {"PYTHONPATH": f"{site}{os.pathsep}{place}"}
        done = subprocess.run(
            [str(Path(sys.executable).with_name(program)), "-p", FEW, *arguments],
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT, **seen},
            capture_output=True,
            text=True,
            check=False,
        )
    return Done(done.returncode, done.stdout, done.stderr)


def _be(words: Sequence[str], folder: Path, site: Path, outputs: Path) -> None:
    """Run the program in the forked process."""
    for number, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(outputs / name, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(folder)
    os.environ.update(_ENVIRONMENT)
    try:
        _run(words, folder, site)
    finally:
        atexit._run_exitfuncs()  # multiprocessing does not call them
        (outputs / "cpu").write_text(str(spent()))


def _run(words: Sequence[str], folder: Path, site: Path) -> None:
    program, *arguments = words
    if program == "python":
        sys.argv = arguments
        sys.path[:0] = [str(folder), str(site)]
        runpy.run_path(arguments[0], run_name="__main__")
    else:
        sys.argv = [program, *arguments]
        sys.path.insert(0, str(site))
        if arguments[:2] == ["plugins", "check"]:
            exec(FEW_EXAMPLES)
        (script,) = entry_points(group="console_scripts", name=program)
        sys.exit(script.load()())
