"""Finds the configuration in the document of another kind that people keep it in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from quaymaster._base.errors import Problem
from quaymaster._core.config.document import KIND
from quaymaster._core.config.errors import ConfigErrors
from quaymaster._core.config.yaml_file import read_documents, read_yaml

__all__ = ["CONFIG_KEY", "read_wrapped", "unwrapped"]

CONFIG_KEY: Final = "config.yaml"
"""The usual key of the configuration in a ConfigMap."""

_TALOS: Final = ("cluster", "scheduler", "config")
"""Where the machine configuration of Talos has it."""


def read_wrapped(text: bytes, source: str) -> tuple[object, str]:
    """Read the configuration in a text, and return it with a name for messages.

    The text may have more documents, such as those that charts render, or the parts of
    a machine configuration; or be a list of objects, as kubectl prints it.

    Args:
        text: The content of a file.
        source: Its name.

    Raises:
        ConfigErrors: The text contains no configuration, or several.
    """
    documents = [
        item for tree in read_documents(text, source) for item in _items_of(tree)
    ]
    if len(documents) < 2:
        return unwrapped(documents[0] if documents else None, source)
    holders = [document for document in documents if _holds_configuration(document)]
    if len(holders) == 1:
        return unwrapped(holders[0], source)
    message = f"expected one {KIND} in its {len(documents)} documents"
    raise ConfigErrors(
        [Problem(where=source, message=f"{message}, got {len(holders)}")]
    )


def _items_of(tree: object) -> Sequence[object]:
    """Return the items of a list of objects, or the object itself."""
    if isinstance(tree, Mapping) and str(tree.get("kind")).endswith("List"):
        items = tree.get("items")
        if isinstance(items, list):
            return items
    return [tree]


def _holds_configuration(document: object) -> bool:
    if not isinstance(document, Mapping):
        return False
    if document.get("kind") == "ConfigMap":
        data = document.get("data")
        texts = data.values() if isinstance(data, Mapping) else ()
        return any(KIND in str(text) for text in texts)
    return document.get("kind") == KIND or _of_talos(document) is not None


def _of_talos(document: Mapping[object, object]) -> object:
    inner: object = document
    for key in _TALOS:
        inner = inner.get(key) if isinstance(inner, Mapping) else None
    return inner


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
    inner = _of_talos(document)
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
