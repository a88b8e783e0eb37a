"""Simple rules of devices, without the product's code.

They cover only the devices and claims of the histories; see
`tests.chaos.devices.objects`.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from quaymaster import Pod
from quaymaster.devices import DeviceId
from quaymaster.objects import (
    AllocationResult,
    Device,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceSlice,
)
from tests.chaos.devices.objects import (
    BANDWIDTH,
    BROKEN,
    MEMORY,
    READY,
    RESOURCE,
    driver_of,
)

__all__ = [
    "EXTENDED",
    "Book",
    "DeviceWorld",
    "claim_keys",
    "conditions_of",
    "is_extended",
]

EXTENDED = "resource.kubernetes.io/extended-resource-claim"
"""The annotation of claims that were made for extended resources."""


@attrs.frozen(eq=False)
class _Offer:
    """A device, and its node; None if all nodes reach it."""

    id: DeviceId
    device: Device
    node: str | None


@attrs.frozen(eq=False)
class _Use:
    """A device for a claim, and how much of its bandwidth."""

    claim: int
    offer: _Offer
    bandwidth: int


class Book:
    """The claims that have each device.

    Args:
        allocations: The allocations of claims, with the claims' names.
    """

    def __init__(self, allocations: Iterable[tuple[str, AllocationResult]]) -> None:
        self.whole: dict[DeviceId, list[str]] = {}
        self.bandwidth: dict[DeviceId, int] = {}
        for owner, allocation in allocations:
            for result in allocation.devices.results:
                device = DeviceId(result.driver, result.pool, result.device)
                if result.share_id is None:
                    self.whole.setdefault(device, []).append(owner)
                else:
                    taken = result.consumed_capacity["bandwidth"].value
                    self.bandwidth[device] = self.bandwidth.get(device, 0) + taken

    def problem(self) -> str:
        """Return the device that is allocated twice or too much, or an empty text."""
        for device, owners in self.whole.items():
            if len(owners) > 1:
                return f"{'/'.join(device)} was given twice: {' and '.join(owners)}"
        for device, taken in self.bandwidth.items():
            if taken > BANDWIDTH:
                return f"{taken} of {BANDWIDTH} was given of {'/'.join(device)}"
            if device in self.whole:
                return f"{'/'.join(device)} was given as a whole, and shared"
        for pool in {device[:2] for device in self.whole}:
            taken = self.memory_of(pool)
            if taken > MEMORY:
                return f"{taken} of {MEMORY} memory was given of {'/'.join(pool)}"
        return ""

    def memory_of(self, pool: tuple[str, ...], more: Iterable[DeviceId] = ()) -> int:
        """Return the shared memory that the allocated devices of a pool take."""
        sizes = {"whole": 4, "left": 2, "right": 2}
        taken = {*self.whole, *more}
        return sum(
            sizes.get(device.device, 0) for device in taken if device[:2] == pool
        )


@attrs.frozen(eq=False)
class DeviceWorld:
    """Devices and claims, as the cluster or the scheduler sees them.

    Attributes:
        slices: The slices.
        classes: The names of the existing classes.
        claims: Key -> claim.
        now: The time.
        patience: The seconds that a device may take to become ready.
    """

    slices: Sequence[ResourceSlice]
    classes: frozenset[str]
    claims: Mapping[str, ResourceClaim]
    now: float
    patience: float

    @property
    def book(self) -> Book:
        """The claims that have each device."""
        return Book(
            (claim.key, claim.status.allocation)
            for claim in self.claims.values()
            if claim.status.allocation is not None
        )

    def why_not(self, pod: Pod, node: str) -> str:
        """Return the rule that rejects a node for a pod, or an empty text."""
        unallocated: list[ResourceClaim] = []
        for key in claim_keys(pod):
            claim = self.claims.get(key)
            if claim is None or claim.metadata.deletion_timestamp is not None:
                return f"there is no claim {key}"
            if claim.status.allocation is None:
                unallocated.append(claim)
            elif self._is_lost(claim, node):
                return f"the devices of {key} are of no use there"
        requests = [
            (at, request)
            for at, claim in enumerate(unallocated)
            for request in _requests_of(claim)
        ]
        amount = pod.spec.containers[0].resources.requests.get(RESOURCE)
        if amount is not None:
            if any(is_extended(other, pod) for other in self.claims.values()):
                return "it has a claim of an earlier attempt"
            served = ExactDeviceRequest(device_class_name="gpu", count=amount.value)
            requests.append((len(unallocated), DeviceRequest(exactly=served)))
        used = self.classes.issuperset(
            way.device_class_name for _, request in requests for way in _ways(request)
        )
        if not used:
            return "there is no class of that name"
        alike = {
            at for at, claim in enumerate(unallocated) if claim.spec.devices.constraints
        }
        if any(self._is_met(uses, alike) for uses in self._choices(requests, node)):
            return ""
        return "there are no devices for it"

    def offers(self, node: str | None) -> Iterator[_Offer]:
        """Yield the devices that a node reaches; for None, the devices of all nodes."""
        for slices in self._pools(node):
            if self._is_whole(slices):
                for resource_slice in slices:
                    for device in resource_slice.spec.devices:
                        found = DeviceId(
                            resource_slice.spec.driver,
                            resource_slice.spec.pool.name,
                            device.name,
                        )
                        yield _Offer(found, device, resource_slice.spec.node_name)

    def _pools(self, node: str | None) -> Iterator[Sequence[ResourceSlice]]:
        """Yield the newest slices of each pool that a node reaches."""
        pools: dict[tuple[str, str], list[ResourceSlice]] = {}
        for resource_slice in self.slices:
            spec = resource_slice.spec
            if node is None or spec.all_nodes or spec.node_name == node:
                pools.setdefault((spec.driver, spec.pool.name), []).append(
                    resource_slice
                )
        for found in pools.values():
            newest = max(
                resource_slice.spec.pool.generation for resource_slice in found
            )
            yield [
                resource_slice
                for resource_slice in found
                if resource_slice.spec.pool.generation == newest
            ]

    def _is_whole(self, slices: Sequence[ResourceSlice]) -> bool:
        """Whether all slices of a pool exist, and no device is in two of them."""
        names = [
            device.name
            for resource_slice in slices
            for device in resource_slice.spec.devices
        ]
        is_complete = len(slices) == slices[0].spec.pool.resource_slice_count
        return is_complete and len(set(names)) == len(names)

    def _is_lost(self, claim: ResourceClaim, node: str) -> bool:
        """Whether a claim's devices are on another node, or will not become ready."""
        allocation = claim.status.allocation
        assert allocation is not None
        selector = allocation.node_selector
        if selector is not None:
            (term,) = selector.node_selector_terms
            (field,) = term.match_fields
            if node not in field.values:
                return True
        states = list(conditions_of(claim))
        if any(state.get(BROKEN) == "True" for state in states):
            return True
        is_ready = all(state.get(READY) == "True" for state in states)
        since = allocation.allocation_timestamp
        return not is_ready and since is not None and since + self.patience < self.now

    def _choices(
        self, requests: Sequence[tuple[int, DeviceRequest]], node: str
    ) -> Iterator[Sequence[_Use]]:
        """Yield all combinations of devices of the right classes."""
        offers = list(self.offers(node))
        # As in upstream, an error of one node is an error of the attempt.
        is_complete = all(map(self._is_whole, self._pools(None)))
        parts = []
        for at, request in requests:
            found: list[Sequence[_Use]] = []
            for way in _ways(request):
                driver = driver_of(way.device_class_name)
                of_class = [offer for offer in offers if offer.id.driver == driver]
                count = way.count
                if way.allocation_mode == "All":
                    if not is_complete or not of_class:
                        continue
                    count = len(of_class)
                bandwidth = BANDWIDTH
                if way.capacity is not None:
                    bandwidth = way.capacity.requests["bandwidth"].value
                able = [offer for offer in of_class if _is_tolerated(offer, way)]
                found += (
                    [_Use(at, offer, bandwidth) for offer in some]
                    for some in itertools.combinations(able, count)
                )
            parts.append(found)
        for combined in itertools.product(*parts):
            yield [use for some in combined for use in some]

    def _is_met(self, uses: Sequence[_Use], alike: set[int]) -> bool:
        """Whether the devices are free together, and equal where they must be."""
        book = self.book
        models: dict[int, set[object]] = {}
        whole: list[DeviceId] = []
        shared: dict[DeviceId, int] = dict(book.bandwidth)
        for use in uses:
            found = use.offer.id
            if use.offer.device.allow_multiple_allocations:
                shared[found] = shared.get(found, 0) + use.bandwidth
            else:
                whole.append(found)
            if use.claim in alike:
                model = use.offer.device.attributes["model"].string_value
                models.setdefault(use.claim, set()).add(model)
        return (
            len(set(whole)) == len(whole)
            and not any(device in book.whole for device in (*whole, *shared))
            and all(taken <= BANDWIDTH for taken in shared.values())
            and all(len(some) == 1 for some in models.values())
            and all(book.memory_of(device[:2], whole) <= MEMORY for device in whole)
        )


