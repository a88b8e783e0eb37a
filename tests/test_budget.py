"""Quick tests have a budget, and a test that is over it fails."""

import pytest

from tests.kit import budget

pytestmark = pytest.mark.long
pytest_plugins = ["pytester"]

BURN = """\
import subprocess, sys, time
import pytest

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""


@pytest.fixture(autouse=True)
def machine_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the budget to the seconds of an idle machine, and to less than usual.

    The long run has another profile of hypothesis than the quick tests.
    """
    monkeypatch.setattr(budget, "BUDGET", 0.05)
    monkeypatch.setattr(budget, "slowness", lambda: 1.0)
    monkeypatch.setattr(budget, "is_default_profile", lambda: True)


def outcomes(pytester: pytest.Pytester, code: str, *options: str) -> dict[str, int]:
    pytester.makeini("[pytest]\nmarkers =\n  long: takes long\n")
    pytester.makepyfile(BURN + code)
    arguments = ("-p", "tests.kit.budget", "-p", "no:randomly", *options)
    return pytester.runpytest_inprocess(*arguments).parseoutcomes()


def test_test_that_always_takes_more_fails(pytester: pytest.Pytester) -> None:
    code = "def test_it(): burn(0.25)"
    assert outcomes(pytester, code) == {"failed": 1}


def test_first_use_of_a_cache_is_no_fault(pytester: pytest.Pytester) -> None:
    code = "times = [0.25]\ndef test_it(): burn(times.pop() if times else 0)"
    assert outcomes(pytester, code) == {"passed": 1}


def test_processes_that_a_test_starts_count(pytester: pytest.Pytester) -> None:
    burn = "import time\\nwhile time.process_time() < 0.25: pass"
    code = f"def test_it(): subprocess.run([sys.executable, '-c', '{burn}'])"
    assert outcomes(pytester, code) == {"failed": 1}


def test_long_tests_have_no_budget(pytester: pytest.Pytester) -> None:
    code = "@pytest.mark.long\ndef test_it(): burn(0.25)"
    assert outcomes(pytester, code) == {"passed": 1}


def test_failure_is_not_repeated(pytester: pytest.Pytester) -> None:
    code = "times = [0.25]\ndef test_it(): burn(times.pop()); assert False"
    assert outcomes(pytester, code) == {"failed": 1}


def test_run_that_prints_its_cost_judges_nothing(pytester: pytest.Pytester) -> None:
    code = "def test_it(): burn(0.25)"
    assert outcomes(pytester, code, "--cpu=1") == {"passed": 1}
