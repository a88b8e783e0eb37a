"""``quaymaster --help`` lists all commands; misspelt ones get suggestions."""

import json
import subprocess
import sys
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tests.docs.command_line import help_pages
from tests.kit.internals.cli import HELP_PAGES, app
from tests.kit.internals.loading import HEAVY_FOR_HELP

LONGEST_SUMMARY = 60
PRINT_HELP = """
import sys
from quaymaster._cli import main
for path in sys.argv[1:]:
    sys.argv = ["quaymaster", *path.split(), "--help"]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, path
        print(f"{path}:", *sys.modules, file=sys.stderr)
"""
CONTEXT = click.Context(app, info_name="quaymaster")
GROUPS = {
    "Find where pods go:": "simulate explain capacity plan consolidate what-if compare",
    "Study scheduling:": "scenario sweep tune perf",
    "Record and replay:": "snapshot record replay",
    "Work on a cluster:": "run doctor deploy debug serve extender ui",
    "Author plugins and profiles:": "plugins config completion version",
}


def printed(*arguments: str) -> str:
    return CliRunner().invoke(app, arguments).output


def groups_of(text: str) -> dict[str, list[str]]:
    """Return the first words of the lines below each heading."""
    groups: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.startswith(" "):
            groups[line] = []
        elif line.startswith("  ") and groups:
            groups[list(groups)[-1]].append(line.split()[0])
    return groups


def paths_of(pages: dict[str, Any], *above: str) -> list[str]:
    """Return the names of all commands, with those of the groups they are in."""
    paths: list[str] = []
    for name, page in pages.items():
        paths.append(" ".join((*above, name)))
        paths += paths_of(page.get("commands", {}), *above, name)
    return paths


PATHS = paths_of(json.loads(HELP_PAGES.read_text(encoding="utf-8")))
"""All commands; a test of the file shows that none is missing."""


def test_help_lists_the_commands_by_what_users_want() -> None:
    groups = groups_of(printed("--help"))
    assert {title: " ".join(groups[title]) for title in GROUPS} == GROUPS


def test_help_lists_each_command_once() -> None:
    listed = " ".join(GROUPS.values()).split()
    assert sorted(listed) == sorted(app.list_commands(CONTEXT))


@pytest.mark.parametrize(
    "group", ["", "config", "debug", "deploy", "plugins", "scenario"]
)
def test_lines_of_the_list_are_short_and_uncut(group: str) -> None:
    text = printed(*group.split(), "--help")
    titles = [*GROUPS] if not group else ["Commands:"]
    names = [name for title in titles for name in groups_of(text)[title]]
    lines = text[text.index(titles[0]) :].splitlines()
    assert len(names) == sum(line.startswith("  ") for line in lines)
    assert "..." not in "".join(lines)
    width = max(map(len, names)) + 4
    assert max(len(line) - width for line in lines) < LONGEST_SUMMARY


@pytest.mark.parametrize(
    ("arguments", "name", "suggestion"),
    [
        ("simulat", "simulat", "simulate"),
        ("whatif", "whatif", "what-if"),
        ("Explain", "Explain", "explain"),
        ("plugins lst", "lst", "list"),
        ("scenario valdate", "valdate", "validate"),
    ],
)
def test_misspelt_commands_get_a_suggestion(
    arguments: str, name: str, suggestion: str
) -> None:
    result = CliRunner().invoke(app, arguments.split())
    assert result.exit_code == 2
    expected = f"Error: No such command '{name}'; did you mean '{suggestion}'?"
    assert result.output.splitlines()[-1] == expected


def test_names_like_no_command_get_no_suggestion() -> None:
    assert printed("qqq").splitlines()[-1] == "Error: No such command 'qqq'"


def test_misspelt_options_before_a_command_are_reported_as_options() -> None:
    assert "No such option" in printed("--verson")


def test_completion_lists_commands_with_their_summaries() -> None:
    items = app.shell_complete(CONTEXT, "sw")
    assert [(item.value, item.help) for item in items] == [
        ("sweep", "Run an experiment over inputs, profiles and seeds")
    ]


def real_help(path: str, width: int) -> str:
    """Return the help that a command itself prints."""
    context = click.Context(
        app, info_name="quaymaster", terminal_width=width, **app.context_settings
    )
    for name in path.split():
        group = context.command
        assert isinstance(group, click.Group)
        command = group.get_command(context, name)
        assert command is not None
        context = click.Context(command, context, info_name=name)
    return context.get_help() + "\n"


@pytest.mark.house
@pytest.mark.parametrize("width", [60, 80])
def test_help_is_what_the_command_itself_prints(width: int) -> None:
    shown = {
        path: CliRunner()
        .invoke(
            app,
            [*path.split(), "--help"],
            prog_name="quaymaster",
            terminal_width=width,
        )
        .output
        for path in PATHS
    }
    assert shown == {path: real_help(path, width) for path in PATHS}


def test_help_as_the_value_of_an_option_is_left_to_the_command() -> None:
    result = CliRunner().invoke(app, ["config", "validate", "--kubernetes", "--help"])
    assert result.exit_code == 2
    assert "Missing argument" in result.output


def test_help_after_other_arguments_is_printed_by_the_command() -> None:
    text = printed("config", "validate", "some.yaml", "-h")
    assert text == printed("config", "validate", "-h")


@pytest.mark.house
def test_file_of_the_help_is_up_to_date() -> None:
    assert HELP_PAGES.read_text(encoding="utf-8") == help_pages()


@pytest.mark.long
def test_help_imports_no_command_and_nothing_that_commands_run() -> None:
    assert loaded_by_help(["", "simulate", "run", "plugins", "plugins new"]) == {}


def loaded_by_help(paths: list[str]) -> dict[str, list[str]]:
    """Return the heavy modules that a new process has loaded after each help."""
    process = subprocess.run(
        [sys.executable, "-c", PRINT_HELP, *paths],
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = dict(line.split(":") for line in process.stderr.splitlines())
    assert list(loaded) == paths
    heavy = {
        path: [name for name in HEAVY_FOR_HELP if name in modules.split()]
        for path, modules in loaded.items()
    }
    return {path: names for path, names in heavy.items() if names}
