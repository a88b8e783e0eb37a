"""Claims of devices that are generated from templates.

Mirrors ``handleClaim`` and ``handlePodGroupClaim`` (Kubernetes v1.37,
``pkg/controller/resourceclaim/controller.go``).
"""

from collections.abc import Sequence
from typing import Final

from quaymaster._api.objects import (
    ObjectMeta,
    Pod,
    PodGroup,
    PodGroupResourceClaim,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimTemplate,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.admission.device_claim_checks import CLAIM_OF_POD
from quaymaster._clusters.inmemory.controllers.pods import owner_reference
from quaymaster._core.contract.cluster import (
    ApiError,
    EventNote,
    ForbiddenError,
    InvalidError,
)

__all__ = [
    "claim_keys",
    "generate_claim",
    "is_claim_named",
    "named_claim",
    "owner_uid",
]

_LONGEST_BASE: Final = 57
"""A name has 63 characters; 6 of them are generated."""


def owner_uid(claim: ResourceClaim, kind: type[Pod] | type[PodGroup]) -> str:
    """Return the uid of the pod or group that a claim was made for, or an empty text.

    Args:
        claim: The claim.
        kind: The kind of the owner.
    """
    owner = claim.metadata.controller
    return owner.uid if owner is not None and owner.kind == kind.kind else ""


def is_claim_named(claim: ResourceClaim, name: str) -> bool:
    """Return whether a generated claim is the one that its owner calls by a name."""
    return claim.metadata.annotations.get(CLAIM_OF_POD) == name


def named_claim(
    owner: Pod | PodGroup, reference: PodResourceClaim | PodGroupResourceClaim
) -> tuple[bool, str | None]:
    """Return whether the name of a claim is decided, and the name, if any.

    Args:
        owner: The pod or group.
        reference: One of its claims.
    """
    if reference.resource_claim_name is not None:
        return True, reference.resource_claim_name
    for status in owner.status.resource_claim_statuses:
        # A status without a name means that the controller decided that no claim is
        # needed, so the pair has two values.
        if status.name == reference.name:
            return True, status.resource_claim_name
    return False, None


def claim_keys(owner: Pod | PodGroup) -> Sequence[str]:
    """Return the keys of the claims of a pod or group whose names are decided."""
    names = (named_claim(owner, claim)[1] for claim in owner.spec.resource_claims)
    return [f"{owner.namespace}/{name}" for name in names if name]


def generate_claim(
    cluster: ClusterAccess,
    owner: Pod | PodGroup,
    name: str,
    template: tuple[str, ResourceClaimTemplate | None],
) -> ResourceClaim | None:
    """Create a claim from a template; an Event says why if that fails.

    Args:
        cluster: The cluster.
        owner: The pod or the group that gets the claim.
        name: The name by which the owner calls the claim.
        template: The name of the template, and the template if it exists.

    Returns:
        The claim, or None if it was not created.
    """
    template_name, stored = template
    if stored is None:
        text = f'resource claim template "{template_name}": not found'
        cluster.record(_failure(owner, name, text))
        return None
    try:
        # Admission may refuse the copy of a template that it accepted before, because
        # of a quota.
        return cluster.add(cluster.admit(_claim_of(owner, name, stored)))
    except (ForbiddenError, InvalidError) as error:
        cluster.record(_failure(owner, name, error))
        return None


def _claim_of(
    owner: Pod | PodGroup, name: str, template: ResourceClaimTemplate
) -> ResourceClaim:
    base = f"{owner.name}-{name}-"
    if len(base) > _LONGEST_BASE:
        # Both are cut, in proportion: cut at its end, the base would lose the name of
        # the claim. There is no dash before the generated part, as upstream.
        of_owner = len(owner.name) * _LONGEST_BASE // len(base)
        of_claim = len(name) * _LONGEST_BASE // len(base)
        base = f"{owner.name[:of_owner]}-{name[:of_claim]}"
    metadata = template.spec.metadata
    return ResourceClaim(
        metadata=ObjectMeta(
            generate_name=base,
            namespace=owner.namespace,
            labels=metadata.labels,
            annotations={**metadata.annotations, CLAIM_OF_POD: name},
            owner_references=(owner_reference(owner),),
        ),
        spec=template.spec.spec,
    )


def _failure(owner: Pod | PodGroup, name: str, error: ApiError | str) -> EventNote:
    return EventNote(
        regarding=owner,
        type="Warning",
        reason="FailedResourceClaimCreation",
        action="Create",
        note=f"{owner.kind}ResourceClaim {name}: {error}",
        reporter="resource_claim",
    )
