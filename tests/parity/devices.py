"""Devices that were found for a pod's claims, in the format of the records."""

from collections.abc import Mapping

from quaymaster import CycleState, Status
from quaymaster.objects import AllocationResult
from quaymaster_dynamic_resources import DynamicResources
from tests.kit.internals.engine import Framework
from tests.parity.cases import Json

__all__ = ["device_allocations"]


def device_allocations(
    framework: Framework, state: CycleState, statuses: Mapping[str, Status | None]
) -> Mapping[str, Json]:
    """Node -> what was found there; nothing at all if some node gave an error."""
    plugin = framework.profile.plugins.get("DynamicResources")
    if not isinstance(plugin, DynamicResources):
        return {}
    if any(status is not None and status.is_error for status in statuses.values()):
        return {}
    found = {}
    for node in statuses:
        allocations = plugin.allocations(state, node)
        if allocations:
            found[node] = {
                claim.key: _written(allocation) for claim, allocation in allocations
            }
    return found


def _written(allocation: AllocationResult) -> list[str]:
    return [
        f"{one.request} {one.driver}/{one.pool}/{one.device}"
        + (" admin" if one.admin_access else "")
        + (" shared" if one.share_id is not None else "")
        for one in allocation.devices.results
    ]
