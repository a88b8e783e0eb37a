"""Objects that another API server has already admitted."""

from typing import Final

from quaymaster._api.objects import ApiObject, PersistentVolumeClaim, Pod

__all__ = ["is_already_admitted"]

_NOT_BEGUN: Final = ("", "Pending")


def is_already_admitted(obj: ApiObject) -> bool:
    """Return whether an object was read from a cluster, and is not about to be created.

    It was if it has a resource version or a time of creation, if it is a pod on a node,
    or if it is a pod or claim beyond ``Pending``. Classes, limit ranges and quotas
    apply to new objects only: a stored object met the rules of its own time. The same
    is true of compilers of device selectors: the compiler of the other API server may
    support more than ours.
    """
    metadata = obj.metadata
    if metadata.resource_version or metadata.creation_timestamp is not None:
        # Exported manifests often lack both fields, but the rest of the object shows
        # that a scheduler or kubelet has handled it.
        return True
    if isinstance(obj, Pod):
        return bool(obj.node_name) or obj.status.phase not in _NOT_BEGUN
    if isinstance(obj, PersistentVolumeClaim):
        return obj.status.phase not in _NOT_BEGUN
    return False
