"""Recognises what must be rendered or fetched first: kustomizations, charts, URLs."""

import mmap
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

__all__ = [
    "is_chart_template",
    "looks_like_template",
    "tell_folder",
    "tell_unrendered",
    "tell_url",
]

_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml", "Kustomization")
_CHART: Final = "Chart.yaml"
_LOOKED_AT: Final = 1 << 20  # bytes: no template is that long
_ACTION: Final = re.compile(
    rb"\{\{-?\s*(?:[.$]|include|template|if|else|range|with|define|end|toYaml|tpl|/\*)"
)
_CHART_VALUE: Final = re.compile(
    rb"\{\{[^{}]{0,400}?(?:\.(?:Values|Release|Chart|Capabilities|Files)\b|\binclude\s)"
)


def tell_unrendered(path: Path) -> str:
    """Tell how to render a file, by its name; empty if it is an ordinary one."""
    if path.name in _KUSTOMIZATIONS:
        return _kustomize(path.parent)
    return _helm(path.parent) if path.name == _CHART else ""


def tell_folder(directory: Path, names: Iterable[str]) -> str:
    """Tell how to render a directory; empty if it is an ordinary one.

    Args:
        directory: The directory.
        names: The files in it.
    """
    for name in (_CHART, *_KUSTOMIZATIONS):
        if name in names:
            return tell_unrendered(directory / name)
    return ""


def tell_url(name: str) -> str:
    """Tell how to read what a URL names; empty if this is no URL."""
    if not name.startswith(("http://", "https://")):
        return ""
    return f"a URL; expected a file: curl -sSfL {name} | quaymaster simulate -"


def is_chart_template(path: Path, text: bytes | mmap.mmap) -> str:
    """Tell that a file is a template of the chart that it lies in; empty if not."""
    if not _CHART_VALUE.search(text[:_LOOKED_AT]):
        return ""
    for folder in path.absolute().parents:
        if (folder / _CHART).is_file():
            return _helm(_shown(path, folder))
    return ""


def looks_like_template(text: bytes | mmap.mmap) -> str:
    """Tell that a text which is no YAML may be a template; empty if not."""
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
    """The folder as the path names it, if the path begins with it."""
    for parent in path.parents:
        if parent.absolute() == folder:
            return parent
    return folder
