"""The marker and the fixtures of tests in a browser."""

from collections.abc import Iterator

import pytest

from tests.browser.binaries import MISSING, found
from tests.browser.chromium import Chrome, start


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark each test of this folder, so that other runs deselect it."""
    item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Start a browser, which the tests of a run use one after another."""
    if found() is None:
        pytest.skip(MISSING)
    driver = start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()
