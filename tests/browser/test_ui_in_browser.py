"""``quaymaster ui`` in a browser."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from tests.browser.chromium import Chrome, until, visit

BOUTIQUE = str(Path(__file__).parents[2] / "docs" / "examples" / "online-boutique")
NO_RESOURCES = """    plugins:
      multiPoint:
        disabled: [{name: NodeResourcesFit}]
"""
IDLE = """
const all = globalThis.Bokeh ? Bokeh.documents : [];
return all.length > 1 && all.every((page) => page.is_idle);
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Start the command, and yield the address of its page."""
    nodes = "5:cpu=4,memory=16Gi,zones=3"
    command = (sys.executable, "-m", "quaymaster", "ui", BOUTIQUE, "--nodes", nodes)
    with subprocess.Popen(
        (*command, "--port", "0"),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    ) as served:
        assert served.stdout is not None
        line = served.stdout.readline()
        yield line.removeprefix("open ").strip()
        served.terminate()
        assert served.stdout.read() == "stopped\n"
    assert served.returncode == 0


@pytest.fixture
def page(browser: Chrome, address: str) -> Chrome:
    visit(browser, address)
    until(browser, lambda driver: driver.find_elements(By.CSS_SELECTOR, "#workbench"))
    return browser


def press(page: Chrome, words: str) -> None:
    path = f"//section[@id='workbench']//button[text()='{words}']"
    page.find_element(By.XPATH, path).click()


def text_of(page: Chrome, selector: str) -> str:
    return page.find_element(By.CSS_SELECTOR, selector).text


def has_run(page: Chrome, times: int) -> None:
    script = "return document.documentElement.dataset.run"
    until(page, lambda driver: driver.execute_script(script) == str(times))


def test_the_token_does_not_stay_in_the_address(page: Chrome) -> None:
    assert "token" not in page.current_url


def test_a_profile_is_edited_and_compared(page: Chrome) -> None:
    press(page, "Run A")
    has_run(page, 1)
    assert "12\nof 12 pods have a node" in text_of(page, "#summary")
    editors = page.find_elements(By.CSS_SELECTOR, "textarea")
    editors[1].send_keys(NO_RESOURCES)
    press(page, "Run both and compare")
    has_run(page, 2)
    assert "of 12 pods ended elsewhere" in text_of(page, "#differences")


def test_charts_are_there_once_however_often_they_are_drawn(page: Chrome) -> None:
    press(page, "Run both and compare")
    has_run(page, 1)
    for theme in ("dark", "light"):
        until(page, lambda driver: driver.execute_script(IDLE))
        assert len(page.find_elements(By.CSS_SELECTOR, "#charts .bk-Figure")) == 2
        select = f"header option[value='{theme}']"
        page.find_element(By.CSS_SELECTOR, select).click()
    until(page, lambda driver: driver.execute_script(IDLE))
    assert len(page.find_elements(By.CSS_SELECTOR, "#charts .bk-Figure")) == 2


def test_a_mistake_in_a_profile_is_shown(page: Chrome) -> None:
    editor = page.find_element(By.CSS_SELECTOR, "textarea")
    editor.clear()
    editor.send_keys("kind: Pod")
    press(page, "Run A")
    selector = "#workbench [role=alert]"
    until(page, lambda driver: text_of(driver, selector))
    assert "configuration A: " in text_of(page, selector)


def test_a_click_explains_a_pod(page: Chrome) -> None:
    press(page, "Run A")
    has_run(page, 1)
    page.find_element(By.CSS_SELECTOR, "#pods tr.row button").click()
    assert "← picked" in text_of(page, "dialog")
