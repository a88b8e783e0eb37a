"""Measures how long a browser takes to open a report.

``python -m tests.browser.opening [FILE.html]`` opens a report several times, each time
in a new browser. Without a file it makes a report of 5,000 nodes and 50,000 pods. It
prints the seconds until the page can be used, the seconds until its charts are drawn,
and the CPU seconds of the page's own thread. Only the last do not depend on what else
runs on the machine.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from quaymaster.config import default_config
from quaymaster.inmemory import make_nodes
from quaymaster.reporting import report
from quaymaster.scheduler import PluginRegistry
from quaymaster.simulation import observe
from quaymaster.testing import make_pod
from tests.browser.binaries import MISSING, found
from tests.browser.chromium import Chrome, opened, start

__all__ = ["Opening", "large_report", "opening"]

_NODES = "5000:cpu=32,memory=128Gi,zones=3"
_PODS = 50_000
_MARKS = """
const marks = performance.getEntriesByType("mark");
return marks.map((mark) => [mark.name, mark.startTime]);
"""


class Opening(NamedTuple):
    """The durations of opening a page, in seconds.

    Attributes:
        usable: From the beginning of the navigation to the first frame with tables.
        complete: From there to the charts.
        cpu: The CPU seconds of the page's thread until then.
        script: The part of them for scripts.
        layout: The part of them for styles and layout.
    """

    usable: float
    complete: float
    cpu: float
    script: float
    layout: float


def opening(browser: Chrome, page: Path) -> Opening:
    """Open a page, and measure it."""
    browser.execute_cdp_cmd("Performance.disable", {})
    browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    opened(browser, page.as_uri())
    metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    took = {metric["name"]: metric["value"] for metric in metrics}
    marks = dict(browser.execute_script(_MARKS))
    return Opening(
        usable=marks["usable"] / 1000,
        complete=marks["complete"] / 1000,
        cpu=took["TaskDuration"],
        script=took["ScriptDuration"],
        layout=took["LayoutDuration"] + took["RecalcStyleDuration"],
    )


def large_report() -> str:
    """Return the report of a simulation of 5,000 nodes and 50,000 pods."""
    registry = PluginRegistry.discover()
    pods = [
        make_pod(
            name=f"pod-{index:05}",
            requests={"cpu": f"{100 + index % 7 * 500}m", "memory": "1Gi"},
        )
        for index in range(_PODS)
    ]
    run = observe(
        [*make_nodes([_NODES]), *pods],
        config=default_config(registry),
        registry=registry,
    )
    return report(run, title="5,000 nodes and 50,000 pods")


def main() -> None:
    """Measure, and print one line for each time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    if found() is None:
        parser.error(MISSING)
    with tempfile.TemporaryDirectory() as folder:
        page = given.file
        if page is None:
            page = Path(folder, "large.html")
            page.write_text(large_report())
        sys.stdout.write(f"size {page.stat().st_size / 1e6:.2f} MB\n")
        sys.stdout.write("usable  complete  CPU   script  layout   (seconds)\n")
        for index in range(given.times):
            browser = start(Path(folder, f"profile-{index}"))
            try:
                took = opening(browser, page.resolve())
            finally:
                browser.quit()
            sys.stdout.write(
                f"{took.usable:6.2f}  {took.complete:8.2f}  {took.cpu:4.2f}  "
                f"{took.script:6.2f}  {took.layout:6.2f}\n"
            )


if __name__ == "__main__":
    main()
