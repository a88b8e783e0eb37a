"""The YAML files of the framework, by their names."""

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from pathlib import Path

from quaymaster._base.errors import Problem
from quaymaster._base.suggestions import did_you_mean
from quaymaster._core.config.errors import ConfigErrors

__all__ = ["file_or_shipped", "shipped_files"]


def shipped_files(folder: Traversable) -> Mapping[str, Traversable]:
    """Return the YAML files of a folder, by their names without the suffix."""
    files = sorted(folder.iterdir(), key=lambda file: file.name)
    return {
        file.name.removesuffix(".yaml"): file
        for file in files
        if file.name.endswith(".yaml")
    }


def file_or_shipped(
    source: str, shipped: Mapping[str, Traversable], kind: str
) -> Traversable:
    """Return the file of a path, or the shipped file of a name.

    Args:
        source: The path or the name.
        shipped: The shipped files by name.
        kind: The noun for such files in messages, such as ``profile``.

    Raises:
        ConfigErrors: It is not a path, and no shipped file has that name.
    """
    path = Path(source)
    if path.exists():
        return path
    if source in shipped:
        return shipped[source]
    if path.suffix or path.name != source:
        return path
    hint = did_you_mean(source, shipped)
    message = f"no such file, nor a shipped {kind} ({', '.join(shipped)}){hint}"
    raise ConfigErrors([Problem(where=source, message=message)])
