"""Type checkers report mistakes in hooks, and nothing else."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tests.hook_types.generate_marks import STUB, stub_text
from tests.kit.mypy_caches import mypy_cache

MISTAKES = Path(__file__).with_name("mistakes")
STRICT = "[tool.mypy]\nstrict = true\n"
UNSEEN: Mapping[str, set[int]] = {"likely": {8, 9}, "other": {3, 6, 7, 8, 10}}
"""Mistakes that marks of single hooks do not show.

They are of constructors, or forgotten marks. A bool is an int, and a function with
``*arguments`` accepts all.
"""


def numbered(text: str) -> Mapping[int, int]:
    """Return the line of each mistake. Its decorator may be above it."""
    return {
        int(found[1]): number
        for number, line in enumerate(text.splitlines(), 1)
        if (found := re.search(r"# mistake (\d+)$", line))
    }


def text_of(name: str) -> str:
    return (MISTAKES / f"{name}.py.txt").read_text(encoding="utf-8")


def with_marks_of_hooks(text: str) -> str:
    """Replace each mark by the one of its hook."""
    mark = r"@hookimpl\n    (async )?def (\w+)"
    return re.sub(mark, r"@hookimpl.\2\n    \1def \2", text)


def found_by(lines: Iterable[int], text: str) -> set[int]:
    """Return the mistakes in some lines; each line must have one."""
    mistake_at: dict[int, int] = {}
    for number, line in numbered(text).items():
        mistake_at |= {line: number, line - 1: number}
    return {mistake_at[line] for line in lines}


def mypy(folder: Path, *names: str, settings: str) -> Mapping[str, set[int]]:
    """Return the lines of each module that mypy reports."""
    (folder / "pyproject.toml").write_text(settings)
    files = [f"{name}.py" for name in names]
    with mypy_cache("plugin" if "plugins" in settings else "marks") as cache:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--cache-dir", str(cache), *files],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
    assert not done.stderr, done.stderr
    lines: dict[str, set[int]] = {name: set() for name in names}
    for name, line in re.findall(
        r"^(\w+)\.py:(\d+): error:", done.stdout, re.MULTILINE
    ):
        lines[name].add(int(line))
    return lines


def pyright(folder: Path, *names: str) -> Mapping[str, set[int]]:
    """Return the lines of each module that pyright reports."""
    pytest.importorskip("pyright")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pyright", "--outputjson"),
            *("--pythonpath", sys.executable, *(f"{name}.py" for name in names)),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        pytest.skip(f"pyright cannot run here: {done.stderr}")
    lines: dict[str, set[int]] = {name: set() for name in names}
    for problem in report["generalDiagnostics"]:
        line = problem["range"]["start"]["line"] + 1
        lines[Path(problem["file"]).stem].add(line)
    return lines


@pytest.mark.house
def test_stub_of_marks_is_up_to_date() -> None:
    """Run ``python -m tests.hook_types.generate_marks`` after a change of hooks."""
    assert STUB.read_text(encoding="utf-8") == stub_text()


@pytest.mark.long
def test_mypy_plugin_reports_all_mistakes_and_nothing_else(tmp_path: Path) -> None:
    names = ("likely", "other", "none")
    for name in names:
        (tmp_path / f"{name}.py").write_text(text_of(name))
    settings = f'{STRICT}plugins = ["quaymaster.mypy"]\n'
    lines = mypy(tmp_path, *names, settings=settings)
    for name in names:
        text = text_of(name)
        assert found_by(lines[name], text) == {*numbered(text)}, name


@pytest.mark.long
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_marks_of_hooks_need_no_plugin(tmp_path: Path, checker: str) -> None:
    names = ("likely", "other", "none")
    for name in names:
        (tmp_path / f"{name}.py").write_text(with_marks_of_hooks(text_of(name)))
    if checker == "mypy":
        lines = mypy(tmp_path, *names, settings=STRICT)
    else:
        lines = pyright(tmp_path, *names)
    assert not lines["none"]
    for name, unseen in UNSEEN.items():
        text = text_of(name)
        assert found_by(lines[name], text) == {*numbered(text)} - unseen, name
