"""Changes of the storage class of claims and of claim templates."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import partial
from typing import Final

import msgspec

from quaymaster._api.objects import (
    ApiObject,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    StatefulSet,
    StorageClass,
    Volume,
)
from quaymaster._clusters.inmemory.cluster import InMemoryCluster
from quaymaster._core.contract.cluster import NotFoundError
from quaymaster._studies.simulation.owners import owners_of
from quaymaster._studies.why.changes import (
    Candidate,
    ChangeKind,
    FieldChange,
    SuggestedChange,
    single,
    yaml_scalar,
)
from quaymaster._studies.why.editing import Editing

__all__ = ["other_classes"]

_NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"


def other_classes(
    editing: Editing, pod: Pod, cluster: InMemoryCluster
) -> Iterator[Candidate]:
    """Offer other storage classes for the claims of a pod that have no volume yet.

    If a StatefulSet or the pod itself has a template for the claim, the template is
    changed.
    """
    classes = sorted(
        storage_class.name
        for storage_class in cluster.list(StorageClass).items
        # With such a class, a claim still waits until a volume is made by hand.
        if storage_class.provisioner != _NO_PROVISIONER
    )
    for index, volume in enumerate(pod.spec.volumes):
        claim = _claim_without_volume(pod, volume, cluster)
        if claim is None:
            continue
        old = claim.spec.storage_class_name or ""
        for name in sorted(classes, key=lambda each: _distance(each, old)):
            if name == old:
                continue
            if volume.ephemeral is not None:
                yield _of_ephemeral(editing, index, volume.name, old, name)
                continue
            made = _template_of(claim, pod, cluster)
            if made is None:
                yield single(_of_claim(claim, old, name))
            else:
                yield single(_of_template(*made, claim, old, name))


def _distance(name: str, other: str) -> float:
    """Return how far two names differ: a class that is missing may be misspelt."""
    return -SequenceMatcher(None, name, other).ratio()


def _claim_without_volume(
    pod: Pod, volume: Volume, cluster: InMemoryCluster
) -> PersistentVolumeClaim | None:
    source = volume.persistent_volume_claim
    if source is not None:
        name = source.claim_name
    elif volume.ephemeral is not None:
        name = f"{pod.name}-{volume.name}"
    else:
        return None
    try:
        claim = cluster.get(PersistentVolumeClaim, f"{pod.namespace}/{name}")
    except NotFoundError:
        return None
    return None if claim.spec.volume_name else claim


def _template_of(
    claim: PersistentVolumeClaim, pod: Pod, cluster: InMemoryCluster
) -> tuple[StatefulSet, int] | None:
    """Return the StatefulSet with the template of a pod's claim, and its index."""
    for owner in owners_of(pod, cluster):
        if owner.kind != StatefulSet.kind:
            continue
        try:
            stateful_set = cluster.get(StatefulSet, f"{pod.namespace}/{owner.name}")
        except NotFoundError:
            return None
        for index, template in enumerate(stateful_set.spec.volume_claim_templates):
            if claim.name == f"{template.name}-{pod.name}":
                return stateful_set, index
    return None


def _of_claim(claim: PersistentVolumeClaim, old: str, new: str) -> SuggestedChange:
    return SuggestedChange(
        kinds=(ChangeKind.STORAGE_CLASS,),
        text=f"have the claim {claim.name} made anew with the storage class {new}",
        fields=(
            FieldChange(
                object=f"persistentvolumeclaim/{claim.name}",
                namespace=claim.namespace,
                path="spec.storageClassName",
                old=old,
                new=yaml_scalar(new),
            ),
        ),
        apply=partial(_changed, change=_claim_change(claim, new)),
    )


def _of_template(
    owner: StatefulSet, index: int, claim: PersistentVolumeClaim, old: str, new: str
) -> SuggestedChange:
    """Change the template, and the claim if the input has it already."""
    name = owner.spec.volume_claim_templates[index].name
    change_claim = _claim_change(claim, new)

    def change(obj: ApiObject) -> ApiObject:
        if not isinstance(obj, StatefulSet) or not _is_same(obj, owner):
            return change_claim(obj)
        templates = list(obj.spec.volume_claim_templates)
        templates[index] = _with_class(templates[index], new)
        spec = msgspec.structs.replace(
            obj.spec, volume_claim_templates=tuple(templates)
        )
        return msgspec.structs.replace(obj, spec=spec)

    return SuggestedChange(
        kinds=(ChangeKind.STORAGE_CLASS,),
        text=f"have statefulset/{owner.name} and its claims {name} made anew with the "
        f"storage class {new}",
        fields=(
            FieldChange(
                object=f"statefulset/{owner.name}",
                namespace=owner.namespace,
                path=f"spec.volumeClaimTemplates[{index}].spec.storageClassName",
                old=old,
                new=yaml_scalar(new),
            ),
        ),
        apply=partial(_changed, change=change),
    )


def _of_ephemeral(
    editing: Editing, index: int, name: str, old: str, new: str
) -> Candidate:
    path = f"volumes[{index}].ephemeral.volumeClaimTemplate.spec.storageClassName"
    return editing.candidate(
        ChangeKind.STORAGE_CLASS,
        f"give the volume {name} of {editing.subject} the storage class {new}",
        editing.field(path, old, yaml_scalar(new)),
        partial(_with_ephemeral_class, name=name, storage_class=new),
    )


def _with_ephemeral_class(spec: PodSpec, *, name: str, storage_class: str) -> PodSpec:
    volumes = tuple(
        _with_template_class(volume, storage_class) if volume.name == name else volume
        for volume in spec.volumes
    )
    return msgspec.structs.replace(spec, volumes=volumes)


def _with_template_class(volume: Volume, storage_class: str) -> Volume:
    source = volume.ephemeral
    if source is None or source.volume_claim_template is None:
        return volume
    template = source.volume_claim_template
    spec = msgspec.structs.replace(template.spec, storage_class_name=storage_class)
    template = msgspec.structs.replace(template, spec=spec)
    source = msgspec.structs.replace(source, volume_claim_template=template)
    return msgspec.structs.replace(volume, ephemeral=source)


def _claim_change(
    claim: PersistentVolumeClaim, storage_class: str
) -> Callable[[ApiObject], ApiObject]:
    def change(obj: ApiObject) -> ApiObject:
        if isinstance(obj, PersistentVolumeClaim) and _is_same(obj, claim):
            return _with_class(obj, storage_class)
        return obj

    return change


def _with_class(
    claim: PersistentVolumeClaim, storage_class: str
) -> PersistentVolumeClaim:
    spec = msgspec.structs.replace(claim.spec, storage_class_name=storage_class)
    return msgspec.structs.replace(claim, spec=spec)


def _is_same(given: ApiObject, stored: ApiObject) -> bool:
    """Whether an object of the input is the same as a stored one."""
    return (given.name, given.namespace or "default") == (stored.name, stored.namespace)


def _changed(
    objects: Sequence[ApiObject], *, change: Callable[[ApiObject], ApiObject]
) -> list[ApiObject]:
    return list(map(change, objects))
