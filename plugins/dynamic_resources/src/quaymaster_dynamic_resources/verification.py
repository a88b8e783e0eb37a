"""Verify a pod's reserved devices with a new search from claims and slices.

The search uses nothing that is kept between attempts: neither the count of allocated
devices, nor the inventory, nor cached verdicts.
"""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from quaymaster import Node
from quaymaster.devices import AllocatedDevices, AllocationError, DeviceId
from quaymaster.objects import AllocationResult
from quaymaster_dynamic_resources.filtering import SHARE_ID, NodeJudge
from quaymaster_dynamic_resources.state import ClaimsState
from quaymaster_dynamic_resources.tracker import ClaimTracker

__all__ = ["differences"]


def differences(
    state: ClaimsState, node: Node, judge: NodeJudge, tracker: ClaimTracker
) -> Iterator[str]:
    """Compare the devices that Reserve gave to a pod with those of a new search.

    Args:
        state: The claims of the pod.
        node: The chosen node.
        judge: Searches devices.
        tracker: The claims.

    Yields:
        Messages about devices with several claims, and claims with other devices.
    """
    reserved = _own(state)
    if not reserved:
        return
    own = {state.claims[place].uid for place in reserved}
    holders: dict[DeviceId, str] = {}
    taken = AllocatedDevices()
    for claim, allocation in tracker.recompute():
        if claim.uid not in own:
            taken.add(allocation)
            holders |= dict.fromkeys(_whole(allocation), claim.key)
    for place, allocation in reserved.items():
        for device in _whole(allocation):
            key = state.claims[place].key
            if device in holders:
                yield f"claim {key} got {device}, which claim {holders[device]} has"
            holders[device] = key
    node_allocation = state.allocations.get(node.name)
    if node_allocation is None:
        yield f"no allocation on node {node.name} for the reserved claims"
        return
    places = zip(state.to_allocate, node_allocation.claims, strict=True)
    claims = [claim for place, claim in places if place in reserved]
    try:
        again = judge.search_again(claims, taken, node)
    except AllocationError as error:
        yield f"devices were found on node {node.name}, expected: {error}"
        return
    promised = dict(zip(sorted(reserved), again or (), strict=False))
    for place, allocation in reserved.items():
        text = f"claim {state.claims[place].key} got "
        yield from _difference(text, node, _bare(allocation), promised.get(place))


def _own(state: ClaimsState) -> Mapping[int, AllocationResult]:
    """Return what Reserve gave, without what it shares with a pod of the group."""
    return {
        place: allocation
        for place, allocation in state.reserved.items()
        if place not in state.pending
    }


def _whole(allocation: AllocationResult) -> Iterator[DeviceId]:
    """Yield the devices of an allocation that no other claim may have."""
    for result in allocation.devices.results:
        if result.share_id is None and not result.admin_access:
            yield DeviceId(result.driver, result.pool, result.device)


def _bare(allocation: AllocationResult) -> AllocationResult:
    """Return an allocation as the search found it, without ids of shares."""
    devices = allocation.devices
    results = tuple(
        result if result.share_id is None else replace(result, share_id=SHARE_ID)
        for result in devices.results
    )
    return replace(allocation, devices=replace(devices, results=results))


def _difference(
    text: str, node: Node, got: AllocationResult, expected: AllocationResult | None
) -> Iterator[str]:
    if got != expected:
        yield f"{text}{_named(got)} on node {node.name}{_unlike(got, expected)}"


def _unlike(got: AllocationResult, expected: AllocationResult | None) -> str:
    if expected is None or got.devices.results != expected.devices.results:
        return f", expected {_named(expected)}"
    if got.node_selector != expected.node_selector:
        return ", but for other nodes than expected"
    return ", but not with the configurations that were expected"


def _named(allocation: AllocationResult | None) -> str:
    if allocation is None:
        return "nothing"
    results = allocation.devices.results
    return ", ".join(
        f"{result.driver}/{result.pool}/{result.device}" for result in results
    )
