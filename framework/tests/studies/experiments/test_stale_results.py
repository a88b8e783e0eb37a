"""A run is repeated when anything that it has used changes."""

import importlib
import platform
import sys
import threading
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import attrs
import pytest

from quaymaster.experiments import SweepResult, load_experiment, sweep
from tests.kit.internals.experiments import Fingerprints, forget_code, watch_files

HEAD = "apiVersion: simulation.quaymaster.io/v1alpha1\nkind: Experiment\n"

INPUT = """
import attrs
import json
from pathlib import Path
from quaymaster.experiments import Arrival, ExperimentInput, Workload
from quaymaster.testing import make_node, make_pod
import berths
from harbours import north

@attrs.frozen(kw_only=True)
class Harbour(ExperimentInput):
    reading: str = "pods.json"
    late: str = ""

    def make(self, context):
        import pilots
        import importlib
        count = berths.COUNT + north.COUNT + pilots.COUNT
        count += importlib.import_module("tu" + "gs").COUNT
        count += json.loads((context.folder / self.reading).read_text())
        return Workload(
            objects=[make_node(name="n", capacity={"cpu": "100", "pods": "100"})],
            arrivals=self.arrivals(context, count),
        )

    def arrivals(self, context, count):
        if self.late:
            count += json.loads((context.folder / self.late).read_text())
        for number in range(count):
            yield Arrival(obj=make_pod(name=f"p{number}", requests={"cpu": "1"}))

    def reads(self, folder):
        return [folder / "pods.json"]
"""

PLUGIN = """
from pathlib import Path
from quaymaster import hookimpl

class Pilot:
    def __init__(self, _arguments, _handle):
        self.count = int((Path(__file__).parent / "weights.txt").read_text())

    @hookimpl
    def score(self, state, pod, node):
        return self.count
"""

MODULES = {
    "berths.py": "COUNT = 1\n",
    "pilots.py": "COUNT = 1\n",
    "tugs.py": "COUNT = 1\n",
    "harbours/__init__.py": "",
    "harbours/north.py": "from .depths import COUNT\n",
    "harbours/depths.py": "COUNT = 1\n",
}


OWN_MODULES = {"berths", "pilots", "tugs", "harbours", "harbour", "pilot"}


