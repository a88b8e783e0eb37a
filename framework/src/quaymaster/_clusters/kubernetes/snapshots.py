"""Writes the objects of a cluster to one file."""

import gzip
from typing import Any, Final, TypeAlias

import msgspec

from quaymaster._api.objects.kind_set import KindSet
from quaymaster._clusters.kubernetes.anonymising import anonymised
from quaymaster._clusters.kubernetes.listing import LiveObjects

__all__ = ["snapshot_content", "snapshot_items"]

Tree: TypeAlias = dict[str, Any]

GZIP_ENDING: Final = ".gz"


def snapshot_items(
    live: LiveObjects, kinds: KindSet, *, is_anonymous: bool
) -> list[Tree]:
    """Return the objects of a cluster, each with its API version and kind.

    Args:
        live: The lists of the cluster.
        kinds: The kinds to include in anonymous snapshots.
        is_anonymous: Whether to replace names.
    """
    items = []
    for resource, pages in live.lists:
        typed = {"apiVersion": resource.api_version, "kind": resource.kind}
        for page in pages:
            for item in msgspec.json.decode(page).get("items") or ():
                # kubectl omits managed fields as well.
                item.get("metadata", {}).pop("managedFields", None)
                items.append({**typed, **item})
    return anonymised(items, kinds) if is_anonymous else items


def snapshot_content(items: list[Tree], name: str) -> bytes:
    """Return the file's content: a List as in kubectl; compressed for ``.gz``."""
    document = {"apiVersion": "v1", "kind": "List", "items": items}
    content = msgspec.json.encode(document)
    if name.endswith(GZIP_ENDING):
        return gzip.compress(content, mtime=0)
    return content + b"\n"
