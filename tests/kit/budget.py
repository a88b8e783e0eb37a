"""The budget of quick tests: a pytest plugin.

A test of the default run may use `BUDGET` CPU seconds in its call; processes that it
starts count. A test that takes `_TOLERANCE` times as much is repeated, because the
first use of a module or a cache is slower. If each repetition takes too much, the test
fails, unless it has the marker of another suite. The limit grows on a slower machine.

``--cpu`` prints the cost of a run and its most expensive tests at the end. Such a run
plays each test once, whatever it costs.
"""

import sys
from collections import defaultdict
from collections.abc import Generator, Iterator, Sequence
from typing import Final

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from tests.kit.cpu import calibration_loop, slowness, spent

__all__ = ["BUDGET", "is_default_profile"]

BUDGET: Final = 0.25
_TRIES: Final = 3
_TOLERANCE: Final = 3.0
"""How many times its budget a test may take before it fails.

The same test takes two to three times the CPU seconds beside a busy neighbour, which
shares caches and a core with it.
"""
_SUITES: Final = ("long", "nightly", "house", "e2e", "browser")
"""Markers of the tests that have no budget."""

_seconds: Final = pytest.StashKey[float]()
"""The CPU seconds of the last phase of a test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option ``--cpu``."""
    parser.addoption(
        "--cpu",
        type=int,
        nargs="?",
        const=20,
        metavar="N",
        help="print the CPU seconds of the run, and its N most expensive tests",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect the cost in the process that prints it."""
    if config.getoption("--cpu") is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Cost(config.getoption("--cpu")), "cost")


def _measured(item: pytest.Item) -> Generator[None, object, object]:
    start = spent()
    try:
        return (yield)
    finally:
        item.stash[_seconds] = spent() - start


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the fixtures."""
    return (yield from _measured(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the test itself."""
    return (yield from _measured(item))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Measure the end of the fixtures."""
    return (yield from _measured(item))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write the seconds of a phase into its report, which workers send on."""
    report = yield
    vars(report)["cpu"] = item.stash.get(_seconds, 0.0)
    return report


def _cpu(report: pytest.TestReport) -> float:
    seconds: float = vars(report).get("cpu", 0.0)
    return seconds


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> object:
    """Play a test that has a budget, and repeat it if it is over the budget."""
    if not _has_budget(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _reports(item, nextitem):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _has_budget(item: pytest.Item) -> bool:
    """Whether a test belongs to the default run, and runs there without a tracer."""
    has_suite = any(item.get_closest_marker(name) for name in _SUITES)
    is_measured = item.config.getoption("--cpu") is not None
    return (
        is_default_profile() and not has_suite and not is_measured and not _is_traced()
    )


def is_default_profile() -> bool:
    """Whether property tests have the few examples of the default run."""
    return settings.get_current_profile_name() == "default"


def _is_traced() -> bool:
    """Whether a debugger or coverage traces each line."""
    coverage = sys.modules.get("coverage")
    is_covered = coverage is not None and coverage.Coverage.current() is not None
    return is_covered or sys.gettrace() is not None


def _reports(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Sequence[pytest.TestReport]:
    """Return the reports of the first try within the budget, or of the last try."""
    costs: list[str] = []
    while True:
        reports = runtestprotocol(item, log=False, nextitem=nextitem)
        excess = [text for report in reports for text in _excess(report)]
        costs += excess
        if not excess:
            return reports
        if len(costs) == _TRIES:
            _refuse(reports, costs)
            return reports


def _excess(report: pytest.TestReport) -> Iterator[str]:
    """Yield what a test took and its limit, if it took more."""
    if report.when == "call" and report.passed and _cpu(report) > BUDGET * _TOLERANCE:
        allowed = BUDGET * _TOLERANCE * slowness()
        if _cpu(report) > allowed:
            yield f"{_cpu(report):.2f} of {allowed:.2f}"


def _refuse(reports: Sequence[pytest.TestReport], costs: Sequence[str]) -> None:
    """Make a passed test fail because it costs too much."""
    (call,) = (report for report in reports if report.when == "call")
    call.outcome = "failed"
    call.longrepr = (
        f"over budget: {', '.join(costs)} CPU seconds\n"
        "make the test smaller, or mark it 'long': see CONTRIBUTING.md"
    )


class _Cost:
    """Sums the cost of a run, in the process that prints it."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._tests: defaultdict[str, float] = defaultdict(float)
        self._loops = [calibration_loop()]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase of a test."""
        self._tests[report.nodeid] += _cpu(report)
        if len(self._tests) % 500 == 0:
            self._loops.append(calibration_loop())

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Print the cost in seconds, and in calibration loops of this machine."""
        seconds = spent()  # workers have ended
        loop = sum(self._loops) / len(self._loops)
        terminalreporter.write_line(
            f"{seconds:.1f} CPU seconds, {sum(self._tests.values()):.1f} of them in "
            f"tests: {seconds / loop:.0f} calibration loops of {loop * 1000:.1f} ms"
        )
        order = sorted(self._tests.items(), key=lambda pair: pair[1], reverse=True)
        for name, cost in order[: self._length]:
            terminalreporter.write_line(f"{cost:8.2f} {name}")
