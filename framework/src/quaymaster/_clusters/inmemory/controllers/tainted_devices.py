"""The devices whose users are evicted: those with a taint of the effect NoExecute.

Mirrors ``claimEvictionTime`` and ``podEvictionTime`` (Kubernetes v1.37,
``pkg/controller/devicetainteviction/device_taint_eviction.go``).
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import attrs

from quaymaster._api.objects import (
    DeviceRequestAllocationResult,
    DeviceTaint,
    DeviceTaintRule,
    Pod,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster._kits.devices.ids import DeviceId, PoolId, id_of
from quaymaster._kits.devices.requests import tolerates_device

__all__ = [
    "NO_EXECUTE",
    "Eviction",
    "TaintedDevices",
    "claim_keys",
    "is_reserved_for",
    "newest",
]

NO_EXECUTE: Final = "NoExecute"

_Taints = Mapping[DeviceId, tuple[DeviceTaint, ...]]


@attrs.frozen
class Eviction:
    """The time and the reason of a pod's eviction.

    Attributes:
        when: The time, in seconds since the Unix epoch.
        rules: The uids of the rules among the reasons; if empty, only slices are.
    """

    when: float
    rules: frozenset[str] = frozenset()

    def joined(self, other: "Eviction | None") -> "Eviction":
        """Combine both: the earlier time, and all rules."""
        if other is None:
            return self
        return Eviction(min(self.when, other.when), self.rules | other.rules)


class TaintedDevices:
    """Tracks the devices whose users are evicted.

    Attributes:
        rules: The rules with the effect NoExecute, by name.
    """

    def __init__(self) -> None:
        self.rules: dict[str, DeviceTaintRule] = {}
        self._pools: dict[PoolId, dict[str, ResourceSlice]] = {}
        self._taints: dict[PoolId, _Taints] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no pod has to be evicted."""
        return not self.rules and not self._taints

    def slice_changed(
        self, old: ResourceSlice | None, new: ResourceSlice | None
    ) -> frozenset[DeviceId]:
        """Handle a slice that was created (no old), changed, or removed (no new).

        Returns:
            The devices whose taints of the effect NoExecute have changed.
        """
        changed: set[DeviceId] = set()
        for pool in {
            pool_of(resource_slice)
            for resource_slice in (old, new)
            if resource_slice is not None
        }:
            slices = self._pools.setdefault(pool, {})
            if old is not None and pool_of(old) == pool:
                slices.pop(old.name, None)
            if new is not None and pool_of(new) == pool:
                slices[new.name] = new
            changed |= self._refresh(pool, slices)
        return frozenset(changed)

    def slices(self) -> Iterator[ResourceSlice]:
        """Yield the slices of the newest generation of each pool."""
        for slices in self._pools.values():
            yield from newest(slices.values())

    def claim_eviction(
        self, claim: ResourceClaim, rules: Collection[DeviceTaintRule]
    ) -> Eviction | None:
        """Return when the users of a claim are evicted; None if they may stay.

        Args:
            claim: The claim.
            rules: The rules to apply, all with the effect NoExecute.
        """
        allocation = claim.status.allocation
        eviction: Eviction | None = None
        for result in allocation.devices.results if allocation is not None else ():
            for taint, rule in self._taints_of(result, rules):
                when = _end_of_toleration(result, taint)
                if when is not None:
                    eviction = Eviction(when, frozenset(rule)).joined(eviction)
        return eviction

    def _taints_of(
        self,
        result: DeviceRequestAllocationResult,
        rules: Collection[DeviceTaintRule],
    ) -> Iterator[tuple[DeviceTaint, tuple[str, ...]]]:
        """Yield the taints of an allocated device, each with its rule's uid, if any."""
        tainted = self._taints.get(PoolId(result.driver, result.pool), {})
        for taint in tainted.get(id_of(result), ()):
            yield taint, ()
        for rule in rules:
            if rule.selects(result.driver, result.pool, result.device):
                yield rule.spec.taint, (rule.uid,)

    def _refresh(self, pool: PoolId, slices: dict[str, ResourceSlice]) -> set[DeviceId]:
        before = self._taints.pop(pool, {})
        after = _taints_in(pool, newest(slices.values()))
        if after:
            self._taints[pool] = after
        if not slices:
            del self._pools[pool]
        devices = before.keys() | after.keys()
        return {device for device in devices if before.get(device) != after.get(device)}


def newest(slices: Collection[ResourceSlice]) -> Iterator[ResourceSlice]:
    """Yield the slices of a pool that are of its newest generation."""
    generation = max(
        (resource_slice.spec.pool.generation for resource_slice in slices), default=0
    )
    return (
        resource_slice
        for resource_slice in slices
        if resource_slice.spec.pool.generation == generation
    )


def pool_of(resource_slice: ResourceSlice) -> PoolId:
    """Return the pool that a slice is of."""
    return PoolId(resource_slice.spec.driver, resource_slice.spec.pool.name)


def claim_keys(pod: Pod) -> Iterator[tuple[str, bool]]:
    """Yield the keys of a pod's claims, and whether the pod must own them."""
    generated = {
        made.name: made.resource_claim_name
        for made in pod.status.resource_claim_statuses
    }
    for claim in pod.spec.resource_claims:
        named = claim.resource_claim_name
        name = generated.get(claim.name) if named is None else named
        if name is not None:
            yield f"{pod.namespace}/{name}", named is None
    extended = pod.status.extended_resource_claim_status
    if extended is not None and extended.resource_claim_name:
        yield f"{pod.namespace}/{extended.resource_claim_name}", True


def is_reserved_for(claim: ResourceClaim, pod: Pod, *, is_owned: bool) -> bool:
    """Return whether a pod uses a claim, which it may have to own."""
    owner = claim.metadata.controller
    if is_owned and (owner is None or owner.uid != pod.uid):
        return False
    return any(consumer.uid == pod.uid for consumer in claim.status.reserved_for)


def _taints_in(pool: PoolId, slices: Iterable[ResourceSlice]) -> _Taints:
    taints_by_device: dict[DeviceId, tuple[DeviceTaint, ...]] = {}
    for resource_slice in slices:
        for device in resource_slice.spec.devices:
            taints = tuple(
                taint for taint in device.taints if taint.effect == NO_EXECUTE
            )
            if taints:
                # Two slices of a pool may list one device by mistake; the first counts.
                taints_by_device.setdefault(DeviceId(*pool, device.name), taints)
    return taints_by_device


def _end_of_toleration(
    result: DeviceRequestAllocationResult, taint: DeviceTaint
) -> float | None:
    """Return when the toleration of a taint ends; None if it never does.

    Unlike in scheduling, a toleration without an effect does not match.
    """
    seconds = math.inf
    for toleration in result.tolerations:
        # Upstream skips these before it compares: a toleration of other effects says
        # nothing about eviction.
        if toleration.effect != NO_EXECUTE:
            continue
        if not tolerates_device(toleration, taint):
            continue
        if toleration.toleration_seconds is None:
            return None
        seconds = min(seconds, max(toleration.toleration_seconds, 0))
    # A taint without a time has been there since ever, so its toleration has ended.
    added = taint.time_added or 0.0
    return added if seconds == math.inf else added + seconds
