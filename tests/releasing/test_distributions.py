"""The metadata that all distributions share, as PyPI shows it."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.house

ROOT = Path(__file__).parents[2]
PROJECTS = [
    ROOT / "framework/pyproject.toml",
    ROOT / "framework/cel/pyproject.toml",
    *ROOT.glob("plugins/*/pyproject.toml"),
]
MEMBERS = [path.parent for path in PROJECTS]
SOURCE = "https://github.com/quaymaster/quaymaster"
SITE = "https://quaymaster.readthedocs.io"
URLS = {
    "Homepage": SOURCE,
    "Source": SOURCE,
    "Documentation": SITE,
    "Issues": f"{SOURCE}/issues",
    "Changelog": f"{SITE}/en/latest/CHANGELOG.html",
}
PYTHON = "Programming Language :: Python"


def read_project(folder: Path) -> dict[str, Any]:
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    project: dict[str, Any] = tomllib.loads(text)["project"]
    return project


def test_all_distributions_link_to_source_docs_issues_and_changelog() -> None:
    projects = {folder.name: read_project(folder) for folder in MEMBERS}
    assert {name: urls_of(project) for name, project in projects.items()} == (
        dict.fromkeys(projects, URLS)
    )


def urls_of(project: dict[str, Any]) -> dict[str, str]:
    urls: dict[str, str] = project.get("urls", {})
    return urls


def test_all_distributions_name_their_authors() -> None:
    expected = [{"name": "The Quaymaster authors"}]
    authors = {folder.name: read_project(folder).get("authors") for folder in MEMBERS}
    assert authors == dict.fromkeys(authors, expected)


def test_all_distributions_name_the_python_versions_that_ci_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    matrix = workflow["jobs"]["quick"]["strategy"]["matrix"]["python"]
    expected = {f"{PYTHON} :: {version}" for version in (*matrix, "3 :: Only")}
    found = {
        folder.name: {
            text
            for text in read_project(folder)["classifiers"]
            if text.startswith(PYTHON)
        }
        for folder in MEMBERS
    }
    assert found == dict.fromkeys(found, expected)
