"""What every test of the repository runs with."""

import gc

import pytest

from tests.browser.binaries import left_out as left_out_of_browsers
from tests.e2e.binaries import left_out

gc.disable()  # importing makes no garbage
pytest_plugins = ["tests.kit.packages", "tests.kit.profiles", "tests.kit.shards"]


def pytest_collection_finish() -> None:
    """Spare the collector all that stays anyway: it looks through it time and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say in a line each what a run of everything has left out, and how to run it."""
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if is_whole and "not (long or e2e or browser)" in config.option.markexpr:
        terminalreporter.write_line(left_out())
        terminalreporter.write_line(left_out_of_browsers())
