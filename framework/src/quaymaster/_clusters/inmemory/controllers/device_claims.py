"""Device claims: creation, reservation, release, and removal with their pods.

Mirrors ``pkg/controller/resourceclaim`` (Kubernetes v1.36), and the garbage collector
for the claims of pods. It also simulates the driver of every device: a device that must
be prepared is ready as soon as its claim is reserved.
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from quaymaster._api.objects import (
    AllocatedDeviceStatus,
    ApiObject,
    Condition,
    DeviceRequestAllocationResult,
    Pod,
    PodGroup,
    PodResourceClaim,
    PodResourceClaimStatus,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimTemplate,
    Time,
)
from quaymaster._clusters.inmemory.access import ClusterAccess
from quaymaster._clusters.inmemory.controllers.generated_claims import (
    claim_keys,
    generate_claim,
    is_claim_named,
    named_claim,
    owner_uid,
)
from quaymaster._clusters.inmemory.controllers.group_claims import (
    GroupClaimController,
)

__all__ = ["DeviceClaimController"]

_FINALIZER: Final = "resource.kubernetes.io/delete-protection"
# ``ResourceClaimReservedForMaxSize`` (k8s.io/api, resource/v1/types.go).
_MOST_CONSUMERS: Final = 256

Mark = Callable[[type[ApiObject], str], None]
"""Marks an object for a sync, by its kind and key."""


class DeviceClaimController:
    """Creates, reserves, frees and removes the claims of devices.

    Args:
        cluster: The cluster.
        mark: Called with each object that needs a sync.
    """

    def __init__(self, cluster: ClusterAccess, mark: Mark) -> None:
        self._cluster = cluster
        self._mark = mark
        self._pods = cluster.objects(Pod)
        self._claims = cluster.objects(ResourceClaim)
        self._users: dict[str, dict[str, None]] = {}
        self._waiting: dict[str, dict[str, None]] = {}
        self._owned: dict[str, dict[str, None]] = {}
        self._members: dict[str, dict[str, None]] = {}
        self._orphans: set[str] = set()
        # Loaded claims may be reserved for pods that the input lacks; their first sync
        # must not free them.
        self._kept: set[str] = set()
        self._groups = GroupClaimController(cluster, mark)

    def keep(self, claim: ResourceClaim) -> None:
        """Keep the consumers of a claim that is about to be loaded."""
        self._kept.add(claim.key)

    def concerns(self, pod: Pod) -> bool:
        """Return whether a pod has claims, or has generated ones."""
        return bool(pod.spec.resource_claims) or pod.metadata.uid in self._owned

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        """Handle a created (no old), changed, or removed (no new) pod with claims."""
        pod = old if new is None else new
        if pod is None:
            return
        if new is None:
            self._forget(pod)
        elif not _is_done(new):
            if new.group_key:
                self._members.setdefault(new.group_key, {})[new.key] = None
            if old is None or old.status.resource_claim_statuses != (
                new.status.resource_claim_statuses
            ):
                for key in claim_keys(new):
                    self._users.setdefault(key, {})[new.key] = None
            # Only pods with a node are reserved for, so a pod that has just been bound
            # is looked at again.
            if old is None or old.node_name != new.node_name:
                self._mark(Pod, new.key)
            return
        # A pod that is done releases its claims: their syncs find out that this
        # consumer is gone.
        for key in {*claim_keys(pod), *self._owned.get(pod.uid, ())}:
            self._mark(ResourceClaim, key)

    def claim_changed(
        self, old: ResourceClaim | None, new: ResourceClaim | None
    ) -> None:
        """Handle a claim that was created (no old), changed, or removed (no new)."""
        claim = old if new is None else new
        if claim is None:
            return
        self._groups.claim_changed(old, new)
        owner, key = owner_uid(claim, Pod), claim.key
        if new is None:
            self._orphans.discard(key)
            owned = self._owned.get(owner, {})
            owned.pop(key, None)
            if not owned:
                self._owned.pop(owner, None)
        else:
            if owner:
                self._owned.setdefault(owner, {})[key] = None
            self._mark(ResourceClaim, key)
        # The claim can now be reserved for a pod that waited for it.
        for user in self._users.get(key, ()):
            self._mark(Pod, user)

    def template_changed(
        self,
        _old: ResourceClaimTemplate | None,
        new: ResourceClaimTemplate | None,
    ) -> None:
        """Handle a template that was created (no old), changed, or removed (no new)."""
        if new is None:
            return
        self._groups.template_came(new)
        for key in self._waiting.pop(new.key, ()):
            self._mark(Pod, key)

    def group_changed(self, old: PodGroup | None, new: PodGroup | None) -> None:
        """Handle a group that was created (no old), changed, or removed (no new)."""
        self._groups.group_changed(old, new)
        if new is None:
            return
        if old is None or old.status.resource_claim_statuses != (
            new.status.resource_claim_statuses
        ):
            for key in self._members.get(new.key, ()):
                self._mark(Pod, key)

    def sync_group(self, group: PodGroup) -> None:
        """Create the missing claims of a group."""
        self._groups.sync(group)

    def sync_pod(self, pod: Pod) -> None:
        """Create the missing claims of a pod; reserve its claims if it has a node."""
        if pod.is_terminating or pod.is_finished:
            return
        if pod.group_key and self._groups.group_of(pod) is None:
            return  # until the group is there, which decides whose claims they are
        statuses = [self._made_for(pod, claim) for claim in pod.spec.resource_claims]
        new = {status.name: status for status in statuses if status is not None}
        if new:
            kept = [
                status
                for status in pod.status.resource_claim_statuses
                if status.name not in new
            ]
            status = replace(pod.status, resource_claim_statuses=(*kept, *new.values()))
            pod = self._cluster.change(pod, replace(pod, status=status))
        if pod.node_name:
            self._reserve(pod)

    def sync_claim(self, claim: ResourceClaim) -> None:
        """Remove gone consumers of a claim; free or remove the claim if none remain."""
        if claim.key in self._kept:
            self._kept.discard(claim.key)
            return
        consumers, namespace = claim.status.reserved_for, claim.namespace
        remaining = tuple(
            consumer for consumer in consumers if self._is_there(namespace, consumer)
        )
        protected = _FINALIZER in claim.metadata.finalizers
        if len(remaining) < len(consumers):
            status = replace(claim.status, reserved_for=remaining)
            # Freed only when the last consumer goes: a claim without consumers may have
            # been allocated a moment ago, for its first one (``syncClaim``).
            if not remaining and protected:
                status = replace(status, allocation=None, devices=())
            claim = self._cluster.change(claim, replace(claim, status=status))
            if protected and status.allocation is None:
                claim = self._unprotect(claim)
        # A deleted claim without consumers is freed, too, although none of them has
        # just gone.
        elif protected and not remaining and claim.metadata.deletion_timestamp:
            status = replace(claim.status, allocation=None, devices=())
            claim = self._unprotect(replace(claim, status=status))
        if not remaining and self._has_outlived_owner(claim):
            if claim.key in self._claims and not claim.metadata.deletion_timestamp:
                self._cluster.delete(claim)
        elif remaining:
            self._make_ready(claim)

    def _forget(self, pod: Pod) -> None:
        for key in claim_keys(pod):
            users = self._users.get(key, {})
            users.pop(pod.key, None)
            if not users:
                self._users.pop(key, None)
        for waiting in self._waiting.values():
            waiting.pop(pod.key, None)
        members = self._members.get(pod.group_key, {})
        members.pop(pod.key, None)
        if not members:
            self._members.pop(pod.group_key, None)
        self._orphans.update(self._owned.get(pod.uid, ()))

    def _made_for(
        self, pod: Pod, reference: PodResourceClaim
    ) -> PodResourceClaimStatus | None:
        """Return the generated claim of a pod, found or created; None if not needed."""
        template_name = reference.resource_claim_template_name
        if template_name is None:
            return None
        is_decided, name = named_claim(pod, reference)
        # A name that belongs to another owner is not accepted: the claim is created
        # again under a new name.
        if is_decided and (name is None or self._is_for(pod, name)):
            return None
        if self._groups.has_claim(pod, reference):
            claim = self._groups.claim_of(pod, reference)
        else:
            claim = self._claim_of(pod, reference, template_name)
        return None if claim is None else _status(reference, claim)

    def _claim_of(
        self, pod: Pod, reference: PodResourceClaim, template_name: str
    ) -> ResourceClaim | None:
        """Return a pod's own claim, found or created."""
        # A claim may exist although its name was not written to the status: the
        # controller may have stopped in between.
        for key in self._owned.get(pod.uid, ()):
            claim = self._claims[key]
            if is_claim_named(claim, reference.name):
                return claim
        template_key = f"{pod.namespace}/{template_name}"
        template = self._cluster.objects(ResourceClaimTemplate).get(template_key)
        if template is None:
            # No retry with backoff as upstream: the pod is looked at again when the
            # template comes.
            self._waiting.setdefault(template_key, {})[pod.key] = None
        return generate_claim(
            self._cluster, pod, reference.name, (template_name, template)
        )

    def _is_for(self, pod: Pod, name: str) -> bool:
        claim = self._claims.get(f"{pod.namespace}/{name}")
        return claim is not None and (
            owner_uid(claim, Pod) == pod.uid or self._groups.owns(claim, pod)
        )

    def _reserve(self, pod: Pod) -> None:
        """Reserve the allocated claims of a pod that was loaded with a node."""
        for reference in pod.spec.resource_claims:
            name = named_claim(pod, reference)[1]
            claim = self._claims.get(f"{pod.namespace}/{name}") if name else None
            if claim is None or claim.status.allocation is None:
                continue
            consumers = claim.status.reserved_for
            new = self._groups.consumer(pod, reference)
            # A claim may be reserved for the pod or for its group; either one is
            # enough.
            is_reserved = any(old.uid in (pod.uid, new.uid) for old in consumers)
            if is_reserved or len(consumers) >= _MOST_CONSUMERS:
                continue
            status = replace(claim.status, reserved_for=(*consumers, new))
            self._cluster.change(claim, replace(claim, status=status))

    def _is_there(
        self, namespace: str, consumer: ResourceClaimConsumerReference
    ) -> bool:
        """Return whether a consumer, a pod or a group, still needs its claim."""
        if consumer.api_group or consumer.resource != "pods":
            return self._groups.is_there(namespace, consumer)
        pod = self._pods.get(f"{namespace}/{consumer.name}")
        return pod is not None and pod.uid == consumer.uid and not _is_done(pod)

    def _unprotect(self, claim: ResourceClaim) -> ResourceClaim:
        metadata = claim.metadata
        finalizers = tuple(
            finalizer for finalizer in metadata.finalizers if finalizer != _FINALIZER
        )
        metadata = replace(metadata, finalizers=finalizers)
        claim = self._cluster.change(claim, replace(claim, metadata=metadata))
        # The finalizer was the last thing that kept the object.
        if metadata.deletion_timestamp is not None and not finalizers:
            self._cluster.delete(claim)
        return claim

    def _has_outlived_owner(self, claim: ResourceClaim) -> bool:
        """Return whether a claim was made for a pod that will not run, or a group."""
        reference = claim.metadata.controller
        if reference is None or reference.kind != Pod.kind:
            return self._groups.has_outlived_owner(claim)
        pod = self._pods.get(f"{claim.namespace}/{reference.name}")
        if pod is None:
            # An owner that never existed here may only be missing from the input.
            return claim.key in self._orphans or self._cluster.has_gone(reference.uid)
        # A new pod of the same name, as of a StatefulSet, does not own the claim of the
        # old one.
        return pod.uid != reference.uid or _is_done(pod)

    def _make_ready(self, claim: ResourceClaim) -> None:
        """Mark allocated devices as ready, by the conditions that binding waits for."""
        allocation = claim.status.allocation
        results = allocation.devices.results if allocation is not None else ()
        # Conditions that the input has already are kept, ready or not.
        places = {_place(device) for device in claim.status.devices}
        new = tuple(
            self._ready(result)
            for result in results
            if result.binding_conditions and _place(result) not in places
        )
        if new:
            status = replace(claim.status, devices=(*claim.status.devices, *new))
            self._cluster.change(claim, replace(claim, status=status))

    def _ready(self, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus:
        now = Time(self._cluster.clock.now())
        return AllocatedDeviceStatus(
            driver=result.driver,
            pool=result.pool,
            device=result.device,
            share_id=result.share_id,
            conditions=tuple(
                Condition(
                    type=condition,
                    status="True",
                    reason="Ready",
                    last_transition_time=now,
                )
                for condition in result.binding_conditions
            ),
        )


def _is_done(pod: Pod) -> bool:
    # A terminating pod on a node still uses its devices until its containers have
    # ended.
    return pod.is_finished or (pod.is_terminating and not pod.node_name)


def _status(
    reference: PodResourceClaim, claim: ResourceClaim
) -> PodResourceClaimStatus:
    return PodResourceClaimStatus(name=reference.name, resource_claim_name=claim.name)


def _place(
    device: DeviceRequestAllocationResult | AllocatedDeviceStatus,
) -> tuple[str, str, str, str | None]:
    return device.driver, device.pool, device.device, device.share_id
