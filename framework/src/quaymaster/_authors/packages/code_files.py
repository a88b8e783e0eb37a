"""The Python files of a package."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

from quaymaster._authors.packages.candidate import Candidate

__all__ = ["own_modules", "python_files"]


def own_modules(candidate: Candidate) -> frozenset[str]:
    """Return the packages and modules that the entry points name, without parents."""
    names = (offer.entry.module.partition(".")[0] for offer in candidate.offers)
    return frozenset(names)


def python_files(candidate: Candidate) -> Iterator[Path]:
    """Yield the Python files of the packages that the entry points name."""
    for name in sorted(own_modules(candidate)):
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            continue  # another check reports it
        if spec is None:
            continue
        folders = spec.submodule_search_locations
        if folders is None and spec.origin:
            yield Path(spec.origin)
        for folder in folders or ():
            yield from sorted(Path(folder).rglob("*.py"))
