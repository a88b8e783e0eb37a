"""PostFilter: free the claims that a pod or a group cannot use on any node.

Mirrors ``deallocateOrDeletePodClaims``, ``PodGroupPostFilter`` and
``deallocatePodGroupClaims`` (kube-scheduler 1.37.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from quaymaster import Handle, Pod, Status
from quaymaster.cluster import ApiError
from quaymaster.hookspecs import PodGroupInfo
from quaymaster.objects import PodGroup, PodGroupResourceClaim, ResourceClaim
from quaymaster_dynamic_resources.claims import is_used_by_others
from quaymaster_dynamic_resources.extended import is_implicit
from quaymaster_dynamic_resources.group_claims import ClaimError, GroupClaims
from quaymaster_dynamic_resources.settlements import Settlements, UnsettledClaim
from quaymaster_dynamic_resources.state import ClaimsState
from quaymaster_dynamic_resources.tracker import ClaimTracker
from quaymaster_dynamic_resources.writes import (
    deallocate,
    delete_claim,
    remove_reservation,
)

__all__ = ["ClaimReleaser"]

_DEALLOCATED: Final = Status.unschedulable("deallocation of ResourceClaim completed")
_DELETED: Final = Status.unschedulable("deletion of ResourceClaim completed")
_DONE: Final = Status.unschedulable(
    "deallocation and deletion of ResourceClaims completed"
)
_GROUP_DEALLOCATED: Final = Status.unschedulable(
    "deallocation of PodGroup ResourceClaim completed"
)
_GROUP_UNRESERVED: Final = Status.unresolvable("ResourceClaim unreserved for PodGroup")

_Attempts: TypeAlias = Sequence[tuple[Pod, ClaimsState]]

_log = logging.getLogger(__name__)


class ClaimReleaser:
    """Frees claims, so that other devices can be searched for them.

    Args:
        handle: The framework.
        tracker: The claims.
        settlements: Reads the claims whose writes have an unknown outcome.
        groups: Finds out which claims are those of a pod's group.
    """

    def __init__(
        self,
        handle: Handle,
        tracker: ClaimTracker,
        settlements: Settlements,
        groups: GroupClaims,
    ) -> None:
        self._handle = handle
        self._tracker = tracker
        self._settlements = settlements
        self._groups = groups

    def free(self, claims: ClaimsState, pod: Pod) -> Status | None:
        """Deallocate a claim that a pod cannot use, and that no other pod uses.

        Args:
            claims: The claims of the pod.
            pod: The pod.

        Returns:
            What was done; None if there was nothing to do.

        Raises:
            ApiError: The cluster rejected the write.
        """
        for claim in claims.unavailable_claims:
            # One claim per attempt, then the pod is tried again: freeing all at once
            # would move claims that the pod could have kept.
            if not is_used_by_others(claim, pod.uid):
                self._deallocate(claim, pod)
                return _DEALLOCATED
        if claims.implicit >= 0:
            claim = claims.claims[claims.implicit]
            if not is_implicit(claim):
                delete_claim(self._handle.cluster, claim)
                self._tracker.forget(claim, claim.uid)
                return _DELETED
        return None

    def free_for_group(self, group: PodGroupInfo, attempts: _Attempts) -> Status:
        """Free a claim of each pod, or else a claim of the group if no pod uses it.

        Args:
            group: The group.
            attempts: The pods that were tried, with their claims.

        Raises:
            ApiError: The cluster rejected a write.
            ClaimError: The name of a claim of the group is not known.
        """
        freed = [self.free(claims, pod) for pod, claims in attempts]
        if self._groups.is_on and None in freed:
            status = self._free_claims_of(group, attempts)
            if status is not None:
                return status
        return _DONE

    def _free_claims_of(self, info: PodGroupInfo, attempts: _Attempts) -> Status | None:
        """Deallocate a claim of a group, or remove its reservation of one."""
        states = self._handle.pod_groups
        state = None if states is None else states.get(info.key)
        group, pod = info.group, info.pods[0]
        is_scheduled = state is not None and state.scheduled_count > 0
        # A group of groups has no claims.
        if is_scheduled or not isinstance(group, PodGroup):
            return None
        for _, claims in attempts:
            for claim in claims.unavailable_claims:
                if not is_used_by_others(claim, group.uid):
                    self._deallocate(claim, pod)
                    return _GROUP_DEALLOCATED
        for claim in self._claims_of(group):
            is_reserved = self._groups.is_reserved(claim, pod)
            if claim.status.allocation is None or not is_reserved:
                continue
            try:
                stored = remove_reservation(self._handle.cluster, claim, group.uid)
            except ApiError as error:
                # The next cycle of the group tries it again.
                text = "claim %s stays reserved for pod group %s: %s"
                _log.error(text, claim.key, group.key, error)
                continue
            self._tracker.written(stored, "")
            return _GROUP_UNRESERVED
        return None

    def _claims_of(self, group: PodGroup) -> Iterator[ResourceClaim]:
        """Yield the claims of a group, without those made for another object."""
        for named in group.spec.resource_claims:
            name = _name_of(group, named)
            if name is None:
                continue
            claim = self._tracker.get(f"{group.namespace}/{name}")
            if claim is None:
                text = f'could not find ResourceClaim "{group.namespace}/{name}"'
                raise ClaimError(text)
            owner = claim.metadata.controller
            is_made = named.resource_claim_name is None
            if is_made and (owner is None or owner.uid != group.uid):
                continue
            yield claim

    def _deallocate(self, claim: ResourceClaim, pod: Pod) -> None:
        try:
            self._tracker.written(deallocate(self._handle.cluster, claim), "")
        except ApiError:
            # The write may have succeeded: the pod must not use the claim.
            unsettled = [UnsettledClaim(claim, "", None)]
            self._settlements.begin(self._handle, pod, unsettled)
            raise


def _name_of(group: PodGroup, claim: PodGroupResourceClaim) -> str | None:
    """Return the name of a claim of a group; None if the group needs no claim.

    Mirrors ``NameFromPodGroup`` (k8s.io/dynamic-resource-allocation v0.37,
    ``resourceclaim/resourceclaim.go``).
    """
    if claim.resource_claim_name is not None:
        return claim.resource_claim_name
    for status in group.status.resource_claim_statuses:
        if status.name == claim.name:
            return status.resource_claim_name
    raise ClaimError(f"PodGroup {group.key}: ResourceClaim not created yet")
