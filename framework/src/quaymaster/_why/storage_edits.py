"""Changes of claims: another storage class."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from quaymaster._contract.cluster import NotFoundError
from quaymaster._inmemory.cluster import InMemoryCluster
from quaymaster._objects import (
    ApiObject,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from quaymaster._why.changes import (
    Apply,
    Candidate,
    ChangeKind,
    FieldChange,
    SuggestedChange,
    single,
)

__all__ = ["other_classes"]

_NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"


def other_classes(pod: Pod, cluster: InMemoryCluster) -> Iterator[Candidate]:
    """Offer other storage classes for the claims of a pod that have no volume yet."""
    classes = sorted(
        one.name
        for one in cluster.list(StorageClass).items
        if one.provisioner != _NO_PROVISIONER
    )
    for volume in pod.spec.volumes:
        source = volume.persistent_volume_claim
        if source is None:
            continue
        try:
            key = f"{pod.namespace}/{source.claim_name}"
            claim = cluster.get(PersistentVolumeClaim, key)
        except NotFoundError:
            continue
        old = claim.spec.storage_class_name or ""
        if claim.spec.volume_name:
            continue
        for name in classes:
            if name != old:
                yield single(_of_class(claim, old, name))


def _of_class(claim: PersistentVolumeClaim, old: str, new: str) -> SuggestedChange:
    return SuggestedChange(
        kinds=(ChangeKind.STORAGE_CLASS,),
        text=f"have the claim {claim.name} made anew with the storage class {new}",
        fields=(
            FieldChange(
                object=f"persistentvolumeclaim/{claim.name}",
                namespace=claim.namespace,
                path="spec.storageClassName",
                old=old,
                new=new,
            ),
        ),
        apply=_with_class(claim.name, claim.namespace, new),
    )


def _with_class(name: str, namespace: str, storage_class: str) -> Apply:
    def changed(obj: ApiObject) -> ApiObject:
        if not isinstance(obj, PersistentVolumeClaim):
            return obj
        if (obj.name, obj.namespace or "default") != (name, namespace):
            return obj
        spec = msgspec.structs.replace(obj.spec, storage_class_name=storage_class)
        return msgspec.structs.replace(obj, spec=spec)

    def apply(objects: Sequence[ApiObject]) -> list[ApiObject]:
        return list(map(changed, objects))

    return apply
