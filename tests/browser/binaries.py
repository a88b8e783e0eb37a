"""The paths of the browser and of its driver."""

import shutil
from typing import Final

__all__ = ["MISSING", "found", "left_out"]

MISSING: Final = (
    "Chromium and its driver are not there: on Debian, "
    "'apt-get install --no-install-recommends chromium chromium-driver'"
)


def found() -> tuple[str, str] | None:
    """Return the paths of the browser and of its driver, if both exist."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def left_out() -> str:
    """Return the line that explains, at the end of a run, how to run these tests."""
    run = "tests in a browser left out; 'pytest -m browser' runs them"
    return run if found() else f"{run}. {MISSING}"
