"""The claims of ephemeral volumes: created and removed with their pods.

Mirrors ``pkg/controller/volume/ephemeral`` (Kubernetes v1.36), and the garbage
collector for these claims.
"""

from quaymaster._api.objects import ObjectMeta, PersistentVolumeClaim, Pod
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.pods import owner_reference
from quaymaster._core.contract.cluster import (
    ApiError,
    EventNote,
    ForbiddenError,
    InvalidError,
)
from quaymaster._kits.volumes.claims import claim_key, claim_name, is_made_for

__all__ = ["add_claims", "has_ephemeral_volumes", "remove_claims"]


def has_ephemeral_volumes(pod: Pod) -> bool:
    """Return whether a pod has volumes whose claims are made for it."""
    return any(volume.ephemeral is not None for volume in pod.spec.volumes)


def add_claims(cluster: ClusterAccess, pod: Pod) -> None:
    """Create the missing claims of a pod; a claim of another owner stays as it is."""
    if pod.is_terminating or pod.is_finished:
        return
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if volume.ephemeral is None or name is None:
            continue
        template = volume.ephemeral.volume_claim_template
        key = claim_key(pod, name)
        # A claim of another owner under this name is left alone, and the scheduler
        # keeps the pod pending (``VolumeIsForPod``).
        if template is None or key in cluster.objects(PersistentVolumeClaim):
            continue
        metadata = ObjectMeta(
            name=name,
            namespace=pod.namespace,
            labels=template.metadata.labels,
            annotations=template.metadata.annotations,
            owner_references=(owner_reference(pod),),
        )
        claim = PersistentVolumeClaim(metadata=metadata, spec=template.spec)
        try:
            cluster.add(cluster.admit(claim))
        except (ForbiddenError, InvalidError) as error:
            # The pod waits for its claim, as the scheduler reports.
            cluster.record(_failure(pod, error))


def _failure(pod: Pod, error: ApiError) -> EventNote:
    return EventNote(
        regarding=pod,
        type="Warning",
        reason="FailedCreate",
        action="Create",
        note=f"Error creating: {error}",
        reporter="ephemeral-volume-controller",
    )


def remove_claims(cluster: ClusterAccess, pod: Pod) -> None:
    """Delete the claims of a pod that is gone."""
    for volume in pod.spec.volumes:
        name = claim_name(pod, volume)
        if volume.ephemeral is None or name is None:
            continue
        claim = cluster.objects(PersistentVolumeClaim).get(claim_key(pod, name))
        # The claim may belong to a newer pod of the same name.
        if claim is not None and is_made_for(claim, pod):
            cluster.delete(claim)
