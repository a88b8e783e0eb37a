"""Makes one file of what is in a cluster."""

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
    """The objects of a cluster, with their types as in files.

    Args:
        live: What is in the cluster.
        kinds: The kinds that are known.
        is_anonymous: Whether to give them other names.
    """
    items = []
    for resource, pages in live.lists:
        typed = {"apiVersion": resource.api_version, "kind": resource.kind}
        for page in pages:
            for item in msgspec.json.decode(page).get("items") or ():
                # As kubectl leaves them out, who has written which field.
                item.get("metadata", {}).pop("managedFields", None)
                items.append({**typed, **item})
    return anonymised(items, kinds) if is_anonymous else items


def snapshot_content(items: list[Tree], name: str) -> bytes:
    """The content of a file: a list as kubectl prints it, compressed if it ends so."""
    document = {"apiVersion": "v1", "kind": "List", "items": items}
    content = msgspec.json.encode(document)
    if name.endswith(GZIP_ENDING):
        return gzip.compress(content, mtime=0)
    return content + b"\n"
