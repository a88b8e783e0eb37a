"""The claims of pods, and what follows from a claim.

Mirrors ``storage/volume`` and ``storage/ephemeral`` (k8s.io/component-helpers v0.36).
"""

from collections.abc import Hashable, Sequence
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    SpecKey,
    StorageClass,
    Volume,
)
from quaymaster._api.objects.volumes import LOCAL_SOURCES
from quaymaster._kits.volumes.names import (
    BETA_STORAGE_CLASS,
    BIND_COMPLETED,
    SELECTED_NODE,
)

__all__ = [
    "claim_key",
    "claim_name",
    "class_of_claim",
    "class_of_volume",
    "is_bound_to",
    "is_delayed",
    "is_fully_bound",
    "is_made_for",
    "reference_to",
    "selected_node",
    "volumes_fragment",
    "volumes_of",
]


def volumes_of(pod: Pod) -> Sequence[Volume]:
    """The volumes of a pod that have a source which scheduling reads.

    Local volumes, config maps and the like are left out, so for most pods this is
    empty; computed once per template.
    """
    spec = pod.spec
    return _VOLUMES.of_spec(spec) if spec.volumes else ()


def _read_volumes(spec: PodSpec) -> Sequence[Volume]:
    nothing = dict.fromkeys(LOCAL_SOURCES)
    return tuple(
        volume
        for volume in spec.volumes
        if replace(volume, **nothing) != Volume(name=volume.name)
    )


_VOLUMES: Final = SpecKey(_read_volumes)


def volumes_fragment(pod: Pod) -> Hashable | None:
    """Return the signature fragment of plugins that read a pod's volumes.

    For pods with volumes it is None, so that no results are cached: these depend on
    claims and on other pods, not on nodes alone. Upstream signs most of them
    (``VolumesSigner``, k8s.io/kube-scheduler v0.36, ``framework/signers.go``), since
    there a signature is valid only for one batch of pods.
    """
    # Pods with such volumes are never alike: each has a claim of its own, or shares a
    # disk that only some nodes reach.
    return None if volumes_of(pod) else ()


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """Return the name of a volume's claim, or None.

    The claim of an ephemeral volume is named after the pod and the volume.
    """
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    if volume.ephemeral is not None:
        # The name that the ephemeral volume controller gives the claim; there is no
        # field for it.
        return f"{pod.metadata.name}-{volume.name}"
    return None


def claim_key(pod: Pod, name: str) -> str:
    """The key of a claim that a pod names."""
    return f"{pod.metadata.namespace}/{name}"


def is_made_for(claim: PersistentVolumeClaim, pod: Pod) -> bool:
    """Whether a claim was made for an ephemeral volume of this very pod."""
    owner = claim.metadata.controller
    return (
        claim.metadata.namespace == pod.metadata.namespace
        and owner is not None
        and owner.uid == pod.metadata.uid
    )


def class_of_claim(claim: PersistentVolumeClaim) -> str:
    """The name of the storage class that a claim asks for, or empty."""
    # The annotation overrides the field, also with an empty value
    # (``GetPersistentVolumeClaimClass`` in k8s.io/component-helpers).
    beta = claim.metadata.annotations.get(BETA_STORAGE_CLASS)
    return (claim.spec.storage_class_name or "") if beta is None else beta


def class_of_volume(volume: PersistentVolume) -> str:
    """The name of the storage class of a volume, or empty."""
    beta = volume.metadata.annotations.get(BETA_STORAGE_CLASS)
    return volume.spec.storage_class_name if beta is None else beta


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether a claim has a volume, and both sides agree."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def is_bound_to(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether a volume is bound to, or kept for, a claim."""
    reference = volume.spec.claim_ref
    return (
        reference is not None
        and reference.name == claim.metadata.name
        and reference.namespace == claim.metadata.namespace
        # Without a uid, an administrator has reserved the volume for a claim of this
        # name that may not exist yet.
        and reference.uid in ("", claim.metadata.uid)
    )


def is_delayed(claim: PersistentVolumeClaim, storage_class: StorageClass) -> bool:
    """Whether a claim waits for a pod before it is bound.

    Raises:
        ValueError: The class has no binding mode.
    """
    mode = storage_class.volume_binding_mode
    # The API server sets a default, so only objects that it has not read lack the mode.
    # Upstream reports the same error.
    if mode is None:
        name = class_of_claim(claim)
        raise ValueError(f'VolumeBindingMode not set for StorageClass "{name}"')
    return mode == "WaitForFirstConsumer"


def selected_node(claim: PersistentVolumeClaim) -> str | None:
    """The node for which a volume is to be made; None if none is selected."""
    return claim.metadata.annotations.get(SELECTED_NODE)


def reference_to(claim: PersistentVolumeClaim) -> ObjectReference:
    """The reference to a claim that a volume bound to it has."""
    return ObjectReference(
        api_version=claim.api_version,
        kind=claim.kind,
        namespace=claim.metadata.namespace,
        name=claim.metadata.name,
        uid=claim.metadata.uid,
        resource_version=claim.metadata.resource_version,
    )
