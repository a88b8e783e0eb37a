"""Standing objects: those that some API server has let in before."""

from typing import Final

from quaymaster._api.objects import ApiObject, PersistentVolumeClaim, Pod

__all__ = ["is_standing"]

_NOT_BEGUN: Final = ("", "Pending")


def is_standing(obj: ApiObject) -> bool:
    """Whether an object was read from a cluster, and is not about to be created.

    It is if it has a resource version or a time of creation, or if it is a pod on a
    node, or a pod or claim that is further than ``Pending``. Classes, limit ranges and
    quotas apply to new objects only: a standing one met those of its own time. So do
    compilers of device selectors: its own API server's may know more than ours.
    """
    metadata = obj.metadata
    if metadata.resource_version or metadata.creation_timestamp is not None:
        return True
    if isinstance(obj, Pod):
        return bool(obj.node_name) or obj.status.phase not in _NOT_BEGUN
    if isinstance(obj, PersistentVolumeClaim):
        return obj.status.phase not in _NOT_BEGUN
    return False
