"""The claims of StatefulSets: created with their pods, and deleted by policy.

Mirrors ``createMissingPersistentVolumeClaims`` (``stateful_pod_control.go``) and the
retention policy (``stateful_set_utils.go``) of ``pkg/controller/statefulset``
(Kubernetes v1.37).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    OwnerReference,
    PersistentVolumeClaim,
    PersistentVolumeClaimVolumeSource,
    Pod,
    StatefulSet,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    Volume,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.pods import owner_reference
from quaymaster._core.contract.cluster import ConflictError

__all__ = ["SetClaims", "claim_volumes", "ordinals"]

_RETAIN: Final = StatefulSetPersistentVolumeClaimRetentionPolicy()


class SetClaims:
    """Creates the claims of StatefulSets, and gives them owners that delete them.

    Args:
        cluster: The cluster.
    """

    def __init__(self, cluster: ClusterAccess) -> None:
        self._cluster = cluster
        self._claims = cluster.objects(PersistentVolumeClaim)

    def add_missing(self, owner: StatefulSet, ordinal: int) -> None:
        """Create the claims of an ordinal that do not exist.

        Raises:
            ConflictError: A claim is being deleted.
            ForbiddenError: A claim exceeds a quota.
            InvalidError: A claim breaks a rule.
        """
        for claim in _claims_of(owner, ordinal):
            stored = self._claims.get(claim.key)
            if stored is None:
                self._cluster.add(self._cluster.admit(claim))
            # A pod must not start on a claim that disappears; the set waits for its end
            # (``createPersistentVolumeClaims``).
            elif stored.metadata.deletion_timestamp is not None:
                raise ConflictError(f"claim {claim.name} is being deleted")

    def sync(self, owner: StatefulSet, ordinal: int, pod: Pod | None) -> None:
        """Create the missing claims of a pending pod, and set the owners of all.

        Raises:
            ConflictError: A claim is being deleted.
            ForbiddenError: A claim exceeds a quota.
            InvalidError: A claim breaks a rule.
        """
        if not owner.spec.volume_claim_templates or pod is None:
            return
        # Claims of pods that run are not created again: their volumes are mounted
        # already.
        if pod.status.phase == "Pending":
            self.add_missing(owner, ordinal)
        self.mark(owner, ordinal, pod, is_condemned=False)

    def are_stale(self, owner: StatefulSet, ordinal: int) -> bool:
        """Return whether claims of a removed pod of this ordinal are yet to be deleted.

        They have the removed pod as their owner.
        """
        # ``PodClaimIsStale``: the garbage collector would delete the claim under a new
        # pod.
        if _policy(owner).when_scaled != "Delete":
            return False
        name = f"{owner.name}-{ordinal}"
        return any(
            reference.kind == "Pod" and reference.name == name
            for claim in self._stored(owner, ordinal)
            for reference in claim.metadata.owner_references
        )

    def mark(
        self, owner: StatefulSet, ordinal: int, pod: Pod, *, is_condemned: bool
    ) -> None:
        """Give the claims of a pod the owner whose deletion deletes them, if any.

        Args:
            owner: The set.
            ordinal: The ordinal of the pod.
            pod: The pod.
            is_condemned: Whether the pod is beyond the end of the set.
        """
        policy = _policy(owner)
        manager: ApiObject | None = None
        # When a set shrinks, the pod owns the claim: if the set grows again before the
        # pod is gone, the claim gets its old owner back.
        if is_condemned and policy.when_scaled == "Delete":
            manager = pod
        elif policy.when_deleted == "Delete":
            manager = owner
        for claim in self._stored(owner, ordinal):
            references = claim.metadata.owner_references
            if not _is_free(references, owner, pod, policy):
                continue
            others = tuple(r for r in references if not _names(r, owner, pod))
            own = () if manager is None else (owner_reference(manager),)
            if references != (*others, *own):
                metadata = replace(claim.metadata, owner_references=(*others, *own))
                self._cluster.change(claim, replace(claim, metadata=metadata))

    def set_removed(self, owner: StatefulSet) -> None:
        """Delete the claims that a removed set was the only owner of."""
        for claim in list(self._claims.values()):
            self._drop_owner(claim, owner)

    def pod_removed(self, pod: Pod) -> None:
        """Delete the claims that a removed pod was the only owner of."""
        for volume in pod.spec.volumes:
            source = volume.persistent_volume_claim
            key = "" if source is None else f"{pod.namespace}/{source.claim_name}"
            claim = self._claims.get(key)
            if claim is not None:
                self._drop_owner(claim, pod)

    def _drop_owner(self, claim: PersistentVolumeClaim, owner: ApiObject) -> None:
        references = claim.metadata.owner_references
        others = tuple(r for r in references if r.uid != owner.uid)
        if others == references:
            return
        # Each owner alone keeps a claim alive, as in the garbage collector.
        if others:
            metadata = replace(claim.metadata, owner_references=others)
            self._cluster.change(claim, replace(claim, metadata=metadata))
        else:
            self._cluster.delete(claim)

    def _stored(
        self, owner: StatefulSet, ordinal: int
    ) -> Iterator[PersistentVolumeClaim]:
        for template in owner.spec.volume_claim_templates:
            name = _claim_name(template, owner, ordinal)
            claim = self._claims.get(f"{owner.namespace}/{name}")
            if claim is not None:
                yield claim


def ordinals(owner: StatefulSet) -> range:
    """Return the ordinals that a StatefulSet should have pods of."""
    start = 0 if owner.spec.ordinals is None else owner.spec.ordinals.start
    count = 1 if owner.spec.replicas is None else owner.spec.replicas
    return range(start, start + count)


def claim_volumes(
    owner: StatefulSet, ordinal: int, volumes: tuple[Volume, ...]
) -> tuple[Volume, ...]:
    """Return the volumes of a pod: those of its claims, and others of its template."""
    claimed = {
        template.name: Volume(
            name=template.name,
            persistent_volume_claim=PersistentVolumeClaimVolumeSource(
                claim_name=_claim_name(template, owner, ordinal)
            ),
        )
        for template in owner.spec.volume_claim_templates
    }
    others = (volume for volume in volumes if volume.name not in claimed)
    return (*claimed.values(), *others)


def _claims_of(owner: StatefulSet, ordinal: int) -> Iterator[PersistentVolumeClaim]:
    selector = owner.spec.selector
    labels = {} if selector is None else selector.match_labels
    for template in owner.spec.volume_claim_templates:
        metadata = replace(
            template.metadata,
            name=_claim_name(template, owner, ordinal),
            uid="",
            namespace=owner.namespace,
            # labels| The selector's labels find the claims of a set that is deleted.
            labels=template.metadata.labels | labels,
        )
        yield replace(template, metadata=metadata)


def _claim_name(
    template: PersistentVolumeClaim, owner: StatefulSet, ordinal: int
) -> str:
    return f"{template.name}-{owner.name}-{ordinal}"


def _policy(owner: StatefulSet) -> StatefulSetPersistentVolumeClaimRetentionPolicy:
    return owner.spec.persistent_volume_claim_retention_policy or _RETAIN


def _names(reference: OwnerReference, *objects: ApiObject) -> bool:
    """Return whether a reference has the kind and the name of one of these objects."""
    return any(
        (reference.kind, reference.name) == (obj.kind, obj.name) for obj in objects
    )


def _is_free(
    references: Iterable[OwnerReference],
    owner: StatefulSet,
    pod: Pod,
    policy: StatefulSetPersistentVolumeClaimRetentionPolicy,
) -> bool:
    """Return whether no other controller and no namesake of the past owns a claim."""
    # ``hasUnexpectedController``: such a claim keeps its owners.
    retains = "Delete" not in (policy.when_deleted, policy.when_scaled)
    for reference in references:
        if _names(reference, owner, pod):
            if reference.uid not in (owner.uid, pod.uid):
                return False
        elif reference.controller and not retains:
            return False
    return True
