"""The scheduler's allocations of devices, and the invariants of these."""

from collections.abc import Callable, Iterator, Sequence

from quaymaster import Informers, Pod
from quaymaster.devices import DeviceId
from quaymaster.inmemory import InMemoryCluster
from quaymaster.objects import (
    AllocationResult,
    DeviceClass,
    ResourceClaim,
    ResourceSlice,
)
from quaymaster_dynamic_resources.tracker import ClaimTracker
from tests.chaos.devices.objects import READY, RESOURCE
from tests.chaos.devices.rules import (
    EXTENDED,
    Book,
    DeviceWorld,
    claim_keys,
    conditions_of,
)
from tests.chaos.invariants import ViolationError
from tests.chaos.profiles import DEVICE_SECONDS

__all__ = ["DeviceLedger"]


class DeviceLedger:
    """Records the allocations of claims, independently of the scheduler.

    Args:
        cluster: The cluster, without faults.

    Attributes:
        problems: The allocations that break a rule, in order.
        promises: The number of allocations.
        released: The number of allocations that were taken back.
    """

    def __init__(self, cluster: InMemoryCluster) -> None:
        self._cluster = cluster
        self._promised: dict[str, tuple[str, AllocationResult]] = {}
        self.problems: list[str] = []
        self.promises = 0
        self.released = 0

    def watch(
        self,
        tracker: ClaimTracker,
        informers: Informers,
        taken_back: Callable[[], None],
    ) -> None:
        """Record a scheduler's allocations, and forget those of the last scheduler.

        Args:
            tracker: The scheduler's tracker of claims.
            informers: The cluster as the scheduler sees it.
            taken_back: Is called when an allocation was taken back.
        """
        self._promised.clear()
        reserve, release = tracker.reserve, tracker.release
        written, forget = tracker.written, tracker.forget

        def reserving(claim: ResourceClaim, allocation: AllocationResult) -> None:
            self._promise(informers, claim, allocation)
            reserve(claim, allocation)

        def releasing(uid: str) -> None:
            release(uid)
            take_back(uid)

        def writing(claim: ResourceClaim, uid: str) -> None:
            written(claim, uid)
            if claim.status.allocation is None:
                take_back(uid)
            self._promised.pop(uid, None)

        def forgetting(claim: ResourceClaim, uid: str) -> None:
            forget(claim, uid)
            take_back(uid)

        def take_back(uid: str) -> None:
            if self._promised.pop(uid, None) is not None:
                self.released += 1
                taken_back()

        vars(tracker).update(
            reserve=reserving, release=releasing, written=writing, forget=forgetting
        )

    def check(self) -> None:
        """Check that no device is allocated twice, and that no bound pod lacks one.

        Raises:
            ViolationError: An invariant does not hold.
        """
        problem = next(iter(self.problems), "") or self._book().problem()
        problem = problem or next(self._pods_without_devices(), "")
        if problem:
            raise ViolationError(problem)

    def check_at_rest(self, tracker: ClaimTracker) -> None:
        """Check that the scheduler counts exactly the devices of claims as allocated.

        Raises:
            ViolationError: It does not, or claims are reserved for deleted pods.
        """
        if self._promised or tracker.in_flight():
            raise ViolationError("an allocation is in flight for ever")
        world = self.world()
        book, counted_devices = world.book, tracker.allocated
        if counted_devices.whole != {*book.whole}:
            lost = sorted(map("/".join, counted_devices.whole - {*book.whole}))
            missed = sorted(map("/".join, {*book.whole} - counted_devices.whole))
            raise ViolationError(f"devices are lost: {lost}, or missed: {missed}")
        offers = {offer.id for offer in world.offers(None)}
        for device in offers | {*book.bandwidth}:
            taken = book.bandwidth.get(device, 0)
            counted = counted_devices.consumed.of(device).get("bandwidth", 0) // 10**9
            if counted != taken:
                text = f"{taken} of {device} is taken, and {counted} is counted"
                raise ViolationError(text)
            if device in counted_devices and device not in book.whole and not taken:
                raise ViolationError(f"{device} is lost")
        living = {pod.uid for pod in self._pods()}
        for claim in world.claims.values():
            if any(
                consumer.uid not in living for consumer in claim.status.reserved_for
            ):
                raise ViolationError(f"{claim.key} is reserved for nobody")

    def world(self) -> DeviceWorld:
        """Return the devices and claims of the cluster."""
        listed = self._cluster.list(ResourceClaim).items
        return DeviceWorld(
            self._cluster.list(ResourceSlice).items,
            frozenset(
                device_class.name
                for device_class in self._cluster.list(DeviceClass).items
            ),
            {claim.key: claim for claim in listed},
            self._cluster.clock.now(),
            DEVICE_SECONDS,
        )

    def _promise(
        self, informers: Informers, claim: ResourceClaim, allocation: AllocationResult
    ) -> None:
        self.promises += 1
        if claim.uid in self._promised:
            self.problems.append(f"{claim.key} was given devices again")
        self._promised[claim.uid] = _owner(claim), allocation
        view = DeviceWorld(informers.list(ResourceSlice), frozenset(), {}, 0.0, 0.0)
        offers = {offer.id: offer for offer in view.offers(None)}
        for result in allocation.devices.results:
            offer = offers.get(DeviceId(result.driver, result.pool, result.device))
            if offer is None:
                self.problems.append(
                    f"{claim.key} got {result.device}, which is not there"
                )
            elif offer.device.taints and not result.tolerations:
                self._report(claim, f"{result.device}, which is tainted")
            elif offer.node is not None and allocation.node_selector is None:
                self._report(claim, f"{result.device} for all nodes")

    def _report(self, claim: ResourceClaim, what: str) -> None:
        self.problems.append(f"{claim.key} got {what}")

    def _book(self) -> Book:
        """Return the allocations by device, with those that are not written yet."""
        stored = {
            _owner(claim): claim.status.allocation
            for claim in self._cluster.list(ResourceClaim).items
            if claim.status.allocation is not None
        }
        promised = {
            owner: allocation
            for owner, allocation in self._promised.values()
            if owner not in stored
        }
        return Book([*stored.items(), *promised.items()])

    def _pods_without_devices(self) -> Iterator[str]:
        """Yield the bound pods that lack a device or a reservation."""
        claims = {item.key: item for item in self._cluster.list(ResourceClaim).items}
        for pod in self._pods():
            if not pod.node_name:
                continue
            keys = list(claim_keys(pod))
            if RESOURCE in pod.spec.containers[0].resources.requests:
                status = pod.status.extended_resource_claim_status
                name = status.resource_claim_name if status is not None else ""
                keys.append(f"{pod.namespace}/{name}")
            for key in keys:
                claim = claims.get(key)
                if claim is None or claim.status.allocation is None:
                    yield f"{pod.key} is bound, but {key} has no devices"
                elif all(
                    consumer.uid != pod.uid for consumer in claim.status.reserved_for
                ):
                    yield f"{pod.key} is bound, but {key} is not reserved for it"
                elif not _is_ready(claim):
                    yield f"{pod.key} is bound, but {key} is not ready"
                elif pod.node_name not in _nodes(claim.status.allocation, pod):
                    yield f"{pod.key} is bound, but {key} is elsewhere"

    def _pods(self) -> Iterator[Pod]:
        pods = self._cluster.list(Pod).items
        return (pod for pod in pods if not pod.is_finished)


def _owner(claim: ResourceClaim) -> str:
    """Return a name for a claim that it has before it is stored, too."""
    if EXTENDED in claim.annotations and claim.metadata.controller is not None:
        return f"resources of {claim.metadata.controller.uid}"
    return claim.key


def _is_ready(claim: ResourceClaim) -> bool:
    return all(conditions.get(READY) == "True" for conditions in conditions_of(claim))


def _nodes(allocation: AllocationResult, pod: Pod) -> Sequence[str]:
    """Return the nodes that reach the devices; the pod's node, if all nodes do."""
    if allocation.node_selector is None:
        return [pod.node_name or ""]
    (term,) = allocation.node_selector.node_selector_terms
    (field,) = term.match_fields
    return field.values
