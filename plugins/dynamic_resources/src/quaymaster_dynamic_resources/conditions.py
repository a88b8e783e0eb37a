"""Check whether the devices of a claim are ready.

Mirrors ``isClaimReadyForBinding`` and ``isClaimTimeout`` (kube-scheduler 1.36.2,
``pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go``).
"""

import json
from collections.abc import Iterable

from quaymaster.objects import (
    AllocatedDeviceStatus,
    Condition,
    DeviceRequestAllocationResult,
    ResourceClaim,
)

__all__ = ["BindingFailedError", "has_conditions", "has_timed_out", "is_ready"]


class BindingFailedError(Exception):
    """A device of a claim has failed to become ready."""


def has_conditions(claim: ResourceClaim) -> bool:
    """Return whether a claim has devices with binding conditions."""
    return any(result.binding_conditions for result in _results(claim))


def is_ready(claim: ResourceClaim) -> bool:
    """Return whether all devices with binding conditions of a claim are ready.

    Raises:
        BindingFailedError: The first device that is not ready has failed permanently.
    """
    if claim.status.allocation is None:
        return False
    for result in _results(claim):
        if not result.binding_conditions:
            continue
        status = _status_of(claim, result)
        if status is None:
            return False
        conditions = _by_type(status.conditions)
        # Failures first: a device that has failed may still have an older condition
        # that says it is ready.
        for name in result.binding_failure_conditions:
            failed = conditions.get(name)
            if failed is not None and failed.status == "True":
                raise BindingFailedError(
                    f"device binding failed: claim={claim.name}, "
                    f"reason={failed.reason}, message={json.dumps(failed.message)}"
                )
        for name in result.binding_conditions:
            met = conditions.get(name)
            if met is None or met.status != "True":
                return False
    return True


def has_timed_out(claim: ResourceClaim, timeout_seconds: float, now: float) -> bool:
    """Return whether a claim was allocated too long ago for devices to become ready."""
    allocation = claim.status.allocation
    if allocation is None or allocation.allocation_timestamp is None:
        return False
    due = allocation.allocation_timestamp + timeout_seconds
    return has_conditions(claim) and due < now


def _results(claim: ResourceClaim) -> Iterable[DeviceRequestAllocationResult]:
    allocation = claim.status.allocation
    return () if allocation is None else allocation.devices.results


def _status_of(
    claim: ResourceClaim, result: DeviceRequestAllocationResult
) -> AllocatedDeviceStatus | None:
    name = result.device, result.driver, result.pool
    for status in claim.status.devices:
        if (status.device, status.driver, status.pool) == name:
            return status
    return None


def _by_type(conditions: Iterable[Condition]) -> dict[str, Condition]:
    by_type: dict[str, Condition] = {}
    for condition in conditions:
        # The first of a type counts, as in ``FindStatusCondition`` of
        # k8s.io/apimachinery.
        by_type.setdefault(condition.type, condition)
    return by_type
