"""Reads the files of Quaymaster's own kinds, such as scenarios and experiments."""

from os import PathLike, fspath
from pathlib import Path
from typing import TypeVar

from quaymaster._core.config.converter import structure
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.findings import Findings
from quaymaster._core.config.header import check_header
from quaymaster._core.config.yaml_file import read_content, read_yaml

__all__ = ["read_document", "read_path"]

D = TypeVar("D")


def read_path(file: str | PathLike[str]) -> tuple[str, bytes]:
    """Return the name of a file, for messages, and its content.

    Raises:
        ConfigErrors: It cannot be read.
    """
    source = fspath(file)
    return source, read_content(Path(source), source)


def read_document(
    text: str | bytes,
    findings: Findings,
    document: type[D],
    *,
    api_version: str,
    kind: str,
) -> D:
    """Read the only document of a text as an object of a given type.

    Args:
        text: YAML or JSON.
        findings: Collects mistakes; has the name of the file.
        document: The type.
        api_version: The required ``apiVersion``.
        kind: The required ``kind``.

    Raises:
        ConfigErrors: The document has mistakes; all are in ``findings``, too.
    """
    content = text.encode() if isinstance(text, str) else text
    tree = read_yaml(content, findings.source)
    check_header(tree, findings, api_version=api_version, kind=kind)
    result, mistakes = structure(tree, document)
    findings.extend("", mistakes)
    if not isinstance(result, document) or mistakes:
        raise ConfigErrors(findings.problems)
    return result
