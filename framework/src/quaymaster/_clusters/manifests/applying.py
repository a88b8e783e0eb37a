"""What becomes of an object of a cluster once a manifest is applied to it."""

from typing import Any, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, PersistentVolumeClaim, Pod

__all__ = ["applied"]

ObjT = TypeVar("ObjT", bound=ApiObject)


def applied(given: ObjT, known: ApiObject) -> ObjT:
    """Return an object as it is in the cluster once it is applied.

    What it says counts. What only the cluster can say is kept: identity and status,
    the node that a pod is bound to, the volume of a claim.

    Args:
        given: The object. If a server has stored it, it stays as it is.
        known: What the cluster has under its name.
    """
    if given.uid:
        return given
    old, new = known.metadata, given.metadata
    changes: dict[str, Any] = {
        "metadata": replace(
            old,
            labels={**old.labels, **new.labels},
            annotations={**old.annotations, **new.annotations},
            owner_references=new.owner_references or old.owner_references,
            finalizers=new.finalizers or old.finalizers,
        )
    }
    if hasattr(given, "status") and given.status == type(given)().status:
        changes["status"] = getattr(known, "status")  # noqa: B009 - of the same kind
    if isinstance(given, Pod) and isinstance(known, Pod):
        changes["node_name"] = given.node_name or known.node_name
    if isinstance(given, PersistentVolumeClaim) and isinstance(
        known, PersistentVolumeClaim
    ):
        volume = given.spec.volume_name or known.spec.volume_name
        changes["spec"] = replace(given.spec, volume_name=volume)
    return replace(given, **changes)
