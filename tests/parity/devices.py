"""Devices that were allocated for a pod's claims, in the format of the records."""

from collections.abc import Collection, Mapping, Sequence

from quaymaster import CycleState, Pod, Status
from quaymaster.objects import AllocationResult
from quaymaster_dynamic_resources import DynamicResources
from quaymaster_dynamic_resources.claims import is_used_by_others
from quaymaster_dynamic_resources.tracker import ClaimTracker
from tests.kit.internals.engine import Framework
from tests.parity.cases import Json

__all__ = ["claims_in_flight", "device_allocations", "unavailable_claims"]

_PLUGIN = "DynamicResources"


def device_allocations(
    framework: Framework,
    state: CycleState,
    pod: Pod,
    statuses: Mapping[str, Status | None],
    excluded: Collection[str],
) -> Mapping[str, Json]:
    """Return node -> allocated devices, for the nodes that the plugin accepted.

    The result is empty if a node caused an error.

    Args:
        framework: The built profile.
        state: The cycle state of the attempt.
        pod: The pod.
        statuses: Node -> why it was rejected.
        excluded: The nodes that PreFilter left out.
    """
    plugin = framework.profile.plugins.get(_PLUGIN)
    plugins = [call.plugin for call in framework.profile.plan("filter")]
    if not isinstance(plugin, DynamicResources) or _PLUGIN not in plugins:
        return {}
    if any(status is not None and status.is_error for status in statuses.values()):
        return {}
    later = plugins[plugins.index(_PLUGIN) + 1 :]
    found = {}
    for info in framework.handle.snapshot:
        if info.name not in statuses or info.name in excluded:
            continue
        status = statuses[info.name]
        if status is not None and status.plugin not in later:
            continue
        allocations = plugin.allocations(state, pod, info)
        if allocations:
            found[info.name] = {
                claim.key: _written(allocation) for claim, allocation in allocations
            }
    return found


def claims_in_flight(framework: Framework) -> Sequence[str]:
    """Return the claims whose devices are allocated, but not written yet."""
    handle = framework.handle
    tracker = handle.shared(
        ClaimTracker, lambda: ClaimTracker(handle.informers, handle.kubernetes)
    )
    return sorted(tracker.in_flight())


def unavailable_claims(
    framework: Framework, state: CycleState, pod: Pod
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the claims that a node could not use, and those that may be deallocated.

    Args:
        framework: The built profile.
        state: The cycle state of the attempt.
        pod: The pod, which fits nowhere.
    """
    plugin = framework.profile.plugins.get(_PLUGIN)
    if not isinstance(plugin, DynamicResources):
        return (), ()
    claims = plugin.unavailable_claims(state)
    free = [
        claim.key for claim in claims if not is_used_by_others(claim, pod.metadata.uid)
    ]
    return [claim.key for claim in claims], free


def _written(allocation: AllocationResult) -> list[str]:
    return [
        f"{result.request} {result.driver}/{result.pool}/{result.device}"
        + (" admin" if result.admin_access else "")
        + (" shared" if result.share_id is not None else "")
        for result in allocation.devices.results
    ]
