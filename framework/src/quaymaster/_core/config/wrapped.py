"""Finds the configuration in the document of another kind that people keep it in."""

from collections.abc import Iterator, Mapping
from typing import Final

from quaymaster._base.errors import Problem
from quaymaster._core.config.document import KIND
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.yaml_file import read_yaml

__all__ = ["CONFIG_KEY", "unwrapped"]

CONFIG_KEY: Final = "config.yaml"
"""The usual key of the configuration in a ConfigMap."""

_TALOS: Final = ("cluster", "scheduler", "config")
"""Where the machine configuration of Talos has it."""


def unwrapped(document: object, source: str) -> tuple[object, str]:
    """Return the configuration in a document, and a name for messages about it.

    ConfigMaps, as charts have them, and the machine configuration of Talos are
    unwrapped. Other documents are returned unchanged.

    Args:
        document: The content of a file.
        source: Its name.

    Raises:
        ConfigErrors: The document contains no configuration, or several.
    """
    if not isinstance(document, Mapping):
        return document, source
    if document.get("kind") == "ConfigMap":
        return _of_config_map(document, source)
    if document.get("apiVersion") == "config.openshift.io/v1":
        raise ConfigErrors([Problem(where=source, message=_openshift(document))])
    inner: object = document
    for key in _TALOS:
        inner = inner.get(key) if isinstance(inner, Mapping) else None
    if inner is None:
        return document, source
    return inner, f"{source}: {'.'.join(_TALOS)}"


def _of_config_map(
    document: Mapping[object, object], source: str
) -> tuple[object, str]:
    data = document.get("data")
    texts = data if isinstance(data, Mapping) else {}
    trees = list(_configurations(texts, source))
    if len(trees) == 1:
        return trees[0]
    if not trees and CONFIG_KEY in texts:  # it says itself what is wrong with it
        where = _source(source, CONFIG_KEY)
        return read_yaml(str(texts[CONFIG_KEY]).encode(), where), where
    keys = ", ".join(map(str, texts)) or "none"
    message = f"expected one key of data with a {KIND}, got {len(trees)} (keys: {keys})"
    raise ConfigErrors([Problem(where=source, path="data", message=message)])


def _configurations(
    texts: Mapping[object, object], source: str
) -> Iterator[tuple[object, str]]:
    for key, text in texts.items():
        where = _source(source, key)
        try:
            tree = read_yaml(str(text).encode(), where)
        except ConfigErrors:
            continue
        if isinstance(tree, Mapping) and tree.get("kind") == KIND:
            yield tree, where


def _source(source: str, key: object) -> str:
    return f"{source}: data[{str(key)!r}]"


def _openshift(document: Mapping[object, object]) -> str:
    spec = document.get("spec")
    profile = spec.get("profile") if isinstance(spec, Mapping) else None
    named = f" names the profile {profile!r}" if profile else " names no profile"
    return (
        f"{document.get('kind')} of OpenShift{named}; its operator renders a {KIND} "
        "from it, in the ConfigMap config of the namespace openshift-kube-scheduler: "
        "give that file"
    )
