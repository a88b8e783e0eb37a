"""Distributions that seem to be installed, and a pytest fixture that makes some."""

import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

__all__ = ["MakeDistribution", "install", "make_distribution"]

MakeDistribution: TypeAlias = Callable[..., None]


def install(package: Path, site: Path) -> None:
    """Install a package as pip would, without a build environment: metadata and a path.

    Args:
        package: The folder of a package, with ``pyproject.toml`` and ``src``.
        site: The folder to install into.
    """
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\n"
        f"Version: {project['version']}\n"
    )
    lines = [
        f"[{group}]\n" + "\n".join(f"{key} = {value}" for key, value in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for module in (package / "src").iterdir():
        (site / module.name).symlink_to(module)


@pytest.fixture
def make_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> MakeDistribution:
    """Return a function that installs a distribution with metadata and modules."""

    def make(
        name: str,
        entries: Mapping[str, str],
        *,
        group: str = "quaymaster.plugins",
        version: str = "1.0",
        requires: Sequence[str] = (),
        module: str = "",
        code: str = "",
    ) -> None:
        root = tmp_path / name
        info = root / f"{name.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        metadata += "".join(f"Requires-Dist: {text}\n" for text in requires)
        (info / "METADATA").write_text(metadata)
        lines = "\n".join(f"{key} = {value}" for key, value in entries.items())
        (info / "entry_points.txt").write_text(f"[{group}]\n{lines}\n")
        if module:
            (root / f"{module}.py").write_text(code)
            monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.syspath_prepend(root)

    return make
