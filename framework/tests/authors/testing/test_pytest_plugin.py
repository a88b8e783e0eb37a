"""The fixtures of the pytest plugin work in separate test runs."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest
from quaymaster import hookimpl
from quaymaster.testing import profile_config


def test_fixtures_belong_together(scheduler, cluster, clock, make_node, make_pod):
    make_node(capacity={"cpu": "1"})
    make_node(name="large", capacity={"cpu": "8"})
    assert make_pod(requests={"cpu": "4"}).name == "pod-0"
    assert make_pod(requests={"cpu": "500m"}).name == "pod-1"
    scheduler.settle()
    scheduler.assert_scheduled("pod-0", on="large")
    scheduler.assert_scheduled("pod-1")
    assert scheduler.cluster is cluster
    assert scheduler.clock is clock


class Fails:
    def __init__(self, args, handle):
        pass

    @hookimpl
    def filter(self, pod):
        raise KeyError("tier")


with_fails = pytest.mark.quaymaster(
    plugins={"Fails": Fails}, config=profile_config(enable=[Fails])
)


@with_fails
def test_a_hook_that_fails_unexpectedly(scheduler, make_node, make_pod):
    make_node()
    make_pod()
    scheduler.schedule_one()


@with_fails
def test_a_hook_that_fails_as_expected(scheduler, make_node, make_pod):
    make_node()
    make_pod()
    scheduler.schedule_one()
    assert scheduler.errors.pop().hook == "filter"
"""


def run(folder: Path, *options: str) -> str:
    """Return pytest's output for the test in a folder."""
    command = [sys.executable, *options, "-m", "pytest", "-p", "_quaymaster_pytest"]
    command += ["-q", "-p", "no:cacheprovider", "--strict-markers"]
    found = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False
    )
    return found.stdout + found.stderr


@pytest.mark.long
def test_fixtures_make_a_scheduler_and_watch_its_hooks(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS, encoding="utf-8")
    said = run(tmp_path)
    assert "3 passed, 1 error" in said
    assert "UnexpectedHookErrors: hooks failed that the test does not expect" in said
    assert "Fails.filter for pod default/pod-0: KeyError: 'tier'" in said


@pytest.mark.long
def test_a_suite_without_its_fixtures_imports_nothing(tmp_path: Path) -> None:
    lines = [
        "import sys",
        "def test_it():",
        "    assert 'quaymaster' not in sys.modules",
    ]
    (tmp_path / "test_it.py").write_text("\n".join(lines), encoding="utf-8")
    assert "1 passed" in run(tmp_path)
