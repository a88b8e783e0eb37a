"""Separates the code of a study from installed code."""

import functools
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["OWN_PACKAGES", "is_installed", "local_modules"]

OWN_PACKAGES: Final = ("quaymaster", "kubernetes_cel")
"""The packages of this project; those of its plugins begin with the first name."""

_INSTALLED: Final = frozenset({"site-packages", "dist-packages"})
_STANDARD: Final = tuple(
    Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")
)
_MAIN: Final = frozenset({"__main__", "__mp_main__"})


def is_installed(path: Path) -> bool:
    """Whether a file belongs to Python or to an installed distribution."""
    if not _INSTALLED.isdisjoint(path.parts):
        return True
    return any(path.is_relative_to(folder) for folder in _STANDARD)


def local_modules() -> Iterator[tuple[str, Path]]:
    """Return the imported modules that no distribution has installed, and their files.

    The script that was started is not among them, nor is code of this project.
    """
    for name, module in tuple(sys.modules.items()):
        if name in _MAIN or name.startswith(OWN_PACKAGES):
            continue
        file = getattr(module, "__file__", None)
        path = _local_path(file) if isinstance(file, str) else None
        if path is not None:
            yield name, path


@functools.cache
def _local_path(file: str) -> Path | None:
    """Return the path of a file that no distribution has installed, else None."""
    path = Path(file)
    return path if path.is_absolute() and not is_installed(path) else None
