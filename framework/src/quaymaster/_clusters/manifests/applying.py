"""The result of applying a manifest to an object of a cluster."""

from typing import Any, TypeVar

from msgspec.structs import replace

from quaymaster._api.objects import ApiObject, PersistentVolumeClaim, Pod

__all__ = ["applied"]

ObjT = TypeVar("ObjT", bound=ApiObject)


def applied(manifest: ObjT, stored: ApiObject) -> ObjT:
    """Return an object as it is in the cluster after it is applied.

    The fields of the manifest win. Fields that only the cluster sets are kept: identity
    and status, the node that a pod is bound to, the volume of a claim.

    Args:
        manifest: The object of the manifest. One from a server stays as it is.
        stored: The object that the cluster has under its name.
    """
    if manifest.uid:
        return manifest
    old, new = stored.metadata, manifest.metadata
    changes: dict[str, Any] = {
        "metadata": replace(
            old,
            labels={**old.labels, **new.labels},
            annotations={**old.annotations, **new.annotations},
            owner_references=new.owner_references or old.owner_references,
            finalizers=new.finalizers or old.finalizers,
        )
    }
    if hasattr(manifest, "status") and manifest.status == type(manifest)().status:
        changes["status"] = getattr(stored, "status")  # noqa: B009 - of the same kind
    if isinstance(manifest, Pod) and isinstance(stored, Pod):
        changes["node_name"] = manifest.node_name or stored.node_name
    if isinstance(manifest, PersistentVolumeClaim) and isinstance(
        stored, PersistentVolumeClaim
    ):
        volume = manifest.spec.volume_name or stored.spec.volume_name
        changes["spec"] = replace(manifest.spec, volume_name=volume)
    return replace(manifest, **changes)
