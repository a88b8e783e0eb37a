"""Objects of a plugin, as their controllers may change them."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, replace

from quaymaster._api.objects import ApiObject
from quaymaster._authors.testing.contract.changes import is_declared
from quaymaster._authors.testing.contract.small_cluster import SmallCluster

__all__ = ["handled"]

_OWN = frozenset({"metadata", "spec"})
"""The fields that a controller leaves as they are."""


def handled(obj: ApiObject, cluster: SmallCluster) -> Iterator[ApiObject]:
    """Yield an object as its controller may leave it.

    All values that are false become true, in its status and outside of its spec. Or it
    gets the status of another object of its kind. Kinds of Kubernetes do not change:
    their values depend on each other.

    Args:
        obj: The object.
        cluster: The cluster with other objects.
    """
    if not is_declared(type(obj)):
        return
    rivals = [rival for rival in cluster.objects if type(rival) is type(obj)]
    results = [_finished(obj), *map(_left_by_controllers, rivals)]
    changed = [replace(obj, **values) for values in results]
    for at, new in enumerate(changed):
        if new != obj and new not in changed[:at]:
            yield new


def _left_by_controllers(obj: ApiObject) -> Mapping[str, Any]:
    names = [field.name for field in fields(obj) if field.name not in _OWN]
    return {name: getattr(obj, name) for name in names}


def _finished(obj: ApiObject) -> Mapping[str, Any]:
    return {name: _true(value) for name, value in _left_by_controllers(obj).items()}


def _true(value: object) -> object:
    """Return a value with each False in it replaced by True."""
    if isinstance(value, bool):
        return True
    if not isinstance(value, Struct):
        return value
    parts = {field.name: _true(getattr(value, field.name)) for field in fields(value)}
    return replace(value, **parts)
