"""The conditions for the release of a tag."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

__all__ = ["fragment_problem", "fragments", "problems"]

_FOLDER = "changelog.d"
_TEMPLATE = "template.md.jinja"


def problems(root: Path, tag: str) -> Iterator[str]:
    """Yield a line for each reason why a tag cannot be released.

    Args:
        root: The folder of the repository.
        tag: The tag, such as ``v0.1.0``.
    """
    version = tag.removeprefix("v")
    if tag != f"v{version}" or not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"expected a tag such as v0.1.0, got {tag!r}"
        return
    for file, found in _versions(root).items():
        if found != version:
            yield f"{file}: expected version {version}, got {found}"
    heading = _newest_heading(root)
    if not re.fullmatch(rf"## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading):
        expected = f"'## {version} (YYYY-MM-DD)'"
        yield f"CHANGELOG.md: expected the heading {expected} first, got {heading!r}"
    for path in fragments(root):
        yield f"{_FOLDER}/{path.name}: is not in CHANGELOG.md yet"


def fragments(root: Path) -> Sequence[Path]:
    """Return the fragments of the changelog, sorted by name."""
    paths = (root / _FOLDER).iterdir()
    return sorted(path for path in paths if path.name not in (_TEMPLATE, ".gitkeep"))


def fragment_problem(path: Path, types: Sequence[str]) -> str:
    """Describe what is wrong with a fragment, or return an empty text.

    Args:
        path: The file, such as ``gzip-members.fixed.md``.
        types: The types that towncrier knows.
    """
    form = re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*\.([a-z]+)\.md", path.name)
    if form is None:
        return f"{path.name}: expected a name such as gzip-members.fixed.md"
    if form[1] not in types:
        return f"{path.name}: expected one of {', '.join(types)}, got {form[1]!r}"
    text = path.read_text(encoding="utf-8")
    if len(text.splitlines()) != 1 or not text.strip():
        return f"{path.name}: expected one line, got {len(text.splitlines())}"
    return ""


def _versions(root: Path) -> Mapping[str, str]:
    files = [
        "pyproject.toml",
        "framework/pyproject.toml",
        "framework/cel/pyproject.toml",
        *sorted(
            path.relative_to(root).as_posix()
            for path in root.glob("plugins/*/pyproject.toml")
        ),
    ]
    found = {
        file: str(tomllib.loads((root / file).read_text())["project"]["version"])
        for file in files
    }
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    cited = re.search(r"^version: (\S+)$", citation, re.MULTILINE)
    return {**found, "CITATION.cff": cited[1] if cited else "none"}


def _newest_heading(root: Path) -> str:
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    return next((line for line in text.splitlines() if line.startswith("## ")), "")
