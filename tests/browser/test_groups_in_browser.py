"""A report in a browser marks the nodes of a PodGroup."""

from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

from quaymaster.config import Kubernetes, default_config
from quaymaster.reporting import report
from quaymaster.simulation import observe
from tests.browser.chromium import Chrome, opened
from tests.kit.group_cluster import cpu_nodes, gang_objects

GATES = {"GenericWorkload": True, "TopologyAwareWorkloadScheduling": True}


def test_the_nodes_of_a_group_are_framed_on_the_map(
    browser: Chrome, tmp_path: Path
) -> None:
    config = default_config(kubernetes=Kubernetes("1.37", GATES))
    objects = [*cpu_nodes("a", "b", "c"), *gang_objects(2)]
    path = tmp_path / "report.html"
    path.write_text(report(observe(objects, config=config)))
    opened(browser, path.as_uri())
    canvas = "return document.querySelector('#map canvas').toDataURL()"
    before = browser.execute_script(canvas)
    pickers = browser.find_elements(By.CSS_SELECTOR, "#map select")
    marking = Select(pickers[-1])
    assert [option.text for option in marking.options] == ["nothing", "default/gang"]
    marking.select_by_visible_text("default/gang")
    assert browser.execute_script(canvas) != before
    assert "default/gang" in browser.find_element(By.ID, "pods").text
