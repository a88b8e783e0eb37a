"""What every test of the repository runs with."""

import gc
from pathlib import Path
from typing import Final

import pytest

from tests.browser.binaries import left_out as left_out_of_browsers
from tests.e2e.binaries import left_out

gc.disable()  # importing makes hardly any garbage
# Tests make little garbage between them, and much that stays: collecting each 700
# objects took a twelfth of a run.
gc.set_threshold(50_000, 20, 100)
pytest_plugins = [
    "tests.kit.budget",
    "tests.kit.costly_first",
    "tests.kit.packages",
    "tests.kit.profiles",
    "tests.kit.rewriting",
    "tests.kit.shards",
]

USUAL: Final = "not (house or long or nightly or e2e or browser"
"""How the expression of a run begins that plays behaviour alone."""

_NEEDING_MORE: Final = {
    Path(__file__).parent / "tests" / folder for folder in ("browser", "e2e")
}
_OTHER_SUITES: Final = (
    "rules of the house left out; 'pytest -m house' runs them",
    "what takes long left out; 'pytest -n auto -m long' runs it",
    "what takes hours left out; 'pytest -n auto -m nightly' runs it",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Import no tests on servers or in a browser that the run leaves out."""
    is_usual = config.option.markexpr.startswith(USUAL)
    return True if is_usual and collection_path in _NEEDING_MORE else None


def pytest_itemcollected(item: pytest.Item) -> None:
    """Leave the house to one worker, with ``--dist loadgroup``: it parses all files."""
    if item.get_closest_marker("house"):
        item.add_marker(pytest.mark.xdist_group("house"))


def pytest_collection_finish() -> None:
    """Spare the collector all that stays anyway: it looks through it time and again."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Spare the collector what a file leaves, such as modules and recorded cases.

    Some tests collect everything, which would take longer with each file before them
    (measured: 0.4 CPU seconds for each contract of leaks, instead of 0.05).
    """
    if nextitem is not None and nextitem.path != item.path:
        gc.collect()
        gc.freeze()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say in a line each what a run of everything has left out, and how to run it."""
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_whole and config.option.markexpr.startswith(USUAL):
        for line in (*_OTHER_SUITES, left_out(), left_out_of_browsers()):
            terminalreporter.write_line(line)
