"""The notebooks run, and the outputs and pages that are committed are current."""

import subprocess
import sys

import pytest

from tests.kit.sources import ROOT


@pytest.mark.long
def test_notebooks_run_and_their_outputs_are_current() -> None:
    """Run ``python -m tests.docs.notebooks`` after a change of what they show."""
    pytest.importorskip("nbclient")
    # In a process of its own: the packages of Jupyter raise warnings of their own.
    done = subprocess.run(
        [sys.executable, "-m", "tests.docs.notebooks", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
