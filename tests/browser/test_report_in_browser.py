"""A report in a browser shows its data, and its controls work."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from msgspec.structs import replace
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from quaymaster import Node, Pod
from quaymaster.config import default_config, load_config
from quaymaster.objects import ObjectMeta
from quaymaster.recording import record_simulation, replay
from quaymaster.reporting import ReportTable, report
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import ObservedRun, observe
from quaymaster.testing import make_node, make_pod
from tests.browser.chromium import Chrome, opened, until
from tests.browser.opening import opening

REGISTRY = PluginRegistry.discover()
CONFIG = default_config(REGISTRY)
ZONE = "topology.kubernetes.io/zone"
EVIL = '</script><img src=x onerror="document.title=1"><b>bold</b>'


def cluster() -> list[Node | Pod]:
    nodes = [
        make_node(name=f"n{number}", capacity={"cpu": "4"}, labels={ZONE: "ab"[number]})
        for number in range(2)
    ]
    pods = [make_pod(name=f"web-{index}", requests={"cpu": "1"}) for index in range(9)]
    evil = make_pod(name="evil", requests={"cpu": "99"}, annotations={"about": EVIL})
    return [*nodes, *pods, evil]


def run_of(objects: list[Node | Pod], name: str = "") -> ObservedRun:
    return observe(objects, config=CONFIG, registry=REGISTRY, name=name)


def with_evil_texts(run: ObservedRun) -> ObservedRun:
    """Put texts that look like markup into all fields of a run that can have texts."""
    nodes = [
        replace(node, metadata=replace(node.metadata, labels={ZONE: EVIL}))
        for node in run.nodes
    ]
    evil = ObjectMeta(name=EVIL, namespace="default")
    left = [
        attrs.evolve(pod, message=EVIL, reasons=(EVIL,))
        for pod in run.result.unscheduled
    ]
    result = attrs.evolve(run.result, unscheduled=tuple(left))
    return attrs.evolve(
        run, name=EVIL, nodes=nodes, pods=[*run.pods, Pod(metadata=evil)], result=result
    )


@pytest.fixture
def show(browser: Chrome, tmp_path: Path) -> Callable[..., Chrome]:
    """Return a function that opens the report of some runs."""

    def opening(*runs: ObservedRun, title: str = "Test", **others: Any) -> Chrome:
        path = tmp_path / "report.html"
        path.write_text(report(*runs, title=title, **others))
        opened(browser, path.as_uri())
        return browser

    return opening


def text_of(driver: Chrome, selector: str) -> str:
    return driver.find_element(By.CSS_SELECTOR, selector).text


def rows_of(driver: Chrome, section: str) -> list[str]:
    """Return the first cells of a table in one call, because rows may be replaced."""
    cells = f"document.querySelectorAll('#{section} tr.row td:first-child')"
    script = f"return Array.from({cells}, (cell) => cell.innerText)"
    found: list[str] = driver.execute_script(script)
    return found


def complaints(driver: Chrome) -> list[str]:
    """Return the browser's messages about errors, blocked content and requests."""
    log: list[dict[str, str]] = driver.get_log("browser")  # type: ignore[no-untyped-call]
    return [
        entry["message"] for entry in log if entry["level"] in ("SEVERE", "WARNING")
    ]


def test_a_report_says_it_all_and_asks_for_nothing(show: Callable[..., Chrome]) -> None:
    page = show(run_of(cluster()))
    assert complaints(page) == []
    loaded = page.execute_script("return performance.getEntriesByType('resource')")
    assert loaded == []
    assert "8\nof 10 pods have a node" in text_of(page, "#summary")
    assert "2 pods pending: " in text_of(page, "#summary .headline")
    assert "8 CPU of 8 CPU (100%)" in text_of(page, "#summary")
    assert len(page.find_elements(By.CSS_SELECTOR, "#charts .bk-Figure")) == 2
    assert "Insufficient cpu" in text_of(page, "#causes")


def test_a_click_on_a_cause_shows_the_pods_that_wait_for_it(
    show: Callable[..., Chrome],
) -> None:
    page = show(run_of(cluster()))
    page.find_element(By.CSS_SELECTOR, "#causes .causes button").click()
    assert sorted(rows_of(page, "pods")) == ["evil", "web-8"]
    page.find_element(By.CSS_SELECTOR, "#pods button.chip").click()
    assert len(rows_of(page, "pods")) == 10


