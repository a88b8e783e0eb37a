"""The command with a terminal, a pipe and Ctrl-C: output and exit codes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.internals.cli import (
    SIMULATE,
    bold,
    is_styled,
    line_width,
    main,
)

COMMAND = "from _quaymaster_command import main; main()"
QUAYMASTER = (sys.executable, "-c", COMMAND)
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {containers: [{name: main, image: nginx}]}
"""


class Terminal:
    """A stream with a configurable ``isatty``."""

    def __init__(self, *, is_one: bool) -> None:
        self._is_one = is_one

    def isatty(self) -> bool:
        return self._is_one


@pytest.mark.parametrize(
    ("is_terminal", "environment", "styled"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"CLICOLOR_FORCE": "1"}, True),
        (False, {"CLICOLOR_FORCE": "0"}, False),
        (True, {"FORCE_COLOR": "0"}, False),
        (True, {"CLICOLOR": "0"}, False),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
    ],
)
def test_styles_follow_the_terminal_and_the_usual_variables(
    is_terminal: bool,
    environment: dict[str, str],
    styled: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    stream = Terminal(is_one=is_terminal)
    assert is_styled(stream) is styled
    assert bold("x", stream) == ("\x1b[1mx\x1b[0m" if styled else "x")


def test_lines_are_as_wide_as_the_terminal_and_endless_on_a_pipe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "66")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert line_width(Terminal(is_one=True)) == 66
    assert line_width(Terminal(is_one=False)) is None


def test_ctrl_c_ends_with_130_and_without_a_traceback(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted(*_args: object, **_options: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "pod.yaml").write_text(POD)
    monkeypatch.setattr(SIMULATE, interrupted)
    monkeypatch.setattr("sys.argv", ["quaymaster", "simulate", f"{tmp_path}/pod.yaml"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 130
    assert capsys.readouterr().err.strip() == ""


@pytest.fixture
def _ctrl_c_is_handled() -> Iterator[None]:
    """Tests in the background ignore SIGINT, and child processes inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.long
@pytest.mark.usefixtures("_ctrl_c_is_handled")
def test_ctrl_c_works_before_everything_is_imported() -> None:
    process = subprocess.Popen(
        [*QUAYMASTER, "config", "schema"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    maps = Path(f"/proc/{process.pid}/maps")
    # The first library in C that the command imports.
    while "msgspec" not in maps.read_text() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.long
@pytest.mark.parametrize(
    ("output", "code", "message"),
    [
        ("/dev/full", 2, "standard output: No space left on device\n"),
        ("closed pipe", 141, ""),
    ],
)
def test_output_that_cannot_be_written_ends_in_an_exit_code(
    output: str, code: int, message: str
) -> None:
    if output == "closed pipe":
        reader, writer = os.pipe()
        os.close(reader)
    else:
        writer = os.open(output, os.O_WRONLY)
    done = subprocess.run(
        [*QUAYMASTER, "version"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (code, message)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "Usage: quaymaster [OPTIONS] COMMAND"),
        (("simulat",), 2, "No such command 'simulat'"),
        (("simulate", "x", "--reqire-all"), 2, "Did you mean '--require-all'?"),
        (("simulate",), 2, "expected a PATH, or a live cluster (--context)"),
        (("simulate", "nosuch"), 2, "nosuch: no such file or directory"),
        (("config", "validate", "defalt"), 2, "did you mean 'default'?"),
    ],
)
def test_wrong_use_exits_with_2_and_a_message(
    arguments: tuple[str, ...],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["quaymaster", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == code
    assert message in capsys.readouterr().err
