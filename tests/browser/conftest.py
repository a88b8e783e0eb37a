"""What tests in a browser ask pytest for."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.browser.binaries import MISSING, found
from tests.browser.chromium import Chrome, start


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Mark all tests of this folder, so that other runs leave them out."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser for the tests of a run, one after another."""
    if found() is None:
        pytest.skip(MISSING)
    driver = start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()
