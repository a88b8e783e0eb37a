"""The pages of all commands fit a phone, and axe-core finds no fault in them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.browser.chromium import Chrome, opened
from tests.browser.faults import PHONE, overflow, violations
from tests.kit.internals.cli import app

BOUTIQUE = str(Path(__file__).parents[2] / "docs" / "examples" / "online-boutique")
NODES = ("--nodes", "3:cpu=4,memory=16Gi,zones=3")
COMMANDS = {
    "simulate": ("simulate", BOUTIQUE, *NODES),
    "capacity": ("capacity", BOUTIQUE, *NODES, "--pod", "cpu=1", "--by", "zone"),
    "suggestions": (
        *("capacity", BOUTIQUE, "--nodes", "1:cpu=1,memory=2Gi"),
        *("--suggest", "--max-trials", "5"),
    ),
    "plan": ("plan", BOUTIQUE, "--node-group", "name=l,cpu=8,memory=32Gi,price=0.4"),
    "what-if": ("what-if", BOUTIQUE, *NODES, "--drain", "node-000"),
    "compare": ("compare", "default", "bin-packing", BOUTIQUE, *NODES),
}


@pytest.fixture(params=list(COMMANDS.values()), ids=list(COMMANDS))
def page(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    file = tmp_path / "page.html"
    result = CliRunner().invoke(app, (*request.param, "--report", str(file)))
    assert result.exit_code == 0, result.output
    return file.as_uri()


@pytest.fixture
def narrow(browser: Chrome) -> Iterator[Chrome]:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    yield browser
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_overflows_a_window_of_390_pixels(narrow: Chrome, page: str) -> None:
    opened(narrow, page)
    assert overflow(narrow) == 0


def test_axe_reports_nothing(browser: Chrome, page: str) -> None:
    opened(browser, page)
    assert violations(browser) == []
