"""Starts the installed browser, and waits for its pages."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from tests.browser.binaries import MISSING, found

__all__ = ["Chrome", "opened", "start", "until", "visit"]

Chrome = webdriver.Chrome
T = TypeVar("T")

_FLAGS: Final = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
    *("--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-dev-shm-usage"),
)
_PATIENCE_SECONDS: Final = 60.0
"""The longest wait for a page, which allows for a busy machine."""


def start(profile: Path, *, width: int = 1400, height: int = 1000) -> Chrome:
    """Start the browser with a new profile.

    Args:
        profile: The folder of the profile.
        width: The width of its window, in pixels.
        height: Its height.
    """
    paths = found()
    assert paths is not None, MISSING
    os.environ["SE_OFFLINE"] = "true"
    options = webdriver.ChromeOptions()
    options.binary_location = paths[0]
    size = f"--window-size={width},{height}"
    for flag in (*_FLAGS, size, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(paths[1]))
    driver.set_window_size(width, height)
    driver.set_page_load_timeout(_PATIENCE_SECONDS)
    return driver


def visit(driver: Chrome, url: str) -> None:
    """Load a page.

    On a busy machine, a browser sometimes stalls here with nothing left to do. So a
    load that times out is repeated once.
    """
    try:
        driver.get(url)
    except TimeoutException:
        driver.get(url)


def until(driver: Chrome, condition: Callable[[Chrome], T]) -> T:
    """Wait until a condition holds in the page, and return the condition's result."""
    found_so_far: Any = WebDriverWait(driver, _PATIENCE_SECONDS, 0.05).until(condition)
    result: T = found_so_far
    return result


def opened(driver: Chrome, url: str) -> None:
    """Open a report, and wait until its charts are drawn."""
    visit(driver, url)
    until(driver, lambda page: page.execute_script(_READY) == "charts")


_READY: Final = "return document.documentElement.dataset.ready"