@attrs.frozen
class Study:
    """The folder of an experiment that imports modules and reads files.

    Attributes:
        folder: The folder.
    """

    folder: Path

    def change(self, name: str, old: str, new: str) -> None:
        """Replace a text in a file; the file keeps its length."""
        path = self.folder / name
        path.write_text(path.read_text().replace(old, new))

    def swept(self, parameters: str = "{}") -> SweepResult:
        """Sweep as a new process does, which has imported none of the modules."""
        for name in tuple(sys.modules):
            if name.partition(".")[0] in OWN_MODULES:
                del sys.modules[name]
        importlib.invalidate_caches()
        forget_code()
        file = self.folder / "study.yaml"
        file.write_text(
            f"{HEAD}inputs: [{{name: h, use: 'harbour:Harbour', "
            f"parameters: {parameters}}}]\n"
            "plugins: {Pilot: 'pilot:Pilot'}\n"
            "profiles: [{name: mine, config: mine.yaml}]\n"
            "metrics: [{name: placed}]\n"
        )
        return sweep(load_experiment(file), self.folder / "out")


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Return a study of five pods."""
    monkeypatch.syspath_prepend(tmp_path)
    # A file of the same length and second would be taken for the compiled one.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "harbours").mkdir()
    for name, text in {
        **MODULES,
        "harbour.py": INPUT,
        "pilot.py": PLUGIN,
        "pods.json": "1\n",
        "more.json": "1\n",
        "weights.txt": "1\n",
        "mine.yaml": (
            "apiVersion: kubescheduler.config.k8s.io/v1\n"
            "kind: KubeSchedulerConfiguration\n"
            "profiles: [{plugins: {score: {enabled: [{name: Pilot}]}}}]\n"
        ),
    }.items():
        (tmp_path / name).write_text(text)
    return Study(tmp_path)


def placed(result: SweepResult) -> object:
    assert result.failed == ()
    [(_, run)] = result.runs
    return run.values["placed"]


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    ["berths.py", "pilots.py", "tugs.py", "harbours/depths.py", "pods.json"],
    ids=[
        "a module beside the file",
        "a module that is imported in a function",
        "a module that is imported by a computed name",
        "a module of a package, imported by another one",
        "a file",
    ],
)
def test_a_changed_byte_repeats_the_run(study: Study, name: str) -> None:
    assert placed(study.swept()) == 5
    assert study.swept().made == 0
    study.change(name, "1", "2")
    result = study.swept()
    assert (result.made, placed(result)) == (1, 6)


@pytest.mark.long
def test_a_changed_file_of_a_plugin_repeats_the_run(study: Study) -> None:
    assert study.swept().made == 1
    assert study.swept().made == 0
    study.change("weights.txt", "1", "2")
    assert study.swept().made == 1


@pytest.mark.long
def test_another_python_repeats_the_run(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.swept()
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.0")
    assert study.swept().made == 1


@pytest.mark.long
def test_another_numpy_repeats_the_run(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    study.swept()
    installed = metadata.distribution

    def other(name: str) -> object:
        found = installed(name)
        if name != "numpy":
            return found
        return type("Other", (), {"version": "99.0", "requires": found.requires})

    monkeypatch.setattr(metadata, "distribution", other)
    assert study.swept().made == 1


@pytest.mark.long
@pytest.mark.parametrize("parameter", ["reading", "late"])
def test_a_file_that_reads_does_not_return_fails_the_run(
    study: Study, parameter: str
) -> None:
    result = study.swept(f"{{{parameter}: more.json}}")
    [failure] = result.failed
    assert failure.cause == (
        f"{study.folder / 'study.yaml'}: input h: make read "
        f"{study.folder / 'more.json'}, which reads does not return: a change of this "
        "file would not repeat the run"
    )


@pytest.mark.long
def test_used_code_and_files_are_in_the_provenance(study: Study) -> None:
    study.swept()
    text = (study.folder / "out" / "provenance.json").read_text()
    for name in ("berths", "pilots", "harbours.depths", "tugs.py", "weights.txt"):
        assert f'"{name}"' in text
    assert '"numpy"' in text


@pytest.mark.long
@pytest.mark.parametrize(
    ("change", "difference"),
    [
        (lambda study: study.change("berths.py", "1", "2"), "module 'berths'"),
        (lambda study: study.change("harbour.py", "100", "101"), "package 'harbour'"),
    ],
)
def test_a_process_with_other_code_differs(
    study: Study, change: Callable[[Study], None], difference: str
) -> None:
    study.swept()
    experiment = load_experiment(study.folder / "study.yaml")
    surroundings = Fingerprints(experiment).surroundings
    assert surroundings.difference() == ""
    change(study)
    forget_code()
    assert surroundings.difference() == f"has another version of {difference}"


@pytest.mark.long
def test_a_process_with_other_versions_differs(study: Study) -> None:
    study.swept()
    experiment = load_experiment(study.folder / "study.yaml")
    surroundings = Fingerprints(experiment).surroundings
    older = attrs.evolve(surroundings, python="cpython 3.0.1")
    assert older.difference().endswith(", and not cpython 3.0.1")
    other = attrs.evolve(
        surroundings, distributions={**surroundings.distributions, "numpy": "0.1"}
    )
    assert other.difference().endswith(" of distribution 'numpy', and not 0.1")


def test_files_of_other_threads_are_not_those_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    (tmp_path / "yours").touch()
    begin, end = threading.Event(), threading.Event()

    def read() -> None:
        begin.wait()
        (tmp_path / "yours").read_text()
        end.set()

    thread = threading.Thread(target=read)
    thread.start()
    with watch_files() as watch:
        begin.set()
        end.wait()
        worker = threading.Thread(target=(tmp_path / "mine").read_text)
        worker.start()
        worker.join()
        (tmp_path / "written").write_text("")
    thread.join()
    (tmp_path / "yours").read_text()
    assert watch.other_files == {str(tmp_path / "mine")}
