"""Creates a new plugin: a complete package around one small rule."""

import ast
import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Final

import attrs

from quaymaster._authors.packages.names import KindNames, PluginNames
from quaymaster._authors.packages.source import tidy
from quaymaster._authors.packages.templates import fill_in, with_words
from quaymaster._base.errors import QuaymasterError
from quaymaster._base.natural_order import natural_key
from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.contract.extension_points import EXTENSION_POINTS
from quaymaster._core.registry.sdk_range import usual_range

__all__ = [
    "DATA",
    "DEFAULT_POINTS",
    "POINTS",
    "PackageNotMadeError",
    "Scaffold",
    "UnknownPointError",
    "make_package",
    "package_files",
    "parse_points",
]

POINTS: Final = tuple(
    point.key for point in EXTENSION_POINTS if point.key and not point.gate
)
"""The extension points that a plugin can be created for, in call order.

Those behind a feature gate are left out: by default such a plugin would do nothing.
"""

_GATES: Final = {
    point.hook.replace("_", ""): point.gate for point in EXTENSION_POINTS if point.gate
}
"""Hook without underscores -> the feature gate without which it is not called."""

DEFAULT_POINTS: Final = ("filter", "score")

_FILES: Final = {
    ".github/workflows/check.yml": "check.yml.txt",
    ".github/workflows/release.yml": "release.yml.txt",
    ".gitignore": "gitignore.txt",
    ".pre-commit-config.yaml": "pre-commit-config.yaml.txt",
    "CHANGELOG.md": "CHANGELOG.md.txt",
    "README.md": "README.md.txt",
    "profile.yaml": "profile.yaml.txt",
    "pyproject.toml": "pyproject.toml.txt",
    "src/package_name/__init__.py": "init.py.txt",
    "src/package_name/plugin.py": "plugin.py.txt",
    "src/package_name/py.typed": "",
    "tests/test_plugin_words.py": "test_plugin.py.txt",
    "tests/test_plugin_words_contract.py": "test_contract.py.txt",
}
"""File of a package -> its template; empty for a file without content."""


_OF_KINDS: Final = {
    "src/package_name/__init__.py": "kind_init.py.txt",
    "src/package_name/kinds.py": "kinds.py.txt",
    "src/package_name/plugin.py": "kind_plugin.py.txt",
    "tests/test_plugin_words.py": "kind_test_plugin.py.txt",
    "tests/test_plugin_words_contract.py": "kind_test_contract.py.txt",
}
"""The other files of a plugin with a kind of its own."""

_OF_HTTP: Final = {
    "src/package_name/plugin.py": "http_plugin.py.txt",
    "tests/test_plugin_words.py": "http_test_plugin.py.txt",
    "tests/test_plugin_words_contract.py": "http_test_contract.py.txt",
}
"""The other files of a plugin that reads data over HTTP."""

DATA: Final = ("http",)
"""The sources of data from outside the cluster."""


@attrs.frozen(kw_only=True)
class Scaffold:
    """What a new package has besides one plugin in one profile.

    Attributes:
        kind: The name of a kind of its own, which has an object for each node; empty
            for none.
        data: The source of its data from outside the cluster, of `DATA`; or empty.
        profiles: The number of profiles in its profile.yaml: 1 or 2.
    """

    kind: str = ""
    data: str = ""
    profiles: int = 1

    @property
    def files(self) -> Mapping[str, str]:
        """File of the package -> its template."""
        if self.kind:
            return {**_FILES, **_OF_KINDS}
        return {**_FILES, **_OF_HTTP} if self.data else _FILES

    def marks(self, points: Collection[str]) -> Collection[str]:
        """Return the marks of templates that hold.

        Args:
            points: The keys of the chosen extension points; a plugin with a kind or
                with data has its own.
        """
        marks = {"filter", "score", "kind"} if self.kind else set(points)
        if self.data:
            marks = {"filter", self.data}
        return marks | {"profiles"} if self.profiles > 1 else marks


_PLAIN: Final = Scaffold()


class UnknownPointError(QuaymasterError, ValueError):
    """No extension point has this name, or it needs a feature gate.

    Attributes:
        point: The name.
    """

    def __init__(self, point: str) -> None:
        points = ", ".join(POINTS)
        gate = _GATES.get(_plain(point), "")
        if gate:
            problem = f"{point!r} needs the feature gate {gate}; new plugins have"
            super().__init__(f"{problem} only: {points}")
        else:
            hint = did_you_mean(point, POINTS)
            problem = f"no extension point {point!r}"
            super().__init__(f"{problem} (there are: {points}){hint}")
        self.point = point


