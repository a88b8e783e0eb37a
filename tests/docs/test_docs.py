"""The documentation is true: its commands run and print the shown output."""

import ast
import atexit
import functools
import shlex
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.docs.command_line import PAGE, command_line
from tests.docs.experiment_files import PAGE as EXPERIMENT_FILES
from tests.docs.experiment_files import TUNING_PAGE, experiment_page, tuning_page
from tests.docs.provisioners import PAGE as PROVISIONERS
from tests.docs.provisioners import provisioners_page
from tests.docs.reference import (
    FOLDER,
    MODULES,
    PLUGINS,
    modules_page,
    pages,
    plugin_index,
)
from tests.docs.results import PAGE as RESULTS
from tests.docs.results import (
    SCHEMAS,
    config_schema_text,
    result_schemas,
    results_page,
)
from tests.docs.scenario_files import PAGE as SCENARIO_FILES
from tests.docs.scenario_files import scenario_page
from tests.docs.signatures import SIGNATURES, signatures_page
from tests.docs.snippets import Command, read_page
from tests.kit.fresh import FreshEnvironment
from tests.kit.internals.config import SCHEMA_FILE
from tests.kit.programs import run_program

ROOT = Path(__file__).parents[2]
# Packages are installed and run by tests/examples.
EXAMPLES = ROOT / "docs/examples"
# They start a server: tests/docs/test_served_pages.py.
SERVED_PAGES = {"ask-over-http.md"}
PAGES = [
    path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if path.parent.name != "tutorial"
    and path.name not in SERVED_PAGES
    and EXAMPLES not in path.parents
    and read_page(path).commands
]


@pytest.mark.house
def test_reference_pages_are_up_to_date() -> None:
    """Run ``python -m tests.docs.reference`` after a change of the hookspecs."""
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert there == dict(pages())
    assert PLUGINS.read_text(encoding="utf-8") == plugin_index()


@pytest.mark.house
def test_page_of_the_modules_is_up_to_date() -> None:
    """Run ``python -m tests.docs.reference`` after a change of docstrings."""
    assert MODULES.read_text(encoding="utf-8") == modules_page()


@pytest.mark.house
def test_page_of_signatures_is_up_to_date() -> None:
    """Run ``python -m tests.docs.reference`` after a change of public arguments."""
    assert SIGNATURES.read_text(encoding="utf-8") == signatures_page()


@pytest.mark.house
def test_page_and_schemas_of_results_are_up_to_date() -> None:
    """Run ``python -m tests.docs.reference`` after a change of their types."""
    assert RESULTS.read_text(encoding="utf-8") == results_page()
    there = {path.name: path.read_text(encoding="utf-8") for path in SCHEMAS.iterdir()}
    assert there == dict(result_schemas())


@pytest.mark.house
def test_installed_schema_of_configurations_is_up_to_date() -> None:
    """Run ``python -m tests.docs.reference`` after a change of plugins' arguments."""
    assert SCHEMA_FILE.read_text(encoding="utf-8") == config_schema_text()


@pytest.mark.house
def test_page_of_scenario_files_is_up_to_date() -> None:
    """Run ``python -m tests.docs.reference`` after a change of their classes."""
    assert SCENARIO_FILES.read_text(encoding="utf-8") == scenario_page()


def test_page_of_provisioners_is_up_to_date() -> None:
    """Run ``python -m tests.docs.reference`` after a change of their list."""
    assert PROVISIONERS.read_text(encoding="utf-8") == provisioners_page()


@pytest.mark.house
def test_page_of_experiment_files_is_up_to_date() -> None:
    """Run ``python -m tests.docs.reference`` after a change of their classes."""
    assert EXPERIMENT_FILES.read_text(encoding="utf-8") == experiment_page()
    assert TUNING_PAGE.read_text(encoding="utf-8") == tuning_page()


@pytest.mark.house
def test_page_of_the_command_line_is_up_to_date() -> None:
    """Run ``python -m tests.docs.command_line`` after a change of the commands."""
    assert PAGE.read_text(encoding="utf-8") == command_line()


@pytest.mark.long
@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_of_a_page_print_what_it_shows(path: Path, tmp_path: Path) -> None:
    page = read_page(path)
    for name, text in page.files.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        if file.suffix == ".py":
            ast.parse(text, name)
    if (ROOT / "docs").exists():
        (tmp_path / "docs").symlink_to(ROOT / "docs")
    for command in page.commands:
        if command.line.startswith("pip install -q ./"):
            pip(command.line, tmp_path)
        elif not command.line.startswith(("python3 -m venv", ".ci/")):
            check(command, tmp_path)


def pip(line: str, folder: Path) -> None:
    """Run ``pip install`` as the page does, without a network."""
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    target = ["--target", str(folder / "site")]
    _environment().run(*shlex.split(line), *options, *target, folder=folder)


@functools.cache
def _environment() -> FreshEnvironment:
    """Return an environment into which nothing is installed."""
    place = TemporaryDirectory()
    atexit.register(place.cleanup)
    return FreshEnvironment(Path(place.name))


def check(command: Command, folder: Path) -> None:
    done = run_program(shlex.split(command.line), folder, folder / "site")
    # A page may show a scenario that fails; then the command must print that.
    expected = 1 if ": FAILED, " in command.output else 0
    assert done.code == expected, f"{command.line}\n{done.output}{done.errors}"
    if command.output.strip():
        assert squeezed(done.output) == squeezed(command.output), command.line


def squeezed(text: str) -> list[str]:
    """Return the words of each line, because the widths of columns may differ."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [line for line in lines if line]
