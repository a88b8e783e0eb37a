"""The command works with only the packages of "pip install quaymaster"."""

import subprocess
import sys
from pathlib import Path

import pytest

BOUTIQUE = str(Path(__file__).parents[3] / "docs" / "examples" / "online-boutique")
EXTRAS = (
    "starlette",
    "uvicorn",
    *("bokeh", "cryptography", "greenlet", "hypothesis", "matplotlib"),
    *("optuna", "prometheus_client", "pyarrow", "starlette", "uvicorn"),
)

WITHOUT = f"""
import sys

sys.modules.update(dict.fromkeys({EXTRAS!r}))
sys.argv = ["quaymaster", *sys.argv[1:]]
from quaymaster._cli import main
main()
"""


def said(*arguments: str) -> tuple[int, str]:
    """Return the exit code and the output of a command line."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments],
        capture_output=True,
        check=False,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
def test_simulate_needs_no_extra() -> None:
    code, text = said("simulate", BOUTIQUE, "--nodes", "5:cpu=4,memory=16Gi")
    assert (code, "Traceback" in text) == (0, False), text


@pytest.mark.long
def test_run_names_the_extra_to_install() -> None:
    code, text = said("run")
    assert code == 2
    assert "not installed: cryptography, greenlet, prometheus_client" in text
    assert "pip install 'quaymaster[kubernetes]'" in text
    assert "Traceback" not in text


@pytest.mark.long
def test_a_report_names_the_extra_to_install() -> None:
    code, text = said("simulate", BOUTIQUE, "--report", "page.html")
    assert code == 2
    assert "not installed: bokeh; pip install 'quaymaster[report]'" in text
    assert "Traceback" not in text


@pytest.mark.long
def test_serve_names_the_extra_to_install() -> None:
    code, text = said("serve", BOUTIQUE)
    assert (code, text) == (
        2,
        "not installed: starlette, uvicorn; pip install 'quaymaster[serve]'\n",
    )


@pytest.mark.long
def test_a_command_imports_no_other_command() -> None:
    code = (
        "import atexit, runpy, sys; sys.argv = ['quaymaster', 'version']; "
        "atexit.register(lambda: print(*sys.modules)); "
        "runpy.run_module('quaymaster', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    imported = done.stdout.splitlines()[-1].split()
    commands = {name.rpartition(".")[2] for name in imported if "._cli." in name}
    assert "version" in commands
    assert not commands & {"simulate", "run", "inputs"}


EXPERIMENT = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Experiment
inputs: [{name: low, parameters: {nodes: ["2:cpu=4,memory=8Gi"]}}]
metrics: [{name: placed}]
"""
TUNING = """
apiVersion: simulation.quaymaster.io/v1alpha1
kind: Tuning
experiment: experiment.yaml
profile: default
search: [{name: a, config: percentageOfNodesToScore, choices: [50, 60]}]
objectives: [{metric: placed, goal: max}]
heldOut: {seeds: [7]}
"""


@pytest.mark.long
def test_experiments_name_the_extra_to_install(tmp_path: Path) -> None:
    (tmp_path / "experiment.yaml").write_text(EXPERIMENT)
    (tmp_path / "tuning.yaml").write_text(TUNING)
    out = str(tmp_path / "out")
    file = str(tmp_path / "experiment.yaml")
    for words, extra in (
        (
            ("sweep", file),
            "sweep: not installed: pyarrow; pip install 'quaymaster[sweep]'",
        ),
        (
            ("sweep", file, "--plot", "a.png"),
            "--plot: not installed: matplotlib; pip install 'quaymaster[plot]'",
        ),
        (
            ("tune", str(tmp_path / "tuning.yaml")),
            "tune: not installed: optuna; pip install 'quaymaster[tune]'",
        ),
    ):
        code, text = said(*words, "--out", out)
        assert (code, text) == (2, f"{extra}\n")
    assert not (tmp_path / "out").exists()
