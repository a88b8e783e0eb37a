"""Reads the one document of a configuration file."""

from importlib.resources.abc import Traversable
from pathlib import Path

from quaymaster._base.errors import Problem
from quaymaster._base.input.reading import UnreadableError, read_file
from quaymaster._base.input.yaml.errors import YamlError
from quaymaster._base.input.yaml.reading import documents
from quaymaster._core.config.errors import ConfigErrors

__all__ = ["read_content", "read_documents", "read_yaml"]


def read_content(file: Traversable, source: str) -> bytes:
    """Read a file.

    Args:
        file: The file, which may come with a package.
        source: Its name, for messages.

    Raises:
        ConfigErrors: It cannot be read.
    """
    try:
        content = read_file(str(file)) if isinstance(file, Path) else file.read_bytes()
    except OSError as error:
        message = error.strerror or str(error)
    except UnreadableError as error:
        message = str(error)
    else:
        return bytes(content)
    raise ConfigErrors([Problem(where=source, message=message)])


def read_yaml(text: bytes, source: str) -> object:
    """Read the only document of a YAML (or JSON) text.

    Args:
        text: The content of the file.
        source: The file's name, for messages.

    Returns:
        The document, or None if the text is empty.

    Raises:
        ConfigErrors: The text is not YAML, has a key twice, or is several documents.
    """
    trees = read_documents(text, source)
    if len(trees) > 1:
        message = f"expected one YAML document, got {len(trees)}"
        raise ConfigErrors([Problem(where=source, message=message)])
    return trees[0] if trees else None


def read_documents(text: bytes, source: str) -> list[object]:
    """Read the documents of a YAML (or JSON) text that are not empty.

    Args:
        text: The content of the file.
        source: The file's name, for messages.

    Raises:
        ConfigErrors: The text is not YAML, or has a key twice.
    """
    try:
        trees = list(documents(text, unique_keys=True))
    except YamlError as error:
        raise ConfigErrors([Problem(where=source, message=str(error))]) from error
    return [document for document in trees if document is not None]
