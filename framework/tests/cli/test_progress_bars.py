"""Progress bars on standard error."""

import io

import pytest

from tests.kit.internals.cli import progress_bar


class Terminal(io.StringIO):
    """A stream that claims to be a terminal."""

    def isatty(self) -> bool:
        return True


def shown(unit: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The last line of a bar with one of three steps done."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    with progress_bar(unit) as bar:
        task = bar.add_task("", total=3)
        bar.update(task, completed=1, description="2 min left")
    return next(line for line in terminal.getvalue().split("\r") if "1/3" in line)


@pytest.mark.long
def test_bar_with_a_unit_shows_it_first_and_the_description_last(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = shown("runs", monkeypatch)
    assert line.index("runs") < line.index("1/3") < line.index("2 min left")


def test_bar_without_a_unit_shows_the_description_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    line = shown("", monkeypatch)
    assert line.index("2 min left") < line.index("1/3")


def test_nothing_is_shown_if_standard_error_is_not_a_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    with progress_bar("runs") as bar:
        bar.update(bar.add_task("", total=3), completed=1)
    assert bar.is_hidden
    assert stream.getvalue() == ""
