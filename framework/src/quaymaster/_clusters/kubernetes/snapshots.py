"""Writes the objects of a cluster to one file."""

import gzip
from typing import Any, Final, TypeAlias

import msgspec

from quaymaster._clusters.kubernetes.listing import LiveObjects

__all__ = ["snapshot_content", "whole_items"]

Tree: TypeAlias = dict[str, Any]

GZIP_ENDING: Final = ".gz"


def whole_items(live: LiveObjects) -> list[Tree]:
    """Return the objects as the server has them, each with its API version and kind.

    Args:
        live: The lists of the cluster.
    """
    items = []
    for resource, pages in live.lists:
        typed = {"apiVersion": resource.api_version, "kind": resource.kind}
        for page in pages:
            for item in msgspec.json.decode(page).get("items") or ():
                # kubectl omits managed fields as well.
                item.get("metadata", {}).pop("managedFields", None)
                items.append({**typed, **item})
    return items


def snapshot_content(items: list[Tree], name: str) -> bytes:
    """Return the file's content: a List as in kubectl; compressed for ``.gz``."""
    document = {"apiVersion": "v1", "kind": "List", "items": items}
    content = msgspec.json.encode(document)
    if name.endswith(GZIP_ENDING):
        # Without a time, equal objects make equal files.
        return gzip.compress(content, mtime=0)
    return content + b"\n"
