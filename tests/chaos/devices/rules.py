"""The naive rules of devices, without the product's code.

They only know what the devices and claims of the histories have; see
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
    """A device, and the node that it is on; None stands for all nodes."""

    id: DeviceId
    device: Device
    node: str | None


@attrs.frozen(eq=False)
class _Use:
    """A device that a claim is to get, and how much bandwidth of it."""

    claim: int
    offer: _Offer
    bandwidth: int


class Book:
    """Who has which device.

    Args:
        allocations: What each claim has, by its name.
    """

    def __init__(self, allocations: Iterable[tuple[str, AllocationResult]]) -> None:
        self.whole: dict[DeviceId, list[str]] = {}
        self.bandwidth: dict[DeviceId, int] = {}
        for owner, allocation in allocations:
            for one in allocation.devices.results:
                device = DeviceId(one.driver, one.pool, one.device)
                if one.share_id is None:
                    self.whole.setdefault(device, []).append(owner)
                else:
                    taken = one.consumed_capacity["bandwidth"].value
                    self.bandwidth[device] = self.bandwidth.get(device, 0) + taken

    def problem(self) -> str:
        """What is taken twice, or empty."""
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
        """What the devices that were given take of what a pool's parts share."""
        sizes = {"whole": 4, "left": 2, "right": 2}
        taken = {*self.whole, *more}
        return sum(sizes.get(one.device, 0) for one in taken if one[:2] == pool)


