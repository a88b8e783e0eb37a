"""The tutorial can be followed: each page with the files of the pages before it."""

import shlex
from pathlib import Path

import pytest

from tests.docs.navigation import ROOT, below
from tests.docs.snippets import read_page
from tests.docs.test_docs import pip, squeezed
from tests.kit.programs import Done, run_program

START = "docs/tutorial/README"
STEPS = tuple(below(START))
# Commands that the environment of the tests makes unnecessary.
SETUP = ("python3 -m venv", ". .venv", "pip ", "ls ")


def folder_at(step: str, folder: Path) -> Path:
    """Make the folder of a reader who has followed the tutorial up to a page."""
    for page in STEPS[: STEPS.index(step) + 1]:
        for name, text in read_page(ROOT / f"{page}.md").files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    pip("pip install ./quaymaster-berths", folder)
    return folder


def run(line: str, folder: Path) -> Done:
    return run_program(shlex.split(line), folder, folder / "site")


@pytest.mark.long
@pytest.mark.parametrize("step", STEPS, ids=lambda step: Path(step).name)
def test_commands_print_what_the_page_shows(step: str, tmp_path: Path) -> None:
    folder = folder_at(step, tmp_path)
    for command in read_page(ROOT / f"{step}.md").commands:
        if command.line.startswith("touch "):
            (folder / command.line.removeprefix("touch ")).touch()
        elif not command.line.startswith(SETUP):
            done = run(command.line, folder)
            assert done.code == 0, f"{command.line}\n{done.output}{done.errors}"
            if command.output.strip():
                assert squeezed(done.output) == squeezed(command.output)


@pytest.mark.house
def test_steps_lead_from_one_to_the_next() -> None:
    for step, following in zip((START, *STEPS), STEPS, strict=False):
        last = (ROOT / f"{step}.md").read_text(encoding="utf-8").splitlines()[-1]
        assert f"({Path(following).name}.md)" in last
