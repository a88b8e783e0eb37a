"""The pages of all commands fit windows of 390 px, the width of a phone."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.browser.chromium import Chrome, opened
from tests.kit.internals.cli import app

BOUTIQUE = str(Path(__file__).parents[2] / "docs" / "examples" / "online-boutique")
NODES = ("--nodes", "3:cpu=4,memory=16Gi,zones=3")
COMMANDS = {
    "simulate": ("simulate", BOUTIQUE, *NODES),
    "capacity": ("capacity", BOUTIQUE, *NODES, "--pod", "cpu=1", "--by", "zone"),
    "plan": ("plan", BOUTIQUE, "--node-group", "name=l,cpu=8,memory=32Gi,price=0.4"),
    "what-if": ("what-if", BOUTIQUE, *NODES, "--drain", "node-000"),
    "compare": ("compare", "default", "bin-packing", BOUTIQUE, *NODES),
}
SIZE = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}


@pytest.fixture
def narrow(browser: Chrome) -> Iterator[Chrome]:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", SIZE)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_nothing_overflows(
    narrow: Chrome, arguments: tuple[str, ...], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    result = CliRunner().invoke(app, (*arguments, "--report", str(page)))
    assert result.exit_code == 0, result.output
    opened(narrow, page.as_uri())
    width = "return [document.documentElement.scrollWidth, innerWidth]"
    needed, there = narrow.execute_script(width)
    assert needed <= there == SIZE["width"]
