"""``quaymaster ui`` in a browser."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By

from tests.browser.chromium import Chrome, until, visit
from tests.browser.faults import PHONE, overflow, violations

BOUTIQUE = str(Path(__file__).parents[2] / "docs" / "examples" / "online-boutique")
PENDING = """\
apiVersion: v1
kind: Pod
metadata: {name: cache}
spec:
  nodeSelector: {disk: ssd}
  containers: [{name: cache, image: cache}]
"""
NO_RESOURCES = """    plugins:
      multiPoint:
        disabled: [{name: NodeResourcesFit}]
"""
IDLE = """
const all = globalThis.Bokeh ? Bokeh.documents : [];
return all.length > 1 && all.every((page) => page.is_idle);
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the command, and yield the address of its page."""
    pending = tmp_path_factory.mktemp("input") / "pending.yaml"
    pending.write_text(PENDING)
    nodes = ("--nodes", "5:cpu=4,memory=16Gi,zones=3")
    program = (sys.executable, "-m", "quaymaster")
    command = (*program, "ui", BOUTIQUE, str(pending), *nodes)
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
    """Return the page once it shows the cluster that the command was given."""
    visit(browser, address)
    has_run(browser, 1)
    return browser


@pytest.fixture
def narrow(page: Chrome) -> Iterator[Chrome]:
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    yield page
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def open_panel(page: Chrome, name: str) -> None:
    page.execute_script(f"document.querySelector('#ask-{name}').open = true")


def press(page: Chrome, words: str) -> None:
    path = f"//section[@id='workbench']//button[text()='{words}']"
    page.find_element(By.XPATH, path).click()


def ask(page: Chrome, name: str, lines: str, words: str) -> None:
    """Write lines into a panel, and press its button."""
    open_panel(page, name)
    area = page.find_element(By.CSS_SELECTOR, f"#ask-{name} textarea")
    area.clear()
    area.send_keys(lines)
    press(page, words)


def text_of(page: Chrome, selector: str) -> str:
    return page.find_element(By.CSS_SELECTOR, selector).text


def has_run(page: Chrome, times: int) -> None:
    script = "return document.documentElement.dataset.run"
    until(page, lambda driver: driver.execute_script(script) == str(times))


def test_the_token_does_not_stay_in_the_address(page: Chrome) -> None:
    assert "token" not in page.current_url


def test_it_opens_on_the_given_cluster(page: Chrome) -> None:
    assert "1 pod pending" in text_of(page, "#summary .headline")
    assert "12\nof 13 pods have a node" in text_of(page, "#summary")
    assert page.find_elements(By.CSS_SELECTOR, "#map canvas")


def test_a_profile_is_edited_and_compared(page: Chrome) -> None:
    open_panel(page, "compare")
    editor = page.find_element(By.CSS_SELECTOR, "#ask-compare textarea")
    editor.send_keys(NO_RESOURCES)
    press(page, "Run both and compare")
    has_run(page, 2)
    assert "of 13 pods ended elsewhere" in text_of(page, "#differences")


def test_charts_are_there_once_however_often_they_are_drawn(page: Chrome) -> None:
    open_panel(page, "compare")
    press(page, "Run both and compare")
    has_run(page, 2)
    for theme in ("dark", "light"):
        until(page, lambda driver: driver.execute_script(IDLE))
        assert len(page.find_elements(By.CSS_SELECTOR, "#charts .bk-Figure")) == 2
        select = f"header option[value='{theme}']"
        page.find_element(By.CSS_SELECTOR, select).click()
    until(page, lambda driver: driver.execute_script(IDLE))
    assert len(page.find_elements(By.CSS_SELECTOR, "#charts .bk-Figure")) == 2


def test_a_mistake_in_a_profile_is_shown(page: Chrome) -> None:
    ask(page, "run", "kind: Pod", "Run A")
    selector = "#workbench [role=alert]"
    until(page, lambda driver: text_of(driver, selector))
    assert "configuration A: " in text_of(page, selector)


def test_a_click_explains_a_pod(page: Chrome) -> None:
    page.find_element(By.CSS_SELECTOR, "#pods tr.row button").click()
    assert "node selector needs disk=ssd" in text_of(page, "dialog")


def test_what_if_shows_the_state_after_the_changes(page: Chrome) -> None:
    ask(page, "what-if", "drain node-000", "Show what happens")
    has_run(page, 2)
    assert "drain node-000" in text_of(page, "#table-0")
    assert text_of(page, "#map h2") == "Nodes before and after"
    page.find_element(By.XPATH, "//button[text()='Back to the cluster']").click()
    has_run(page, 3)
    assert text_of(page, "#map h2") == "Nodes"


def test_plan_shows_the_nodes_to_add(page: Chrome) -> None:
    ask(page, "plan", "name=large,cpu=8,memory=32Gi,price=0.4", "Find nodes")
    has_run(page, 2)
    assert "Nodes to add" in text_of(page, "#table-0")


def test_room_is_found_for_more_pods(page: Chrome) -> None:
    ask(page, "capacity", "cpu=1,memory=1Gi", "Find how many fit")
    has_run(page, 2)
    assert "cpu=1,memory=1Gi" in text_of(page, "#table-0")


def test_a_mistake_in_a_change_is_shown(page: Chrome) -> None:
    ask(page, "what-if", "drain nothing-like-this", "Show what happens")
    selector = "#workbench [role=alert]"
    until(page, lambda driver: text_of(driver, selector))
    assert "nothing-like-this" in text_of(page, selector)


def test_changes_for_pending_pods_are_searched_for(page: Chrome) -> None:
    path = "//button[text()='Search for changes that place them']"
    page.find_element(By.XPATH, path).click()
    until(page, lambda driver: driver.find_elements(By.CSS_SELECTOR, ".change"))
    assert "do without nodes labelled disk=ssd" in text_of(page, "#change-1")
    assert violations(page) == []


def test_nothing_overflows_a_window_of_390_pixels(narrow: Chrome) -> None:
    for name in ("run", "compare", "what-if", "plan", "capacity"):
        open_panel(narrow, name)
        assert overflow(narrow) == 0, name


def test_axe_reports_nothing(page: Chrome) -> None:
    for name in ("run", "what-if"):
        open_panel(page, name)
        assert violations(page) == []