def test_needs_lead_to_their_pods_and_nodes(show: Callable[..., Chrome]) -> None:
    page = show(run_of(cluster()))
    [large, lacking] = sorted(
        page.find_elements(By.CSS_SELECTOR, "#causes .need"),
        key=lambda need: "needs" in need.text,
    )
    assert "requests more CPU than a node offers" in large.text
    links = lacking.find_elements(By.TAG_NAME, "button")
    links[0].click()
    assert rows_of(page, "pods") == ["web-8"]
    links[1].click()
    assert rows_of(page, "nodes") == ["n0", "n1"]


def test_tables_are_searched_and_sorted(show: Callable[..., Chrome]) -> None:
    page = show(run_of(cluster()))
    page.find_element(By.CSS_SELECTOR, "#pods input").send_keys("placed n1")
    until(page, lambda driver: len(rows_of(driver, "pods")) == 4)
    heading = page.find_element(By.CSS_SELECTOR, "#pods th button")
    heading.click()
    found = rows_of(page, "pods")
    assert found == sorted(found)
    heading.click()
    assert rows_of(page, "pods") == sorted(found, reverse=True)
    state = page.find_element(By.CSS_SELECTOR, "#pods th").get_attribute("aria-sort")
    assert state == "descending"


def test_a_click_on_a_pod_shows_its_scores(show: Callable[..., Chrome]) -> None:
    page = show(run_of(cluster()))
    page.find_element(By.CSS_SELECTOR, "#pods tr.row button").click()
    shown = text_of(page, "dialog")
    assert "NodeResourcesFit" in shown
    assert "← picked" in shown
    final = text_of(page, "dialog table")
    page.find_element(By.CSS_SELECTOR, "dialog select option[value='1']").click()
    assert text_of(page, "dialog table") != final


def test_everything_is_reached_by_keys(show: Callable[..., Chrome]) -> None:
    page = show(run_of(cluster()))
    canvas = page.find_element(By.CSS_SELECTOR, "#map canvas")
    canvas.send_keys(Keys.ARROW_RIGHT)
    canvas.send_keys(Keys.ARROW_RIGHT)
    spoken = page.find_element(By.CSS_SELECTOR, "#map [role=status]")
    assert "cpu 100%" in str(spoken.get_attribute("textContent"))
    canvas.send_keys(Keys.ENTER)
    assert text_of(page, "dialog h2").startswith("Node n")
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    until(page, lambda driver: not driver.find_elements(By.CSS_SELECTOR, "dialog"))
    grid = page.find_element(By.CSS_SELECTOR, "#pods .grid")
    grid.send_keys(Keys.END)
    grid.send_keys(Keys.ENTER)
    assert text_of(page, "dialog h2") == "Pod default/evil"


def test_no_text_becomes_markup(show: Callable[..., Chrome]) -> None:
    run = with_evil_texts(run_of(cluster()))
    table = ReportTable(title=EVIL, columns=(EVIL,), rows=((EVIL,),))
    page = show(run, run, title=EVIL, tables=[table])
    assert complaints(page) == []
    assert page.title == EVIL
    for element in page.find_elements(By.CSS_SELECTOR, "#pods tr.row button")[-1:]:
        page.execute_script("arguments[0].click()", element)
    assert page.find_elements(By.CSS_SELECTOR, "#page b b, img, dialog b") == []
    assert EVIL in text_of(page, "header")


def test_two_runs_show_what_differs(show: Callable[..., Chrome]) -> None:
    larger = [make_node(name="large", capacity={"cpu": "64"}), *cluster()]
    page = show(run_of(cluster(), "small"), run_of(larger, "large"))
    assert complaints(page) == []
    assert "web-8" in text_of(page, "#differences")
    page.find_element(By.CSS_SELECTOR, "#differences tr.row button").click()
    shown = text_of(page, "dialog")
    assert "small: " in shown
    assert "large: large" in shown


def test_steps_open_on_the_state_after_with_both_maps(
    show: Callable[..., Chrome],
) -> None:
    larger = [make_node(name="large", capacity={"cpu": "64"}), *cluster()]
    states = (run_of(cluster(), "before"), run_of(larger, "after"))
    page = show(*states, steps=True)
    assert complaints(page) == []
    headings = page.find_elements(By.CSS_SELECTOR, "#map .sides h3")
    assert [heading.text for heading in headings] == ["before", "after"]
    assert len(page.find_elements(By.CSS_SELECTOR, "#map canvas")) == 2
    assert "large" in text_of(page, "#nodes")


def test_columns_that_say_nothing_of_any_pod_are_left_out(
    show: Callable[..., Chrome],
) -> None:
    page = show(run_of(cluster()))
    heads = text_of(page, "#pods thead")
    assert "Why not" in heads
    assert "Priority" not in heads
    page = show(run_of([make_node(name="n"), make_pod(name="vip", priority=7)]))
    heads = text_of(page, "#pods thead")
    assert "Why not" not in heads
    assert "Priority" in heads


