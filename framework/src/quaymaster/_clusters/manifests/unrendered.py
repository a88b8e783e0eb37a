"""Recognises input that must be rendered or fetched first: charts, URLs, ..."""

import mmap
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

__all__ = [
    "folder_hint",
    "is_chart_template",
    "rendering_hint",
    "template_hint",
    "url_hint",
]

_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_CHART: Final = "Chart.yaml"
_LOOKED_AT: Final = 1 << 20  # bytes: no template is that long
_ACTION: Final = re.compile(
    rb"\{\{-?\s*(?:[.$]|include|template|if|else|range|with|define|end|toYaml|tpl|/\*)"
)
# The limit keeps the search linear in files without templates.
_CHART_VALUE: Final = re.compile(
    rb"\{\{[^{}]{0,400}?(?:\.(?:Values|Release|Chart|Capabilities|Files)\b|\binclude\s)"
)


def rendering_hint(path: Path) -> str:
    """Describe how to render a file, by its name; empty if it is an ordinary one."""
    if path.name in _KUSTOMIZATIONS:
        return _kustomize(path.parent)
    return _helm(path.parent) if path.name == _CHART else ""


def folder_hint(directory: Path, names: Iterable[str]) -> str:
    """Describe how to render a directory; empty if it is an ordinary one.

    Args:
        directory: The directory.
        names: The files in it.
    """
    for name in (_CHART, *_KUSTOMIZATIONS):
        if name in names:
            return rendering_hint(directory / name)
    return ""


def url_hint(name: str) -> str:
    """Describe how to read the content of a URL; empty if this is not a URL."""
    if not name.startswith(("http://", "https://")):
        return ""
    return f"a URL; expected a file: curl -sSfL {name} | quaymaster simulate -"


def is_chart_template(path: Path, text: bytes | mmap.mmap) -> str:
    """Report that a file is a template of a chart; empty if it is not."""
    if not _CHART_VALUE.search(text[:_LOOKED_AT]):
        return ""
    # Only below a chart: a ConfigMap, for example, may hold such texts, too.
    for folder in path.absolute().parents:
        if (folder / _CHART).is_file():
            return _helm(_shown(path, folder))
    return ""


def template_hint(text: bytes | mmap.mmap) -> str:
    """Report that a text which is not YAML may be a template; empty if not."""
    if not _ACTION.search(text[:_LOOKED_AT]):
        return ""
    return (
        "looks like a template of Helm; expected manifests: "
        "helm template CHART | quaymaster simulate -"
    )


def _kustomize(directory: Path) -> str:
    return (
        f"a kustomization; expected manifests: "
        f"kubectl kustomize {directory} | quaymaster simulate -"
    )


def _helm(directory: Path) -> str:
    return (
        f"a Helm chart; expected manifests: "
        f"helm template {directory} | quaymaster simulate -"
    )


def _shown(path: Path, folder: Path) -> Path:
    """Return the folder as the path names it, if the path begins with it."""
    for parent in path.parents:
        if parent.absolute() == folder:
            return parent
    return folder