@attrs.frozen(eq=False)
class DeviceWorld:
    """Devices and claims, as one party knows them.

    Attributes:
        slices: The slices.
        classes: The names of the classes that there are.
        claims: Key -> claim.
        now: The time.
        patience: How many seconds a device may take to become ready.
    """

    slices: Sequence[ResourceSlice]
    classes: frozenset[str]
    claims: Mapping[str, ResourceClaim]
    now: float
    patience: float

    @property
    def book(self) -> Book:
        """Who has which device."""
        return Book(
            (claim.key, claim.status.allocation)
            for claim in self.claims.values()
            if claim.status.allocation is not None
        )

    def why_not(self, pod: Pod, node: str) -> str:
        """The rule of devices that keeps a pod from a node, or empty."""
        wanted: list[ResourceClaim] = []
        for key in claim_keys(pod):
            claim = self.claims.get(key)
            if claim is None or claim.metadata.deletion_timestamp is not None:
                return f"there is no claim {key}"
            if claim.status.allocation is None:
                wanted.append(claim)
            elif self._is_lost(claim, node):
                return f"the devices of {key} are of no use there"
        asked = [(at, one) for at, claim in enumerate(wanted) for one in _asked(claim)]
        amount = pod.spec.containers[0].resources.requests.get(RESOURCE)
        if amount is not None:
            if any(is_extended(one, pod) for one in self.claims.values()):
                return "it has a claim of an earlier attempt"
            served = ExactDeviceRequest(device_class_name="gpu", count=amount.value)
            asked.append((len(wanted), DeviceRequest(exactly=served)))
        used = self.classes.issuperset(
            way.device_class_name for _, one in asked for way in _ways(one)
        )
        if not used:
            return "there is no class of that name"
        alike = {
            at for at, claim in enumerate(wanted) if claim.spec.devices.constraints
        }
        if any(self._is_met(uses, alike) for uses in self._choices(asked, node)):
            return ""
        return "there are no devices for it"

    def offers(self, node: str | None) -> Iterator[_Offer]:
        """The devices that a node reaches; None stands for any node."""
        for of_pool in self._pools(node):
            if self._is_whole(of_pool):
                for one in of_pool:
                    for device in one.spec.devices:
                        found = DeviceId(
                            one.spec.driver, one.spec.pool.name, device.name
                        )
                        yield _Offer(found, device, one.spec.node_name)

    def _pools(self, node: str | None) -> Iterator[Sequence[ResourceSlice]]:
        """The newest slices of each pool that a node reaches."""
        pools: dict[tuple[str, str], list[ResourceSlice]] = {}
        for one in self.slices:
            spec = one.spec
            if node is None or spec.all_nodes or spec.node_name == node:
                pools.setdefault((spec.driver, spec.pool.name), []).append(one)
        for found in pools.values():
            newest = max(one.spec.pool.generation for one in found)
            yield [one for one in found if one.spec.pool.generation == newest]

    def _is_whole(self, slices: Sequence[ResourceSlice]) -> bool:
        """Whether all slices of a pool are there, and name each device once."""
        names = [device.name for one in slices for device in one.spec.devices]
        is_complete = len(slices) == slices[0].spec.pool.resource_slice_count
        return is_complete and len(set(names)) == len(names)

    def _is_lost(self, claim: ResourceClaim, node: str) -> bool:
        """Whether the devices of a claim are elsewhere, or will not become ready."""
        allocation = claim.status.allocation
        assert allocation is not None
        selector = allocation.node_selector
        if selector is not None:
            (term,) = selector.node_selector_terms
            (field,) = term.match_fields
            if node not in field.values:
                return True
        states = list(conditions_of(claim))
        if any(one.get(BROKEN) == "True" for one in states):
            return True
        is_ready = all(one.get(READY) == "True" for one in states)
        since = allocation.allocation_timestamp
        return not is_ready and since is not None and since + self.patience < self.now

    def _choices(
        self, asked: Sequence[tuple[int, DeviceRequest]], node: str
    ) -> Iterator[Sequence[_Use]]:
        """All ways to give devices of the right classes."""
        offers = list(self.offers(node))
        # An error of one node is one of the attempt.
        is_complete = all(map(self._is_whole, self._pools(None)))
        parts = []
        for at, request in asked:
            found: list[Sequence[_Use]] = []
            for way in _ways(request):
                driver = driver_of(way.device_class_name)
                of_class = [one for one in offers if one.id.driver == driver]
                count = way.count
                if way.allocation_mode == "All":
                    if not is_complete or not of_class:
                        continue
                    count = len(of_class)
                bandwidth = BANDWIDTH
                if way.capacity is not None:
                    bandwidth = way.capacity.requests["bandwidth"].value
                able = [one for one in of_class if _is_tolerated(one, way)]
                found += (
                    [_Use(at, one, bandwidth) for one in some]
                    for some in itertools.combinations(able, count)
                )
            parts.append(found)
        for combined in itertools.product(*parts):
            yield [use for some in combined for use in some]

    def _is_met(self, uses: Sequence[_Use], alike: set[int]) -> bool:
        """Whether devices are free together, and alike where they must be."""
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
            and not any(one in book.whole for one in (*whole, *shared))
            and all(taken <= BANDWIDTH for taken in shared.values())
            and all(len(some) == 1 for some in models.values())
            and all(book.memory_of(one[:2], whole) <= MEMORY for one in whole)
        )


def claim_keys(pod: Pod) -> Iterator[str]:
    """The keys of the claims that a pod names; one that is not made yet has no name."""
    made = {
        one.name: one.resource_claim_name for one in pod.status.resource_claim_statuses
    }
    for named in pod.spec.resource_claims:
        name = named.resource_claim_name or made.get(named.name)
        yield f"{pod.namespace}/{name or ''}"


def conditions_of(claim: ResourceClaim) -> Iterator[Mapping[str, str]]:
    """What was said of each device of a claim that has to be made ready."""
    allocation = claim.status.allocation
    for one in allocation.devices.results if allocation is not None else ():
        if one.binding_conditions:
            yield {
                condition.type: condition.status
                for status in claim.status.devices
                if (status.driver, status.pool, status.device)
                == (one.driver, one.pool, one.device)
                for condition in status.conditions
            }


def is_extended(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether a claim was made for the extended resources of a pod."""
    owner = claim.metadata.controller
    return owner is not None and owner.uid == pod.uid and EXTENDED in claim.annotations


def _asked(claim: ResourceClaim) -> Sequence[DeviceRequest]:
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
