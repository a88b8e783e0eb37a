"""The option ``--plot``: the file of a picture."""

import importlib.util
from pathlib import Path
from typing import Final

from quaymaster._base.errors import QuaymasterError
from quaymaster._base.missing_packages import not_installed

__all__ = ["picture_path"]

_SUFFIXES: Final = (".png", ".svg", ".pdf")


def picture_path(file: str) -> Path:
    """Return the path of a picture, checked before the work that it shows.

    Raises:
        QuaymasterError: The suffix is not that of a picture, or matplotlib is missing.
    """
    path = Path(file)
    if path.suffix.lower() not in _SUFFIXES:
        *others, last = _SUFFIXES
        expected = f"expected a file that ends in {', '.join(others)} or {last}"
        raise QuaymasterError(f"--plot {file}: {expected}")
    # Part of the extra `plot`, which may not be installed.
    if importlib.util.find_spec("matplotlib") is None:
        raise QuaymasterError(f"--plot: {not_installed(['matplotlib'], 'plot')}")
    return path