class PackageNotMadeError(QuaymasterError):
    """A package could not be written to its folder.

    Attributes:
        folder: The folder.
    """

    def __init__(self, folder: Path, problem: str) -> None:
        super().__init__(f"{folder}: {problem}")
        self.folder = folder


def parse_points(text: str) -> Sequence[str]:
    """Read names of extension points, as in ``filter,preScore`` or ``pre_score``.

    Returns:
        Their keys without duplicates, in call order.

    Raises:
        UnknownPointError: There is no such point.
    """
    by_name = {key.lower(): key for key in POINTS}
    points = set()
    for name in text.split(","):
        key = by_name.get(_plain(name))
        if key is None:
            raise UnknownPointError(name.strip())
        points.add(key)
    return [key for key in POINTS if key in points]


def _plain(name: str) -> str:
    """Return the name of a point without spaces, underscores and capital letters."""
    return name.strip().replace("_", "").lower()


def make_package(
    name: str,
    points: Collection[str],
    parent: Path,
    installed: Iterable[str],
    scaffold: Scaffold = _PLAIN,
) -> Path:
    """Write a new package completely, or not at all.

    Args:
        name: The plugin's name.
        points: The keys of the extension points that it has hooks for.
        parent: The folder in which the package's folder is created; it need not exist.
        installed: The names of the plugins that are installed.
        scaffold: What else it has.

    Returns:
        The package's folder.

    Raises:
        NameRefusedError: The plugin or its kind cannot have this name.
        PackageNotMadeError: The folder exists already, or cannot be written.
    """
    names = PluginNames(name)
    taken = _imported_names()
    names.check(installed, taken)
    if scaffold.kind:
        KindNames(scaffold.kind).check(names, taken)
    folder = parent / names.distribution
    if folder.exists() or folder.is_symlink():
        raise PackageNotMadeError(folder, "exists already, and is left as it is")
    unfinished = parent / f".{names.distribution}.{os.getpid()}"
    try:
        _write(unfinished, package_files(names, points, scaffold))
        unfinished.rename(folder)
    except OSError as error:
        raise PackageNotMadeError(folder, f"{error.strerror}") from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return folder


def package_files(
    names: PluginNames, points: Collection[str], scaffold: Scaffold = _PLAIN
) -> Mapping[str, str]:
    """Return the files of a new package: path -> content.

    Args:
        names: The names of the plugin.
        points: The keys of the extension points that it has hooks for.
        scaffold: What else it has.
    """
    words, marks = _words(names, KindNames(scaffold.kind)), scaffold.marks(points)
    files = {}
    for path, template in scaffold.files.items():
        lines = fill_in(_template(template) if template else "", marks, words)
        text = tidy(lines) if path.endswith(".py") else "\n".join([*lines, ""])
        files[with_words(path, words)] = text if template else ""
    return files


def _words(names: PluginNames, kind: KindNames) -> Mapping[str, str]:
    """Return the placeholders of templates, and their replacements."""
    return {
        "PluginName": names.plugin,
        "KindName": kind.kind,
        "kindplural": kind.plural,
        "PUBLIC_NAMES": _public_names(names, kind),
        "plugin_words": names.words,
        "package_name": names.package,
        "distribution-name": names.distribution,
        "SDK_RANGE": usual_range(),
    }


def _public_names(names: PluginNames, kind: KindNames) -> str:
    """Return the names of a package with a kind, sorted as ruff sorts ``__all__``."""
    public = [
        *(names.plugin, f"{names.plugin}Args"),
        *(kind.kind, f"{kind.kind}Spec"),
    ]
    public.sort(key=lambda name: (not name.isupper(), natural_key(name)))
    return ", ".join(f'"{name}"' for name in public)


def _template(name: str) -> str:
    folder = resources.files("quaymaster._authors.packages") / "template"
    return (folder / name).read_text(encoding="utf-8")


def _imported_names() -> frozenset[str]:
    """Return the names that the modules of a new package import."""
    return frozenset(
        alias.name
        for template in {*_FILES.values(), *_OF_KINDS.values(), *_OF_HTTP.values()}
        if template.endswith(".py.txt")
        for node in ast.walk(ast.parse(_template(template)))
        if isinstance(node, ast.ImportFrom)
        and not str(node.module).startswith("package_name")
        for alias in node.names
    )


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