def claim_keys(pod: Pod) -> Iterator[str]:
    """Yield the keys of a pod's claims; one that does not exist yet has no name."""
    made = {
        status.name: status.resource_claim_name
        for status in pod.status.resource_claim_statuses
    }
    for named in pod.spec.resource_claims:
        name = named.resource_claim_name or made.get(named.name)
        yield f"{pod.namespace}/{name or ''}"


def conditions_of(claim: ResourceClaim) -> Iterator[Mapping[str, str]]:
    """Yield the conditions of each device of a claim that has to become ready."""
    allocation = claim.status.allocation
    for result in allocation.devices.results if allocation is not None else ():
        if result.binding_conditions:
            yield {
                condition.type: condition.status
                for status in claim.status.devices
                if (status.driver, status.pool, status.device)
                == (result.driver, result.pool, result.device)
                for condition in status.conditions
            }


def is_extended(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether a claim was made for the extended resources of a pod."""
    owner = claim.metadata.controller
    return owner is not None and owner.uid == pod.uid and EXTENDED in claim.annotations


def _requests_of(claim: ResourceClaim) -> Sequence[DeviceRequest]:
    return claim.spec.devices.requests


def _ways(
    request: DeviceRequest,
) -> Sequence[ExactDeviceRequest] | Sequence[DeviceSubRequest]:
    if request.exactly is not None:
        return [request.exactly]
    return request.first_available


def _is_tolerated(
    offer: _Offer, request: ExactDeviceRequest | DeviceSubRequest
) -> bool:
    return not offer.device.taints or bool(request.tolerations)
