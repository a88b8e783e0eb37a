"""Faults of pages: what axe-core reports, and what is wider than its window."""

from importlib.resources import files
from typing import Any, Final

from tests.browser.chromium import Chrome

__all__ = ["PHONE", "overflow", "violations"]

PHONE: Final = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
"""The size of a window as ``Emulation.setDeviceMetricsOverride`` takes it."""
_AXE: Final = "axe.run().then(({violations}) => arguments[0](violations))"
_OVERFLOW: Final = """
const root = document.documentElement;
return root.scrollWidth - root.clientWidth;
"""


def violations(driver: Chrome) -> list[tuple[str, str]]:
    """Return the rules that axe-core finds violated, each with an element.

    See https://github.com/dequelabs/axe-core for its rules.
    """
    driver.execute_script(files("axe_core_python").joinpath("axe.min.js").read_text())
    rules: list[dict[str, Any]] = driver.execute_async_script(_AXE)
    return [(rule["id"], rule["nodes"][0]["html"]) for rule in rules]


def overflow(driver: Chrome) -> int:
    """Return by how many pixels a page is wider than its window."""
    pixels: int = driver.execute_script(_OVERFLOW)
    return pixels
