"""What was promised to a pod, found again from what is known of claims and slices.

Nothing that is kept between attempts has a part in it: neither the count of devices
that are taken, nor what nodes see, nor verdicts.
"""

from collections.abc import Iterator

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
    """Say what is wrong with what was promised to a pod in Reserve.

    Args:
        state: The claims of the pod.
        node: The chosen node.
        judge: Finds devices.
        tracker: Knows the claims.

    Yields:
        The devices that somebody else has, too, and the claims that would get others.
    """
    own = {state.claims[place].uid for place in state.reserved}
    holders: dict[DeviceId, str] = {}
    taken = AllocatedDevices()
    for claim, allocation in tracker.tell_all():
        if claim.uid not in own:
            taken.add(allocation)
            holders |= dict.fromkeys(_whole(allocation), claim.key)
    for place, allocation in state.reserved.items():
        for device in _whole(allocation):
            key = state.claims[place].key
            if device in holders:
                yield f"claim {key} got {device}, which claim {holders[device]} has"
            holders[device] = key
    found = state.allocations.get(node.name)
    if found is None:
        yield f"nothing was found on node {node.name} for what was reserved"
        return
    try:
        again = judge.search_anew(found.claims, taken, node)
    except AllocationError as error:
        yield f"devices were found on node {node.name}, expected: {error}"
        return
    promised = dict(zip(sorted(state.reserved), again or (), strict=False))
    for place, allocation in state.reserved.items():
        got, expected = _bare(allocation), promised.get(place)
        if got != expected:
            text = f"claim {state.claims[place].key} got {_named(got)} on node "
            yield text + node.name + _unlike(got, expected)


def _whole(allocation: AllocationResult) -> Iterator[DeviceId]:
    """The devices that nobody else may have."""
    for one in allocation.devices.results:
        if one.share_id is None and not one.admin_access:
            yield DeviceId(one.driver, one.pool, one.device)


def _bare(allocation: AllocationResult) -> AllocationResult:
    """An allocation as it was found, before its shares were named."""
    devices = allocation.devices
    results = tuple(
        one if one.share_id is None else replace(one, share_id=SHARE_ID)
        for one in devices.results
    )
    return replace(allocation, devices=replace(devices, results=results))


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
    return ", ".join(f"{one.driver}/{one.pool}/{one.device}" for one in results)
