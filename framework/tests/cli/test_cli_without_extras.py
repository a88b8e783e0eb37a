"""The command where only what "pip install quaymaster" brings is installed."""

import subprocess
import sys
from pathlib import Path

BOUTIQUE = str(Path(__file__).parents[3] / "docs" / "examples" / "online-boutique")
EXTRAS = (
    "starlette",
    "uvicorn",
    *("bokeh", "cryptography", "greenlet", "hypothesis", "matplotlib"),
    *("prometheus_client", "starlette", "uvicorn"),
)

WITHOUT = f"""
import sys

sys.modules.update(dict.fromkeys({EXTRAS!r}))
sys.argv = ["quaymaster", *sys.argv[1:]]
from quaymaster._cli import main
main()
"""


def said(*arguments: str) -> tuple[int, str]:
    """The exit code of a command line and what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments],
        capture_output=True,
        check=False,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_simulate_needs_no_extra() -> None:
    code, text = said("simulate", BOUTIQUE, "--nodes", "5:cpu=4,memory=16Gi")
    assert (code, "Traceback" in text) == (0, False), text


def test_run_says_what_to_install() -> None:
    code, text = said("run")
    assert code == 2
    assert "not installed: cryptography, greenlet, prometheus_client" in text
    assert "pip install 'quaymaster[kubernetes]'" in text
    assert "Traceback" not in text


def test_a_report_says_what_to_install() -> None:
    code, text = said("simulate", BOUTIQUE, "--report", "page.html")
    assert code == 2
    assert "not installed: bokeh (pip install 'quaymaster[report]')" in text
    assert "Traceback" not in text


def test_serve_says_what_to_install() -> None:
    code, text = said("serve", BOUTIQUE)
    assert (code, text) == (
        2,
        "not installed: starlette, uvicorn; pip install 'quaymaster[serve]'\n",
    )


def test_a_command_imports_no_other_command() -> None:
    asked = (
        "import atexit, runpy, sys; sys.argv = ['quaymaster', 'version']; "
        "atexit.register(lambda: print(*sys.modules)); "
        "runpy.run_module('quaymaster', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, check=True, text=True
    )
    imported = done.stdout.splitlines()[-1].split()
    commands = {name.rpartition(".")[2] for name in imported if "._cli." in name}
    assert "version" in commands
    assert not commands & {"simulate", "run", "inputs"}
