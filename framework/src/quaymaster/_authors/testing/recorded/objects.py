"""Objects of recorded calls, which may lack what an API server requires."""

from collections.abc import Mapping
from typing import Any, TypeVar

from quaymaster._api.objects import KINDS, ApiObject, Node, Pod
from quaymaster._api.objects.wire import from_wire
from quaymaster._authors.testing.recorded.case import CallNotPlayedError, Json

__all__ = ["object_from", "pod_on", "typed_object"]

ObjT = TypeVar("ObjT", bound=ApiObject)


def object_from(tree: Mapping[str, Any], kind: type[ObjT]) -> ObjT:
    """Make an object; without a uid, its namespace and name are its uid."""
    clean: Json = _without_nulls(tree)
    metadata = clean.setdefault("metadata", {})
    name, namespace = metadata.get("name", ""), metadata.get("namespace", "")
    metadata.setdefault("uid", f"{namespace}/{name}")
    # Stored objects have a version, and are read without the checks of new ones.
    metadata.setdefault("resourceVersion", "1")
    return from_wire(clean, kind)


def pod_on(node: Node, tree: Mapping[str, Any], number: int) -> Pod:
    """Make a pod that runs on a node.

    Args:
        node: The node.
        tree: The pod.
        number: Its number on the node, by which pods without names differ.
    """
    spec = {**tree.get("spec", {}), "nodeName": node.name}
    metadata = {**tree.get("metadata", {})}
    if not metadata.get("name"):
        metadata.setdefault("uid", f"{node.name}#{number}")
    return object_from({**tree, "spec": spec, "metadata": metadata}, Pod)


def typed_object(tree: Mapping[str, Any]) -> ApiObject:
    """Make an object of ``{"Kind": {...}}``.

    Raises:
        CallNotPlayedError: It is not such an object, or scheduling ignores the kind.
    """
    if len(tree) == 1:
        ((kind, fields),) = tree.items()
        if kind in KINDS and isinstance(fields, Mapping):
            return object_from(fields, KINDS[kind])
    raise CallNotPlayedError("an argument of a wrong type, or of an unknown kind")


def _without_nulls(tree: Any) -> Any:  # noqa: ANN401 - any part of a JSON tree
    if isinstance(tree, Mapping):
        items = tree.items()
        return {key: _without_nulls(value) for key, value in items if value is not None}
    return [_without_nulls(item) for item in tree] if isinstance(tree, list) else tree