def test_amounts_in_given_tables_are_sorted_as_amounts(
    show: Callable[..., Chrome],
) -> None:
    cells = ("1h0m5s", "9m0s", "-", "40s", "2d")
    rows = tuple((cell, str(number)) for number, cell in enumerate(cells))
    table = ReportTable(title="T", columns=("After", "N"), rows=rows, failed=(1,))
    page = show(run_of(cluster()), tables=[table])
    heading = page.find_element(By.CSS_SELECTOR, "#table-0 th button")
    heading.click()
    assert rows_of(page, "table-0") == ["2d", "1h0m5s", "9m0s", "40s", "-"]
    failed = page.find_elements(By.CSS_SELECTOR, "#table-0 td.failed")
    assert [cell.text for cell in failed] == ["9m0s"]


def test_labels_are_offered_by_their_short_names(show: Callable[..., Chrome]) -> None:
    labels = {ZONE: "a", "failure-domain.beta.kubernetes.io/zone": "a", "x/tier": "db"}
    other = {"y/tier": "web", ZONE: "b"}
    page = show(run_of([make_node(name="n", labels=labels), make_node(labels=other)]))
    [*_, picker] = page.find_elements(By.CSS_SELECTOR, "#map select")
    offered = [option.text for option in picker.find_elements(By.TAG_NAME, "option")]
    assert {"nothing", "x/tier", "y/tier", "zone"} <= set(offered)
    assert not [name for name in offered if name.endswith("/zone")]


def test_a_replay_shows_the_scores_of_both_nodes(
    show: Callable[..., Chrome], tmp_path: Path
) -> None:
    record = tmp_path / "record.jsonl.gz"
    record_simulation(cluster(), record, config=CONFIG, registry=REGISTRY)
    packed = load_config("bin-packing", REGISTRY)
    page = show(replay=replay(record, config=packed, registry=REGISTRY))
    assert complaints(page) == []
    assert "differs: another node" in text_of(page, "#agreement")
    page.find_element(By.CSS_SELECTOR, "#decisions tr.row button").click()
    shown = text_of(page, "dialog")
    assert "← theirs" in shown
    assert "← ours" in shown


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_have_enough_contrast(show: Callable[..., Chrome], theme: str) -> None:
    """Check the contrast of WCAG 2.2 AA, 4.5 to 1, for each colour on each ground."""
    page = show(run_of(cluster()))
    page.execute_script("Q.theme(arguments[0])", theme)
    names = ("--text", "--soft", "--accent", "--good", "--bad", "--warn")
    for ground in ("--card", "--back", "--accent-back"):
        for name in names:
            colours = [
                page.execute_script("return Q.style(arguments[0])", colour)
                for colour in (name, ground)
            ]
            assert contrast(*colours) >= 4.5, (theme, name, ground)


def contrast(first: str, second: str) -> float:
    light, dark = sorted(map(luminance, (first, second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in parts
    ]
    weights = (0.2126, 0.7152, 0.0722)
    return sum(weight * part for weight, part in zip(weights, linear, strict=True))


def test_a_narrow_window_scrolls_only_down(show: Callable[..., Chrome]) -> None:
    page = show(run_of(cluster()))
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        script = "return document.documentElement.scrollWidth - innerWidth"
        until(page, lambda driver: driver.execute_script(script) <= 0)
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_it_is_printed_with_its_tables(show: Callable[..., Chrome]) -> None:
    page = show(run_of(cluster()))
    printed = page.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF")


def test_an_empty_report_is_a_page(show: Callable[..., Chrome]) -> None:
    page = show(run_of([]))
    assert complaints(page) == []
    assert "0\nof 0 pods have a node" in text_of(page, "#summary")


def test_50000_pods_on_5000_nodes_open_in_time(
    show: Callable[..., Chrome], browser: Chrome, tmp_path: Path
) -> None:
    """Limit the CPU seconds of the page's thread; busy machines do not change them."""
    small = run_of(cluster())
    nodes = [
        make_node(name=f"n{index:04}", labels={ZONE: "abc"[index % 3]})
        for index in range(5000)
    ]
    pods = [
        make_pod(name=f"pod-{index:05}", node=f"n{index % 5000:04}")
        for index in range(50000)
    ]
    page = show(attrs.evolve(small, nodes=nodes, pods=pods))
    took = opening(browser, tmp_path / "report.html")
    assert took.cpu < 1.5
    assert took.usable < took.complete, "charts wait until the rest can be used"
    assert (tmp_path / "report.html").stat().st_size < 15_000_000
    assert len(page.find_elements(By.CSS_SELECTOR, "tr")) < 300
