"""Builds the wheel of a folder, and checks that it contains the package.

The folder is copied, because some backends write to it. Packages whose build backend is
not installed are not checked.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath
from typing import Final

import attrs

from quaymaster._authors.packages.candidate import Candidate
from quaymaster._authors.packages.findings import Finding
from quaymaster._authors.packages.wheel_loading import TrialRun, tried_from
from quaymaster._base.errors import QuaymasterError

__all__ = ["wheel_findings"]

_NOT_COPIED: Final = (
    ".git",
    ".hg",
    ".hypothesis",
    ".*_cache",
    ".nox",
    ".tox",
    ".venv",
    "__pycache__",
    "node_modules",
    "venv",
)
_MOST_SECONDS: Final = 120
_SCRIPT: Final = """
import importlib, os, sys
name, _, path = sys.argv[1].partition(":")
try:
    backend = importlib.import_module(name)
    for part in filter(None, path.split(".")):
        backend = getattr(backend, part)
    backend.build_wheel(sys.argv[2])
except Exception as error:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    sys.stderr.write("\\n" + lines[0])
    sys.exit(1)
"""
"""Runs the hook of PEP 517."""


class _BuildError(QuaymasterError):
    """The wheel cannot be built; the text is the backend's."""


@attrs.frozen
class _Wheel:
    """What is in a wheel.

    Attributes:
        files: The names of the files.
        run: What the plugins do that are loaded from it.
    """

    files: Collection[str]
    run: TrialRun

    def has_module(self, name: str) -> bool:
        """Return whether a module is in it, also one that is not written in Python."""
        path = name.replace(".", "/")
        return any(
            fnmatch(file, f"{path}.*") or file == f"{path}/__init__.py"
            for file in self.files
        )


def wheel_findings(candidate: Candidate) -> Iterator[Finding]:
    """Find what the wheel of a package leaves out, such as modules or ``py.typed``."""
    folder, backend = candidate.folder, candidate.backend
    if folder is None or not _is_installed(backend):
        return
    plugins = [offer.entry.value for offer in candidate.plugins]
    try:
        wheel = _built(folder, backend, plugins)
    except _BuildError as error:
        message = f"the wheel cannot be built: {error}"
        yield Finding.error("wheel", "build-system", message)
        return
    modules = dict.fromkeys(offer.entry.module for offer in candidate.offers)
    missing = [module for module in modules if not wheel.has_module(module)]
    for module in missing:
        message = f"the wheel has no module {module!r}, which an entry point names"
        yield Finding.error("wheel", "entry points", message)
    for entry, problem in wheel.run.failures.items():
        if entry.partition(":")[0] not in missing:
            message = (
                f"{entry!r} fails if it is loaded from the wheel, but not here: "
                f"{problem}: put the files that it reads into the package"
            )
            yield Finding.error("wheel", "entry points", message)
    packages = sorted({module.partition(".")[0] for module in modules})
    for package in packages:
        if package not in missing:
            yield from _omissions(candidate, package, wheel)
    if not wheel.run.failures:
        yield from _missing_data(folder.resolve(), packages, wheel)


def _missing_data(
    folder: Path, packages: Sequence[str], wheel: _Wheel
) -> Iterator[Finding]:
    """Find the files of a folder that its packages read, and that the wheel lacks."""
    roots = [(package, root) for package in packages for root in _roots(package)]
    for file in dict.fromkeys(path.resolve() for path in wheel.run.files):
        if not file.is_relative_to(folder) or not file.is_file() or _is_code(file):
            continue
        names = [
            PurePosixPath(package, file.relative_to(root)).as_posix()
            for package, root in roots
            if file.is_relative_to(root)
        ]
        if not any(name in wheel.files for name in names):
            where = "is not in the wheel" if names else "is outside of the package"
            message = (
                f"the code reads {file.relative_to(folder).as_posix()}, which {where}, "
                "so an installed plugin fails there: let the wheel contain it as a "
                "file of the package, and read it by importlib.resources.files"
            )
            yield Finding.error("wheel", "files", message)


def _is_code(file: Path) -> bool:
    """Return whether Python reads a file by itself, as for a traceback."""
    return file.suffix in (".py", ".pyc")


def _roots(package: str) -> Sequence[Path]:
    spec = importlib.util.find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return [Path(folder).resolve() for folder in folders]


def _omissions(candidate: Candidate, package: str, wheel: _Wheel) -> Iterator[Finding]:
    where = f"package {package!r}"
    files = _source_files(candidate, package)
    left_out = [file for file in files if file not in wheel.files]
    if f"{package}/py.typed" in left_out:
        message = "the wheel has no file py.typed, so type checkers ignore its types"
        yield Finding.error("typing", where, message)
    modules = [file for file in left_out if file.endswith(".py")]
    if modules:
        message = f"the wheel leaves out {', '.join(modules)}"
        yield Finding.error("wheel", where, message)


def _source_files(candidate: Candidate, package: str) -> Sequence[str]:
    """Return the files of a package as a wheel names them, without its tests."""
    return [
        PurePosixPath(package, file.relative_to(folder)).as_posix()
        for folder in _roots(package)
        if candidate.folder and folder.is_relative_to(candidate.folder.resolve())
        for file in sorted(folder.rglob("*"))
        if file.is_file() and "tests" not in file.relative_to(folder).parts
    ]


def _is_installed(backend: str) -> bool:
    package = backend.partition(":")[0].partition(".")[0]
    return package.isidentifier() and importlib.util.find_spec(package) is not None


def _built(folder: Path, backend: str, plugins: Sequence[str]) -> _Wheel:
    """Build the wheel of a copy of a folder, and load its plugins.

    Raises:
        _BuildError: The backend fails.
    """
    with tempfile.TemporaryDirectory(prefix="quaymaster-wheel-") as name:
        source, target = Path(name, "source"), Path(name, "wheel")
        ignored = shutil.ignore_patterns(*_NOT_COPIED)
        shutil.copytree(folder, source, ignore=ignored, symlinks=True)
        target.mkdir()
        _run(source, backend, target)
        (wheel,) = target.glob("*.whl")
        site = Path(name, "site")
        with zipfile.ZipFile(wheel) as archive:
            files = frozenset(archive.namelist())
            archive.extractall(site)
        # Its modules must not find there what only the sources have.
        shutil.rmtree(source)
        return _Wheel(files, tried_from(site, plugins))


def _run(source: Path, backend: str, target: Path) -> None:
    # The copy has no repository from which a version could be read.
    variables = {**os.environ, "SETUPTOOLS_SCM_PRETEND_VERSION": "0"}
    try:
        subprocess.run(
            [sys.executable, "-c", _SCRIPT, backend, str(target)],
            cwd=source,
            env=variables,
            capture_output=True,
            check=True,
            text=True,
            timeout=_MOST_SECONDS,
        )
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines() or ["it failed"]
        raise _BuildError(lines[-1]) from error
    except subprocess.TimeoutExpired as error:
        raise _BuildError(f"it takes more than {_MOST_SECONDS} s") from error
