"""Claims of PodGroups: creation from templates, and the objects they are reserved for.

Mirrors ``syncPodGroup``, ``handlePodGroupClaim`` and ``findPodGroupResourceClaim``
(Kubernetes v1.37, ``pkg/controller/resourceclaim/controller.go``), and ``BindTo``
(k8s.io/dynamic-resource-allocation v0.37, ``resourceclaim/resourceclaim.go``).
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    ApiObject,
    Pod,
    PodGroup,
    PodGroupResourceClaim,
    PodGroupResourceClaimStatus,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimTemplate,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.generated_claims import (
    claim_keys,
    generate_claim,
    is_claim_named,
    named_claim,
    owner_uid,
)

__all__ = ["GroupClaimController"]

_API_GROUP: Final = "scheduling.k8s.io"
_RESOURCE: Final = "podgroups"


class GroupClaimController:
    """Creates the claims of groups, and finds them for their pods.

    Args:
        cluster: The cluster.
        mark: Called with each object that needs a sync.

    Attributes:
        is_on: Whether groups have claims: the feature gate DRAWorkloadResourceClaims.
    """

    def __init__(
        self, cluster: ClusterAccess, mark: Callable[[type[ApiObject], str], None]
    ) -> None:
        self.is_on = cluster.kubernetes.enabled("DRAWorkloadResourceClaims")
        self._cluster = cluster
        self._mark = mark
        self._groups = cluster.objects(PodGroup)
        self._claims = cluster.objects(ResourceClaim)
        self._owned: dict[str, dict[str, None]] = {}
        self._users: dict[str, dict[str, None]] = {}
        self._waiting: dict[str, dict[str, None]] = {}
        self._orphans: set[str] = set()

    def group_changed(self, old: PodGroup | None, new: PodGroup | None) -> None:
        """Handle a group that was created (no old), changed, or removed (no new)."""
        group = old if new is None else new
        if not self.is_on or group is None or not group.spec.resource_claims:
            return
        for key in claim_keys(group):
            if new is None:
                self._users.get(key, {}).pop(group.key, None)
                self._mark(ResourceClaim, key)
            else:
                self._users.setdefault(key, {})[group.key] = None
        if new is not None:
            self._mark(PodGroup, new.key)
            return
        for waiting in self._waiting.values():
            waiting.pop(group.key, None)
        owned = self._owned.get(group.uid, ())
        self._orphans.update(owned)
        for key in owned:
            self._mark(ResourceClaim, key)

    def claim_changed(
        self, old: ResourceClaim | None, new: ResourceClaim | None
    ) -> None:
        """Handle a claim that was created (no old), changed, or removed (no new)."""
        claim = old if new is None else new
        if not self.is_on or claim is None:
            return
        owner, key = owner_uid(claim, PodGroup), claim.key
        if new is None:
            self._orphans.discard(key)
            owned = self._owned.get(owner, {})
            owned.pop(key, None)
            if not owned:
                self._owned.pop(owner, None)
        elif owner:
            self._owned.setdefault(owner, {})[key] = None
        for user in self._users.get(key, ()):
            self._mark(PodGroup, user)

    def template_came(self, template: ResourceClaimTemplate) -> None:
        """Sync the groups that wait for a template."""
        for key in self._waiting.pop(template.key, ()):
            self._mark(PodGroup, key)

    def sync(self, group: PodGroup) -> None:
        """Create the missing claims of a group."""
        if not self.is_on or group.metadata.deletion_timestamp is not None:
            return
        new = {}
        for reference in group.spec.resource_claims:
            claim = self._made_for(group, reference)
            if claim is not None:
                new[reference.name] = PodGroupResourceClaimStatus(
                    name=reference.name, resource_claim_name=claim.name
                )
        if not new:
            return
        statuses = group.status.resource_claim_statuses
        kept = [status for status in statuses if status.name not in new]
        status = replace(group.status, resource_claim_statuses=(*kept, *new.values()))
        self._cluster.change(group, replace(group, status=status))

    def group_of(self, pod: Pod) -> PodGroup | None:
        """Return the group of a pod; None if it is in none, or it does not exist."""
        return self._groups.get(pod.group_key) if pod.group_key else None

    def has_claim(self, pod: Pod, reference: PodResourceClaim) -> bool:
        """Whether a claim that a pod lists is a claim of its group."""
        group = self.group_of(pod) if self.is_on else None
        if group is None:
            return False
        name, template = (
            reference.resource_claim_name,
            reference.resource_claim_template_name,
        )
        return any(
            claim.name == reference.name
            and claim.resource_claim_name == name
            and claim.resource_claim_template_name == template
            for claim in group.spec.resource_claims
        )

    def claim_of(self, pod: Pod, reference: PodResourceClaim) -> ResourceClaim | None:
        """Return the claim that was generated for the group of a pod, or None."""
        group = self.group_of(pod)
        return None if group is None else self._generated(group, reference.name)

    def consumer(
        self, pod: Pod, reference: PodResourceClaim
    ) -> ResourceClaimConsumerReference:
        """Return the object for which a claim of a pod is reserved."""
        group = self.group_of(pod) if self.has_claim(pod, reference) else None
        if group is None:
            return ResourceClaimConsumerReference(
                resource="pods", name=pod.name, uid=pod.uid
            )
        return ResourceClaimConsumerReference(
            api_group=_API_GROUP, resource=_RESOURCE, name=group.name, uid=group.uid
        )

    def owns(self, claim: ResourceClaim, pod: Pod) -> bool:
        """Whether a claim was generated for the group of a pod."""
        owner = claim.metadata.controller
        return (
            self.is_on
            and owner is not None
            and owner.kind == PodGroup.kind
            and bool(pod.group_key)
            and owner.name == pod.group_key.partition("/")[2]
        )

    def is_there(
        self, namespace: str, consumer: ResourceClaimConsumerReference
    ) -> bool:
        """Return whether a group still exists; always true for other consumers."""
        is_group = consumer.api_group == _API_GROUP and consumer.resource == _RESOURCE
        if not self.is_on or not is_group:
            return True
        group = self._groups.get(f"{namespace}/{consumer.name}")
        return group is not None and group.uid == consumer.uid

    def has_outlived_owner(self, claim: ResourceClaim) -> bool:
        """Return whether a claim was made for a group that is gone.

        The garbage collector deletes such a claim.
        """
        owner = owner_uid(claim, PodGroup)
        if not owner or owner in (group.uid for group in self._groups.values()):
            return False
        return claim.key in self._orphans or self._cluster.has_gone(owner)

    def _made_for(
        self, group: PodGroup, reference: PodGroupResourceClaim
    ) -> ResourceClaim | None:
        """Return the new claim of a group, found or created; None if not needed."""
        template_name = reference.resource_claim_template_name
        if template_name is None:
            return None
        is_decided, name = named_claim(group, reference)
        if is_decided:
            claim = self._claims.get(f"{group.namespace}/{name}")
            # The recorded claim may be gone: then another one is found or made.
            if name is None or (
                claim is not None and owner_uid(claim, PodGroup) == group.uid
            ):
                return None
        claim = self._generated(group, reference.name)
        if claim is not None:
            return claim
        key = f"{group.namespace}/{template_name}"
        template = self._cluster.objects(ResourceClaimTemplate).get(key)
        if template is None:
            self._waiting.setdefault(key, {})[group.key] = None
        return generate_claim(
            self._cluster, group, reference.name, (template_name, template)
        )

    def _generated(self, group: PodGroup, name: str) -> ResourceClaim | None:
        for key in self._owned.get(group.uid, ()):
            claim = self._claims[key]
            if is_claim_named(claim, name):
                return claim
        return None
