"""Updates an object of which only the fields that scheduling reads are decoded."""

from typing import Any, TypeAlias

from quaymaster._api.objects import ApiObject
from quaymaster._api.objects.wire import from_wire, to_wire
from quaymaster._core.contract.cluster import ConflictError

__all__ = ["updated_tree"]

Tree: TypeAlias = dict[str, Any]


def updated_tree(whole: Tree, obj: ApiObject) -> None:
    """Write the changed fields into the server's version; other fields stay.

    Args:
        whole: The server's version of the object, which is changed.
        obj: The new version of the object.

    Raises:
        ConflictError: The object was changed since the caller read it.
    """
    metadata = whole.get("metadata", {})
    stored = metadata.get("uid"), metadata.get("resourceVersion")
    if stored != (obj.metadata.uid, obj.metadata.resource_version):
        raise ConflictError(f"{obj.kind} {obj.key} was changed since it was read")
    _bring(whole, to_wire(from_wire(whole, type(obj))), to_wire(obj))


def _bring(whole: Tree, before: Tree, after: Tree) -> None:
    for key in before.keys() - after.keys():
        whole.pop(key, None)
    for key, value in after.items():
        was = before.get(key)
        if was == value:
            continue
        if isinstance(value, dict) and isinstance(whole.get(key), dict):
            _bring(whole[key], was if isinstance(was, dict) else {}, value)
        else:
            whole[key] = value
