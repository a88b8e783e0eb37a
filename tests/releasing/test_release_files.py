"""The files around a release: fragments, versions, scripts of CI, commits."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from tests.kit.shards import parse_shard, shard
from tests.releasing.checks import fragment_problem, fragments, problems

pytestmark = pytest.mark.house

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TYPES = [each["directory"] for each in SETTINGS["tool"]["towncrier"]["type"]]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_each_fragment_is_one_line_and_names_a_type() -> None:
    found = [fragment_problem(path, TYPES) for path in fragments(ROOT)]
    assert list(filter(None, found)) == []


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("gzip.fixed.md", "`run` starts.\n", ""),
        ("gzip.mended.md", "`run` starts.\n", "expected one of"),
        ("gzip.md", "`run` starts.\n", "expected a name such as"),
        ("Gzip.fixed.md", "`run` starts.\n", "expected a name such as"),
        ("gzip.fixed.md", "`run`\nstarts.\n", "expected one line, got 2"),
        ("gzip.fixed.md", "", "expected one line, got 0"),
    ],
)
def test_wrong_fragments_are_found(
    name: str, text: str, problem: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text)
    found = fragment_problem(path, TYPES)
    assert problem in found
    assert bool(problem) is bool(found)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Make a repository that is ready for the release 0.3.0."""
    for folder in (".", "framework", "framework/cel", "plugins/node_ports"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        project = tmp_path / folder / "pyproject.toml"
        project.write_text('[project]\nversion = "0.3.0"\n')
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 0.3.0\n")
    changelog = "# Changelog\n\n## 0.3.0 (2027-01-31)\n\n## 0.2.0 (2026-12-01)\n"
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    (tmp_path / "changelog.d").mkdir()
    (tmp_path / "changelog.d/template.md.jinja").touch()
    return tmp_path


def test_repository_that_is_ready_may_be_released(release: Path) -> None:
    assert list(problems(release, "v0.3.0")) == []


def test_all_that_keeps_a_tag_from_being_released_is_found(release: Path) -> None:
    (release / "CITATION.cff").write_text("version: 0.2.0\n")
    (release / "framework/pyproject.toml").write_text("[project]\nversion = '0.2.0'\n")
    (release / "CHANGELOG.md").write_text("## 0.3.0 (unreleased)\n")
    (release / "changelog.d/gzip.fixed.md").touch()
    heading = "expected the heading '## 0.3.0 (YYYY-MM-DD)' first"
    assert list(problems(release, "v0.3.0")) == [
        "framework/pyproject.toml: expected version 0.3.0, got 0.2.0",
        "CITATION.cff: expected version 0.3.0, got 0.2.0",
        f"CHANGELOG.md: {heading}, got '## 0.3.0 (unreleased)'",
        "changelog.d/gzip.fixed.md: is not in CHANGELOG.md yet",
    ]


@pytest.mark.parametrize("tag", ["0.3.0", "v0.3", "latest"])
def test_tag_is_a_v_and_a_version(tag: str, release: Path) -> None:
    expected = f"expected a tag such as v0.1.0, got {tag!r}"
    assert list(problems(release, tag)) == [expected]


def test_readme_runs_what_ci_runs() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "$ .ci/install test && .ci/quick\n" in readme


def test_workflows_call_scripts_that_are_there() -> None:
    called = {
        script
        for path in (*WORKFLOWS, ROOT / ".ci/run", ROOT / ".readthedocs.yaml")
        for script in re.findall(r"(?<![\w/])\.ci/[a-z0-9-]+", path.read_text())
    }
    there = {path for path in (ROOT / ".ci").iterdir() if path.stat().st_mode & 0o100}
    assert called == {f".ci/{path.name}" for path in there}


def test_every_test_script_of_run_has_a_job() -> None:
    text = (ROOT / ".ci/run").read_text()
    run = set(re.findall(r"^\.ci/[a-z0-9-]+", text, re.MULTILINE))
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    steps = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    assert {script for script in run if not any(script in step for step in steps)} == (
        set()
    )


@pytest.mark.parametrize(
    ("message", "is_fine"),
    [
        (f"queue: {'x' * 53}\n\nBecause.\n", True),
        (f"queue: {'x' * 54}\n\nBecause.\n", False),
        (f"# a comment\n\nqueue: {'é' * 53}\n", True),
    ],
)
def test_subjects_of_commits_have_sixty_characters(
    message: str, is_fine: bool, tmp_path: Path
) -> None:
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text(message, encoding="utf-8")
    done = subprocess.run(
        [ROOT / ".ci/commit-subject", file], capture_output=True, text=True, check=False
    )
    assert done.returncode == (not is_fine)
    assert bool(done.stderr) is not is_fine


def test_each_line_of_standard_input_is_a_subject() -> None:
    subjects = f"queue: {'x' * 54}\nqueue: short\n"
    done = subprocess.run(
        [ROOT / ".ci/commit-subject"],
        input=subjects,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)


def test_shards_hold_every_test_once() -> None:
    tests = list(range(10))
    parts = [shard(tests, number, 4) for number in (1, 2, 3, 4)]
    assert sorted(test for part in parts for test in part) == tests
    assert {len(part) for part in parts} == {2, 3}


@pytest.mark.parametrize("text", ["2", "0/4", "5/4", "a/4", "2/", "1/0"])
def test_shards_that_there_are_not_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a part"):
        parse_shard(text)


def test_shard_is_a_number_and_a_count() -> None:
    assert parse_shard("2/4") == (2, 4)
